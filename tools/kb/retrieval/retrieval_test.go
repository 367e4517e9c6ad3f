package retrieval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/lexical"
	"toolnorm/internal/rerank"
	"toolnorm/internal/sleep"
	"toolnorm/tools/kb/kbstore"
)

// someone is a principal of the tenant of fill.
var someone = &auth.Principal{Subject: "u", Tenant: "acme"}

// meaning is a model whose vectors are given by the text: the counts of its words in a fixed list.
// Unlike real ones they say nothing of words outside of it.
type meaning struct {
	words []string
	err   error
	asked atomic.Int32
}

// Embed counts.
func (m *meaning) Embed(_ context.Context, texts []string) (all [][]float32, err error) {
	m.asked.Add(1)
	for _, text := range texts {
		v := make([]float32, len(m.words))
		for i, w := range m.words {
			v[i] = float32(strings.Count(text, w)) + .01
		}
		all = append(all, v)
	}
	return all, m.err
}

// vector is that of one text.
func (m *meaning) vector(text string) kbstore.Embedding {
	all, _ := m.Embed(context.Background(), []string{text})
	return kbstore.Embedding{Model: "m", Vector: all[0]}
}

// judge is a cross-encoder that scores as a function says; what has no score is left out.
type judge struct {
	score func(text string) (float64, bool)
	err   error
}

// Score asks the function.
func (j judge) Score(_ context.Context, _ string, texts []string) (all []rerank.Score, err error) {
	for i, text := range texts {
		if v, there := j.score(text); there {
			all = append(all, rerank.Score{Index: i, Value: v, Raw: v})
		}
	}
	return all, j.err
}

// find searches and gives the texts that were found.
func find(t *testing.T, b Backend, q Query) (*Result, []string) {
	t.Helper()
	r, err := b.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, f := range r.Results {
		texts = append(texts, f.Content)
	}
	if r.Count != len(r.Results) || len(r.Stages) != 7 {
		t.Errorf("count %d of %d results, %d stages", r.Count, len(r.Results), len(r.Stages))
	}
	return r, texts
}

// statuses are those of the stages in a line: "1 skipped, 2 ok, …".
func statuses(r *Result) string {
	var all []string
	for _, s := range r.Stages {
		all = append(all, s.Number+" "+s.Status)
	}
	return strings.Join(all, ", ")
}

func TestTheUseCasesOfTheSpecification(t *testing.T) {
	store := openStore(t)
	local := &Local{Store: store}
	base := fill(t, store, sample(t, "ja"))
	for query, want := range map[string]string{
		"リモートワーク手当の金額は？": "月額5,000円",
		"社員教育について":       "オンライン講座",
		"副業 許可 条件":       "月30時間以内",
	} {
		r, texts := find(t, local, Query{Text: query, Base: base.ID, Threshold: DefaultThreshold, Max: DefaultMax, Principal: someone})
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%s: no %q in %q, %s", query, want, texts, r.Hint)
		}
	}
	r, _ := find(t, local, Query{Text: "社員教育について", Base: base.ID, Threshold: DefaultThreshold, Max: DefaultMax, Principal: someone})
	var headings string
	for i, f := range r.Results {
		headings += f.Metadata.Heading
		if i > 0 && f.Score > r.Results[i-1].Score {
			t.Errorf("%v stands below %v", f.Score, r.Results[i-1].Score)
		}
	}
	for _, want := range []string{"研修", "キャリアパス", "スキル開発"} {
		if !strings.Contains(headings, want) {
			t.Errorf("no %s in %s", want, headings)
		}
	}
}

func TestWithoutModelsTheStagesSaySo(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, sample(t, "ja"))
	r, _ := find(t, &Local{Store: store}, Query{Text: "副業の申請方法は？", Base: base.ID, Threshold: .6, Max: 1, Principal: someone})
	if got, want := statuses(r), "1 skipped, 2 ok, 3A ok, 3B skipped, 4 ok, 5 ok, 6 skipped"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m := r.Results[0].Metadata
	if m.Dense != nil || m.CrossEncoder != nil || m.Sparse == nil || m.BM25 == nil || m.RRF == nil || *m.RRF != 1 {
		t.Errorf("%+v: a stage that did not run has no score, the best of one ranking is 1", m)
	}
	if r.ScoreSource != "bm25" || r.Message != "" || r.Stages[3].Reason != "no embedder" || r.Stages[6].Reason != "no reranker" {
		t.Errorf("%+v", r)
	}
	if m.Index != 1 || m.Chunk == "" || m.Document == "" || m.Collection == "" || m.Heading != "副業規程 > 副業の申請方法" {
		t.Errorf("%+v", m)
	}
}

