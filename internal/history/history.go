// Package history stores exchanges in a database, SQLite or PostgreSQL, so that they survive a
// restart, and searches them. Their age, number and size are bounded, and texts are stored only if
// the settings say so.
//
// Requests never wait for the database. Finished exchanges are put in a queue, from which one
// goroutine writes them in batches. If the queue is full, an exchange is dropped, and that is
// reported.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"toolnorm/internal/store"
	"toolnorm/internal/trace"
)

// The values of Config.Texts.
const (
	NoTexts  = "none"
	Failed   = "failed" // the texts of exchanges that failed or were repaired
	AllTexts = "all"    // all texts that the trace has
)

// Config bounds a history. All bounds must be more than 0.
type Config struct {
	Days  int    // after so many days an exchange is deleted
	Most  int    // the largest number of exchanges
	Bytes int64  // the largest size of all exchanges together
	Texts string // which texts are stored: NoTexts, Failed or AllTexts
}

// History is an open history. It may be used by several goroutines at once.
type History struct {
	db     store.Lazy
	config Config
	warn   func(error)
	queue  chan *trace.Exchange
	lost   atomic.Int64 // exchanges since the last report for which the queue had no room
	warned time.Time    // when warn was last called
}

const (
	// queueSize is the largest number of waiting exchanges. With texts, each may have 256 KiB.
	queueSize = 256
	// together is how long exchanges are collected before they are written in one batch.
	together = 300 * time.Millisecond
	// deleteEvery is the interval at which exchanges beyond a bound are deleted.
	deleteEvery = time.Minute
)

// steps create the table. The column words is the text that a search looks at, doc is the exchange
// as JSON, and said is its texts as JSON, or empty if they are not stored.
var steps = []store.Step{store.SQL("exchanges", `
CREATE TABLE h_exchange (
	id TEXT PRIMARY KEY, at BIGINT NOT NULL, conversation TEXT NOT NULL, failed INTEGER NOT NULL, repaired INTEGER NOT NULL, calls INTEGER NOT NULL, tools INTEGER NOT NULL,
	size BIGINT NOT NULL, words TEXT NOT NULL, doc TEXT NOT NULL, said TEXT NOT NULL
);
CREATE INDEX h_exchange_at ON h_exchange (at, id);
CREATE INDEX h_exchange_conversation ON h_exchange (conversation)`)}

// New returns a history that is kept in a database. The parameter where says which database, in the
// form that store.Open takes. New itself never fails: the database is opened at its first use, and
// created with the first exchange. The history calls warn with later errors, at most once a minute.
func New(where string, c Config, warn func(error)) *History {
	return &History{db: store.Lazy{Where: where, Domain: "history", Steps: steps}, config: c,
		warn: warn, queue: make(chan *trace.Exchange, queueSize)}
}

// Collects reports whether any texts are stored.
func (h *History) Collects() bool { return h.config.Texts != NoTexts }

// Wants reports whether the texts of a finished exchange are to be stored.
func (h *History) Wants(e *trace.Exchange) bool {
	switch h.config.Texts {
	case AllTexts:
		return true
	case Failed:
		return isUnfinished(e) || len(e.Repairs) > 0
	}
	return false
}

// isUnfinished reports whether an exchange failed or broke off.
func isUnfinished(e *trace.Exchange) bool { return e.Status >= 400 || e.Finish == "" || e.Cut }

// Keep queues an exchange of a trace for writing. It does not wait; if the queue is full, the
// exchange is lost and counted.
func (h *History) Keep(e *trace.Exchange) {
	select {
	case h.queue <- e:
	default:
		h.lost.Add(1)
	}
}

// Run writes exchanges as they arrive and deletes old ones, until ctx ends. Then it writes those
// that still wait, and closes the database.
func (h *History) Run(ctx context.Context) {
	clean := time.NewTicker(deleteEvery)
	defer clean.Stop()
	h.tell(h.clean(ctx))
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-clean.C:
			h.tell(h.clean(ctx))
		case e := <-h.queue:
			h.tell(h.write(ctx, h.batch(ctx, e)))
		}
	}
	last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if len(h.queue) > 0 {
		h.tell(h.write(last, h.batch(ctx, <-h.queue)))
	}
	h.tell(h.db.Close())
}

// tell warns of an error and of exchanges that were lost, unless it has warned within deleteEvery.
func (h *History) tell(err error) {
	if n := h.lost.Swap(0); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d requests were left out: the database is too slow", n))
	}
	if err != nil && time.Since(h.warned) > deleteEvery {
		h.warned = time.Now()
		h.warn(err)
	}
}

