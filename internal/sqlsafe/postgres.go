package sqlsafe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wasilibs/go-pgquery/parser"
)

// Postgres checks statements for PostgreSQL. The zero value is ready; it may be used by many at once and must not be copied.
// The parser is PostgreSQL's own, compiled to WebAssembly: no other reads every statement as the server does,
// and cgo would end the builds for other systems.
type Postgres struct {
	Functions map[string]bool // further ones that may be called: name, or schema.name

	mu   sync.Mutex // one parser is made, and kept: each takes 25 MB, and two seconds to compile
	gone string     // why no statement is parsed any more
}

// parseWait is how long the compiled parser may take; a statement of 64 KiB takes it 20 ms. A parser that takes longer has
// lost its way and cannot be stopped from outside.
const parseWait = 10 * time.Second

// Check says why a statement may not be run: it has to be one SELECT (or VALUES, TABLE, WITH … SELECT) of known parts, which
// calls functions of the list alone. The error is a *Refusal, or says that ctx ended or that the parser broke.
// The cheap checks come first, since the parser takes 20 ms and can be driven into the ground by nesting.
// Looking at the first word would not do: WITH … DELETE begins as a query does, and SELECT calls functions with effects.
func (p *Postgres) Check(ctx context.Context, sql string) error { return p.check(ctx, sql, 0) }

// check is Check of a statement with so many parameters, $1 and on.
func (p *Postgres) check(ctx context.Context, sql string, values int) error {
	all, r := PostgreSQL.words(sql)
	if r != nil {
		return r
	}
	if r := tooDeep(sql, all); r != nil {
		return r
	}
	text, err := p.parse(ctx, sql)
	if err != nil {
		return err
	}
	var tree struct {
		Statements []struct {
			Statement map[string]any `json:"stmt"`
		} `json:"stmts"`
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return fmt.Errorf("read the parsed statement: %w", err)
	}
	if n := len(tree.Statements); n != 1 {
		return refuse(sql, -1, "one SELECT has to be asked, and these are %d statements", n)
	}
	w := walk{sql: sql, more: p.Functions, values: values}
	if r := w.statement(tree.Statements[0].Statement); r != nil {
		return r
	}
	return nil
}

// parsed is what the parser gave.
type parsed struct {
	tree string
	err  error
}

// parse has PostgreSQL's own parser read a statement.
// One statement at a time: the parser's memory is one, and 25 MB each would be too much for a few
// milliseconds.
func (p *Postgres) parse(ctx context.Context, sql string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != "" {
		return "", errors.New(p.gone)
	}
	if _, err := parser.ParseToJSON("SELECT 1"); err != nil { // the first time it is compiled here, outside the time that parsing has
		return "", fmt.Errorf("start the SQL parser: %w", err)
	}
	done := make(chan parsed, 1)
	go func() { // ends with the parser; one that hangs is left, and no other is begun
		defer func() {
			if v := recover(); v != nil {
				done <- parsed{err: fmt.Errorf("the SQL parser broke: %v", v)}
			}
		}()
		tree, err := parser.ParseToJSON(sql)
		done <- parsed{tree, err}
	}()
	// Without the caller's end: one who goes away must not look like a parser that hangs.
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), parseWait)
	defer cancel()
	select {
	case got := <-done:
		var wrong *parser.Error
		if errors.As(got.err, &wrong) {
			r := refuse(sql, byteOffset(sql, wrong.Cursorpos-1), "%s", wrong.Message)
			r.Code = syntaxError
			return "", r
		}
		if got.err != nil { // its memory may be in any state: what it would say next cannot be trusted
			p.gone = "the SQL parser broke earlier; no statement is run until toolnorm is started again"
		}
		return got.tree, got.err
	case <-wait.Done():
		p.gone = "the SQL parser hangs; no statement is run until toolnorm is started again"
		return "", errors.New(p.gone)
	}
}

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