func TestNothingFoundSaysWhy(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, sample(t, "ja"))
	local := &Local{Store: store}
	r, _ := find(t, local, Query{Text: "zebra", Base: base.ID, Threshold: .6, Max: 10, Principal: someone})
	if r.Message != "No results found" || r.Hint != "no match" || r.Results == nil || r.ScoreSource != "" {
		t.Errorf("%+v", r)
	}
	r, _ = find(t, local, Query{Text: "副業の宇宙旅行の資格", Base: base.ID, Threshold: .9, Max: 10, Principal: someone})
	if r.Message != "No results found" || !strings.HasPrefix(r.Hint, "threshold too high: the closest passage is ") {
		t.Errorf("%+v", r)
	}
}

// pair is a base of two passages in the words of m, and one without a vector.
func pair(t *testing.T, store *kbstore.Store, m *meaning) kbstore.Base {
	texts := []string{"alpha beta beta", "gamma delta", "alpha of no vector"}
	var chunks []kbstore.Chunk
	for i, text := range texts {
		c := kbstore.Chunk{Text: text}
		if i < 2 {
			c.Embedding = m.vector(text)
		}
		chunks = append(chunks, c)
	}
	return fill(t, store, map[string][]kbstore.Chunk{"a": chunks})
}

func TestVectorsFindWhatWordsDoNot(t *testing.T) {
	store, m := openStore(t), &meaning{words: []string{"alpha", "gamma"}}
	base := pair(t, store, m)
	q := Query{Text: "gamma", Base: base.ID, Threshold: .6, Max: 10, Principal: someone}
	r, texts := find(t, &Local{Store: store, Embedder: m, Model: "m"}, q)
	if len(texts) != 1 || texts[0] != "gamma delta" || r.ScoreSource != "dense" || *r.Results[0].Metadata.Dense != r.Results[0].Score {
		t.Errorf("%+v", r)
	}
	if got, want := statuses(r), "1 skipped, 2 ok, 3A ok, 3B ok, 4 ok, 5 ok, 6 skipped"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A passage without a vector keeps the score of its words, and says so.
	q.Text, q.Threshold = "alpha", 0
	r, _ = find(t, &Local{Store: store, Embedder: m, Model: "m"}, q)
	for _, f := range r.Results {
		if (f.Content == "alpha of no vector") != (f.Metadata.Source == "bm25") || (f.Metadata.Source == "bm25") != (f.Metadata.Dense == nil) {
			t.Errorf("%+v", f)
		}
	}
}

func TestABrokenModelIsToldAndDoneWithout(t *testing.T) {
	store, m := openStore(t), &meaning{words: []string{"alpha", "gamma"}}
	base := pair(t, store, m)
	q := Query{Text: "gamma", Base: base.ID, Threshold: .5, Max: 10, Principal: someone}
	broken := &meaning{words: m.words, err: errors.New("embed with m: connection refused")}
	for _, c := range []struct {
		local *Local
		want  string
	}{
		{&Local{Store: store, Embedder: broken, Model: "m"}, "embed with m: connection refused"},
		{&Local{Store: store, Embedder: m, Model: "other"}, "the passages' vectors are of m, and the query's of other; import them again"},
		{&Local{Store: store, Embedder: &meaning{words: []string{"alpha"}}, Model: "m"}, "the passages' vectors have 2 dimensions, and the query's 1"},
	} {
		r, texts := find(t, c.local, q)
		if r.Stages[3].Status != failed || r.Stages[3].Reason != c.want || r.ScoreSource != "bm25" || len(texts) != 1 {
			t.Errorf("%q, %+v", texts, r.Stages[3])
		}
	}
	r, texts := find(t, &Local{Store: store, Reranker: judge{func(string) (float64, bool) { return .9, true }, errors.New("rerank: no answer within 2s")}}, q)
	if r.Stages[6].Status != failed || r.Stages[6].Reason != "rerank: no answer within 2s" || len(texts) != 1 || r.Results[0].Metadata.CrossEncoder != nil {
		t.Errorf("%q, %+v", texts, r.Stages[6])
	}
}