// batch returns the given exchange, followed by those that arrive within 300 ms. If ctx ends or the
// batch is full, it returns what has arrived by then.
func (h *History) batch(ctx context.Context, first *trace.Exchange) []*trace.Exchange {
	all := []*trace.Exchange{first}
	end := time.NewTimer(together)
	defer end.Stop()
	for len(all) < queueSize {
		select {
		case e := <-h.queue:
			all = append(all, e)
			continue
		default:
		}
		select {
		case e := <-h.queue:
			all = append(all, e)
		case <-end.C:
			return all
		case <-ctx.Done():
			return all
		}
	}
	return all
}

// write writes exchanges in one transaction. It completes even if ctx ends meanwhile, but fails
// after five seconds.
func (h *History) write(ctx context.Context, all []*trace.Exchange) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	db, err := h.db.Open(ctx, true)
	if err == nil {
		err = h.insertAll(ctx, db, all)
	}
	if err != nil {
		return fmt.Errorf("%d requests could not be written: %w", len(all), err)
	}
	return nil
}

// insertAll writes exchanges in one transaction. If one fails, none is written and the error is
// returned.
func (h *History) insertAll(ctx context.Context, db *store.DB, all []*trace.Exchange) error {
	return db.Alone(ctx, func(tx *store.Tx) error {
		for _, e := range all {
			if err := h.insert(ctx, tx, *e); err != nil {
				return err
			}
		}
		return nil
	})
}

// insert writes an exchange, unless its id is already in the table. It fails if the exchange cannot
// be encoded or the database fails.
func (h *History) insert(ctx context.Context, tx *store.Tx, e trace.Exchange) error {
	said := []byte{}
	if e.Bodies != nil && h.Wants(&e) {
		var err error
		if said, err = json.Marshal(e.Bodies); err != nil {
			return err
		}
	} else {
		e.Bodies = nil
	}
	words := wordsOf(&e)
	e.Bodies = nil
	doc, err := json.Marshal(&e)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx,
		`INSERT INTO h_exchange (id, at, conversation, failed, repaired, calls, tools, size, words, doc, said)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING`,
		e.ID, e.Time.UnixMicro(), e.Conversation, number(e.Status >= 400),
		number(len(e.Repairs) > 0), len(e.Calls)+e.More, e.Tools,
		len(doc)+len(said)+len(words), words, string(doc), string(said))
	return err
}

// number returns a bool as the table stores it, 1 or 0.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// wordsOf returns the text that a search looks at: what the list of exchanges shows, and the texts
// if they are stored. It removes zero bytes, which PostgreSQL cannot store in a text.
func wordsOf(e *trace.Exchange) string {
	words := []string{e.ID, e.Model, e.Form, e.Path, e.Format, e.Strategy, e.Finish, e.Error,
		e.Cause, e.Replica, fmt.Sprint(e.Status)}
	words = append(append(words, e.Repairs...), e.Notes...)
	for _, c := range e.Calls {
		words = append(words, c.Name)
	}
	if b := e.Bodies; b != nil {
		for _, m := range b.Messages {
			words = append(words, m.Text)
			for _, c := range m.Calls {
				words = append(words, c.Name, c.Args)
			}
		}
		for _, g := range b.Wrote {
			words = append(words, textsOf(&g.Side)...)
		}
		words = append(words, textsOf(&b.Left)...)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(strings.ToLower(strings.Join(words, "\n")), ""),
		"\x00", "")
}

// textsOf returns the texts of all parts of one side of an exchange.
func textsOf(s *trace.Side) (all []string) {
	for _, p := range s.Parts {
		all = append(all, p.Text)
	}
	return all
}

// clean calls deleteOld. It returns the error with words that say what failed, or nil if ctx has
// ended.
func (h *History) clean(ctx context.Context) error {
	if err := h.deleteOld(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("old requests could not be deleted: %w", err)
	}
	return nil
}

// deleteOld deletes exchanges that are too old, and the oldest ones if there are too many or they
// are too large together. It fails if the database does.
func (h *History) deleteOld(ctx context.Context) error {
	db, err := h.db.Open(ctx, false)
	if db == nil {
		return err
	}
	oldest := time.Now().AddDate(0, 0, -h.config.Days).UnixMicro()
	_, err = db.ExecContext(ctx, `DELETE FROM h_exchange WHERE at < $1 OR id IN (
		SELECT id FROM (SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM h_exchange WINDOW newest AS (ORDER BY at DESC, id DESC)) counted
		WHERE place > $2 OR total > $3)`, oldest, h.config.Most, h.config.Bytes)
	return err
}
