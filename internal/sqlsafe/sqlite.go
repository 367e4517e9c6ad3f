package sqlsafe

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"modernc.org/sqlite"

	"toolnorm/chat"
)

// SQLiteConfig names a SQLite file and what may be read in it.
type SQLiteConfig struct {
	Path string
	// the tables and views that may be read; tables that a view reads must be listed as well;
	// empty: all
	Tables    []string
	Functions []string // further functions that statements may call
	Limits    Limits
}

// sqliteFile is a file that is open for reading, in the process that reads it.
type sqliteFile struct {
	db      *sql.DB
	config  SQLiteConfig
	more    map[string]bool
	tables  map[string]bool // nil: all
	modules map[string]bool // virtual tables without a file of their own, such as pragma_table_info
}

// openSQLiteFile opens an existing file. Three of SQLite's own settings prevent writing: the file
// is opened read-only, query_only refuses any change, and without trusted_schema a view in the file
// cannot call functions with side effects. It fails if the file cannot be read.
func openSQLiteFile(ctx context.Context, c SQLiteConfig) (*sqliteFile, error) {
	c.Limits = c.Limits.filled()
	options := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)",
		fmt.Sprintf("hard_heap_limit(%d)", sqliteHeap)}}
	connector, err := sqlite.NewConnector(
		(&url.URL{Scheme: "file", Path: c.Path, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, err
	}
	s := &sqliteFile{db: sql.OpenDB(connector), config: c, more: lowerNames(c.Functions)}
	s.db.SetMaxOpenConns(connections)
	if len(c.Tables) > 0 {
		s.tables = lowerNames(c.Tables)
	}
	names, err := texts(ctx, s.db, "SELECT name FROM pragma_module_list")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.Path, err), s.db.Close())
	}
	s.modules = lowerNames(names)
	return s, nil
}

// sqliteHeap is how much memory SQLite may use in a process, for all its files. A statement that
// needs more fails.
const sqliteHeap = 16 << 20

// mostSQLiteColumns bounds the number of columns, because the driver has a whole row in memory, of
// which each value may have a megabyte.
const mostSQLiteColumns = 200

