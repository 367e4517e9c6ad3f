package adapters

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
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

var fitWeights = flag.Bool("fit", false, "write the weights of the evidence")

// weightsFile holds the weights that the fit writes.
const weightsFile = "internal/prose/weights.txt"

// weighed is a text as the weights see it.
type weighed struct {
	language string
	kind     prose.Kind
	evidence prose.Evidence
	meant    bool
}

// weighedTexts returns the texts of files whose last sentence is weighed: alone, behind a question
// that has the call's values, and with their own conversation.
func weighedTexts(t *testing.T, sets ...string) (all []weighed) {
	dr := drafts{below: below{tools: toolset.New(languageTools, nil)}}
	dr.tools.Find("get_time") // builds it
	for _, set := range sets {
		for _, c := range languageCases(t, set) {
			call := madeOf(t, c.call)
			front, fenced := strings.CutSuffix(c.text, "\n\n```json\n"+c.call+"\n```")
			kind := prose.Judge([]byte(front))
			if !fenced || !kind.May() || kind == prose.Surely {
				continue
			}
			add := func(e prose.Evidence, meant bool) {
				all = append(all, weighed{c.language, kind, e, meant})
			}
			heards := [][]chat.Message{nil, languageAsks, c.messages}
			switch {
			case set == "senses":
				heards = heards[:1] // nobody asks for that
			case ownQuestions(set):
				heards = [][]chat.Message{nil, c.messages}
			case c.messages == nil:
				heards = heards[:2]
			}
			for _, said := range heards {
				dr.heard = heard{messages: said}
				e := dr.evidence(front, call)
				if e&prose.Waiting != 0 {
					continue // no weight counts
				}
				add(e, c.announced || c.hint)
				if e&prose.Doing != 0 { // of a tool whose words nobody listed
					add(e&^prose.Related, c.announced || c.hint)
				}
			}
			if c.messages != nil && !ownQuestions(set) { // in a language without words
				add(dr.evidence(front, call)&^(prose.Related|prose.Showing|prose.Doing|prose.Waiting), c.announced || c.hint)
			}
		}
	}
	return all
}

// endsWithCall matches a text in front of a call without marks that ends the reply, and the call.
var endsWithCall = regexp.MustCompile("(?s)^([^`{]*[^`{\\s])\\s+" +
	"(?:```\\w*\n)?(\\{\"name\".*\\})\\s*(?:```)?\\s*$")

// weighedRuns returns those texts of the balanced set that are such: their kind is the language
// that is held out.
func weighedRuns(t *testing.T) (all []weighed) {
	dr := drafts{below: below{tools: toolset.New(testTools(t), nil)}}
	dr.tools.Find("get_time") // builds it
	for _, x := range runTexts(t) {
		m := endsWithCall.FindStringSubmatch(x.text)
		var call struct {
			Name                  string
			Arguments, Parameters json.RawMessage
		}
		if m == nil || json.Unmarshal([]byte(m[2]), &call) != nil || dr.tools.Named(call.Name) == nil {
			continue
		}
		if kind := prose.Judge([]byte(m[1])); kind.May() && kind != prose.Surely {
			args := append(call.Arguments, call.Parameters...)
			e := dr.evidence(m[1], chat.Call{Name: call.Name, Args: args})
			all = append(all, weighed{"runs/" + x.kind, kind, e, x.calls > 0})
		}
	}
	return all
}

// falseCall is how many lost calls one that nobody meant costs.
const falseCall = 4

