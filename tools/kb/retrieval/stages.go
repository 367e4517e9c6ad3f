package retrieval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// How many passages the stages pass on, by the specification; and from how many documents on
// summaries choose among them.
const (
	mostSparse    = 500
	mostDense     = 500
	mostReranked  = 100
	fewDocuments  = 5
	keptDocuments = 50
)

// search is one on its way through the stages.
type search struct {
	Query
	asked     string // the text to look for, or its beginning
	local     *Local
	vector    []float32     // the query's
	noVector  error         // why there is none
	embedding time.Duration // how long it took
	opening   time.Duration // how long it took to read the changes, and to apply the filter

	view    view
	reports map[string]*Report

	sparse, dense []*passage
	passages      []*passage // the passages that are left, in the order of the last stage that ran
	source        string     // of the scores
}

// passage is a passage that was found.
type passage struct {
	Metadata
	text   string
	row    int // in the view
	score  float64
	source string

	features lexical.Features // what stage 5 saw
	words    words
	numbers  numbers // the parts of the score
	key      float64 // what it ordered by
}

// view is what one principal may see of one base while a search runs. Nothing else of the base is
// reached through it.
type view interface {
	documents() (allowed, all int)
	// narrow keeps the documents whose summaries can matter, and returns their number.
	narrow(ctx context.Context, query string, vector []float32) (int, error)
	words(ctx context.Context, query string, n int) ([]*passage, error)
	nearest(ctx context.Context, vector []float32, n int) ([]*passage, error)
	// compare sets the cosines of passages that were found by words; those without a vector have
	// none.
	compare(ctx context.Context, all []*passage, vector []float32) error
	// features looks at passages, and gives them their words.
	features(query string, all []*passage) ([]lexical.Features, error)
	// load reads what is shown of passages, as far as it is not there yet, and drops those that are
	// not to be seen any more.
	load(ctx context.Context, all []*passage) ([]*passage, error)
	close()
}

// stage is one step of a search. An error is why it did not do its work; of the rights it ends the
// search, of any other it is told in the report.
type stage struct {
	number, name string
	run          func(*search, context.Context, *Report) error
}

// rights is the stage without which nothing else may run.
var rights = stage{"2", "metadata_filter", (*search).rights}

// stages are the others, in the order in which they run. numbered is the order in which they are
// reported.
var (
	stages = []stage{
		{"1", "atlas", (*search).summaries},
		{"3A", "sparse", (*search).words},
		{"3B", "dense", (*search).vectors},
		{"4", "rrf", (*search).merge},
		{"5", "bm25_rerank", (*search).closer},
		{"6", "cross_encoder", (*search).model},
	}
	numbered = []string{"1", "2", "3A", "3B", "4", "5", "6"}
)

// skip is an error that says why a stage is not needed, or cannot be run with what is set.
type skip string

// Error returns the reason.
func (s skip) Error() string { return string(s) }

// run runs the stages over what may be seen of a base. An optional stage that fails costs a search
// its help and nothing more; without the rights, or without the words that every other stage builds
// on, there is no search.
//
// whole says that all is to be read at one moment, which costs PostgreSQL two round trips. Without
// it the search may have to run again: kbstore.ErrStale.
func (s *search) run(ctx context.Context, base kbstore.Base, whole bool) error {
	var err error
	began := time.Now()
	s.reports = map[string]*Report{}
	f := kbstore.FilterOf(s.Principal)
	if s.view, err = s.local.open(ctx, base, f, s.asked, whole); err != nil {
		return err
	}
	s.opening = time.Since(began)
	defer s.view.close()
	if err := s.step(ctx, rights); err != nil {
		return err
	}
	for _, stage := range stages {
		var why skip
		report := func(status, reason string) {
			s.reports[stage.number].Status, s.reports[stage.number].Reason = status, reason
		}
		switch err := s.step(ctx, stage); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &why):
			report(skipped, why.Error())
		case err != nil && stage.number == "3A", errors.Is(err, kbstore.ErrStale):
			return err // nothing can replace the store itself
		case err != nil:
			report(failed, err.Error())
		}
	}
	return nil
}

// step runs one stage and reports its time. The report is there before the stage runs, since later
// stages look at what came out of earlier ones.
func (s *search) step(ctx context.Context, stage stage) error {
	r := &Report{Number: stage.number, Name: stage.name, Status: ok}
	s.reports[stage.number] = r
	began := time.Now()
	err := stage.run(s, ctx, r)
	r.MS = float64((time.Since(began) + r.waited(s)).Microseconds()) / 1000
	return err
}

// waited returns the time that a stage took before it ran. Without it the slowest part of a search
// would be in no stage's time: the vector is requested before the index is held, and the rights are
// checked as the view is opened.
func (r *Report) waited(s *search) time.Duration {
	switch r.Number {
	case "2":
		return s.opening
	case "3B":
		return s.embedding
	}
	return 0
}

// rights runs stage 2. The view was opened with the principal's filter and has nothing else, so
// rights only counts. The number of documents that the principal may not see is shown only to an
// administrator, who sees all: a number that grows when somebody else's folder is imported would
// reveal the import.
func (s *search) rights(_ context.Context, r *Report) error {
	r.Out, r.In = s.view.documents()
	if !s.Principal.Admin {
		r.In = r.Out
	}
	return nil
}

// summaries runs stage 1. It must not lose what the later stages would find, so it does nothing
// where it would save nothing. Where there are many documents, it leaves out those whose summaries
// have nothing to do with the query.
func (s *search) summaries(ctx context.Context, r *Report) (err error) {
	n, _ := s.view.documents()
	r.In, r.Out = n, n
	switch {
	case n < fewDocuments:
		return skip(fmt.Sprintf("fewer than %d documents", fewDocuments))
	case n <= keptDocuments:
		return skip(fmt.Sprintf("all are kept up to %d documents", keptDocuments))
	}
	r.Out, err = s.view.narrow(ctx, s.asked, s.vector)
	return err
}

