package adapters

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

var (
	fitWeights = flag.Bool("fit", false, "write the weights of the evidence")
	heldOut    = flag.Bool("held", false, "try the weights on texts and languages held out of the fit")
)

// The files that the fit writes.
const (
	weightsFile = "internal/prose/weights.txt"
	hashedFile  = "internal/prose/hashed.bin"
)

// weighed is a text in front of a call as the weights see it.
type weighed struct {
	set, language string
	around        *prose.Surroundings
	meant         bool
	share         float64 // how much it counts in the fit
	features      []string
	hashed        []hashed
}

// hashed is a hashed weight that counts, and how much it does.
type hashed struct {
	bucket int
	value  float64
}

// see computes what the weights see.
func (w *weighed) see() *weighed {
	features, all := w.around.Features()
	w.features = features
	for bucket, value := range all {
		w.hashed = append(w.hashed, hashed{bucket, value})
	}
	return w
}

// newWeighed appends a text to all, unless the kind of its last sentence decides alone.
func newWeighed(all []*weighed, set, language string, around *prose.Surroundings, meant bool) []*weighed {
	around.Front = strings.TrimSpace(around.Front)
	around.Front = strings.TrimSpace(around.Front[max(0, len(around.Front)-prose.Reach):])
	around.Behind = strings.TrimSpace(around.Behind)
	if prose.Judge([]byte(around.Front)) <= prose.Surely {
		return all
	}
	return append(all, &weighed{set: set, language: language, around: around, meant: meant, share: 1})
}

// draftsOf returns what finds the evidence for calls of the given tools.
func draftsOf(tools ...chat.Tool) *drafts {
	dr := &drafts{below: below{tools: toolset.New(tools, nil)}}
	dr.tools.Find(tools[0].Name) // builds it
	return dr
}

// weighedTexts returns the texts of files with a call in a fence: alone, behind a question that has
// the call's values, and with their own conversation.
func weighedTexts(t *testing.T, sets ...string) (all []*weighed) {
	dr := draftsOf(languageTools...)
	for _, set := range sets {
		for _, c := range languageCases(t, set) {
			front, behind, fenced := strings.Cut(c.text, "\n\n```json\n"+c.call+"\n```")
			if !fenced {
				continue
			}
			heards := [][]chat.Message{nil, languageAsks, c.messages}
			switch {
			case set == "senses":
				heards[1] = sensesAsk
				heards = heards[:2]
			case ownQuestions(set):
				heards = [][]chat.Message{nil, c.messages}
			case c.messages == nil:
				heards = heards[:2]
			}
			for _, said := range heards {
				dr.heard = heard{messages: said}
				all = newWeighed(all, set, c.language, dr.around(front, behind, madeOf(t, c.call)), c.announced || c.hint)
			}
		}
	}
	return all
}

// inBraces matches a value of a call in a text of chats.tsv.
var inBraces = regexp.MustCompile(`\{([^{}]*)\}`)

// weighedChats returns the texts of chats.tsv. The columns of a line are a language, announce or
// show, what the user wrote or nothing, the text before the call, and the text behind it. Values of
// the call are in braces; {T} is the tool's name, {C} the call, and \n a line break.
func weighedChats(t *testing.T) (all []*weighed) {
	dr := draftsOf(chat.Tool{Name: "do_thing"})
	for line := range strings.Lines(string(must.Read(t, "testdata/languages/chats.tsv"))) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		args := map[string]string{}
		for _, m := range inBraces.FindAllStringSubmatch(line, -1) {
			if m[1] != "T" && m[1] != "C" {
				args["of "+m[1]] = m[1]
			}
		}
		made, err := json.Marshal(args)
		must.OK(t, err)
		call := `{"name": "do_thing", "arguments": ` + string(made) + `}`
		for i := range row {
			row[i] = strings.NewReplacer("{T}", "do_thing", "{C}", "\x00", `\n`, "\n").Replace(row[i])
			row[i] = inBraces.ReplaceAllString(row[i], "$1")
			row[i] = strings.ReplaceAll(row[i], "\x00", call)
		}
		of := chat.Call{Name: "do_thing", Args: made}
		dr.heard = heard{}
		n := len(all)
		all = newWeighed(all, "texts", row[0], dr.around(row[3], row[4], of), row[1] == "announce")
		if row[2] != "" {
			for _, alone := range all[n:] { // without what the user wrote, it may be of either kind
				alone.share = aloneShare
			}
			dr.heard.messages = []chat.Message{{Role: chat.User, Content: row[2]}}
			all = newWeighed(all, "chats", row[0], dr.around(row[3], row[4], of), row[1] == "announce")
		}
	}
	return all
}

