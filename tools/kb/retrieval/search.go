// Package retrieval finds passages of a knowledge base in seven stages, and reports what each of
// them did.
//
// The stages are 1 summaries, 2 rights, 3A words, 3B vectors, 4 both merged, 5 a closer look at the
// words, 6 a model that reads query and passage together. Rights come first, whatever their number:
// nothing that the caller may not see is scored, not even a summary, and if the rights are not
// known the search ends. Stages that need a model are skipped and reported as skipped if there is
// none; vectors are never faked.
//
//	search.go    a search, and its result
//	stages.go    the seven stages
//	score.go     how likely a passage answers
//	copies.go    which passages say the same
//	disk.go      the index of words is in the store, of both kinds
//	narrow.go    stage 1 by that index
//	found.go     the passages that were found by it, and by vectors beside it
//	parts.go     the segments of such an index that a process has read
//	lists.go     the lists of words that it keeps
//	cores.go     work of a search that is shared among processors
//	memory.go    SQLite with vectors: an index in memory, kept up with its store
//	visible.go   the statistics of what a caller may see of it
//	vectors.go   the vectors of such an index
//	database.go  PostgreSQL with vectors: words in the store, vectors in memory
//	pgvector.go  or compared by PostgreSQL, where it has pgvector
//	remote.go    another service searches
package retrieval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/clip"
	"toolnorm/internal/rerank"
	"toolnorm/internal/sleep"
	"toolnorm/tools/kb/kbstore"
)

// The bounds and defaults of the specification.
const (
	DefaultThreshold = .6
	DefaultMax       = 10
	MostResults      = 50
)

// Query is a search query with its settings.
type Query struct {
	Text      string
	Base      string          // the id of the knowledge base
	Threshold float64         // passages that score less are left out
	Max       int             // the largest number of results
	Principal *auth.Principal // the caller; nil: nothing may be seen
}

// Result is the result of a search. The names are the specification's; message and the members
// after it are additions.
type Result struct {
	Query         string  `json:"query"`
	KnowledgeBase string  `json:"knowledge_base_id"`
	Threshold     float64 `json:"threshold"`
	Results       []Found `json:"results"`
	Count         int     `json:"count"`
	Message       string  `json:"message,omitempty"` // "No results found", or empty
	Hint          string  `json:"hint,omitempty"`    // why nothing was found
	// cross_encoder, dense or bm25, whose scores differ in meaning; empty: nothing was scored
	ScoreSource string   `json:"score_source"`
	Stages      []Report `json:"stages"`
}

// Found is a passage that was found.
type Found struct {
	Content  string   `json:"content"`
	Score    float64  `json:"score"`
	Metadata Metadata `json:"metadata"`
}

// Metadata says where a passage comes from and how each stage scored it. If a stage did not score
// it, the score is null and not 0, which would be a low score.
type Metadata struct {
	Chunk        string   `json:"chunk_id"`
	Document     string   `json:"document_id"`
	Index        int      `json:"chunk_index"`
	Collection   string   `json:"collection_id"`
	Sparse       *float64 `json:"sparse_score"`
	Dense        *float64 `json:"dense_score"`
	RRF          *float64 `json:"rrf_score"`
	BM25         *float64 `json:"bm25_score"`
	CrossEncoder *float64 `json:"cross_encoder_score"`

	Title   string `json:"title,omitempty"`
	Heading string `json:"heading,omitempty"`
	Source  string `json:"score_source,omitempty"` // set if it differs from the result's
}

// Report says what one stage of a search did.
type Report struct {
	Number string `json:"stage"` // 1, 2, 3A, 3B, 4, 5 or 6
	Name   string `json:"name"`
	// how many documents (stages 1, 2) or passages it had to choose from
	In     int     `json:"in"`
	Out    int     `json:"out"` // how many it chose
	MS     float64 `json:"ms"`
	Status string  `json:"status"` // ok, skipped (not configured, not needed) or failed
	Reason string  `json:"reason,omitempty"`
}

// The statuses of a stage. failed means that the operator has to do something; skipped does not.
const (
	ok      = "ok"
	skipped = "skipped"
	failed  = "failed"
)

// Embedder makes vectors of texts. *embedding.Client implements it; it is an interface so that
// tests can have vectors without a server.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Reranker scores texts against a query. *rerank.Client implements it.
type Reranker interface {
	Score(ctx context.Context, query string, texts []string) ([]rerank.Score, error)
}

// Backend searches in knowledge bases. The tool knows only this interface, so that a service can
// replace the store. Local and Remote implement it.
type Backend interface {
	Search(ctx context.Context, q Query) (*Result, error)
}

// Local is a Backend that searches in a store of this program. Each search reads the version of the
// base. So a change takes effect when it is stored, whichever program made it.
type Local struct {
	Store    *kbstore.Store // nil: there is none, and every search is ErrUnavailable
	Embedder Embedder       // nil: not configured, and stage 3B is skipped
	Model    string         // of the Embedder; vectors of other models are not compared
	Reranker Reranker       // nil: stage 6 is skipped
	// if a base has more vectors than this, they are bytes in memory, and the best are read again;
	// 0: 200,000
	Small int

	// called while an index of words is made, with the number of passages that are done; may be nil
	Progress func(base kbstore.Base, done, all int)

	states  states
	lists   lists
	indexes indexes
	asking  atomic.Int32 // number of requests for vectors without an answer yet
	beside  sleep.Group
}

var _ Backend = (*Local)(nil)

// The errors of a search that the specification prescribes. The others are in kbstore.
var (
	//lint:ignore ST1005 the specification's own words
	ErrUnauthenticated = errors.New("Invalid authentication credentials")
	//lint:ignore ST1005 the specification's own words
	ErrUnavailable = errors.New("Knowledge base store unavailable")
)

