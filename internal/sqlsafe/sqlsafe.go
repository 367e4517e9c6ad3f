// Package sqlsafe runs one SELECT that a model or a user wrote, on PostgreSQL or SQLite. Lists say
// what a statement may contain, by the database's own grammar, and the database itself is
// restricted so that nothing else would take effect.
//
//	sqlsafe.go            a Refusal says why and where; the limits of a query
//	table.go              rows on their way to JSON, within the limits
//	columns.go            what the values of each column may be
//	tokens.go             a statement cut into words, as both databases cut it
//	fence.go              a statement without the fence of Markdown around it, and odd blanks
//	parameters.go         :name, where values are bound
//	keys.go               keys of ORDER BY and GROUP BY that are the same in every row
//	explore.go            the tables and columns that statements may read, for people
//	names.go              the lists of allowed names, *.txt
//	postgres.go           a statement checked against PostgreSQL's grammar, by a parser in a process of its own
//	postgres_walk.go      the check of the parsed tree
//	postgres_run.go       limits on PostgreSQL: pool, read-only transaction, cursor, rollback
//	postgres_unreached.go why the database cannot be reached
//	postgres_width.go     how wide the values become that a statement generates
//	postgres_scope.go     what the names of a SELECT mean there
//	postgres_cost.go      what the server expects a statement to take, before it runs
//	postgres_watch.go     how much of the server's memory a statement takes
//	postgres_bind.go      values as PostgreSQL takes them
//	postgres_role.go      what the role may do besides reading
//	postgres_value.go     PostgreSQL's texts as JSON values
//	postgres_names.go     what the server says of the names of a statement (postgres_names.sql)
//	postgres_mentions.go  the names, as the walk finds them
//	sqlite_aside.go       SQLite in processes of its own
//	sqlite.go             statements on SQLite, read-only
//	sqlite_guard.go       limits on SQLite: authorizer, bounds, and the place of a refused name
//
// There are two lines of defence on purpose. The check alone would trust a parser to read as the
// server does; the server alone allows side effects (advisory locks, large objects, sequences), and
// explains errors less clearly.
package sqlsafe

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// Refusal is the reason why a statement is not run. Its sentence is sent to a model, which can
// correct the statement if it is told the fault.
type Refusal struct {
	Why    string
	Offset int // of the first wrong byte; -1: the whole statement is refused
	Code   string
	sql    string
}

// syntaxError is the SQLSTATE of a statement that does not parse.
const syntaxError = "42601"

// Error implements error. It returns one sentence with the line and the column: `pg_sleep is not
// among the functions that may be called (line 1, column 8)`.
func (r *Refusal) Error() string {
	line, column, ok := r.Place()
	if !ok {
		return r.Why
	}
	return fmt.Sprintf("%s (line %d, column %d)", r.Why, line, column)
}

// Place returns the line and the column, both counted from 1, columns in characters. ok is false if
// the whole statement is refused.
func (r *Refusal) Place() (line, column int, ok bool) {
	if r.Offset < 0 || r.Offset > len(r.sql) {
		return 0, 0, false
	}
	line, column = place(r.sql, r.Offset)
	return line, column, true
}

// Place returns the line and the column of a position in an error of PostgreSQL, which is a number
// of characters counted from 1.
func Place(sql string, position int) (line, column int) {
	return place(sql, byteOffset(sql, position-1))
}

