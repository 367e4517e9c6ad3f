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

// Postgres checks statements for PostgreSQL. The zero value is ready; it may be used by many at
// once.
type Postgres struct {
	Functions map[string]bool // further ones that may be called: name, or schema.name
}

// Check returns an error that says why a statement may not be run: it has to be one SELECT (or
// VALUES, TABLE, WITH … SELECT) of known parts, which calls functions of the list alone. The error
// is a *Refusal, or says that ctx ended or that the parser broke. The cheap checks come first,
// since the parser takes 20 ms and can be driven into the ground by nesting. Looking at the first
// word would not do: WITH … DELETE begins as a query does, and SELECT calls functions with effects.
func (p *Postgres) Check(ctx context.Context, sql string) error {
	_, err := p.check(ctx, sql, 0)
	return err
}

// checked is what is known of a statement that may be run.
type checked struct {
	Names   []name // those that only the server can say of what they are
	Lengths []span // those of texts that are filled up, where they are no constants
}

// asked is what the process of the parser is asked about a statement.
type asked struct {
	SQL    string
	Values int             // its parameters, $1 and on
	More   map[string]bool // functions beside those of the list
	Each   float64         // how many values its aggregates collect; 0: whether it may be run is asked
}

// answered is what it answers.
type answered struct {
	checked
	Refused *Refusal
	Widest  float64 // in bytes
}

// check checks a statement, like Check, with so many parameters, $1 and on.
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

// grammarian is PostgreSQL's own parser, compiled to WebAssembly: no other reads every statement as
// the server does, and cgo would end the builds for other systems. Compiling takes two seconds and
// 270 MB, and a statement that overflows its stack leaves it in a state that nobody knows, so it
// has a process of its own, which is replaced by a fresh one when that happens. The tree of a
// statement has a thousand times its bytes, and stays there, too.
var grammarian = aside.New("the SQL parser", aside.Limits{Processes: 1, Time: parseWait, Memory: 512 << 20, Keep: 64 << 20},
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

// longSQL is a statement from which on the memory for its tree is given back at once.
const longSQL = 4096

// answer reads the statement, in the process of the parser.
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
		is.Refused = refuse(a.SQL, -1, "the statement makes values of more than %d bytes out of constants; make them shorter", mostMade)
	case planned(statement) > mostPlanned:
		is.Refused = refuse(a.SQL, -1, "the statement is too large for the server to plan: "+
			"too many tables, windows, grouping sets, or subqueries that each stand for several others; ask for less at once")
	}
	is.checked = checked{w.names, w.lengths}
	return is, nil
}

// parseWait is how long the parser may take, its start not counted; a statement of 64 KiB takes it
// 20 ms.
const parseWait = 5 * time.Second

// errParser is the end of a parser that broke or hung. The next statement gets a fresh one.
var errParser = errors.New("the SQL parser cannot read this statement; write it more simply")

// parse reads a statement with PostgreSQL's parser.
func parse(ctx context.Context, about asked) (is answered, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, errors.New("it is still being started; try again"))
	defer cancel()
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

// startWait is how long a start of the parser is waited for where processors are busy.
const startWait = 40 * time.Second

// byteOffset returns the offset of the n-th character. PostgreSQL counts characters in errors, and
// a Refusal counts bytes.
func byteOffset(sql string, n int) int {
	for i := range sql {
		if n--; n < 0 {
			return i
		}
	}
	return len(sql)
}