// TestAnIndexIsBuiltThoughItsSearchIsOver has a search that ends at once, and holds that the index
// is there for the next.
func TestAnIndexIsBuiltThoughItsSearchIsOver(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, sample(t, "en"))
	base, err := store.Readable(t.Context(), someone, base.ID) // with its version
	if err != nil {
		t.Fatal(err)
	}
	l := &Local{Store: store}
	defer l.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if i, err := l.indexes.get(over, l, base, true); err == nil {
		i.mu.RUnlock() // it was faster
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		i := l.indexes.byBase[base.ID]
		i.mu.RLock()
		version := i.version
		i.mu.RUnlock()
		if version == base.Version {
			return
		}
	}
	t.Error("the index was given up")
}

// cold is an embedder that loads its model first, and begins again when nobody waits for it.
type cold struct {
	meaning
	load   time.Duration
	loaded atomic.Bool
	ended  atomic.Int32 // loads that were given up
}

// Embed loads the model, if it is not there.
func (c *cold) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if !c.loaded.Load() {
		if !sleep.For(ctx, c.load) {
			c.ended.Add(1)
			return nil, ctx.Err()
		}
		c.loaded.Store(true)
	}
	return c.meaning.Embed(ctx, texts)
}

// TestAModelThatLoadsIsNotGivenUp searches while a model loads for longer than a search waits: the
// searches have no vector, the load is not ended, and a later search has one.
func TestAModelThatLoadsIsNotGivenUp(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, map[string][]kbstore.Chunk{"a": {{Text: "alpha", Embedding: kbstore.Embedding{Model: "m", Vector: []float32{1}}}}})
	c := &cold{meaning: meaning{words: []string{"alpha"}}, load: embeddingTime + time.Second}
	l := &Local{Store: store, Embedder: c, Model: "m"}
	defer l.Close()
	q := Query{Text: "alpha", Base: base.ID, Max: 10, Principal: someone}
	r, _ := find(t, l, q)
	if r.Stages[3].Status != failed || !strings.Contains(r.Stages[3].Reason, "may be loading") {
		t.Errorf("while it loads: %+v", r.Stages[3])
	}
	for end := time.Now().Add(10 * time.Second); !c.loaded.Load() && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	if r, _ := find(t, l, q); r.Stages[3].Status != ok || c.ended.Load() != 0 {
		t.Errorf("when it is loaded: %+v, %d loads were given up", r.Stages[3], c.ended.Load())
	}
}

func TestTheCrossEncoderDecides(t *testing.T) {
	store := openStore(t)
	var chunks []kbstore.Chunk
	for i := range 5 {
		chunks = append(chunks, kbstore.Chunk{Heading: "Leave", Text: strings.Repeat("word ", 5-i) + fmt.Sprint("n", i)})
	}
	base := fill(t, store, map[string][]kbstore.Chunk{"a": chunks})
	scores := map[string]float64{"n4": .92, "n1": .7, "n0": .1}
	j := judge{score: func(text string) (float64, bool) {
		if !strings.Contains(text, "Leave\nword ") {
			t.Errorf("the model gets %q without what stands above it", text)
		}
		v, there := scores[text[len(text)-2:]]
		return v, there
	}}
	r, texts := find(t, &Local{Store: store, Reranker: j}, Query{Text: "word", Base: base.ID, Max: 10, Principal: someone})
	var order []string
	for _, text := range texts {
		order = append(order, text[len(text)-2:])
	}
	// n2 and n3 have no score: they stay behind the others, in the order of stage 5.
	if got, want := strings.Join(order, " "), "n4 n1 n0 n2 n3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	first, last := r.Results[0], r.Results[4]
	if r.ScoreSource != "cross_encoder" || first.Score != .92 || *first.Metadata.CrossEncoder != .92 || last.Metadata.CrossEncoder != nil || last.Score > .1 || last.Metadata.Source != "bm25" {
		t.Errorf("%+v\n%+v", first, last)
	}
	if r, texts = find(t, &Local{Store: store, Reranker: j}, Query{Text: "word", Base: base.ID, Threshold: .6, Max: 1, Principal: someone}); len(texts) != 1 || r.Results[0].Score != .92 {
		t.Errorf("the threshold, and then the number: %q", texts)
	}
}

