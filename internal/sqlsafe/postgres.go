package sqlsafe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wasilibs/go-pgquery/parser"

	"toolnorm/internal/aside"
)

// Postgres checks statements for PostgreSQL. The zero value is ready; it may be used by many at once.
type Postgres struct {
	Functions map[string]bool // further ones that may be called: name, or schema.name
}

// Check says why a statement may not be run: it has to be one SELECT (or VALUES, TABLE, WITH … SELECT) of known parts, which
// calls functions of the list alone. The error is a *Refusal, or says that ctx ended or that the parser broke.
// The cheap checks come first, since the parser takes 20 ms and can be driven into the ground by nesting.
// Looking at the first word would not do: WITH … DELETE begins as a query does, and SELECT calls functions with effects.
func (p *Postgres) Check(ctx context.Context, sql string) error {
	_, err := p.check(ctx, sql, 0)
	return err
}

// checked is what is known of a statement that may be run.
type checked struct {
	names   []name         // those that only the server can say of what they are
	lengths []span         // those of texts that are filled up, where they are no constants
	tree    map[string]any // the statement, parsed
}

// check is Check of a statement with so many parameters, $1 and on.
func (p *Postgres) check(ctx context.Context, sql string, values int) (*checked, error) {
	all, r := PostgreSQL.words(sql)
	if r != nil {
		return nil, r
	}
	if r := tooDeep(sql, all); r != nil {
		return nil, r
	}
	text, err := parse(ctx, sql)
	if err != nil {
		return nil, err
	}
	var tree struct {
		Statements []struct {
			Statement map[string]any `json:"stmt"`
		} `json:"stmts"`
	}
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("read the parsed statement: %w", err)
	}
	if n := len(tree.Statements); n != 1 {
		return nil, refuse(sql, -1, "one SELECT has to be asked, and these are %d statements", n)
	}
	w := walk{sql: sql, words: all, more: p.Functions, values: values}
	statement := tree.Statements[0].Statement
	if r := w.statement(statement); r != nil {
		return nil, r
	}
	if widest(statement, 1) > mostMade {
		return nil, refuse(sql, -1, "the statement makes values of more than %d bytes out of constants; make them shorter", mostMade)
	}
	return &checked{w.names, w.lengths, statement}, nil
}

// grammarian is PostgreSQL's own parser, compiled to WebAssembly: no other reads every statement as the
// server does, and cgo would end the builds for other systems. Compiling takes two seconds and 270 MB,
// and a statement that overflows its stack leaves it in a state that nobody knows, so it has a process
// of its own, which is replaced by a fresh one when that happens.
var grammarian = aside.New("the SQL parser", aside.Limits{Processes: 1, Time: parseWait, Memory: 512 << 20, Keep: 256 << 20},
	func() { _, _ = parser.ParseToJSON("SELECT 1") }, // compiles it
	func(sql []byte) ([]byte, error) {
		tree, err := parser.ParseToJSON(string(sql))
		var wrong *parser.Error
		if errors.As(err, &wrong) {
			return json.Marshal(parsed{Wrong: wrong.Message, Position: wrong.Cursorpos})
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(parsed{Tree: json.RawMessage(tree)})
	})

// parsed is what the parser gave.
type parsed struct {
	Tree     json.RawMessage `json:"tree,omitempty"`
	Wrong    string          `json:"wrong,omitempty"` // a syntax error
	Position int             `json:"position,omitempty"`
}

// parseWait is how long the parser may take, its start not counted; a statement of 64 KiB takes it 20 ms.
const parseWait = 5 * time.Second

// errParser is the end of a parser that broke or hung. The next statement gets a fresh one.
var errParser = errors.New("the SQL parser cannot read this statement; write it more simply")

// parse has PostgreSQL's parser read a statement.
func parse(ctx context.Context, sql string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, errors.New("it is still being started; try again"))
	defer cancel()
	answer, err := grammarian.Do(ctx, []byte(sql))
	var ended *aside.Ended
	switch {
	case errors.As(err, &ended):
		return nil, fmt.Errorf("%w: %w", errParser, err)
	case err != nil:
		return nil, fmt.Errorf("the SQL parser: %w", err)
	}
	var got parsed
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, fmt.Errorf("read the parsed statement: %w", err)
	}
	if got.Wrong != "" {
		r := refuse(sql, byteOffset(sql, got.Position-1), "%s", got.Wrong)
		r.Code = syntaxError
		return nil, r
	}
	return got.Tree, nil
}

// startWait is how long a start of the parser is waited for where processors are busy.
const startWait = 40 * time.Second

// byteOffset is the offset of the n-th character.
// PostgreSQL counts characters in errors, and a Refusal counts bytes.
func byteOffset(sql string, n int) int {
	for i := range sql {
		if n--; n < 0 {
			return i
		}
	}
	return len(sql)
}
