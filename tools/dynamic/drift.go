package dynamic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolnorm/internal/sqlsafe"
)

// shape describes the tables that a statement names, as they were when the tool was saved: the
// types of the named columns, by table and column. Names are in lower case, in which both databases
// compare them.
type shape map[string]map[string]string

// word matches a word in a statement that may be the name of a table or a column. It does not match
// quoted names with blanks, so such tables are not part of a shape.
var word = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_$]*`)

// star matches a * that selects all columns.
var star = regexp.MustCompile(`(?i)(\bselect|\bdistinct|\ball|,|\.)\s*\*`)

// shapeOf returns those of the tables that a statement names, with the columns that it names or,
// after a *, all columns. It is empty if the statement names no table.
func shapeOf(statement string, tables []sqlsafe.Relation) shape {
	named := map[string]bool{}
	for _, one := range word.FindAllString(strings.ToLower(statement), -1) {
		named[one] = true
	}
	all := star.MatchString(statement)
	out := shape{}
	for _, t := range tables {
		name := strings.ToLower(t.Name)
		if !named[name[strings.LastIndexByte(name, '.')+1:]] {
			continue
		}
		columns := map[string]string{}
		for _, c := range t.Columns {
			if column := strings.ToLower(c.Name); all || named[column] {
				columns[column] = c.Type
			}
		}
		out[name] = columns
	}
	return out
}

// drift compares the tables that a tool queries, as they were when it was saved (the receiver),
// with the same tables now. It returns a sentence for each change. The result gone reports whether
// a table or a column is gone.
func (was shape) drift(now shape) (all []string, gone bool) {
	for _, table := range slices.Sorted(maps.Keys(was)) {
		columns, there := now[table]
		if gone = gone || !there; !there {
			all = append(all, fmt.Sprintf("the table %s is gone, or may not be read any more",
				table))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(was[table])) {
			switch kind, there := columns[name]; {
			case !there:
				gone = true
				all = append(all, fmt.Sprintf(
					"the column %s.%s is gone, or may not be read any more", table, name))
			case kind != was[table][name]:
				all = append(all, fmt.Sprintf(
					"the column %s.%s is %s, and was %s when the tool was saved", table, name,
					columnType(kind), columnType(was[table][name])))
			}
		}
	}
	return all, gone
}

// columnType returns a column's type for a sentence. A column in SQLite may have no type.
func columnType(kind string) string {
	if kind == "" {
		return "of no type"
	}
	return "of type " + kind
}

// lookKey is the context key of a cache of tables (*look).
type lookKey struct{}

// look is a cache of the tables of databases, by the connection's name. It is used while many tools
// are checked.
type look struct {
	mu   sync.Mutex
	seen map[string]seenTables
}

// seenTables contains the tables that one database has reported, or its error.
type seenTables struct {
	tables []sqlsafe.Relation
	err    error
}

// looking returns a context for work on many tools. With it, each connection is asked for its
// tables only once.
func looking(ctx context.Context) context.Context {
	return context.WithValue(ctx, lookKey{}, &look{seen: map[string]seenTables{}})
}

// tablesNow returns the tables that the connection's database has now. If ctx was made by the
// function looking, it asks the database only once, and then uses the cache in ctx. It returns an
// error if the database does not answer.
func (c *connection) tablesNow(ctx context.Context) ([]sqlsafe.Relation, error) {
	ask := func() (all []sqlsafe.Relation, err error) {
		db, err := c.database(ctx)
		if err != nil {
			return nil, err
		}
		return db.Relations(ctx)
	}
	l, ok := ctx.Value(lookKey{}).(*look)
	if !ok {
		return ask()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one, known := l.seen[c.Name]
	if !known {
		one.tables, one.err = ask()
		l.seen[c.Name] = one
	}
	return one.tables, one.err
}

// shaped returns, as JSON, the names and the columns of the tables that a tool queries. It returns
// "" if the tool queries none, or if its database does not answer now.
func (c *connections) shaped(ctx context.Context, d *Draft) string {
	now, err := c.shapeNow(ctx, d)
	if err != nil || len(now) == 0 {
		return ""
	}
	text, err := json.Marshal(now)
	if err != nil {
		return ""
	}
	return string(text)
}

// shapeNow returns the tables that a tool queries and their columns, as they are now. It returns
// nil if the tool is not an SQL tool, and an error if the connection does not exist or does not
// answer.
func (c *connections) shapeNow(ctx context.Context, d *Draft) (shape, error) {
	if d.Type != typeSQL {
		return nil, nil
	}
	on, err := c.named(d.Options.Connection)
	if err != nil {
		return nil, err
	}
	tables, err := on.tablesNow(ctx)
	if err != nil {
		return nil, err
	}
	return shapeOf(d.Definition, tables), nil
}

// drifted returns what has changed in the tables of a tool since it was saved, and reports whether
// a table or a column is gone. It returns nothing if the store does not know the earlier tables, or
// if the database does not answer.
func (c *connections) drifted(ctx context.Context, t *Tool) (all []string, gone bool) {
	was := shape{}
	if t.shape == "" || json.Unmarshal([]byte(t.shape), &was) != nil {
		return nil, false
	}
	now, err := c.shapeNow(ctx, &t.Draft)
	if err != nil {
		return nil, false
	}
	return was.drift(now)
}

// Finding is something that is wrong with a stored tool or set.
type Finding struct {
	Name string // of the tool, or "set NAME"
	What string
}

// Checked is the result of Set.Check: how much was checked, and what was found.
type Checked struct {
	Tools, Examples, Sets int
	Findings              []Finding
}

// Check checks the tools with the given names, or all tools and sets if no names are given. It
// finds out whether each tool can still be run, whether its tables have changed since it was saved,
// and whether its examples succeed. If ctx ends first, tools that were not checked are findings. It
// returns an error if the store cannot be read.
func (s *Set) Check(ctx context.Context, names ...string) (out Checked, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return out, err
	}
	known := map[string]bool{}
	for _, t := range all {
		known[t.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			out.add(name, "there is no such tool")
		}
	}
	ctx = looking(ctx)
	for i := range all {
		if len(names) == 0 || slices.Contains(names, all[i].Name) {
			s.checkTool(ctx, &all[i], &out)
		}
	}
	if len(names) > 0 {
		return out, nil
	}
	sets, err := s.Groups.List(ctx)
	for _, one := range sets {
		out.Sets++
		for _, name := range one.Missing {
			out.add("set "+one.Name, fmt.Sprintf("its tool %s is not there, or not offered", name))
		}
	}
	return out, err
}

// add adds a finding.
func (c *Checked) add(name, what string) { c.Findings = append(c.Findings, Finding{name, what}) }

// checkTool checks one tool, and adds to out a finding for each problem, such as a column that its
// database no longer has.
func (s *Set) checkTool(ctx context.Context, t *Tool, out *Checked) {
	if out.Tools++; ctx.Err() != nil {
		out.add(t.Name, "it was not looked at: the time of the check was over")
		return
	}
	drifted, gone := s.connections.drifted(ctx, t)
	for _, what := range drifted {
		out.add(t.Name, what)
	}
	if gone { // the rest would fail for the same reason
		return
	}
	c, p := s.compile(ctx, t.Draft, true)
	for _, one := range p {
		if one.Severity == "error" || one.Rule == "connection" {
			out.add(t.Name, (&Refused{problems{one}}).first().Error())
		}
	}
	if c == nil {
		return
	}
	for _, v := range s.examined(ctx, c, p) {
		if out.Examples++; !v.OK {
			out.add(t.Name, v.Sentence())
		}
	}
}