// place returns the line and the column of an offset, both counted from 1, columns in characters.
func place(sql string, offset int) (line, column int) {
	before := sql[:min(offset, len(sql))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// refuse returns a Refusal with a formatted reason. The parameter offset is the position in sql
// that the refusal names; -1 means the whole statement.
func refuse(sql string, offset int, format string, args ...any) *Refusal {
	return &Refusal{Why: fmt.Sprintf(format, args...), Offset: offset, sql: sql}
}

// Statement is one SELECT with the values of its parameters, which are written :name. Values are
// bound and never inserted into the text, so hong' or 1=1 -- finds no row. A value is nil or a
// string, bool, int64, float64 or Decimal and, on PostgreSQL, also a Typed.
type Statement struct {
	SQL    string
	Values []sql.NamedArg // values without a parameter in SQL are ignored
	Limits Limits         // zero limits are replaced with those of the connection
}

// Decimal is a number as its digits. It is for numbers that do not fit into an int64.
type Decimal string

// value returns the value for a name; ok is false if there is none.
func (s *Statement) value(name string) (v any, ok bool) {
	for _, arg := range s.Values {
		if arg.Name == name {
			return arg.Value, true
		}
	}
	return nil, false
}

// Limits bounds the result and the time of one query. Zero fields mean the defaults. The first
// limit that is reached sets Truncated, except for the time limit, which causes an error.
type Limits struct {
	Rows int // the most rows; 0: 1,000
	// of all values as JSON; 0: 400,000, so that a result in two forms, as text and as structure,
	// is smaller than 1 MiB
	Bytes int
	Cell  int           // the most bytes of one value; 0: 65,536
	Time  time.Duration // the longest time; 0: 10 s
}

// filled returns l with the defaults in place of zero limits.
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

// or returns l with its zero limits replaced by those in the parameter standard.
func (l Limits) or(standard Limits) Limits {
	return Limits{cmp.Or(l.Rows, standard.Rows), cmp.Or(l.Bytes, standard.Bytes),
		cmp.Or(l.Cell, standard.Cell), cmp.Or(l.Time, standard.Time)}
}

// late is the error for a statement that took longer than allowed. Its value is the allowed time.
type late time.Duration

// Error implements error: it returns a sentence with the allowed time.
func (l late) Error() string {
	return fmt.Sprintf("the statement took longer than its %v", time.Duration(l))
}

// Late reports whether err means that a statement took too long, by this program's clock or the
// server's.
func Late(err error) bool {
	var l late
	var said *pgconn.PgError
	return errors.As(err, &l) || errors.As(err, &said) && said.Code == "57014"
}

// HitOf returns the limit that an error is about: "time", "cell" for a value that became too large
// while it was computed, or "memory". For any other error it returns "".
func HitOf(err error) string {
	var big tooBig
	switch {
	case Late(err):
		return "time"
	case errors.As(err, &big):
		return "cell"
	case errors.As(err, new(tooMuch)):
		return "memory"
	}
	return ""
}

// tooBig is the error for a statement that made a value of more bytes than allowed. Its value is
// the allowed number.
type tooBig int

// Error implements error: it returns a sentence with the largest allowed size.
func (b tooBig) Error() string {
	return fmt.Sprintf("the statement makes a value of more than %d bytes", int(b))
}

// slow is the error for a statement that the server ended because it took too long. It contains the
// server's error, but has the same message for each database.
type slow struct {
	late
	said error
}

// Unwrap returns the error about the time limit and the server's own error, so that errors.As finds
// the server's error code as well.
func (s slow) Unwrap() []error { return []error{s.late, s.said} }

// longestStatement is the length of the longest statement that is parsed, in bytes. The longest
// legitimate one in the corpus has 1,100.
const longestStatement = 65_536

// readable returns a refusal for a text that is too long, contains a NUL or is not valid UTF-8, and
// otherwise nil. A NUL ends a text in C, and each parser treats invalid UTF-8 in its own way, so a
// database could read another statement.
func readable(sql string) *Refusal {
	switch {
	case len(sql) > longestStatement:
		return refuse(sql, -1, "the statement has %d bytes, more than %d", len(sql),
			longestStatement)
	case strings.ContainsRune(sql, 0):
		return refuse(sql, strings.IndexByte(sql, 0), "the statement holds a NUL character")
	case !utf8.ValidString(sql):
		return refuse(sql, -1, "the statement is not valid UTF-8")
	}
	return nil
}