// Bounds for the query's vector: how long a search waits for it, how long a request may take if the
// model has to be loaded first, and how many requests may continue after their searches.
const (
	embeddingTime = 2 * time.Second
	loadingTime   = time.Minute
	mostAsking    = 4
)

// Search implements Backend. It returns ErrUnauthenticated, kbstore.ErrNotFound, kbstore.ErrDenied
// or ErrUnavailable; they are checked in this order.
func (l *Local) Search(ctx context.Context, q Query) (*Result, error) {
	s, err := l.search(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.result(), nil
}

// search runs the stages and returns the state after the last one. Evaluations look at the order of
// the passages after each stage, while a result shows only the last order. It returns the same
// errors as Search.
func (l *Local) search(ctx context.Context, q Query) (*search, error) {
	if q.Principal == nil {
		return nil, ErrUnauthenticated
	}
	if l.Store == nil {
		return nil, ErrUnavailable
	}
	base, err := l.Store.Readable(ctx, q.Principal, q.Base)
	switch {
	case errors.Is(err, kbstore.ErrNotFound):
		l.indexes.drop(strings.ToLower(q.Base))
		l.states.set(strings.ToLower(q.Base), nil)
		return nil, err
	case errors.Is(err, kbstore.ErrDenied):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	s := &search{Query: q, asked: beginning(q.Text), local: l}
	s.embed(ctx) // before the index is locked, since it cannot change while it is
	err = s.run(ctx, base, false)
	for errors.Is(err, kbstore.ErrStale) {
		var damaged *kbstore.Damaged
		if errors.As(err, &damaged) { // each time one segment less is
			if err = l.Store.Words.Forget(ctx, damaged); err != nil {
				break
			}
		}
		err = s.run(ctx, base, true) // of one moment: stale is only what is damaged
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return s, nil
}

// embed requests the query's vector and stores it or the error. It runs before the rights are
// checked, but reveals nothing, since only the query is sent. The search does not wait long, but
// the request continues, because a server stops loading a model if no request waits for it.
func (s *search) embed(ctx context.Context) {
	l := s.local
	if l.Embedder == nil {
		s.noVector = skip("no embedder")
		return
	}
	patience := loadingTime
	if l.asking.Add(1) > mostAsking {
		patience = embeddingTime
	}
	type answer struct {
		vectors [][]float32
		err     error
	}
	given := make(chan answer, 1)
	began := time.Now()
	l.beside.Go(context.WithoutCancel(ctx), func(ctx context.Context) {
		defer l.asking.Add(-1)
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		vectors, err := l.Embedder.Embed(ctx, []string{s.asked})
		given <- answer{vectors, err}
	})
	select {
	case got := <-given:
		if s.noVector = got.err; got.err == nil {
			s.vector = got.vectors[0]
		}
	case <-time.After(embeddingTime):
		s.noVector = fmt.Errorf("the embedder did not answer within %s; its model may be loading",
			embeddingTime)
	case <-ctx.Done():
		s.noVector = ctx.Err()
	}
	s.embedding = time.Since(began)
	if errors.Is(s.noVector, context.DeadlineExceeded) {
		s.noVector = fmt.Errorf("the embedder did not answer within %s", patience)
	}
}

// Close ends the requests that continue after their searches.
func (l *Local) Close() { l.beside.Close() }

// result returns the remaining passages in the form in which they are shown: up to max_results of
// those whose score reaches the threshold. Passages below it are left out before the number is
// limited, since they would take the places of good passages after them.
func (s *search) result() *Result {
	r := &Result{Query: s.Text, KnowledgeBase: s.Base, Threshold: s.Threshold, Results: []Found{},
		ScoreSource: s.source}
	for _, c := range s.passages {
		if c.score < s.Threshold || len(r.Results) == s.Max {
			continue
		}
		m := c.Metadata
		if c.source != s.source {
			m.Source = c.source
		}
		r.Results = append(r.Results, Found{c.text, round(c.score), m})
	}
	r.Count = len(r.Results)
	if r.Count == 0 {
		r.Message, r.Hint = "No results found", "no match"
		if len(s.passages) > 0 {
			r.Hint = s.passages[0].closest()
		}
	}
	for _, stage := range numbered {
		r.Stages = append(r.Stages, *s.reports[stage])
	}
	return r
}

// closest returns a hint that describes the best passage and its score, for a threshold that no
// passage has reached.
func (p *passage) closest() string {
	name := strings.Join(slices.DeleteFunc([]string{p.Title, p.Heading},
		func(s string) bool { return s == "" }), ", ")
	begins := []rune(strings.Join(strings.Fields(p.text), " "))
	if len(begins) > 80 {
		begins = append(begins[:80], '…')
	}
	return fmt.Sprintf(
		"threshold too high: the closest passage is of %q, begins with %q, and scores %.4g", name,
		string(begins), round(p.score))
}

// longestQuery is how many characters of a query are searched for. Every word costs a look at all
// passages that have it, so a whole document as a query would take seconds.
const longestQuery = 1000

// beginning returns the first longestQuery characters of a query, which are all that is searched
// for.
func beginning(query string) string { return clip.Runes(query, longestQuery) }

// round rounds a score to four digits. More digits say nothing, and fill the context of a model.
func round(score float64) float64 { return math.Round(score*1e4) / 1e4 }

// value returns a pointer to the score, limited to 0 to 1 and rounded to four digits. It is never
// nil.
func value(score float64) *float64 {
	score = round(min(1, max(0, score)))
	return &score
}
