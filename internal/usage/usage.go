// Package usage counts how many requests, calls and tokens each caller had of each model on each
// day, in a database, SQLite or PostgreSQL. The model servers count the tokens. No texts are
// stored.
//
// Requests never wait for the database: their counts are kept in memory for a few seconds. Counts
// that cannot be written stay in memory, and are written later.
package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
	"toolnorm/internal/trace"
)

// Counts are sums over several requests.
type Counts struct {
	Requests   int64 `json:"requests"`
	Failed     int64 `json:"failed"` // how many of the requests failed
	Calls      int64 `json:"calls"`
	Prompt     int64 `json:"prompt_tokens"`
	Cached     int64 `json:"cached_tokens"` // tokens of the prompts that the server had cached
	Completion int64 `json:"completion_tokens"`
}

// Row is what one caller asked of one model on one day.
type Row struct {
	Day    string `json:"day"` // 2026-11-23, in the server's time zone
	Caller string `json:"caller"`
	Model  string `json:"model"`
	Counts
}

// group is the key under which requests are counted together.
type group struct{ day, caller, model string }

// Config says where the usage is stored and for how long.
type Config struct {
	Where string // a database, as store.Open takes it
	Days  int    // after so many days rows are deleted; must be more than 0

	// Named calls do with the name under which a model is counted, at once or later. It never
	// passes a name that a client made up.
	Named func(model string, do func(name, server string))
	// Asks reports whether requests to an API go to a model. Other requests are not counted.
	Asks func(api string) bool
	Warn func(error) // called with errors, at most once a minute
}

const (
	writeEvery = 5 * time.Second
	cleanEvery = time.Hour
	warnEvery  = time.Minute
	mostGroups = 10_000 // groups that wait to be written; further callers are counted together
)

// Other is the caller under which counts are added when too many groups wait to be written.
const Other = "other"

// Usage counts requests and tokens. It may be used by several goroutines at once.
type Usage struct {
	config Config
	warned time.Time

	mu      sync.Mutex
	waiting map[group]Counts

	using sync.Mutex // makes writers wait for each other, so that nothing is written twice
	db    store.Lazy
}

var _ trace.Counter = (*Usage)(nil)

// New returns a Usage. Its database is created with the first counts that are written.
func New(c Config) *Usage {
	return &Usage{config: c, waiting: map[group]Counts{},
		db: store.Lazy{Where: c.Where, Domain: "usage", Steps: steps}}
}

// steps make the table.
var steps = []store.Step{store.SQL("usage", `
CREATE TABLE u_usage (
	day TEXT NOT NULL, caller TEXT NOT NULL, model TEXT NOT NULL, requests BIGINT NOT NULL, failed BIGINT NOT NULL, calls BIGINT NOT NULL,
	prompt BIGINT NOT NULL, cached BIGINT NOT NULL, completion BIGINT NOT NULL, PRIMARY KEY (day, caller, model)
)`)}

// Begin implements trace.Counter. It does nothing, because requests are counted when they end.
func (u *Usage) Begin(context.Context, string) {}

// End implements trace.Counter: it adds the request to the counts of today. It ignores requests to
// APIs that do not ask a model.
func (u *Usage) End(ctx context.Context, s *trace.Sum) {
	if !u.config.Asks(s.API) {
		return
	}
	caller, day := "", time.Now().Format(time.DateOnly)
	if p := auth.PrincipalOf(ctx); p != nil {
		caller = p.Subject
	}
	add := Counts{Requests: 1, Calls: int64(s.Calls), Prompt: int64(s.Tokens.Prompt),
		Cached: int64(s.Tokens.Cached), Completion: int64(s.Tokens.Completion)}
	if s.Status >= 400 {
		add.Failed = 1
	}
	u.config.Named(s.Model, func(name, _ string) { u.add(group{day, caller, name}, add) })
}

// add adds the counts in more to those of a group, which is a caller with a model and a day. If too
// many groups wait to be written, it counts a new one under the caller Other.
func (u *Usage) add(g group, more Counts) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.waiting[g]; !ok && len(u.waiting) >= mostGroups {
		g.caller = Other
	}
	u.waiting[g] = u.waiting[g].plus(more)
}

// plus returns the sums of the counts of c and d.
func (c Counts) plus(d Counts) Counts {
	return Counts{c.Requests + d.Requests, c.Failed + d.Failed, c.Calls + d.Calls,
		c.Prompt + d.Prompt, c.Cached + d.Cached, c.Completion + d.Completion}
}

