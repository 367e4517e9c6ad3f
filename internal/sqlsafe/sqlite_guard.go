package sqlsafe

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"modernc.org/sqlite"
)

// sqliteLimits are limits of SQLite by their numbers in sqlite3_limit. They are set on the
// connection, and no statement can raise them. A value may have a megabyte, since a single step of
// the machine, which no deadline interrupts, can make one: randomblob(900000000) ran for 12.8 s. An
// expression may have 200 levels, which fit the parser's stack on every system. SQLite's defaults
// are values of a gigabyte, 1,000 levels, 500 SELECTs in one statement and patterns of 50,000
// bytes, which is far too much for a stranger's statement.
var sqliteLimits = map[int]int{
	0: 1 << 20, // LENGTH
	1: longestStatement,
	3: 200,     // EXPR_DEPTH
	4: 50,      // COMPOUND_SELECT
	5: 100_000, // VDBE_OP
	6: 64,      // FUNCTION_ARG
	7: 0,       // ATTACHED
	// LIKE_PATTERN_LENGTH: a pattern with many % takes time by its length times that of the text
	8: 256,
}

// guard checks what one statement does, and records the first refusal. That one names what the user
// wrote; later refusals are consequences of it. Opening the file read-only is not enough: PRAGMA
// query_only=0 succeeds on such a file, ATTACH reads and creates other files, and VACUUM INTO
// writes a copy.
type guard struct {
	s       *sqliteFile
	words   []token
	sql     string
	refusal *Refusal
	objects map[string]bool // the tables and views in the file; nil if all may be read
	shadows map[string]bool // tables in which virtual tables store their data
}

// stand restricts a connection to what the guard's statement may do. It is called before each
// statement, because a pooled connection keeps what earlier statements did. For example, after
// ATTACH the next user of the connection could read the attached file. stand reads the names of
// tables each time, since another program may have changed the file. It fails if the file cannot be
// read.
func (g *guard) stand(ctx context.Context, conn *sql.Conn) error {
	for id, most := range sqliteLimits {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			return err
		}
	}
	if g.s.tables != nil {
		// the authorizer of the statement before would refuse the schema
		if err := g.authorizer(conn, nil); err != nil {
			return err
		}
		names, err := texts(ctx, conn, "SELECT lower(name) FROM sqlite_schema")
		if err != nil {
			return err
		}
		g.objects = lowerNames(names)
		names, err = texts(ctx, conn,
			"SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'")
		if err != nil {
			return err
		}
		g.shadows = lowerNames(names)
	}
	return g.authorizer(conn, g.authorize)
}

// authorizer sets the function that SQLite calls while a connection compiles statements; nil
// removes it. It fails if the driver does not support it.
func (g *guard) authorizer(conn *sql.Conn, ask sqlite.AuthorizerFn) error {
	return conn.Raw(func(c any) error {
		able, ok := c.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.New("the SQLite driver cannot be held to reading")
		}
		return able.RegisterAuthorizer(ask)
	})
}

// authorize decides what a statement may do. While SQLite compiles a statement, it calls authorize
// for every action of the statement. An unknown action is refused. The name of the view or WITH
// that surrounds an action is not trusted, because WITH users AS (SELECT * FROM secret) would look
// like an allowed view.
func (g *guard) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _,
	view string) sqlite.AuthorizerReturnCode {
	why, name := "", arg1
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRecursive:
	case sqlite.AuthRead:
		if !g.readable(strings.ToLower(arg1)) {
			if g.place(arg1) < 0 {
				name = g.keeper(arg1)
			}
			why = name + " may not be read"
			switch {
			case g.place(name) >= 0:
			case g.objects[strings.ToLower(view)]:
				why += fmt.Sprintf("; the view %s reads it, so it has to be listed, too", view)
			default:
				why += "; what the statement asks reads it, so it has to be listed, too"
			}
		}
	case sqlite.AuthFunction:
		name = arg2
		if lower := strings.ToLower(arg2); !sqliteFunctions()[lower] && !g.s.more[lower] {
			why = fmt.Sprintf("%s is not among the functions that may be called", arg2)
		}
	case sqlite.AuthPragma:
		if arg1 != "data_version" { // which FTS5 reads by itself
			why = fmt.Sprintf("PRAGMA %s may not be asked", arg1)
		}
	case sqlite.AuthAttach:
		why = "ATTACH may not be used"
	default:
		why = "only SELECT statements are allowed; this changes something"
	}
	if why == "" {
		return sqlite.AuthorizerOK
	}
	if g.refusal == nil {
		g.refusal = refuse(g.sql, g.place(name), "%s", why)
	}
	return sqlite.AuthorizerDeny
}

