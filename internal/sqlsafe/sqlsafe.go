// Package sqlsafe runs one SELECT that somebody else wrote, a model or a user, on PostgreSQL or SQLite: what may be asked is
// listed, by the database's own grammar, and the database itself is held so that nothing else would take effect.
//
//	sqlsafe.go            a Refusal says why and where; the limits of a query
//	table.go              rows on their way to JSON, within the limits
//	tokens.go             a statement cut into words, as both databases cut it
//	names.go              the lists of allowed names, *.txt
//	postgres.go           a statement checked against PostgreSQL's grammar, which is parsed in WebAssembly
//	postgres_walk.go      the walk through the parsed tree
//	postgres_run.go       the wall around PostgreSQL: pool, read-only transaction, cursor, rollback
//	postgres_role.go      what the role may do besides reading
//	postgres_value.go     PostgreSQL's texts as JSON values
//	sqlite.go             the wall around SQLite: authorizer, limits, interrupts
//
// Two walls stand behind each other on purpose. The check alone would trust a parser to read as the server does; the server
// alone lets side effects through (advisory locks, large objects, sequences), and says less clearly what was wrong.
package sqlsafe

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Refusal is why a statement is not run.
// Its sentence goes to a model, which can put a statement right that it is told the fault of.
type Refusal struct {
	Why    string
	Offset int // of the first byte that it is about; -1: of the statement as a whole
	Code   string
	sql    string
}

// syntaxError is the SQLSTATE of a statement that does not parse.
const syntaxError = "42601"

// Error is one sentence with the place: `pg_sleep is not among the functions that may be called (line 1, column 8)`.
func (r *Refusal) Error() string {
	if r.Offset < 0 || r.Offset > len(r.sql) {
		return r.Why
	}
	line, column := place(r.sql, r.Offset)
	return fmt.Sprintf("%s (line %d, column %d)", r.Why, line, column)
}

// place counts from 1, columns in characters.
func place(sql string, offset int) (line, column int) {
	before := sql[:min(offset, len(sql))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// refuse makes a Refusal about the place offset of sql.
func refuse(sql string, offset int, format string, args ...any) *Refusal {
	return &Refusal{Why: fmt.Sprintf(format, args...), Offset: offset, sql: sql}
}

// Limits bound what one query may take. The zero value has the defaults.
// All of them hold at once; whichever is reached first sets Truncated, but for the time, which is an error.
type Limits struct {
	Rows  int           // 0: 1,000
	Bytes int           // of all values as JSON; 0: 400,000, so that a result twice, as text and structure, is under 1 MiB
	Cell  int           // of one value; 0: 65,536
	Time  time.Duration // 0: 10 s
}

// filled is l with the defaults.
func (l Limits) filled() Limits {
	for _, n := range []struct {
		value    *int
		standard int
	}{{&l.Rows, 1000}, {&l.Bytes, 400_000}, {&l.Cell, 65_536}} {
		if *n.value <= 0 {
			*n.value = n.standard
		}
	}
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	return l
}

// longestStatement bounds what is parsed at all. The longest of the legitimate corpus has 1,100 bytes.
const longestStatement = 65_536

// readable refuses what a database would not even read the same way as we do: a NUL ends a text in C, and broken UTF-8 is
// what each reader makes of it.
func readable(sql string) *Refusal {
	switch {
	case len(sql) > longestStatement:
		return refuse(sql, -1, "the statement has %d bytes, more than %d", len(sql), longestStatement)
	case strings.ContainsRune(sql, 0):
		return refuse(sql, strings.IndexByte(sql, 0), "the statement holds a NUL character")
	case !utf8.ValidString(sql):
		return refuse(sql, -1, "the statement is no valid UTF-8")
	}
	return nil
}