// Run writes the counts every few seconds and deletes old rows, until ctx ends. Then it writes what
// is left and closes the database.
func (u *Usage) Run(ctx context.Context) {
	write, clean := time.NewTicker(writeEvery), time.NewTicker(cleanEvery)
	defer write.Stop()
	defer clean.Stop()
	u.report(u.clean(ctx))
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-write.C:
			u.report(u.write(ctx))
		case <-clean.C:
			u.report(u.clean(ctx))
		}
	}
	last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := u.write(last)
	u.using.Lock() // nobody reads any more
	defer u.using.Unlock()
	u.report(errors.Join(err, u.db.Close()))
}

// report passes an error to the hook Warn, unless Warn was called within warnEvery. It ignores nil
// and cancelled contexts.
func (u *Usage) report(err error) {
	if err != nil && !errors.Is(err, context.Canceled) && time.Since(u.warned) > warnEvery {
		u.warned = time.Now()
		u.config.Warn(err)
	}
}

// write writes the waiting counts in one transaction. If that fails, it returns the error and the
// counts wait for the next attempt.
func (u *Usage) write(ctx context.Context) error {
	u.using.Lock()
	defer u.using.Unlock()
	u.mu.Lock()
	all := u.waiting
	u.waiting = map[group]Counts{}
	u.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	db, err := u.db.Open(ctx, true)
	if err == nil {
		err = db.Alone(ctx, func(tx *store.Tx) error {
			for g, c := range all {
				_, err := tx.ExecContext(ctx,
					`INSERT INTO u_usage (day, caller, model, requests, failed, calls, prompt, cached, completion) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
					ON CONFLICT (day, caller, model) DO UPDATE SET requests = u_usage.requests + excluded.requests, failed = u_usage.failed + excluded.failed, calls = u_usage.calls + excluded.calls,
					prompt = u_usage.prompt + excluded.prompt, cached = u_usage.cached + excluded.cached, completion = u_usage.completion + excluded.completion`,
					g.day, text(g.caller), text(g.model), c.Requests, c.Failed, c.Calls, c.Prompt,
					c.Cached, c.Completion)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		for g, c := range all {
			u.add(g, c)
		}
		return fmt.Errorf("the usage could not be written, and is tried again: %w", err)
	}
	return nil
}

// text returns s with invalid UTF-8 replaced and zero bytes removed, which some databases refuse.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// clean deletes rows that are older than the configured days. It fails if the database does.
func (u *Usage) clean(ctx context.Context) error {
	u.using.Lock()
	defer u.using.Unlock()
	db, err := u.db.Open(ctx, false)
	if db == nil {
		return err
	}
	_, err = db.ExecContext(ctx, `DELETE FROM u_usage WHERE day < $1`, since(u.config.Days+1))
	return err
}

// since returns the date of the first day of a period that ends today. The parameter days is the
// length of the period.
func since(days int) string { return time.Now().AddDate(0, 0, 1-days).Format(time.DateOnly) }

// Rows returns the rows of the last days, including today, the newest first. Within a day the rows
// with the most tokens come first. Before that, it writes the counts that are only in memory. It
// fails if the database cannot be written or read.
func (u *Usage) Rows(ctx context.Context, days int) ([]Row, error) {
	all := []Row{}
	if err := u.write(ctx); err != nil {
		return all, err
	}
	u.using.Lock()
	defer u.using.Unlock()
	db, err := u.db.Open(ctx, false)
	if db == nil {
		return all, err
	}
	read, err := store.Read(ctx, db, nil, func(row *store.Row) (r Row, err error) {
		return r, row.Scan(&r.Day, &r.Caller, &r.Model, &r.Requests, &r.Failed, &r.Calls,
			&r.Prompt, &r.Cached, &r.Completion)
	}, `SELECT day, caller, model, requests, failed, calls, prompt, cached, completion FROM u_usage WHERE day >= $1`, since(days))
	all = append(all, read...)
	slices.SortFunc(all, func(a, b Row) int {
		if a.Day != b.Day {
			return strings.Compare(b.Day, a.Day)
		}
		if n := (b.Prompt + b.Completion) - (a.Prompt + a.Completion); n != 0 {
			return int(max(-1, min(n, 1)))
		}
		return strings.Compare(a.Caller+" "+a.Model, b.Caller+" "+b.Model)
	})
	return all, err
}