// asker is what runs queries: a pool of connections or one connection.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// texts returns the values of a query with one column. It fails if the query does.
func texts(ctx context.Context, in asker, query string) (all []string, err error) {
	rows, err := in.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// lowerNames returns the set of names in lower case, because both databases compare unquoted names
// without regard to case. PostgreSQL's names are in lower case already.
func lowerNames(all []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range all {
		set[strings.ToLower(name)] = true
	}
	return set
}

// close waits for running statements, which end at their time limits, and closes the file. Its
// error is that of the driver.
func (s *sqliteFile) close() error { return s.db.Close() }

// ask runs one SELECT and returns its rows. If the statement may not be run, the error is a
// *Refusal.
func (s *sqliteFile) ask(ctx context.Context, q Statement) (t *Table, err error) {
	q.Limits = q.Limits.or(s.config.Limits)
	err = s.held(ctx, q, func(ctx context.Context, conn *sql.Conn) error {
		values, err := q.sqliteValues()
		if err == nil {
			t, err = s.read(ctx, conn, q, values)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// check returns the columns of a statement without running it. It fails if ask would refuse the
// statement or SQLite cannot compile it.
func (s *sqliteFile) check(ctx context.Context, q Statement) (t *Table, err error) {
	q.Limits = q.Limits.or(s.config.Limits)
	err = s.held(ctx, q, func(ctx context.Context, conn *sql.Conn) error {
		stmt, err := conn.PrepareContext(ctx, q.SQL)
		if err != nil {
			return err
		}
		t = s.describe(ctx, conn, q)
		return stmt.Close()
	})
	return t, err
}

// held calls the function do with a connection that is restricted to what one statement may do. If
// the restriction refuses the statement, held returns that refusal in place of SQLite's own error,
// which is only "not authorized". Other errors of the function, and those of the statement, are
// returned as well.
func (s *sqliteFile) held(ctx context.Context, q Statement,
	do func(context.Context, *sql.Conn) error) error {
	words, err := s.statement(q.SQL)
	if err != nil {
		return err
	}
	if _, err := SQLite.Parameters(q.SQL); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, q.Limits.Time, late(q.Limits.Time))
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	g := &guard{s: s, words: words, sql: q.SQL}
	if err := g.stand(ctx, conn); err != nil {
		return err
	}
	err = do(ctx, conn)
	switch {
	case err != nil && g.refusal != nil:
		return g.refusal
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return g.placed(err)
}

// sqliteValues returns the values of the statement's parameters. It fails if a value is missing or
// is a Decimal: SQLite's integers have 64 bits, and a larger number would lose digits as a double.
func (s *Statement) sqliteValues() (values []any, err error) {
	found, err := SQLite.Parameters(s.SQL)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		v, ok := s.value(p.Name)
		if d, big := v.(Decimal); big {
			return nil, refuse(s.SQL, p.At, "%s is too large a number for SQLite", d)
		}
		if !ok {
			return nil, refuse(s.SQL, p.At, "the parameter :%s has no value", p.Name)
		}
		values = append(values, sql.Named(p.Name, v))
	}
	return values, nil
}

// statement returns the tokens of a statement. The error is a *Refusal if the text is not a single
// SELECT, for example PRAGMA or EXPLAIN. What a SELECT may do is decided by the authorizer.
func (s *sqliteFile) statement(query string) ([]token, error) {
	words, r := SQLite.words(query)
	if r != nil {
		return nil, r
	}
	if len(words) == 0 || words[0].text == ";" {
		return nil, refuse(query, -1, "there is no statement")
	}
	switch first := strings.ToUpper(words[0].text); first {
	case "SELECT", "WITH", "VALUES":
	default:
		return nil, refuse(query, words[0].at, "only SELECT statements are allowed; this is %s",
			first)
	}
	return words, nil
}

// read runs the statement and reads as many rows as the limits allow. Rows are read one at a time,
// so that a limit stops the statement itself and not only the result. It fails if the statement
// does or has too many columns.
func (s *sqliteFile) read(ctx context.Context, conn *sql.Conn, q Statement, values []any) (
	*Table, error) {
	rows, err := conn.QueryContext(ctx, q.SQL, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if len(columns) > mostSQLiteColumns {
		return nil, refuse(q.SQL, -1,
			"the statement gives %d columns, more than %d; name those that are needed",
			len(columns), mostSQLiteColumns)
	}
	t, err := newTable(columns, q.Limits)
	if err != nil {
		return nil, err
	}
	declared, err := declaredTypes(rows)
	if err != nil {
		return nil, err
	}
	for _, one := range declared {
		t.Types = append(t.Types, sqliteColumn(one))
	}
	cells, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]json.RawMessage, len(cells))
		for i, v := range cells {
			if row[i], err = sqliteValue(declaredAs(declared[i], v)); err != nil {
				return nil, err
			}
		}
		if !t.add(row) {
			return &t.Table, nil
		}
	}
	return &t.Table, rows.Err()
}

// sqliteValue returns the JSON form of a value, in the same way as postgresValue. The type of each
// value decides on the form, because a column of SQLite has no fixed type. The error means that the
// value cannot be encoded.
func sqliteValue(v any) (json.RawMessage, error) {
	switch n := v.(type) {
	case []byte:
		v = base64.StdEncoding.EncodeToString(n)
	case time.Time:
		v = n.Format(time.RFC3339Nano)
	case int64:
		if n > largestSafe || n < -largestSafe {
			v = fmt.Sprint(n)
		}
	case float64:
		// SQLite has no NaN; PostgreSQL's words for the others
		if math.IsInf(n, 1) {
			v = "Infinity"
		} else if math.IsInf(n, -1) {
			v = "-Infinity"
		}
	}
	return chat.JSON(v)
}
