package dynamic

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolnorm/chat"
	"toolnorm/internal/sqlsafe"
)

// outcome describes a column of a statement's result: its name, and the JSON Schema types of its
// values. If there are no types, the values may have any type.
type outcome struct {
	name  string
	types []string
}

// equal reports whether two columns have the same name and types.
func (c outcome) equal(other outcome) bool {
	return c.name == other.name && slices.Equal(c.types, other.types)
}

// outcomes caches the result columns of all tools' statements, by compiled.key. They are stored
// apart from the tools, so that a start does not wait for databases. The zero value is empty and
// ready to use.
type outcomes struct {
	mu  sync.Mutex
	all map[string][]outcome
}

// get returns the known columns of a statement, or nil if they are not known.
func (o *outcomes) get(key string) []outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[key]
}

// put stores the result columns of the statement with this key.
func (o *outcomes) put(key string, columns []outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string][]outcome{}
	}
	o.all[key] = columns
}

// keep removes the columns of all statements whose key is not in keys.
func (o *outcomes) keep(keys map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.all, func(key string, _ []outcome) bool { return !keys[key] })
}

// key returns one text with everything on which the columns of the tool's statement depend.
func (c *compiled) key() string {
	var b strings.Builder
	b.WriteString(c.connection + "\x00" + c.draft.Definition)
	for _, p := range c.draft.Params {
		b.WriteString("\x00" + p.Name + "\x00" + p.Type)
	}
	return b.String()
}

// outcomesOf returns the columns of a table, or nil if t is nil or their types are not known.
func outcomesOf(t *sqlsafe.Table) []outcome {
	if t == nil || len(t.Columns) != len(t.Types) {
		return nil
	}
	all := make([]outcome, len(t.Columns))
	for i, name := range t.Columns {
		all[i].name = name
		if t.Types[i] != "" {
			all[i].types = strings.Split(t.Types[i], ",")
		}
	}
	return all
}

// mergeOutcomes merges two lists of columns into one, in which each column has the types that it
// has in either list. If the names of the columns differ, the database has changed, and
// mergeOutcomes returns the second list unchanged.
func mergeOutcomes(known, now []outcome) []outcome {
	if !slices.EqualFunc(known, now, func(a, b outcome) bool { return a.name == b.name }) {
		return now
	}
	all := make([]outcome, len(now))
	for i, one := range known {
		all[i].name = one.name
		if one.types == nil || now[i].types == nil {
			continue
		}
		all[i].types = slices.Clone(one.types)
		for _, is := range now[i].types {
			if !slices.Contains(all[i].types, is) {
				all[i].types = append(all[i].types, is)
			}
		}
		slices.Sort(all[i].types)
	}
	return all
}

// describe asks the database for the columns of the statement. It asks several times, with whole,
// large and fractional numbers as values, because price * :n is a whole number only for a whole n.
// It returns an error if the database does not answer or refuses the statement.
func (c *compiled) describe(ctx context.Context, on *connection) (columns []outcome, err error) {
	db, err := on.database(ctx)
	if err != nil {
		return nil, err
	}
	whole := func(o outcome) bool { return slices.Contains(o.types, "integer") }
	for i, set := range c.blanks(on.Kind) {
		// no column is a whole number, so larger values change nothing
		if i > 0 && !slices.ContainsFunc(columns, whole) {
			break
		}
		q := c.statement(on.Kind, nil)
		q.Values = set
		table, wrong := db.Describe(ctx, q)
		switch {
		case i == 0 && wrong != nil:
			return nil, wrong
		// a function that takes no number of this size; a call with one fails as well
		case wrong != nil:
		case i == 0:
			columns = outcomesOf(table)
		default:
			columns = mergeOutcomes(columns, outcomesOf(table))
		}
	}
	return columns, nil
}

// watcher finds out which columns the tools' statements return, and then offers the tools again
// with the schemas of these columns.
type watcher struct {
	set   *Set
	known outcomes
}

// learn compares the columns that a call returned with the columns that are known. If they differ,
// because the database has changed or was never asked, the tools are offered again with the new
// columns.
func (w *watcher) learn(c *compiled, t *sqlsafe.Table) {
	key := c.key()
	known, now := w.known.get(key), outcomesOf(t)
	if now = mergeOutcomes(known, now); now == nil || slices.EqualFunc(known, now, outcome.equal) {
		return
	}
	w.known.put(key, now)
	w.listAnew()
}