func TestWhoMayNotLookIsTold(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, sample(t, "en"))
	m := &meaning{words: []string{"a"}}
	local := &Local{Store: store, Embedder: m, Model: "m"}
	const unknown = "00000000-0000-4000-8000-000000000000"
	for _, c := range []struct {
		base string
		who  *auth.Principal
		want error
	}{
		{base.ID, nil, ErrUnauthenticated},
		{unknown, nil, ErrUnauthenticated},
		{unknown, someone, kbstore.ErrNotFound},
		{base.ID, &auth.Principal{Tenant: "other"}, kbstore.ErrDenied},
		{base.ID, &auth.Principal{Tenant: "acme", Bases: []string{}}, kbstore.ErrDenied},
	} {
		if r, err := local.Search(t.Context(), Query{Text: "leave", Base: c.base, Max: 10, Principal: c.who}); r != nil || !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	if m.asked.Load() != 0 {
		t.Error("the model was told the question of somebody who may not ask")
	}
	_ = store.Close()
	if r, err := local.Search(t.Context(), Query{Text: "leave", Base: base.ID, Max: 10, Principal: someone}); r != nil || !errors.Is(err, ErrUnavailable) {
		t.Errorf("the store is gone: %v", err)
	}
}

func TestAChangeIsSeenByTheNextSearch(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, map[string][]kbstore.Chunk{"a": {{Text: "first words"}}, "b": {{Text: "second words"}}})
	local := &Local{Store: store}
	search := func(who *auth.Principal) string {
		_, texts := find(t, local, Query{Text: "words", Base: base.ID, Max: 10, Principal: who})
		slices.Sort(texts)
		return strings.Join(texts, ", ")
	}
	if got := search(someone); got != "first words, second words" {
		t.Errorf("got %s", got)
	}
	changes, err := store.Changes(t.Context(), base.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := changes.Documents[0]
	d.Access = kbstore.Access{Tenant: "acme", Public: true, Clearance: 2}
	if err := store.Put(t.Context(), base.ID, &d, []kbstore.Chunk{{Text: "secret words"}, {Text: "more words"}}); err != nil {
		t.Fatal(err)
	}
	if got := search(someone); got != "second words" {
		t.Errorf("after its rights and text changed: %s", got)
	}
	if got := search(auth.Local()); got != "more words, second words, secret words" {
		t.Errorf("who may see it: %s", got)
	}
	if err := store.Remove(t.Context(), base.ID, d.ID); err != nil {
		t.Fatal(err)
	}
	if got := search(auth.Local()); got != "second words" {
		t.Errorf("after it went: %s", got)
	}
}