// words runs stage 3A. A right passage that is neither among its 500 nor among those of 3B is lost:
// no later stage brings passages in.
func (s *search) words(ctx context.Context, r *Report) (err error) {
	s.sparse, err = s.view.words(ctx, s.asked, mostSparse)
	if s.asked != s.Text {
		r.Reason = fmt.Sprintf("the first %d characters of the query were looked for", longestQuery)
	}
	r.In, r.Out = s.reports["1"].Out, len(s.sparse)
	return err
}

// vectors runs stage 3B. Passages that words found are compared as well, or they would have no
// score to compare with others.
func (s *search) vectors(ctx context.Context, r *Report) (err error) {
	r.In = s.reports["1"].Out
	if s.noVector != nil {
		return s.noVector
	}
	if s.dense, err = s.view.nearest(ctx, s.vector, mostDense); err != nil {
		return err
	}
	r.Out = len(s.dense)
	return s.view.compare(ctx, s.sparse, s.vector)
}

// merge runs stage 4: it merges what both found, by reciprocal ranks. A single ranking keeps its
// order.
func (s *search) merge(_ context.Context, r *Report) error {
	at := map[string]int{}
	var all []*passage
	var rankings [][]int
	for _, found := range [][]*passage{s.sparse, s.dense} {
		if found == nil {
			continue // the stage did not run: the best of the other one is the best there can be
		}
		var ranking []int
		for k, p := range found {
			i, there := at[p.Chunk]
			if !there {
				i = len(all)
				at[p.Chunk], all = i, append(all, p)
			}
			all[i].Dense = cmp.Or(all[i].Dense, p.Dense)
			found[k] = all[i] // one passage, whichever found it
			ranking = append(ranking, i)
		}
		rankings = append(rankings, ranking)
	}
	r.In = len(s.sparse) + len(s.dense)
	s.passages = nil
	for _, hit := range lexical.FuseScores(rankings...) {
		all[hit.Row].RRF = value(hit.Score)
		s.passages = append(s.passages, all[hit.Row])
	}
	r.Out = len(s.passages)
	return nil
}

// closer runs stage 5: it looks at where and how the words occur, which 3A does not, and gives each
// passage its score. If words alone were compared, that keeps their order. Where vectors were
// compared the score is the order, so that a passage in other words is not lost here.
func (s *search) closer(ctx context.Context, r *Report) error {
	r.In = len(s.passages)
	features, err := s.view.features(s.asked, s.passages)
	if err != nil {
		return err
	}
	for i, f := range features {
		p := s.passages[i]
		p.BM25, p.features = value(f.Ideal), f
		p.key = order(p, f)
	}
	byKey := func(a, b *passage) int { return cmp.Compare(b.key, a.key) }
	slices.SortStableFunc(s.passages, byKey)
	w, near := &ofWords, background{}
	if s.dense == nil {
		s.passages = s.passages[:min(len(s.passages), mostReranked)]
	}
	if s.passages, err = s.view.load(ctx, s.passages); err != nil {
		return err
	}
	if s.dense != nil {
		w, near = &ofVectors, backgroundOf(s.dense)
	}
	count(s.passages, near)
	for _, p := range s.passages {
		p.score, p.source = probability(w.odds(&p.numbers)), "bm25"
		if s.dense != nil {
			p.key = p.score
		}
		if s.dense != nil && p.Dense != nil {
			p.source = "dense"
		}
	}
	if s.dense != nil {
		slices.SortStableFunc(s.passages, byKey)
	}
	s.passages = s.passages[:min(len(s.passages), mostReranked)]
	if len(s.passages) > 0 {
		s.source = s.passages[0].source
	}
	r.Out = len(s.passages)
	return nil
}

// model runs stage 6. It lets the index go before it waits for the model. Passages that the model
// left out stay after those that it scored, in the order of stage 5, and never score higher.
func (s *search) model(ctx context.Context, r *Report) error {
	r.In, r.Out = len(s.passages), len(s.passages)
	s.view.close()
	switch {
	case s.local.Reranker == nil:
		return skip("no reranker")
	case len(s.passages) == 0:
		return skip("no passages")
	}
	texts := make([]string, len(s.passages))
	for i, p := range s.passages {
		texts[i] = p.whole()
	}
	scores, err := s.local.Reranker.Score(ctx, s.asked, texts)
	if err != nil {
		return err
	}
	lowest := 1.0
	for _, score := range scores {
		p := s.passages[score.Index]
		p.CrossEncoder, p.score, p.source = value(score.Value), score.Value, "cross_encoder"
		lowest = min(lowest, score.Value)
	}
	for _, p := range s.passages {
		if p.CrossEncoder == nil {
			p.score = min(p.score, lowest)
		}
	}
	s.source = "cross_encoder"
	slices.SortStableFunc(s.passages, func(a, b *passage) int {
		return cmp.Or(-cmp.Compare(scored(a), scored(b)), cmp.Compare(b.score, a.score))
	})
	return nil
}

// whole returns a passage below its title and headings, as its vector is made of it: "20 days" says
// something below "Leave" alone.
func (p *passage) whole() string {
	return strings.Join(slices.DeleteFunc([]string{p.Title, p.Heading, p.text},
		func(s string) bool { return s == "" }), "\n")
}

// scored returns 1 for passages that the model scored, and 0 for others. The sort is stable, and
// scores of different sources are not compared: the other passages keep their order, whatever their
// scores.
func scored(p *passage) int {
	if p.CrossEncoder != nil {
		return 1
	}
	return 0
}
