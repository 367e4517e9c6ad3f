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

// SQLiteConfig says what of a SQLite file may be read.
type SQLiteConfig struct {
	Path      string
	Tables    []string // and views, for which those that they read are listed, too; none: all of them
	Functions []string // further ones that statements may call
	Limits    Limits
}

// SQLiteDB is a file that is only read. It may be used by many at once.
type SQLiteDB struct {
	db      *sql.DB
	config  SQLiteConfig
	more    map[string]bool
	tables  map[string]bool // nil: all
	modules map[string]bool // virtual tables that need no file, as pragma_table_info
}

// OpenSQLite opens a file that is there.
// Three settings of SQLite's own forbid writing: the file is opened read-only, query_only refuses any change,
// and without trusted_schema a view of the file cannot call functions with side effects.
func OpenSQLite(ctx context.Context, c SQLiteConfig) (*SQLiteDB, error) {
	c.Limits = c.Limits.filled()
	options := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)"}}
	connector, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: c.Path, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, err
	}
	s := &SQLiteDB{db: sql.OpenDB(connector), config: c, more: lowered(c.Functions)}
	s.db.SetMaxOpenConns(connections)
	if len(c.Tables) > 0 {
		s.tables = lowered(c.Tables)
	}
	names, err := texts(ctx, s.db, "SELECT name FROM pragma_module_list")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.Path, err), s.db.Close())
	}
	s.modules = lowered(names)
	return s, nil
}

// asker is a pool or one of its connections.
type asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// texts are the rows of a query of one column.
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

// lowered are names in lower case.
// Both databases compare unquoted names without case; PostgreSQL's arrive in lower case already.
func lowered(all []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range all {
		set[strings.ToLower(name)] = true
	}
	return set
}

// Close closes the file.
// It waits for what runs, which ends by its own time.
func (s *SQLiteDB) Close() error { return s.db.Close() }

// Query runs one SELECT. Values are bound by name: sql.Named("user", …) for :user. A statement that may not be run is a
// *Refusal.
// The authorizer is set anew for each statement on the connection that runs it, and its refusal wins over
// SQLite's own sentence, which is only "not authorized".
// Values are bound and never written into the text: hong' or 1=1 -- finds nobody.
func (s *SQLiteDB) Query(ctx context.Context, query string, values ...any) (*Table, error) {
	words, err := s.statement(query)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.Limits.Time, fmt.Errorf("the statement took longer than its %v", s.config.Limits.Time))
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	g := &guard{s: s, words: words, sql: query}
	if err := g.stand(ctx, conn); err != nil {
		return nil, err
	}
	t, err := s.read(ctx, conn, query, values)
	switch {
	case err != nil && g.refusal != nil:
		return nil, g.refusal
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return t, err
}

// statement checks what can be said of the text alone.
// PRAGMA and EXPLAIN go no further than here; what a SELECT does is the authorizer's to judge.
func (s *SQLiteDB) statement(query string) ([]token, error) {
	if r := readable(query); r != nil {
		return nil, r
	}
	words := lexis{brackets: true}.tokens(query)
	if r := onlyOne(query, words); r != nil {
		return nil, r
	}
	if len(words) == 0 || words[0].text == ";" {
		return nil, refuse(query, -1, "there is no statement")
	}
	switch first := strings.ToUpper(words[0].text); first {
	case "SELECT", "WITH", "VALUES":
	default:
		return nil, refuse(query, words[0].at, "only SELECT may be asked, and this is %s", first)
	}
	return words, nil
}

// What sqlite3_limit calls its limits, and what they are here. A value of a megabyte is what one step of the machine, which
// no deadline interrupts, can make; a chain of operators of 200 is what the parser's stack takes everywhere.
// SQLite's own are a gigabyte of value, 1,000 levels of expression, 500 SELECTs in one and patterns of 50,000
// bytes: far too much for what a stranger wrote. They are set on the connection, and no statement can raise them.
// No deadline interrupts a single step: randomblob(900000000) ran for 12.8 s.
var sqliteLimits = map[int]int{
	0: 1 << 20, // LENGTH
	1: longestStatement,
	3: 200,     // EXPR_DEPTH
	4: 50,      // COMPOUND_SELECT
	5: 100_000, // VDBE_OP
	6: 64,      // FUNCTION_ARG
	7: 0,       // ATTACHED
	8: 256,     // LIKE_PATTERN_LENGTH: a pattern of many % takes its length times the text's
}