func TestABaseOfTheSameIDIsAnother(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, map[string][]kbstore.Chunk{"a": {{Text: "first words"}}, "b": {{Text: "second words"}}})
	local := &Local{Store: store}
	q := Query{Text: "words", Base: base.ID, Max: 10, Principal: someone}
	find(t, local, q)
	if err := store.Delete(t.Context(), base.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(t.Context(), kbstore.Base{ID: base.ID, Name: "again", Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	if _, texts := find(t, local, q); len(texts) != 0 {
		t.Errorf("what was deleted is found: %q", texts)
	}
	if err := store.Delete(t.Context(), base.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Search(t.Context(), q); !errors.Is(err, kbstore.ErrNotFound) || len(local.indexes.byBase) != 0 {
		t.Errorf("%v, %d indexes are left", err, len(local.indexes.byBase))
	}
}

func TestAnEndlessQueryIsCut(t *testing.T) {
	store := openStore(t)
	base := fill(t, store, sample(t, "ja"))
	text := "副業の申請方法は？" + strings.Repeat("絶対無い", 5000)
	r, _ := find(t, &Local{Store: store}, Query{Text: text, Base: base.ID, Max: 1, Principal: someone})
	if r.Stages[2].Reason != "the first 1000 characters of the query were looked for" || r.Query != text || r.Count != 1 {
		t.Errorf("%+v", r.Stages[2])
	}
	if _, texts := find(t, &Local{Store: store}, Query{Base: base.ID, Max: 1, Principal: someone}); len(texts) != 0 {
		t.Errorf("an empty query finds %q", texts)
	}
}

// TestSearchesAndImportsAtOnce is for the race detector.
func TestSearchesAndImportsAtOnce(t *testing.T) {
	store := openStore(t)
	w := newWorld(t, store, rand.New(rand.NewPCG(1, 1)), 10)
	local := &Local{Store: store, Embedder: w.model, Model: "m"}
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(n)))
			for range 50 {
				if _, err := local.Search(t.Context(), Query{Text: scrap(r), Base: w.base.ID, Max: 5, Principal: auth.Local()}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 30 {
		w.put(t, r, r.IntN(10))
	}
	wait.Wait()
}

func TestSummariesNarrowOnlyWhereOneStandsOut(t *testing.T) {
	store := openStore(t)
	documents := map[string][]kbstore.Chunk{}
	for i := range 80 {
		documents[fmt.Sprintf("d%02d", i)] = []kbstore.Chunk{{Heading: fmt.Sprintf("Topic%d", i), Text: fmt.Sprintf("shared words of number%d", i)}}
	}
	base := fill(t, store, documents)
	local := &Local{Store: store}
	r, texts := find(t, local, Query{Text: "topic7", Base: base.ID, Max: 50, Principal: someone})
	if s := r.Stages[0]; s.Status != ok || s.In != 80 || s.Out != keptDocuments || len(texts) != 1 {
		t.Errorf("one title says it all: %+v, %q", s, texts)
	}
	r, texts = find(t, local, Query{Text: "number66 shared", Base: base.ID, Max: 50, Principal: someone})
	if s := r.Stages[0]; s.Status != skipped || s.Out != 80 || !strings.Contains(texts[0], "number66") {
		t.Errorf("no title says it: %+v, %q", s, texts)
	}
	m := &meaning{words: []string{"Topic7 ", "shared"}}
	if r, _ = find(t, &Local{Store: store, Embedder: m, Model: "m"}, Query{Text: "topic7", Base: base.ID, Max: 50, Principal: someone}); r.Stages[0].Out != keptDocuments {
		t.Errorf("without vectors of summaries their words: %+v", r.Stages[0])
	}
}

func TestVectorsOfANewModelTakeThePlaceOfTheOld(t *testing.T) {
	store, m := openStore(t), &meaning{words: []string{"alpha", "gamma"}}
	base := pair(t, store, m)
	local := &Local{Store: store, Embedder: m, Model: "new"}
	q := Query{Text: "gamma", Base: base.ID, Max: 10, Principal: someone}
	if r, _ := find(t, local, q); r.Stages[3].Status != failed {
		t.Errorf("%+v", r.Stages[3])
	}
	changes, err := store.Changes(t.Context(), base.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := m.vector("gamma")
	e.Model = "new"
	if err := store.Put(t.Context(), base.ID, &changes.Documents[0], []kbstore.Chunk{{Text: "of gamma", Embedding: e}}); err != nil {
		t.Fatal(err)
	}
	if r, _ := find(t, local, q); r.Stages[3].Status != ok || r.Stages[3].Out != 1 {
		t.Errorf("after the import: %+v", r.Stages[3])
	}
}

func TestManyVectorsAreKeptAsBytes(t *testing.T) {
	store, m := openStore(t), &meaning{words: []string{"alpha", "beta", "gamma", "delta"}}
	documents := map[string][]kbstore.Chunk{}
	for i := range 40 {
		text := strings.Repeat("alpha ", i%7) + strings.Repeat("beta ", i%5) + strings.Repeat("gamma ", i%3) + fmt.Sprint("delta n", i)
		documents[fmt.Sprint(i)] = []kbstore.Chunk{{Text: text, Embedding: m.vector(text)}}
	}
	base := fill(t, store, documents)
	exact, small := &Local{Store: store, Embedder: m, Model: "m"}, &Local{Store: store, Embedder: m, Model: "m", Small: 10}
	for _, text := range []string{"alpha", "beta gamma", "alpha delta delta"} {
		q := Query{Text: text, Base: base.ID, Max: 5, Principal: someone}
		a, _ := find(t, exact, q)
		b, _ := find(t, small, q)
		if got, want := fmt.Sprint(scoresOf(b)), fmt.Sprint(scoresOf(a)); got != want || len(b.Results) != 5 {
			t.Errorf("%s: as bytes %s, exact %s", text, got, want)
		}
	}
	if small.indexes.byBase[base.ID].vectors.small == nil || exact.indexes.byBase[base.ID].vectors.small != nil {
		t.Error("which is kept as bytes is decided otherwise")
	}
}

// scoresOf are the scores of a result.
func scoresOf(r *Result) (all []float64) {
	for _, f := range r.Results {
		all = append(all, f.Score, *f.Metadata.Dense)
	}
	return all
}

func TestNearestSummariesAreKept(t *testing.T) {
	i := (&Local{Model: "m"}).index(kbstore.Base{})
	for n := range 60 {
		v := []float32{0, 1}
		if n%2 == 0 {
			v = []float32{1, float32(n) / 1000}
		}
		i.put(document{Document: kbstore.Document{ID: fmt.Sprint(n), Embedding: kbstore.Embedding{Model: "m", Vector: v}}, there: true})
	}
	i.put(document{Document: kbstore.Document{ID: "without"}, there: true})
	i.vectors.set(0, kbstore.Embedding{Model: "m", Vector: []float32{1, 0}})
	i.mu.RLock()
	m := i.open(kbstore.FilterOf(auth.Local()))
	defer m.close()
	n, err := m.narrow(t.Context(), "x", []float32{1, 0})
	if err != nil || n != keptDocuments+1 || !m.may[0] || !m.may[58] || !m.may[60] {
		t.Errorf("%d, %v", n, err)
	}
}

func TestScoresStayWithinTheirRange(t *testing.T) {
	for _, f := range []lexical.Features{{}, {Ideal: 1, Coverage: 1, Longest: 1, Known: 1}} {
		for _, key := range []float64{0, 2} {
			p := &passage{features: f, key: key}
			count([]*passage{p}, background{})
			if w := probability(ofWords.odds(&p.numbers)); !(w > 0 && w < 1) {
				t.Errorf("%+v with %v scores %v", f, key, w)
			}
		}
	}
	if *value(1.5) != 1 || *value(-1) != 0 || *value(.123456) != .1235 || math.Signbit(*value(0)) {
		t.Error("value leaves [0,1]")
	}
}

func TestNoTermOfTwoCharactersIsWithoutAHit(t *testing.T) {
	store := openStore(t)
	local := &Local{Store: store}
	for _, language := range []string{"ja", "ko"} {
		documents := sample(t, language)
		base := fill(t, store, documents)
		terms := map[string]bool{}
		for _, chunks := range documents {
			for _, c := range chunks {
				for _, token := range lexical.Tokens(c.Text) {
					if r := []rune(token); len(r) == 2 && r[0] > 0x2E80 {
						terms[token] = true
					}
				}
			}
		}
		n := 0
		for term := range terms {
			if n++; testing.Short() && n > 200 {
				break
			}
			if r, texts := find(t, local, Query{Text: term, Base: base.ID, Threshold: DefaultThreshold, Max: 1, Principal: someone}); len(texts) == 0 {
				t.Errorf("%s finds nothing: %s", term, r.Hint)
			}
		}
		t.Logf("%s: %d terms", language, n)
	}
}

// TestOnlyWhatIsComparedOrShownIsRead searches for a word that 120 documents have: a hundred
// passages have scores, and only those have their texts that are compared or may be shown.
func TestOnlyWhatIsComparedOrShownIsRead(t *testing.T) {
	store, documents := openStore(t), map[string][]kbstore.Chunk{}
	for i := range 120 {
		documents[fmt.Sprint(i)] = []kbstore.Chunk{{Text: fmt.Sprint("word ", i)}}
	}
	q := Query{Text: "word", Base: fill(t, store, documents).ID, Max: 10, Principal: someone}
	all := judge{func(string) (float64, bool) { return .9, true }, nil}
	for _, x := range []struct {
		most, want int
		reranker   Reranker
	}{{10, compared, nil}, {70, 70, nil}, {10, mostReranked, all}} {
		q.Max = x.most
		s, err := (&Local{Store: store, Reranker: x.reranker}).search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		texts := 0
		for _, p := range s.passages {
			if p.text != "" {
				texts++
			}
		}
		if len(s.passages) != mostReranked || texts != x.want || s.result().Count != x.most {
			t.Errorf("%d of %d passages are read and %d shown, want %d and %d", texts, len(s.passages), s.result().Count, x.want, x.most)
		}
	}
}