// fit returns the weights that tell the texts apart best: logistic regression, held near 0 where
// texts say little.
func fit(texts []weighed) map[string]float64 {
	type row struct {
		features string
		meant    bool
	}
	rows := map[row]float64{}
	for _, x := range texts {
		rows[row{strings.Join(prose.Features(x.kind, x.evidence), " "), x.meant}]++
	}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b row) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	var names []string
	features := make([][]int, len(order))
	for i, r := range order {
		for f := range strings.FieldsSeq(r.features) {
			at := slices.Index(names, f)
			if at < 0 {
				at, names = len(names), append(names, f)
			}
			features[i] = append(features[i], at)
		}
	}
	w, step := make([]float64, len(names)), make([]float64, len(names))
	for range 10000 {
		clear(step)
		for i, r := range order {
			sum, want, weight := 0.0, 0.0, rows[r]*falseCall
			for _, f := range features[i] {
				sum += w[f]
			}
			if r.meant {
				want, weight = 1, rows[r]
			}
			for _, f := range features[i] {
				step[f] += weight * (want - 1/(1+math.Exp(-sum)))
			}
		}
		for f, d := range step {
			w[f] += 0.02 * (d - 0.005*w[f]) / math.Sqrt(1+math.Abs(d))
		}
	}
	named := map[string]float64{}
	for i, f := range names {
		named[f] = math.Round(w[i]*10) / 10
	}
	return named
}

// decides reports what weights make of a text.
func (x weighed) decides(w map[string]float64) bool {
	sum := 0.0
	for _, f := range prose.Features(x.kind, x.evidence) {
		sum += w[f]
	}
	return sum > 0
}

// holdWeights compares the weights with those of the file, behind its comment, or writes them.
func holdWeights(t *testing.T, lines string) {
	src := must.Read(t, weightsFile)
	head := string(src[:strings.LastIndex(string(src), "#")])
	head += strings.SplitAfter(string(src[len(head):]), "\n")[0]
	if *fitWeights {
		must.OK(t, os.WriteFile(weightsFile, []byte(head+lines), 0o644))
	} else if string(src) != head+lines {
		t.Errorf("%s is not what the texts give:\n%s", weightsFile, lines)
	}
}

// decided counts what weights make of texts, and logs those that they get wrong.
func decided(t *testing.T, name string, w map[string]float64, texts []weighed) (f figures) {
	for _, x := range texts {
		f.count(x.meant, x.decides(w))
		if x.decides(w) != x.meant {
			t.Logf("%s: meant %t: %v", name, x.meant, prose.Features(x.kind, x.evidence))
		}
	}
	return f
}

// TestWeightsOfTheEvidence fits the weights that decide which sentences announce a call, and holds
// the file to them; -fit writes it. For each language the weights are fitted to all others, and
// tried on it: that is what they do in one that nobody looked at. The texts of asked.txt are in no
// fit.
func TestWeightsOfTheEvidence(t *testing.T) {
	texts := weighedTexts(t, "fit", "held", "reserved", "senses", "talk", "fresh", "strange", "tried", "strange2", "strange3")
	texts = append(texts, weighedRuns(t)...)
	all := fit(texts)
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&lines, "%s %g\n", name, all[name])
	}
	holdWeights(t, lines.String())
	languages := map[string]bool{}
	for _, x := range texts {
		languages[x.language] = true
	}
	var held figures
	for language := range languages {
		of := func(x weighed) bool { return x.language == language }
		others := slices.DeleteFunc(slices.Clone(texts), of)
		if language == "xx" {
			continue // texts of any language
		}
		own := slices.DeleteFunc(slices.Clone(texts), func(x weighed) bool { return !of(x) })
		f := decided(t, language, fit(others), own)
		held = figures{held.run + f.run, held.stay + f.stay, held.lost + f.lost, held.wrong + f.wrong}
	}
	fitted, asked := decided(t, "fitted", all, texts), decided(t, "asked", all, weighedTexts(t, "asked"))
	for name, f := range map[string]figures{"fitted": fitted, "held out": held, "asked": asked} {
		t.Logf("%s: %d meant, %d lost; %d shown, %d run", name, f.run, f.lost, f.stay, f.wrong)
		if f.lost*50 > f.run || f.wrong*200 > f.stay {
			t.Errorf("%s: %d of %d lost, %d of %d run", name, f.lost, f.run, f.wrong, f.stay)
		}
	}
}
