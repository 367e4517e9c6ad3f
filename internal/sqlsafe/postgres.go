package sqlsafe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/wasilibs/go-pgquery/parser"

	"toolnorm/internal/aside"
)

// Postgres checks statements for PostgreSQL. The zero value is ready for use. It may be used by
// several goroutines at once.
type Postgres struct {
	Functions map[string]bool // further functions that may be called: name, or schema.name
}

// Check returns nil if a statement may be run, and otherwise an error that says why not. It must be
// one SELECT (or VALUES, TABLE, WITH … SELECT) of known parts that calls only listed functions. The
// error is a *Refusal, or says that ctx ended or that the parser broke. The cheap checks come
// first, since the parser takes 20 ms and deep nesting can crash it. Looking at the first word
// would not be enough, because WITH … DELETE begins as a query does, and SELECT calls functions
// with effects.
func (p *Postgres) Check(ctx context.Context, sql string) error {
	_, err := p.check(ctx, sql, 0)
	return err
}

// checked is the result of the check for a statement that may be run. It holds what only the server
// can judge.
type checked struct {
	Names   []name // the names whose meaning only the server knows
	Lengths []span // the lengths in functions that fill up texts, unless they are constants
}

// asked is a request about a statement. It is sent to a separate process, which runs the parser.
type asked struct {
	SQL    string
	Values int             // the number of its parameters, from $1
	More   map[string]bool // allowed functions besides the listed ones
	// how many values its aggregates collect; if it is 0, the question is whether the statement may
	// be run
	Each float64
}

// answered is the answer of the separate process that runs the parser.
type answered struct {
	checked
	Refused *Refusal
	Widest  float64 // the largest size of a computed value, in bytes
}

// check parses a statement and decides whether it may be run. It accepts the parameters $1 to
// $values, while Check accepts none. The result holds what only the server can judge, such as the
// meaning of names. The error is a *Refusal if the statement may not be run, and otherwise says
// that ctx ended or the parser broke.
func (p *Postgres) check(ctx context.Context, sql string, values int) (*checked, error) {
	all, r := PostgreSQL.words(sql)
	if r != nil {
		return nil, r
	}
	if r := tooDeep(sql, all); r != nil {
		return nil, r
	}
	is, err := parse(ctx, asked{SQL: sql, Values: values, More: p.Functions})
	return &is.checked, err
}

// grammarian is PostgreSQL's own parser, compiled to WebAssembly. No other parser reads every
// statement as the server does, and cgo would prevent cross-compiling. Compiling it takes two
// seconds and 270 MB, and a statement that overflows its stack leaves it in an unknown state. So it
// runs in a process of its own, which is then replaced. The tree of a statement, which takes a
// thousand times its bytes, stays in that process as well.
var grammarian = aside.New("the SQL parser", aside.Limits{Processes: 1, Time: parseWait,
	Memory: 512 << 20, Keep: 64 << 20},
	func() {
		_, _ = parser.ParseToJSON("SELECT 1") // compiles it
		debug.FreeOSMemory()
		debug.SetGCPercent(40)
	},
	func(request []byte) ([]byte, error) {
		var a asked
		if err := json.Unmarshal(request, &a); err != nil {
			return nil, err
		}
		is, err := a.answer()
		if err != nil {
			return nil, err
		}
		if len(a.SQL) > longSQL {
			debug.FreeOSMemory()
		}
		return json.Marshal(is)
	})

// longSQL is the length of a statement from which the memory of its tree is released at once.
const longSQL = 4096

// answer parses and examines the statement, in the parser's process. If the statement may not be
// run, the answer's field Refused says so; the error means that the parser failed.
func (a *asked) answer() (is answered, err error) {
	text, err := parser.ParseToJSON(a.SQL)
	var wrong *parser.Error
	if errors.As(err, &wrong) {
		is.Refused = refuse(a.SQL, byteOffset(a.SQL, wrong.Cursorpos-1), "%s", wrong.Message)
		is.Refused.Code = syntaxError
		return is, nil
	}
	if err != nil {
		return is, err
	}
	var tree struct {
		Statements []struct {
			Statement map[string]any `json:"stmt"`
		} `json:"stmts"`
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return is, fmt.Errorf("read the parsed statement: %w", err)
	}
	if n := len(tree.Statements); n != 1 {
		is.Refused = refuse(a.SQL, -1, "one SELECT has to be asked, and these are %d statements", n)
		return is, nil
	}
	statement := tree.Statements[0].Statement
	if a.Each > 0 {
		is.Widest = widest(statement, a.Each)
		return is, nil
	}
	w := walk{sql: a.SQL, words: PostgreSQL.tokens(a.SQL), more: a.More, values: a.Values}
	is.Refused = w.statement(statement)
	switch {
	case is.Refused != nil:
	case widest(statement, 1) > mostMade:
		is.Refused = refuse(a.SQL, -1,
			"the statement makes values of more than %d bytes out of constants; make them shorter",
			mostMade)
	case plannedNodes(statement) > mostPlanned:
		is.Refused = refuse(a.SQL, -1, "the statement is too large for the server to plan: "+
			"too many tables, windows, grouping sets, or subqueries that each stand for several others; ask for less at once")
	}
	is.checked = checked{w.names, w.lengths}
	return is, nil
}

// parseWait is how long the parser may take, without its start. For a statement of 64 KiB it takes
// 20 ms.
const parseWait = 5 * time.Second

// errParser is the error for a statement at which the parser crashed or hung. The next statement
// gets a new parser.
var errParser = errors.New("the SQL parser cannot read this statement; write it more simply")

// parse sends a request to a separate process, which runs the parser, and returns the answer. The
// error is a *Refusal if the statement may not be run. It wraps errParser if the parser crashed.
// Other errors come from the process.
func parse(ctx context.Context, about asked) (is answered, err error) {
	request, err := json.Marshal(about)
	if err != nil {
		return is, err
	}
	answer, err := grammarian.Do(ctx, request)
	var ended *aside.Ended
	switch {
	case errors.As(err, &ended):
		return is, fmt.Errorf("%w: %w", errParser, err)
	case err != nil:
		return is, fmt.Errorf("the SQL parser: %w", err)
	}
	if err := json.Unmarshal(answer, &is); err != nil {
		return is, fmt.Errorf("read the parsed statement: %w", err)
	}
	if is.Refused != nil {
		is.Refused.sql = about.SQL
		return is, is.Refused
	}
	return is, nil
}

// byteOffset returns the byte offset of the n-th character, counted from 0, or the length of sql if
// there are fewer. PostgreSQL counts characters in errors, and a Refusal counts bytes.
func byteOffset(sql string, n int) int {
	for i := range sql {
		if n--; n < 0 {
			return i
		}
	}
	return len(sql)
}
