package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/internal/store"
	"toolnorm/internal/trace"
)

// longestDoc is the largest size, in bytes, of an exchange that is read. No exchange that was
// written is larger.
const longestDoc = 4 << 20

// Query says which exchanges to find, and how many.
type Query struct {
	Words string // words that must all occur somewhere in the exchange
	// a key of Only: failed, repaired, calls, or missed (tools, but no call); empty: all
	Only  string
	After string // the id of an exchange; only older ones are returned. Empty: start at the newest
	Most  int    // the largest number of exchanges to return
}

// Only maps each value of Query.Only to its condition in SQL.
var Only = map[string]string{
	"": "", "failed": " AND failed = 1", "repaired": " AND repaired = 1", "calls": " AND calls > 0",
	"missed": " AND tools > 0 AND calls = 0 AND failed = 0",
}

// Search returns the exchanges that q selects, without their texts, the newest first, and whether
// there are more. If there is no database yet, it returns none. It fails if the database does.
func (h *History) Search(ctx context.Context, q Query) (
	all []trace.Exchange, more bool, err error) {
	query, args := "SELECT id, doc, '' FROM h_exchange WHERE 1 = 1"+Only[q.Only], []any{}
	for word := range strings.FieldsSeq(strings.ToLower(q.Words)) {
		args = append(args, "%"+strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(
			strings.ReplaceAll(word, "\x00", ""))+"%")
		query += fmt.Sprintf(` AND words LIKE $%d ESCAPE '\'`, len(args))
	}
	if q.After != "" {
		args = append(args, q.After)
		n := len(args)
		query += fmt.Sprintf(
			" AND (at < (SELECT at FROM h_exchange WHERE id = $%d) OR at = (SELECT at FROM h_exchange WHERE id = $%d) AND id < $%d)", n, n, n)
	}
	args = append(args, q.Most+1)
	all, err = h.read(ctx, query+fmt.Sprintf(" ORDER BY at DESC, id DESC LIMIT $%d", len(args)),
		args...)
	if len(all) > q.Most {
		return all[:q.Most], true, err
	}
	return all, false, err
}

// Find returns the exchange with an id, with those of its texts that were stored. It returns nil
// without an error if there is none.
func (h *History) Find(ctx context.Context, id string) (*trace.Exchange, error) {
	all, err := h.read(ctx, "SELECT id, doc, said FROM h_exchange WHERE id = $1", id)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// mostTurns is the largest number of exchanges of a conversation that are listed.
const mostTurns = 200

// Conversation returns the exchanges of a conversation, the oldest first, without their texts. An
// unknown id has none. It fails if the database does.
func (h *History) Conversation(ctx context.Context, id string) ([]trace.Exchange, error) {
	return h.read(ctx,
		"SELECT id, doc, '' FROM h_exchange WHERE conversation = $1 ORDER BY at, id LIMIT $2", id,
		mostTurns)
}

// read returns the exchanges that a query selects. Each row of the query has an id, the exchange as
// JSON, and its texts, which may be empty. If there is no database yet, read returns nil. It fails
// if the database does.
func (h *History) read(ctx context.Context, query string, args ...any) ([]trace.Exchange, error) {
	db, err := h.db.Open(ctx, false)
	if db == nil {
		return nil, err
	}
	return store.Read(ctx, db, h.odd, exchange, query, args...)
}

// odd logs a warning about a row that cannot be used.
func (h *History) odd(r *store.Row, why string) {
	h.warn(fmt.Errorf("request %s of the history cannot be read: %s", r.ID, why))
}

// exchange returns the exchange in a row. Texts that cannot be read are left out. It fails if
// another column or the JSON is unusable.
func exchange(r *store.Row) (e trace.Exchange, err error) {
	var doc, said string
	if err := r.Scan(store.Needed(&r.ID), store.Text(&doc, longestDoc),
		store.Long(&said, longestDoc)); err != nil {
		return e, err
	}
	if said != "" && json.Unmarshal([]byte(said), &e.Bodies) != nil {
		e.Bodies = nil
		r.Without("its texts")
	}
	if json.Unmarshal([]byte(doc), &e) != nil || e.ID != r.ID || e.Calls == nil ||
		e.Repairs == nil {
		return e, store.Unusable("it is no exchange")
	}
	return e, nil
}