// listAnew offers the tools again in the background, with schemas of the columns that are now
// known. It does nothing before Set.Follow is called, because a command that calls one tool and
// ends shows no lists of tools.
func (w *watcher) listAnew() {
	w.set.mu.Lock()
	follows := w.set.follows
	w.set.mu.Unlock()
	if !follows {
		return
	}
	w.set.beside.Go(context.Background(), func(ctx context.Context) {
		w.set.mu.Lock()
		defer w.set.mu.Unlock()
		w.set.made = nil // their schemas are different now
		if err := w.set.become(ctx, w.set.read, 0); err != nil {
			w.set.config.Failed(err)
		}
	})
}

// follow calls describeAll in the background until ctx ends: once at the beginning, and again after
// each call of the returned function. Several calls of that function during one run of describeAll
// cause only one more run.
func (w *watcher) follow(ctx context.Context) (look func()) {
	wake := make(chan struct{}, 1)
	w.set.beside.Go(ctx, func(ctx context.Context) {
		for {
			w.describeAll(ctx)
			select {
			case <-ctx.Done():
				return
			case <-wake:
			}
		}
	})
	return func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// describeAll asks the databases for the columns of the offered tools whose columns are not known.
// A connection that fails is not asked again for the other tools, since a call of them will show
// their columns.
func (w *watcher) describeAll(ctx context.Context) {
	w.set.mu.Lock()
	all := slices.Clone(w.set.last)
	w.set.mu.Unlock()
	found, down := false, map[string]bool{}
	for _, t := range all {
		if ctx.Err() != nil {
			return
		}
		if t.Type != typeSQL || !t.Offered || t.Options.Format == "text" {
			continue
		}
		c, _ := w.set.compile(ctx, t.Draft, false)
		if c == nil || c.columns != nil || down[c.connection] {
			continue
		}
		on, err := w.set.connections.named(t.Options.Connection)
		if err != nil {
			continue
		}
		columns, err := c.describe(ctx, on)
		if err != nil {
			_, wrong := on.database(ctx)
			down[c.connection] = wrong != nil || locate(err, t.Definition).Rule == "run"
			continue
		}
		if columns != nil {
			w.known.put(c.key(), columns)
			found = true
		}
	}
	if found {
		w.listAnew()
	}
}

// output returns the JSON Schema of the results that Options.table makes from the given columns. It
// returns nil if there are no columns or the format is text, because the results then have no fixed
// form.
func (o Options) output(columns []outcome) json.RawMessage {
	if len(columns) == 0 || o.Format == "text" {
		return nil
	}
	row := map[string]any{"type": "object", "$ref": "#/$defs/row"}
	list := map[string]any{"type": "array", "items": row}
	rows := map[string]any{"row": rowSchema(columns)}
	part := map[string]any{
		"type": "object", "description": "a list that a limit has cut",
		"required":   []string{"rows", "truncated"},
		"properties": map[string]any{"rows": list, "truncated": map[string]any{"const": true}},
	}
	var schema any
	switch o.Result {
	case "value":
		schema = columns[0].schema()
	case "one":
		schema = map[string]any{"anyOf": []any{row, map[string]any{"type": "null"}}, "$defs": rows}
	case "rows":
		schema = map[string]any{"anyOf": []any{list, part}, "$defs": rows}
	default:
		schema = map[string]any{"anyOf": []any{row, list, part}, "$defs": rows}
	}
	text, err := chat.JSON(schema)
	if err != nil {
		return nil
	}
	return text
}

// rowSchema returns the JSON Schema of a row. Its members are in the order of the columns.
func rowSchema(columns []outcome) json.RawMessage {
	var names []string
	members := []byte{'{'}
	for i, one := range columns {
		if i > 0 {
			members = append(members, ',')
		}
		members = append(append(append(members, valueOf(one.name)...), ':'),
			valueOf(one.schema())...)
		names = append(names, one.name)
	}
	text := append([]byte(`{"type":"object","properties":`), members...)
	text = append(append(text, `},"required":`...), valueOf(names)...)
	return append(text, `,"additionalProperties":false}`...)
}

// schema returns the JSON Schema of a column's values. Null is always allowed. A column of lists or
// objects may also have texts, since values that are too long become texts.
func (c outcome) schema() map[string]any {
	if c.types == nil {
		return map[string]any{}
	}
	return map[string]any{"type": append(slices.Clone(c.types), "null")}
}