// guard stands before one statement, and notes what it refused first.
// Only the first refusal is kept: it names what the user wrote, later ones what followed from it.
// Opening read-only is not enough: PRAGMA query_only=0 succeeds on such a file, ATTACH reads any other one and
// makes new ones, and VACUUM INTO leaves a copy.
type guard struct {
	s       *SQLiteDB
	words   []token
	sql     string
	refusal *Refusal
	objects map[string]bool // tables and views of the file, when only some of them may be read
}

// stand holds a connection. It is done before each statement: what a pool's connection went through before does not matter.
// The objects are read each time, since somebody else may have changed the file.
// A connection that once ran ATTACH would keep the file for whoever gets it next from the pool.
func (g *guard) stand(ctx context.Context, conn *sql.Conn) error {
	for id, most := range sqliteLimits {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			return err
		}
	}
	if g.s.tables != nil {
		if err := g.authorizer(conn, nil); err != nil { // that of the statement before would refuse the schema
			return err
		}
		names, err := texts(ctx, conn, "SELECT lower(name) FROM sqlite_schema")
		if err != nil {
			return err
		}
		g.objects = lowered(names)
	}
	return g.authorizer(conn, g.authorize)
}

// authorizer sets who is asked while a connection compiles statements; nil: nobody.
func (g *guard) authorizer(conn *sql.Conn, ask sqlite.AuthorizerFn) error {
	return conn.Raw(func(c any) error {
		able, ok := c.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.New("the SQLite driver cannot be held to reading")
		}
		return able.RegisterAuthorizer(ask)
	})
}

// authorize is asked by SQLite, while it compiles a statement, about everything that the statement would do.
// The view or WITH that it is asked for does not count: WITH users AS (SELECT * FROM secret) would read as a view that is allowed.
// It fails closed: an action that it does not know is refused.
func (g *guard) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	why, name := "", arg1
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRecursive:
	case sqlite.AuthRead:
		if !g.readable(strings.ToLower(arg1)) {
			why = fmt.Sprintf("%s may not be read", arg1)
		}
	case sqlite.AuthFunction:
		name = arg2
		if lower := strings.ToLower(arg2); !sqliteFunctions()[lower] && !g.s.more[lower] {
			why = fmt.Sprintf("%s is not among the functions that may be called", arg2)
		}
	case sqlite.AuthPragma:
		if arg1 != "data_version" { // which FTS5 asks by itself
			why = fmt.Sprintf("PRAGMA %s may not be asked", arg1)
		}
	case sqlite.AuthAttach:
		why = "ATTACH may not be used"
	default:
		why = "only SELECT may be asked, and this changes something"
	}
	if why == "" {
		return sqlite.AuthorizerOK
	}
	if g.refusal == nil {
		g.refusal = refuse(g.sql, g.place(name), "%s", why)
	}
	return sqlite.AuthorizerDeny
}

// place is where a name stands in the statement, or -1.
// SQLite tells the name and no offset, so the first word of that name is meant.
func (g *guard) place(name string) int {
	for _, w := range g.words {
		if name != "" && strings.EqualFold(strings.Trim(w.text, "\"`[]'"), name) {
			return w.at
		}
	}
	return -1
}

// readable says that a table or view may be read. Names of WITH come here, too, so that a name which is no table of the file
// is allowed, unless SQLite itself knows it.
// Table-valued functions of JSON read only what they are given. sqlite_schema would show the text of every
// view, and pragma_… functions what a PRAGMA would.
func (g *guard) readable(name string) bool {
	switch {
	case name == "json_each", name == "json_tree", name == "jsonb_each", name == "jsonb_tree", name == "":
		return true
	case strings.HasPrefix(name, "sqlite_"), strings.HasPrefix(name, "pragma_"), g.s.modules[name]:
		return false
	}
	return g.s.tables == nil || g.s.tables[name] || !g.objects[name]
}

// read runs the statement and takes what the limits allow.
// Rows are taken one at a time, so a limit stops the statement and not only the result.
func (s *SQLiteDB) read(ctx context.Context, conn *sql.Conn, query string, values []any) (*Table, error) {
	rows, err := conn.QueryContext(ctx, query, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	t, err := newTable(columns, s.config.Limits)
	if err != nil {
		return nil, err
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
			if row[i], err = sqliteValue(v); err != nil {
				return nil, err
			}
		}
		if !t.add(row) {
			return &t.Table, nil
		}
	}
	return &t.Table, rows.Err()
}

// sqliteValue is a value as JSON, as postgresValue makes it.
// SQLite has no type of its own for a column's values, so each value says what it is.
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
		if math.IsInf(n, 0) || math.IsNaN(n) {
			v = fmt.Sprint(n)
		}
	}
	return chat.JSON(v)
}
