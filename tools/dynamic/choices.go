package dynamic

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"toolnorm/internal/sqlsafe"
)

// How long choices from a SELECT are used before they are read again: choicesKept for a listing,
// and choicesKnown for a call whose value is not among them, since it may be new. choicesTime
// bounds the SELECT itself.
const (
	choicesKept  = time.Minute
	choicesKnown = 2 * time.Second
	choicesTime  = 2 * time.Second
)

// offeredChoices is a cached list of choices that a SELECT returned.
type offeredChoices struct {
	mu   sync.Mutex // locked while the choices are read
	list []any      // nil: they are not known, or there are too many
	err  error      // the error of the last attempt to read them
	at   time.Time  // when they were read last
}

// choicesCache caches the choices of all tools, by connection and SELECT. The zero value is empty
// and ready to use.
type choicesCache struct {
	mu  sync.Mutex
	all map[string]*offeredChoices
}

// mostChoiceLists bounds the cache, since lists for unsaved drafts stay in it. A full cache is
// emptied.
const mostChoiceLists = 1000

// of returns the cache entry for a key, and adds an empty entry if there is none.
func (c *choicesCache) of(key string) *offeredChoices {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= mostChoiceLists {
		clear(c.all)
	}
	if c.all == nil {
		c.all = map[string]*offeredChoices{}
	}
	if c.all[key] == nil {
		c.all[key] = &offeredChoices{}
	}
	return c.all[key]
}

// ask returns the choices that a SELECT gives. It runs the SELECT only if the cached choices are
// older than the parameter age. If the SELECT fails, ask returns the error together with the cached
// choices, or nil if there are none. More than mostChoices choices are an error as well.
func (all *choicesCache) ask(ctx context.Context, on *connection, query string, age time.Duration) (
	[]any, error) {
	c := all.of(on.Name + "\x00" + query)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && time.Since(c.at) < age {
		return c.list, c.err
	}
	db, err := on.database(ctx)
	var table *sqlsafe.Table
	if err == nil {
		table, err = db.Ask(ctx,
			sqlsafe.Statement{SQL: query, Limits: sqlsafe.Limits{Rows: mostChoices + 1,
				Time: choicesTime}})
	}
	if err != nil && ctx.Err() != nil {
		return c.list, err // the caller left, which says nothing about the database
	}
	if c.at, c.err = time.Now(), err; err != nil {
		return c.list, err
	}
	if c.list = distinctFirst(table); len(c.list) > mostChoices {
		c.list, c.err = nil, fmt.Errorf("it gives more than %d choices, which are not listed",
			mostChoices)
	}
	return c.list, c.err
}

// distinctFirst returns the distinct values in the first column of t, without NULL. An array is
// replaced by its elements, since enum_range returns an array.
func distinctFirst(t *sqlsafe.Table) []any {
	list := []any{}
	seen := map[any]bool{}
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				add(one)
			}
		case string, json.Number, bool:
			if !seen[v] {
				seen[v] = true
				list = append(list, v)
			}
		}
	}
	for _, record := range t.Records {
		if all := cells(t, record); len(all) > 0 {
			add(Value(all[0]).get())
		}
	}
	return list
}

// choicesOf returns a function that returns the current choices of a parameter. The function
// returns nil if the parameter has no SELECT for choices, or if they are not known.
func (c *compiled) choicesOf(ctx context.Context) func(*Param) []any {
	return func(p *Param) []any {
		if p.ChoicesSQL == "" || c.choices == nil {
			return nil
		}
		list, _ := c.choices(ctx, p.ChoicesSQL, choicesKept)
		return list
	}
}

// choicesFor returns a function that returns the current choices of a parameter, or nil if they are
// not known. The function also takes the parameter's value. If the value is not among the cached
// choices, the function reads them again, because the value may be new.
func (c *compiled) choicesFor(ctx context.Context) func(*Param, any) []any {
	known := c.choicesOf(ctx)
	return func(p *Param, v any) []any {
		list := known(p)
		if list == nil {
			return nil
		}
		if _, wrong := p.read(v, list); len(wrong) > 0 {
			list, _ = c.choices(ctx, p.ChoicesSQL, choicesKnown)
		}
		return list
	}
}

// unknownChoices returns nil for every parameter. It is used for a listing that must not query
// databases.
func unknownChoices(*Param) []any { return nil }

// compileChoices prepares the SELECTs that give the choices of ENUM parameters, and adds mistakes
// to p. They run on the tool's connection. (A tool whose definition is an expression and not a
// SELECT may name a connection only for them.) If asking is true, each SELECT is run once as a
// check.
func (s *Set) compileChoices(ctx context.Context, c *compiled, asking bool, p *problems) {
	for i := range c.draft.Params {
		one := &c.draft.Params[i]
		if one.ChoicesSQL == "" {
			continue
		}
		on, err := s.connections.named(c.draft.Options.Connection)
		if err != nil {
			p.wrong("options.connection", "connection", "%v", err)
			return
		}
		c.choices = func(ctx context.Context, query string, age time.Duration) ([]any, error) {
			return s.offeredChoices.ask(ctx, on, query, age)
		}
		field := fmt.Sprintf("params[%d].choices_sql", i)
		if found, err := on.Kind.Parameters(one.ChoicesSQL); err != nil || len(found) > 0 {
			p.wrong(field, "parameter",
				"the SELECT for choices has no parameters, and gives them in its first column")
			continue
		}
		if !asking {
			continue
		}
		list, err := c.choices(ctx, one.ChoicesSQL, choicesKnown)
		if err == nil {
			if len(list) == 0 {
				p.odd(field, "parameter", "the SELECT gives no choices now, so no value would fit")
			}
			continue
		}
		switch located := locate(err, one.ChoicesSQL); {
		case located.Rule == "run" || located.Rule == "limit":
			p.odd(field, "parameter", "the choices are not listed: %v", err)
		default:
			located.Field = field
			*p = append(*p, located)
		}
	}
}