// weighedRuns returns what is around the first call without marks in the texts of the balanced set.
func weighedRuns(t *testing.T) (all []*weighed) {
	dr := draftsOf(testTools(t)...)
	for _, x := range runTexts(t) {
		front, made, found := strings.Cut(x.text, `{"name"`)
		front, _, fenced := strings.Cut(strings.TrimSpace(front), "```")
		var call struct {
			Name                  string
			Arguments, Parameters json.RawMessage
		}
		text := json.NewDecoder(strings.NewReader(`{"name"` + made))
		if !found || text.Decode(&call) != nil || dr.tools.Named(call.Name) == nil || strings.ContainsAny(front, "`{[") || strings.Contains(front, "<tool") {
			continue
		}
		behind := made[int(text.InputOffset())-len(`{"name"`):]
		if fenced {
			_, behind, _ = strings.Cut(behind, "```")
		}
		if strings.Contains(behind, "```") || strings.Contains(behind, `{"`) {
			if behind = ""; x.calls == 0 && strings.ContainsRune(front, ' ') {
				continue // what follows shows it
			}
		}
		args := append(call.Arguments, call.Parameters...)
		around := dr.around(front, behind, chat.Call{Name: call.Name, Args: args})
		all = newWeighed(all, "runs", "runs/"+x.kind, around, x.calls > 0)
	}
	return all
}

// weighedNegatives returns what is around each object in the texts that hold no call, of which many
// are no language, and around the calls that are answers to questions about calls.
func weighedNegatives(t *testing.T) (all []*weighed) {
	dr := draftsOf(testTools(t)...)
	call := chat.Call{Name: "get_weather", Args: []byte(`{"city": "Paris"}`)}
	for _, s := range negatives(t) {
		for at := range s.Text {
			if strings.HasPrefix(s.Text[at:], `{"`) {
				_, behind, _ := strings.Cut(s.Text[at:], "}")
				all = newWeighed(all, "negatives", "negatives", dr.around(s.Text[:at], strings.TrimLeft(behind, "}"), call), false)
			}
		}
	}
	for _, s := range readSections(t, "testdata/asked.txt") {
		parts := append(strings.Split(s.Text, "\n\n"), "", "", "")
		dr.heard = heard{messages: []chat.Message{{Role: chat.User, Content: parts[0]}}}
		all = newWeighed(all, "negatives", "negatives", dr.around(parts[1], parts[3], call), false)
	}
	return all
}

// unasked is how many lost calls one costs that runs although nobody meant it, where the user has
// not asked for it.
const unasked = 3

// aloneShare is how much a text counts without the question that it belongs to.
const aloneShare = .3

// rareShare is how much a text of the balanced set counts, and one that holds no call, because there
// are few of them.
const rareShare = 6

// model is what a fit gives.
type model struct {
	named  map[string]float64
	hashed []float64
}

// score returns the sum of the weights of a text.
func (m *model) score(w *weighed) (sum float64) {
	for _, name := range w.features {
		sum += m.named[name]
	}
	for _, h := range w.hashed {
		sum += m.hashed[h.bucket] * h.value
	}
	return sum
}

// fit returns the weights that tell the texts apart best: logistic regression by stochastic
// gradient descent (AdaGrad), held near 0 where texts say little. They are the mean of those after
// each of the last rounds, which depends less on the order of the texts.
func fit(texts []*weighed) *model {
	const rounds, last, rate, decay = 16, 12, .4, 2e-6
	m := &model{map[string]float64{}, make([]float64, prose.Buckets)}
	mean := &model{map[string]float64{}, make([]float64, prose.Buckets)}
	namedSteps, hashedSteps := map[string]float64{}, make([]float64, prose.Buckets)
	step := func(weight, steps, slope float64) (float64, float64) {
		slope += decay * weight
		steps += slope * slope
		return weight - rate/math.Sqrt(1e-3+steps)*slope, steps
	}
	order := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		for _, i := range order.Perm(len(texts)) {
			w := texts[i]
			slope := 1 / (1 + math.Exp(-m.score(w)))
			switch {
			case w.meant:
				slope--
			case w.around.Heard&prose.Asked == 0:
				slope *= unasked
			}
			slope *= w.share
			for _, name := range w.features {
				m.named[name], namedSteps[name] = step(m.named[name], namedSteps[name], slope)
			}
			for _, h := range w.hashed {
				m.hashed[h.bucket], hashedSteps[h.bucket] = step(m.hashed[h.bucket], hashedSteps[h.bucket], slope*h.value)
			}
		}
		if round < rounds-last {
			continue
		}
		for name, weight := range m.named {
			mean.named[name] += weight / last
		}
		for bucket, weight := range m.hashed {
			mean.hashed[bucket] += weight / last
		}
	}
	return mean
}

