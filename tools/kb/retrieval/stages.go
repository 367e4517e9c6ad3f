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

// How many passages the stages pass on, according to the specification. fewDocuments and
// keptDocuments say for how many documents stage 1 is not needed.
const (
	mostSparse    = 500
	mostDense     = 500
	mostReranked  = 100
	fewDocuments  = 5
	keptDocuments = 50
	compared      = 5 * behind // stage 5 compares these with each other
)

// search is a search that runs through the stages.
type search struct {
	Query
	asked     string // the text of the query, or its beginning
	local     *Local
	vector    []float32     // the query's vector
	noVector  error         // why there is no vector
	embedding time.Duration // how long the request for the vector took
	opening   time.Duration // how long reading the changes and applying the filter took

	view    view
	reports map[string]*Report

	sparse, dense []*passage
	passages      []*passage // the remaining passages, in the order of the last stage that ran
	source        string     // the source of the scores
}

// passage is a passage that was found.
type passage struct {
	Metadata
	text   string
	row    int // its row in the view
	score  float64
	source string

	features lexical.Features // the results of stage 5
	words    words
	numbers  numbers // the parts of the score
	key      float64 // the value by which stage 5 orders
}

// A view is what the caller of one search may see of a knowledge base. The search reads the base
// only through its view.
type view interface {
	// documents returns how many documents may be searched, and how many the base has.
	documents() (allowed, all int)
	// narrow leaves out documents whose summaries are irrelevant, and returns how many remain. It
	// returns a skip error if it cannot leave any out.
	narrow(ctx context.Context, query string, vector []float32) (int, error)
	// words returns the n passages that match the query's words best.
	words(ctx context.Context, query string, n int) ([]*passage, error)
	// nearest returns the n passages whose vectors are nearest.
	nearest(ctx context.Context, vector []float32, n int) ([]*passage, error)
	// compare sets the cosines of passages that words have found. Passages without a vector get
	// none.
	compare(ctx context.Context, all []*passage, vector []float32) error
	// features returns how the query's words occur in passages, and sets the passages' words.
	features(query string, all []*passage) ([]lexical.Features, error)
	// load reads the texts of passages that do not have them yet, and drops passages that may not
	// be seen any more.
	load(ctx context.Context, all []*passage) ([]*passage, error)
	// close releases the view. It may be called twice.
	close()
}

// stage is one stage of a search. An error of run says why the stage did not work. An error of
// stage 2, which checks the rights, ends the search. An error of another stage is shown in the
// report.
type stage struct {
	number, name string
	run          func(*search, context.Context, *Report) error
}

// rights is stage 2, without which no other stage may run.
var rights = stage{"2", "metadata_filter", (*search).rights}

// stages are the other stages, in the order in which they run. numbered is the order in which they
// are reported.
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

// skip is an error that says why a stage is not needed, or cannot run with the current
// configuration.
type skip string

// Error implements error. It returns the reason.
func (s skip) Error() string { return string(s) }

// run opens the view of a base and runs the stages. If an optional stage fails, the search
// continues without it. If the check of the rights or the search by words fails, run returns the
// error, because every other stage needs them.
//
// If whole is true, everything is read in one transaction, which costs PostgreSQL two round trips.
// If it is false and the data changes meanwhile, the error is kbstore.ErrStale, and the caller has
// to run the search again.
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

// step runs one stage, measures its time and returns its error. The report is stored before the
// stage runs, since later stages read the reports of earlier ones.
func (s *search) step(ctx context.Context, stage stage) error {
	r := &Report{Number: stage.number, Name: stage.name, Status: ok}
	s.reports[stage.number] = r
	began := time.Now()
	err := stage.run(s, ctx, r)
	r.MS = float64((time.Since(began) + r.waited(s)).Microseconds()) / 1000
	return err
}

// waited returns the time that was spent on a stage before it was run, which is 0 for most stages.
// The rights are checked when the view is opened, and the query's vector is requested even earlier.
// Without waited, the report would lack this time, which is often the longest.
func (r *Report) waited(s *search) time.Duration {
	switch r.Number {
	case "2":
		return s.opening
	case "3B":
		return s.embedding
	}
	return 0
}

// rights runs stage 2, the check of the access rights. The view was opened with the principal's
// filter, so rights only counts documents. Only an administrator, who sees everything, is shown the
// number of all documents: a number that grows when somebody else's folder is imported would reveal
// the import. It never returns an error.
func (s *search) rights(_ context.Context, r *Report) error {
	r.Out, r.In = s.view.documents()
	if !s.Principal.Admin {
		r.In = r.Out
	}
	return nil
}

// summaries runs stage 1 of the search. It leaves out documents whose summaries have nothing to do
// with the query. If there are only few documents, it returns a skip error and leaves out none,
// since it must not lose what later stages would find.
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

// words runs stage 3A, which finds the best 500 passages by words. A relevant passage that neither
// this stage nor the search by vectors finds is lost, because no later stage adds passages. It
// returns an error if the index cannot be read.
func (s *search) words(ctx context.Context, r *Report) (err error) {
	s.sparse, err = s.view.words(ctx, s.asked, mostSparse)
	if s.asked != s.Text {
		r.Reason = fmt.Sprintf("the first %d characters of the query were looked for", longestQuery)
	}
	r.In, r.Out = s.reports["1"].Out, len(s.sparse)
	return err
}

// vectors runs stage 3B, which finds passages by vectors. It also compares the vectors of the
// passages that the search by words has found, since these would otherwise have no comparable
// score. It returns an error if there is no vector of the query or the vectors cannot be compared.
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

// merge runs stage 4: it merges the ranking by words and the ranking by vectors, by reciprocal
// ranks. A single ranking keeps its order. It never returns an error.
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

// closer runs stage 5: it looks at where and how the query's words occur in each passage, and gives
// the passage its score. If vectors were compared, passages are ordered by this score, so that a
// passage with other words than the query keeps its chance. Otherwise they are ordered by how the
// words match. It returns an error if the passages cannot be read.
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
	if err = s.load(ctx); err != nil {
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

// load reads the texts of the passages. If only words were compared and no reranking model reads
// them, it reads only the first passages: those that are compared more closely or may be shown. It
// drops passages that may not be seen any more. It returns an error if the passages cannot be read.
func (s *search) load(ctx context.Context) error {
	most := len(s.passages)
	if s.dense == nil && s.local.Reranker == nil {
		most = max(s.Max, compared)
	}
	for at := 0; at < min(most, len(s.passages)); {
		end := min(most, len(s.passages))
		some, err := s.view.load(ctx, slices.Clone(s.passages[at:end]))
		if err != nil {
			return err
		}
		s.passages = slices.Concat(s.passages[:at], some, s.passages[end:])
		at += len(some)
	}
	return nil
}

// model runs stage 6, in which a reranking model scores the passages. It closes the view before it
// waits for the model. Passages that the model has not scored come last, in their previous order,
// and never score higher than the others. It returns a skip error if there is no model or no
// passage, or another error if the model fails.
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

// whole returns a passage with its title and headings before it, because "20 days" says something
// only below "Leave". The passage's vector is made from the same text.
func (p *passage) whole() string {
	return strings.Join(slices.DeleteFunc([]string{p.Title, p.Heading, p.text},
		func(s string) bool { return s == "" }), "\n")
}

// scored returns 1 for a passage that the reranking model has scored, and 0 for any other. It is
// for a stable sort, in which the other passages keep their order, since scores of different
// sources cannot be compared.
func scored(p *passage) int {
	if p.CrossEncoder != nil {
		return 1
	}
	return 0
}
