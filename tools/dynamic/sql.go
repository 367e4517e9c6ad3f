package dynamic

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"toolnorm/internal/sqlsafe"
	"toolnorm/tools"
)

// compileSQL prepares a SELECT, sets c.run to the function that runs it, and adds mistakes to p.
// The connection must exist, because its kind of database decides how the text is parsed, but it
// may be down. If asking is true, the database checks the statement.
func (s *Set) compileSQL(ctx context.Context, c *compiled, asking bool, p *problems) {
	on, err := s.connections.named(c.draft.Options.Connection)
	if err != nil {
		p.wrong("options.connection", "connection", "%v", err)
		return
	}
	c.connection = on.Name
	if !c.bindNames(on.Kind, p) {
		return
	}
	c.columns = s.promises.known.get(c.key())
	if asking {
		c.ask(ctx, on, p)
		if c.columns != nil {
			s.promises.known.put(c.key(), c.columns)
		}
	}
	c.run = func(ctx context.Context, args map[string]any, note *Run) (tools.Result, error) {
		db, err := on.database(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		table, err := db.Ask(ctx, c.statement(on.Kind, args))
		if err != nil {
			return tools.Result{}, err
		}
		s.promises.learn(c, table)
		if r := c.draft.Options.Result; r == "one" || r == "value" { // more rows were not wanted
			table.Hit = slices.DeleteFunc(table.Hit, func(limit string) bool {
				return limit == "rows"
			})
		}
		note.Rows, note.Truncated, note.Hit = len(table.Records), len(table.Hit) > 0, table.Hit
		return c.draft.Options.table(table)
	}
}

// bindNames rewrites the placeholders in a statement: {{name}} becomes :name, and lists get the
// form that the database takes. It returns true if every placeholder is a parameter of the tool,
// and otherwise adds mistakes to p. The same lexer later finds the placeholders when values are
// bound.
func (c *compiled) bindNames(kind sqlsafe.Kind, p *problems) bool {
	text, err := kind.Braces(c.draft.Definition)
	if err != nil {
		one := locate(err, c.draft.Definition)
		one.Rule = "placeholder"
		*p = append(*p, one)
		return false
	}
	text = kind.Lists(text, func(name string) bool {
		return slices.ContainsFunc(c.draft.Params, func(p Param) bool {
			return p.Name == name && p.kind().lists == 1 && p.kind().base != typeObject
		})
	})
	c.draft.Definition = text
	found, err := kind.Parameters(text)
	if err != nil {
		*p = append(*p, locate(err, text))
		return false
	}
	var used []string
	good := true
	for _, one := range found {
		known := slices.ContainsFunc(c.draft.Params, func(p Param) bool {
			return p.Name == one.Name
		})
		if !known && !slices.Contains(used, one.Name) {
			p.wrong("definition", "unknown_parameter", "there is no parameter %s", one.Name)
			p.at(text, one.At)
			good = false
		}
		used = append(used, one.Name)
	}
	for _, one := range c.draft.Params {
		at := kind.Quoted(text, one.Name)
		if at < 0 {
			continue
		}
		// Quoted text may contain the name of a parameter that is bound elsewhere. If the parameter
		// is bound nowhere, the author must have meant the value.
		note := p.odd
		if !slices.Contains(used, one.Name) {
			note, good = p.wrong, false
			used = append(used, one.Name)
		}
		note("definition", "quoted_parameter",
			":%s stands inside of quotes and is not bound; write '…' || :%[1]s || '…', or leave the quotes out", one.Name)
		p.at(text, at)
	}
	c.unused(used, p)
	for _, key := range kind.ConstantKeys(text) {
		p.odd("definition", "constant_key",
			"%s with :%s is the same for every row: a value is bound, and names no column; write CASE :%s WHEN 'a' THEN a WHEN 'b' THEN b END", key.Of, key.Name, key.Name)
		p.at(text, key.At)
	}
	return good
}

// ask lets the database check the statement, and adds mistakes to p. If the database cannot be
// reached now, that is only a warning, because the statement may be right. The statement is
// compiled with placeholder values (see blanks) and never run, since a validation that ran it would
// read data at each keystroke.
func (c *compiled) ask(ctx context.Context, on *connection, p *problems) {
	columns, err := c.describe(ctx, on)
	if err == nil {
		c.columns = columns
		return
	}
	one := locate(err, c.draft.Definition)
	if one.Rule == "run" || one.Rule == "limit" {
		one.Severity, one.Rule, one.Field = "warning", "connection", "options.connection"
		one.Message = "the connection could not look at the statement: " + one.Message
	}
	*p = append(*p, one)
}

// statement returns the definition with the values of the arguments. If the result is a single row
// or value, only one row is read unless max_rows says otherwise.
func (c *compiled) statement(on sqlsafe.Kind, args map[string]any) sqlsafe.Statement {
	q := sqlsafe.Statement{SQL: c.draft.Definition,
		Limits: sqlsafe.Limits{Rows: c.draft.Options.MaxRows, Time: c.draft.timeout()}}
	if r := c.draft.Options.Result; (r == "one" || r == "value") && q.Limits.Rows == 0 {
		q.Limits.Rows = 1
	}
	for i := range c.draft.Params {
		p := &c.draft.Params[i]
		if v, ok := args[p.Name]; ok {
			q.Values = append(q.Values, sql.Named(p.Name, p.bound(on, v)))
		}
	}
	return q
}

// database is a read-only SQLite or PostgreSQL database. The two differ in how writing is
// prevented, not in how they are used.
type database interface {
	Ask(ctx context.Context, q sqlsafe.Statement) (*sqlsafe.Table, error)
	Describe(ctx context.Context, q sqlsafe.Statement) (*sqlsafe.Table, error)
	Relations(ctx context.Context) ([]sqlsafe.Relation, error)
}

var (
	_ database = (*sqlsafe.SQLiteDB)(nil)
	_ database = (*sqlsafe.PostgresDB)(nil)
)

// openWait bounds how long opening a connection may take.
const openWait = 5 * time.Second

// errOwnStore is the error for a connection to the file in which tools and credentials are stored.
var errOwnStore = errors.New(
	"the file is toolnorm's own store; list the tables that may be read: NAME=/path/file.db#table,table")