// write writes the weights to their files.
func (m *model) write(t *testing.T) {
	most := 0.0
	for _, weight := range m.hashed {
		most = max(most, math.Abs(weight))
	}
	scale := most / math.MaxInt8
	bytes := make([]byte, len(m.hashed))
	for i, weight := range m.hashed {
		bytes[i] = byte(int8(math.Round(weight / scale)))
	}
	must.OK(t, os.WriteFile(hashedFile, bytes, 0o644))
	src := string(must.Read(t, weightsFile))
	comment := strings.LastIndex(src, "#")
	lines := src[:comment+strings.Index(src[comment:], "\n")+1] + fmt.Sprintf("hashed %.6f\n", scale)
	for _, name := range slices.Sorted(maps.Keys(m.named)) {
		lines += fmt.Sprintf("%s %.2f\n", name, m.named[name])
	}
	must.OK(t, os.WriteFile(weightsFile, []byte(lines), 0o644))
}

// allWeighed returns the texts that the weights are fitted to.
func allWeighed(t *testing.T) []*weighed {
	all := append(weighedRuns(t), weighedNegatives(t)...)
	for _, w := range all {
		w.share = rareShare
	}
	all = append(all, weighedTexts(t, languageSets...)...)
	return append(all, weighedChats(t)...)
}

// TestWeightsOfTheEvidence holds the weights that decide which texts announce a call to the texts
// that they are fitted to; -fit fits them first, and writes them to their files.
func TestWeightsOfTheEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("thirty thousand texts are read, by one goroutine")
	}
	all := allWeighed(t)
	if *fitWeights {
		for _, w := range all {
			w.see()
		}
		fit(all).write(t)
		t.Logf("%d texts; run the test once more to try the weights", len(all))
		return
	}
	decided := map[string]*figures{}
	for i, w := range all {
		if i%4 > 0 && (w.set == "chats" || w.set == "texts") {
			continue // all of them take four times as long
		}
		if decided[w.set] == nil {
			decided[w.set] = new(figures)
		}
		decided[w.set].count(w.meant, w.around.Announces())
	}
	for set, f := range decided {
		t.Logf("%s: %d meant, %d lost; %d shown, %d run", set, f.run, f.lost, f.stay, f.wrong)
		most := 1
		if set == "texts" { // many are of either kind without their question
			most = 4
		}
		if f.lost*100 > most*f.run || f.wrong*200 > f.stay {
			t.Errorf("%s: %d of %d lost, %d of %d run", set, f.lost, f.run, f.wrong, f.stay)
		}
	}
}

// TestWeightsOnOtherTexts fits weights to four fifths of the texts, and tries them on the others,
// five times. Then it does the same with four fifths of the languages.
func TestWeightsOnOtherTexts(t *testing.T) {
	if !*heldOut {
		t.Skip("-held fits the weights ten times, which takes some minutes")
	}
	all := allWeighed(t)
	for _, w := range all {
		w.see()
	}
	for by, of := range map[string]func(w *weighed) string{
		"texts":     func(w *weighed) string { return w.around.Front },
		"languages": func(w *weighed) string { return w.language },
	} {
		fifth, order := map[string]int{}, rand.New(rand.NewPCG(3, 4))
		for _, w := range all {
			if _, there := fifth[of(w)]; !there {
				fifth[of(w)] = order.IntN(5)
			}
		}
		decided := map[string]*figures{"all": {}, "prose behind the call": {}}
		for k := range 5 {
			held := func(w *weighed) bool { return fifth[of(w)] == k }
			m := fit(slices.DeleteFunc(slices.Clone(all), held))
			for _, w := range all {
				if !held(w) {
					continue
				}
				if decided[w.set] == nil {
					decided[w.set] = new(figures)
				}
				of := []*figures{decided[w.set], decided["all"]}
				if w.around.Behind != "" {
					of = append(of, decided["prose behind the call"])
				}
				for _, f := range of {
					f.count(w.meant, m.score(w) > 0)
				}
			}
		}
		for set, f := range decided {
			t.Logf("other %s: %s: %d meant, %d lost; %d shown, %d run", by, set, f.run, f.lost, f.stay, f.wrong)
		}
		if f := decided["chats"]; f.lost*7 > f.run || f.wrong*7 > f.stay {
			t.Errorf("other %s: more than a seventh of chats is read wrong: %+v", by, *f)
		}
	}
}
