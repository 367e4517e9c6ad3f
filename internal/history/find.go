package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/internal/store"
	"toolnorm/internal/trace"
)

// longestDoc bounds an exchange that is read, in bytes: more than any that was written has.
const longestDoc = 4 << 20

// Query says which exchanges are wanted.
type Query struct {
	Words string // each of which stands somewhere in the exchange
	Only  string // failed, repaired, calls, or missed (tools and no call); empty: all
	After string // the id of an exchange; older ones than it are wanted. Empty: from the newest on
	Most  int    // exchanges
}

// Only are the choices of a Query.
var Only = map[string]string{
	"": "", "failed": " AND failed = 1", "repaired": " AND repaired = 1", "calls": " AND calls > 0",
	"missed": " AND tools > 0 AND calls = 0 AND failed = 0",
}

// Search returns exchanges without what was said, the newest first, and whether there are more.
func (h *History) Search(ctx context.Context, q Query) (
	all []trace.Exchange, more bool, err error) {
	query, args := "SELECT id, doc FROM h_exchange WHERE 1 = 1"+Only[q.Only], []any{}
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

// Find returns the exchange of that id with what was said, as far as that is kept; nil when there
// is none.
func (h *History) Find(ctx context.Context, id string) (*trace.Exchange, error) {
	db, err := h.open(ctx, false)
	if db == nil {
		return nil, err
	}
	all, err := store.Read(ctx, db, h.odd, whole,
		"SELECT id, doc, said FROM h_exchange WHERE id = $1", id)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// mostTurns bounds how many exchanges of a conversation are listed.
const mostTurns = 200

// Conversation returns the exchanges of a conversation, the oldest first, without what was said.
func (h *History) Conversation(ctx context.Context, id string) ([]trace.Exchange, error) {
	return h.read(ctx,
		"SELECT id, doc FROM h_exchange WHERE conversation = $1 ORDER BY at, id LIMIT $2", id,
		mostTurns)
}

// read reads exchanges, without what was said.
func (h *History) read(ctx context.Context, query string, args ...any) ([]trace.Exchange, error) {
	db, err := h.open(ctx, false)
	if db == nil {
		return nil, err
	}
	return store.Read(ctx, db, h.odd, short, query, args...)
}

// odd reports a row that cannot be used.
func (h *History) odd(r *store.Row, why string) {
	h.warn(fmt.Errorf("request %s of the history cannot be read: %s", r.ID, why))
}

// short reads a row without what was said.
func short(r *store.Row) (e trace.Exchange, err error) {
	var doc string
	if err := r.Scan(store.Needed(&r.ID), store.Text(&doc, longestDoc)); err != nil {
		return e, err
	}
	return e, parse(r, doc, &e)
}

// whole reads a row with what was said. Texts that cannot be read are left out.
func whole(r *store.Row) (e trace.Exchange, err error) {
	var doc, said string
	if err := r.Scan(store.Needed(&r.ID), store.Text(&doc, longestDoc),
		store.Long(&said, longestDoc)); err != nil {
		return e, err
	}
	if said != "" && json.Unmarshal([]byte(said), &e.Bodies) != nil {
		e.Bodies = nil
		r.Without("its texts")
	}
	return e, parse(r, doc, &e)
}

// parse reads the JSON of an exchange.
func parse(r *store.Row, doc string, e *trace.Exchange) error {
	if json.Unmarshal([]byte(doc), e) != nil || e.ID != r.ID || e.Calls == nil || e.Repairs == nil {
		return store.Unusable("it is no exchange")
	}
	return nil
}
