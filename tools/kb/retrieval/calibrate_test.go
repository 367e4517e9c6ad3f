package retrieval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/questions"
	"toolnorm/tools/kb/kbstore"
)

// example is a question asked of a set, with the numbers of the passages that were found.
type example struct {
	set      string
	half     int  // of the questions of the set: 0 is for the fit, 1 for the final figures
	answered bool // its passage is there
	foreign  bool // it was asked of other texts
	passages []numbers
	scores   []float64
	right    int     // the place of its passage; -1: it was not found
	covered  float64 // how much of the question the first passage covers
}

// terms is how the names of sets begin that have words to look for in place of questions. Any
// passage that has most of them is right, and none is unanswerable.
const terms = "terms-"

// sets reads the files in the form of SQuAD of the folder TOOLNORM_EVAL_SQUAD. They are never
// needed and never part of the repository. A file may have a list foreign besides data, with
// questions about something else than its paragraphs.
func sets(t *testing.T) map[string][]byte {
	t.Helper()
	folder := os.Getenv("TOOLNORM_EVAL_SQUAD")
	if folder == "" {
		t.Skip("TOOLNORM_EVAL_SQUAD names no folder with files in the form of SQuAD: public sets are not measured")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .json in %s", folder)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if all[strings.TrimSuffix(filepath.Base(file), ".json")], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// inMemory is a set in an index without a store, so that a passage can be taken out for one
// question.
type inMemory struct {
	*index
	questions, passages Embedder
	t                   *testing.T
}

// put puts a paragraph in.
func (m *inMemory) put(n int, text string) {
	id := fmt.Sprint(n)
	d := document{Document: kbstore.Document{ID: id, Access: kbstore.Access{Tenant: "acme", Public: true}}, summary: m.summaries.Add(id, ""), there: true}
	m.index.put(d)
	c := kbstore.Chunk{ID: id, Document: id, Text: text}
	if m.passages != nil {
		c.Embedding = kbstore.Embedding{Model: "m", Vector: m.vector(m.passages, text)}
	}
	m.add(c, true)
}

// vector asks the model.
func (m *inMemory) vector(e Embedder, text string) []float32 {
	vectors, err := e.Embed(m.t.Context(), []string{text})
	if err != nil {
		m.t.Fatal(err)
	}
	return vectors[0]
}

// ask runs the stages on words and vectors.
func (m *inMemory) ask(question string, answer int, answered bool) example {
	s := &search{Query: Query{Text: question, Principal: auth.Local()}, asked: question, local: new(Local), reports: map[string]*Report{"1": {}}}
	m.mu.RLock()
	s.view = m.open(kbstore.FilterOf(s.Principal))
	defer s.view.close()
	s.noVector = skip("none")
	if m.questions != nil {
		s.vector, s.noVector = m.vector(m.questions, question), nil
	}
	for _, stage := range stages[1:5] {
		s.reports[stage.number] = &Report{}
		if err := stage.run(s, m.t.Context(), s.reports[stage.number]); err != nil && s.noVector == nil {
			m.t.Fatal(err)
		}
	}
	e := example{answered: answered, right: -1}
	for i, p := range s.passages {
		if i == 0 {
			e.covered = p.features.Coverage
		}
		e.passages, e.scores = append(e.passages, p.numbers), append(e.scores, p.score)
		if answered && p.Document == fmt.Sprint(answer) {
			e.right = i
		}
	}
	return e
}

// examples asks each question of a set twice: as it is, and with its paragraph taken out.
func examples(t *testing.T, name string, text []byte) (all []example) {
	paragraphs, places, err := questions.SQuAD(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	ofQuestions, ofPassages := prefixed(models().Embedder)
	m := &inMemory{index: (&Local{Model: "m"}).index(kbstore.Base{}), questions: ofQuestions,
		passages: ofPassages, t: t}
	for i, p := range paragraphs {
		m.put(i, p)
	}
	asked := make([]string, 0, len(places))
	for q := range places {
		asked = append(asked, q)
	}
	slices.Sort(asked)
	var other struct{ Foreign []string }
	if err := json.Unmarshal(text, &other); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, q := range other.Foreign {
		e := m.ask(q, -1, false)
		e.set, e.half, e.foreign = name, i%2, true
		all = append(all, e)
	}
	for i, q := range asked {
		with := m.ask(q, places[q], true)
		if strings.HasPrefix(name, terms) {
			with.set, with.right = name, -1
			if with.covered > .5 {
				with.right = 0
			}
			all = append(all, with)
			continue
		}
		m.remove(fmt.Sprint(places[q]))
		without := m.ask(q, places[q], false)
		m.put(places[q], paragraphs[places[q]])
		for _, e := range []example{with, without} {
			e.set, e.half = name, i%2
			all = append(all, e)
		}
	}
	return all
}

// ofSample are the questions of the sample, without paraphrases, which share no word with their
// answers.
func ofSample(t *testing.T) (all []example) {
	for i, a := range ask(t) {
		if a.Kind == "paraphrase" {
			continue
		}
		none := a.Kind == "none"
		e := example{set: "sample-" + a.Language, half: i % 2, answered: !none, foreign: none, right: -1}
		for i, p := range a.scored {
			e.passages, e.scores = append(e.passages, p.numbers), append(e.scores, p.score)
			if e.right < 0 && a.Right[a.names[p.Chunk]] {
				e.right = i
			}
		}
		all = append(all, e)
	}
	return all
}

// shares are the answerable questions whose passage is shown at the default threshold, and those
// for which something is though their passage is out, or though they are foreign.
func shares(all []example) (kept, wrong, strange, found float64) {
	var answerable, not, others float64
	for _, e := range all {
		switch {
		case e.foreign:
			others++
			if len(e.scores) > 0 && e.scores[0] >= DefaultThreshold {
				strange++
			}
		case e.answered:
			answerable++
			if e.right >= 0 && e.right < DefaultMax {
				found++
				if e.scores[e.right] >= DefaultThreshold {
					kept++
				}
			}
		default:
			not++
			if len(e.scores) > 0 && e.scores[0] >= DefaultThreshold {
				wrong++
			}
		}
	}
	return kept / answerable, wrong / not, strange / others, found / answerable
}

// kind is that of a question. Each kind of each set weighs the same in the fit, however many
// questions it has.
func (e *example) kind() string { return fmt.Sprint(e.set, e.answered, e.foreign) }

// unused are the numbers that a fit leaves out. With vectors, how well the words match and what no
// passage covers say little beside how much better they match than in other passages.
func unused(dense bool) []int {
	if dense {
		return []int{byOrder, unknown, byBehind}
	}
	return []int{byWhole, byCosine, byNearer}
}

// language is that of a set: its name behind the last hyphen.
func (e *example) language() string { return e.set[strings.LastIndexByte(e.set, '-')+1:] }

// letThrough is how many of the foreign questions reach the default threshold. Most of those that
// it was chosen with are titles of sections, of a word or two that any text may have ("Syntax"): of
// the questions that people ask it is a third of that. letThroughVectors is that with vectors, of
// questions that people ask.
const (
	letThrough        = .16
	letThroughVectors = .05
)

// steep is the weight of byBehind, which a fit to the best passages alone cannot find. Less shows
// more passages that do not answer, and more loses right ones behind the best. byWhole has the
// weight 1, with which each word of the sample is found that is looked for alone.
const steep = 2.5

// fit fits weights by logistic regression: of the best passages of each question which one is
// right, and whether one is. Then it moves them so that letThrough of the foreign questions reach
// the default threshold.
func fit(all []example, dense bool) (w weights) {
	looked, places, through := 1, 5, letThrough
	if dense {
		looked, places = 5, 1 // which of them it is decides the order as well
		through = letThroughVectors
	}
	many := map[string]float64{}
	for _, e := range all {
		many[e.kind()]++
	}
	var rows []numbers
	var right, share []float64
	for _, e := range all {
		for i, row := range e.passages[:min(looked, len(e.passages))] {
			for _, k := range unused(dense) {
				row[k] = 0
			}
			is := 0.0
			if e.right >= i && e.right < i+places {
				is = 1
			}
			rows, right, share = append(rows, row), append(right, is), append(share, 30/many[e.kind()])
		}
	}
	for range 40 { // Newton's steps, with a little shrinking
		var slope numbers
		var curve [mostNumbers][mostNumbers]float64
		for k := range rows {
			p := probability(w.odds(&rows[k]))
			for i := range slope {
				slope[i] += share[k] * (right[k] - p) * rows[k][i]
				for j := range slope {
					curve[i][j] += share[k] * p * (1 - p) * rows[k][i] * rows[k][j]
				}
			}
		}
		for i := range slope {
			slope[i] -= .1 * w[i]
			curve[i][i] += .1
		}
		for i, step := range solve(curve, slope) {
			w[i] += step
		}
	}
	if !dense {
		w[byWhole], w[byBehind] = 1, steep
	}
	w[one] += math.Log(DefaultThreshold/(1-DefaultThreshold)) - reached(all, &w, through, many)
	return w
}

// reached returns the logarithm of the odds that a share of the foreign questions reaches.
func reached(all []example, w *weights, through float64, many map[string]float64) float64 {
	type one struct{ best, share float64 }
	var others []one
	total := 0.0
	for _, e := range all {
		if !e.foreign {
			continue
		}
		o := one{math.Inf(-1), 1 / many[e.kind()]}
		for i := range e.passages {
			o.best = max(o.best, w.odds(&e.passages[i]))
		}
		others, total = append(others, o), total+o.share
	}
	slices.SortFunc(others, func(a, b one) int { return cmp.Compare(b.best, a.best) })
	over := 0.0
	for _, o := range others {
		if over += o.share; over > through*total {
			return o.best
		}
	}
	return 0
}

// solve solves a system of equations by elimination.
func solve(a [mostNumbers][mostNumbers]float64, b numbers) numbers {
	for i := range b {
		for j := range b {
			if f := a[j][i] / a[i][i]; j != i {
				for k := range b {
					a[j][k] -= f * a[i][k]
				}
				b[j] -= f * b[i]
			}
		}
	}
	for i := range b {
		b[i] /= a[i][i]
	}
	return b
}

// rescored gives examples the scores of other weights, and their order.
func rescored(all []example, w weights) []example {
	again := slices.Clone(all)
	for n := range again {
		e := &again[n]
		at := make([]int, len(e.passages))
		odds := make([]float64, len(e.passages))
		for i := range e.passages {
			at[i], odds[i] = i, w.odds(&e.passages[i])
		}
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(odds[b], odds[a]) })
		e.scores = nil
		right := e.right
		for place, i := range at {
			if e.scores = append(e.scores, probability(odds[i])); i == right {
				e.right = place
			}
		}
	}
	return again
}

// TestPublicSets measures sets at the default threshold, where something is shown or not, and not
// by their order alone. With TOOLNORM_EVAL=write it fits the weights anew to the first half of the
// questions and prints them, and measures each language with weights that were fitted without it.
func TestPublicSets(t *testing.T) {
	texts := sets(t)
	all := ofSample(t)
	for name, text := range texts {
		all = append(all, examples(t, name, text)...)
	}
	dense := models().Embedder != nil
	names, held := map[string][]example{}, map[string]weights{}
	var first []example
	for _, e := range all {
		names[e.set] = append(names[e.set], e)
		if e.half == 0 {
			first = append(first, e)
		}
	}
	if os.Getenv("TOOLNORM_EVAL") == "write" {
		t.Logf("the weights as fitted: %.2f", fit(first, dense))
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		part := names[name]
		kept, wrong, strange, found := shares(part)
		line := fmt.Sprintf("%s: kept %.3f, false %.3f, foreign %.3f; among the first ten %.3f", name, kept, wrong, strange, found)
		if os.Getenv("TOOLNORM_EVAL") == "write" {
			language := part[0].language()
			if _, there := held[language]; !there {
				held[language] = fit(slices.DeleteFunc(slices.Clone(first), func(e example) bool { return e.language() == language }), dense)
			}
			kept, wrong, strange, _ := shares(rescored(part, held[language]))
			line += fmt.Sprintf("; fitted without the language: kept %.3f, false %.3f, foreign %.3f", kept, wrong, strange)
		}
		t.Log(line)
	}
}