// unknown matches the messages of SQLite that name the wrong part.
var unknown = regexp.MustCompile(
	`(?:near "([^"]+)": syntax error|no such (?:column|table|function): ([^ ]+)|ambiguous column name: ([^ ]+))`)

// placed translates an error of SQLite's compiler into a *Refusal. The driver reports no offset, so
// the refusal has the offset of the name in the error's message. For a name with a dot, such as
// t.nope, it is the offset of the last part. The error for a value that is too large becomes a
// tooBig. Other errors are returned unchanged.
func (g *guard) placed(err error) error {
	var said *sqlite.Error
	if !errors.As(err, &said) {
		return err
	}
	switch said.Code() & 0xFF {
	case sqliteError:
	case sqliteTooBig:
		return tooBig(sqliteLimits[0])
	default:
		return err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(said.Error(), "SQL logic error: "), " (")
	at := -1
	if m := unknown.FindStringSubmatch(text); m != nil {
		name := cmp.Or(m[1], m[2], m[3])
		at = g.place(name[strings.LastIndexByte(name, '.')+1:])
	} else if strings.Contains(text, "incomplete input") {
		at = len(g.sql)
	}
	r := refuse(g.sql, at, "%s", text)
	r.Code = syntaxError
	return r
}

// SQLite's error codes for a statement that cannot be compiled, and for a value that exceeds its
// limit.
const (
	sqliteError  = 1
	sqliteTooBig = 18
)

// place returns the offset of a name in the statement, or -1 if it is not there. SQLite reports
// only the name, so place returns the offset of the first word that equals it.
func (g *guard) place(name string) int {
	for _, w := range g.words {
		text := strings.ReplaceAll(strings.Trim(w.text, "\"`[]'"), `""`, `"`)
		if name != "" && strings.EqualFold(text, name) {
			return w.at
		}
	}
	return -1
}

// readable reports whether a table or view may be read. SQLite asks for names of WITH as well, so a
// name that is not a table of the file is allowed. SQLite's own tables are not: sqlite_schema would
// show the text of every view, and the pragma_… functions return what a PRAGMA does. The
// table-valued functions of JSON are allowed, because they read only their arguments.
func (g *guard) readable(name string) bool {
	switch {
	case name == "json_each", name == "json_tree", name == "jsonb_each", name == "jsonb_tree",
		name == "":
		return true
	case strings.HasPrefix(name, "sqlite_"), strings.HasPrefix(name, "pragma_"), g.s.modules[name]:
		return false
	}
	return g.s.tables == nil || g.s.tables[name] || !g.objects[name] || g.shadow(name)
}

// keeper returns the virtual table whose data a shadow table stores, for example docs for
// docs_data. Any other table is returned unchanged.
func (g *guard) keeper(table string) string {
	longest := ""
	for one := range g.objects {
		if g.shadows[strings.ToLower(table)] && strings.HasPrefix(strings.ToLower(table), one+
			"_") && len(one) > len(longest) {
			longest = one
		}
	}
	return cmp.Or(longest, table)
}

// shadow reports whether name is a table in which a listed virtual table stores its data, such as
// docs_data of docs for FTS5. Such a table may be read, because reading it is the same as reading
// the virtual table.
func (g *guard) shadow(name string) bool {
	return g.shadows[name] && g.s.tables[g.keeper(name)]
}
