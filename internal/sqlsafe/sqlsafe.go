// Package sqlsafe runs one SELECT that somebody else wrote, a model or a user, on PostgreSQL or
// SQLite: what may be asked is listed, by the database's own grammar, and the database itself is
// held so that nothing else would take effect.
//
//	sqlsafe.go            a Refusal says why and where; the limits of a query
//	table.go              rows on their way to JSON, within the limits
//	columns.go            what the values of each column may be
//	tokens.go             a statement cut into words, as both databases cut it
//	fence.go              a statement without the fence of Markdown around it
//	parameters.go         :name, where values are bound
//	keys.go               keys of ORDER BY and GROUP BY that are the same in every row
//	explore.go            the tables and columns that statements may read, for people
//	names.go              the lists of allowed names, *.txt
//	postgres.go           a statement checked against PostgreSQL's grammar, by a parser in a process of its own
//	postgres_walk.go      the walk through the parsed tree
//	postgres_run.go       the wall around PostgreSQL: pool, read-only transaction, cursor, rollback
//	postgres_width.go     how wide the values become that a statement makes itself
//	postgres_scope.go     what the names of a SELECT stand for there
//	postgres_cost.go      what the server expects a statement to take, before it runs
//	postgres_watch.go     how much of its memory a statement takes
//	postgres_bind.go      values as PostgreSQL takes them
//	postgres_role.go      what the role may do besides reading
//	postgres_value.go     PostgreSQL's texts as JSON values
//	postgres_names.go     what the names of a statement are, by the server (postgres_names.sql)
//	postgres_mentions.go  the names, as the walk finds them
//	sqlite_aside.go       SQLite in processes of its own
//	sqlite.go             statements on SQLite, read-only
//	sqlite_guard.go       the wall around it: authorizer, limits, and where a refused name stands
//
// Two walls stand behind each other on purpose. The check alone would trust a parser to read as the
// server does; the server alone lets side effects through (advisory locks, large objects,
// sequences), and says less clearly what was wrong.
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

// Error returns one sentence with the place: `pg_sleep is not among the functions that may be
// called (line 1, column 8)`.
func (r *Refusal) Error() string {
	line, column, ok := r.Place()
	if !ok {
		return r.Why
	}
	return fmt.Sprintf("%s (line %d, column %d)", r.Why, line, column)
}

// Place returns the line and the column, in characters, both from 1; ok is false for the statement
// as a whole.
func (r *Refusal) Place() (line, column int, ok bool) {
	if r.Offset < 0 || r.Offset > len(r.sql) {
		return 0, 0, false
	}
	line, column = place(r.sql, r.Offset)
	return line, column, true
}

// Place returns the line and the column of a position as PostgreSQL's errors have it: a number of
// characters, from 1.
func Place(sql string, position int) (line, column int) {
	return place(sql, byteOffset(sql, position-1))
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

// Statement is one SELECT with the values of its parameters, :name, by their names. Values are
// bound and never written into the text: hong' or 1=1 -- finds nobody. They are nil, string, bool,
// int64, float64, Decimal for the rest of the numbers, and on PostgreSQL Typed.
type Statement struct {
	SQL    string
	Values []sql.NamedArg // those without a place in SQL are not looked at
	Limits Limits         // those that are zero are the connection's
}

// Decimal is a number by its digits, for one that no int64 holds.
type Decimal string

// value returns the value of a name; ok is false if there is none.
func (s *Statement) value(name string) (v any, ok bool) {
	for _, arg := range s.Values {
		if arg.Name == name {
			return arg.Value, true
		}
	}
	return nil, false
}

// Limits bound what one query may take. The zero value has the defaults. All of them hold at once;
// whichever is reached first sets Truncated, but for the time, which is an error.
type Limits struct {
	Rows  int           // 0: 1,000
	Bytes int           // of all values as JSON; 0: 400,000, so that a result twice, as text and structure, is under 1 MiB
	Cell  int           // of one value; 0: 65,536
	Time  time.Duration // 0: 10 s
}

// filled returns l with the defaults.
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

// or returns l with the limits of the connection where it has none.
func (l Limits) or(standard Limits) Limits {
	return Limits{cmp.Or(l.Rows, standard.Rows), cmp.Or(l.Bytes, standard.Bytes), cmp.Or(l.Cell, standard.Cell), cmp.Or(l.Time, standard.Time)}
}

// late is the end of a statement whose time is over.
type late time.Duration

// Error returns a sentence with the time that was allowed.
func (l late) Error() string {
	return fmt.Sprintf("the statement took longer than its %v", time.Duration(l))
}

// Late reports whether an error is the end of a statement's time, by our clock or the server's.
func Late(err error) bool {
	var l late
	var said *pgconn.PgError
	return errors.As(err, &l) || errors.As(err, &said) && said.Code == "57014"
}

// HitOf returns the limit that an error is about: time, or cell for a value that grew too large
// while it was computed; empty: none.
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

// tooBig is the end of a statement that made a value of more bytes.
type tooBig int

// Error returns a sentence with the largest size that a value may have.
func (b tooBig) Error() string {
	return fmt.Sprintf("the statement makes a value of more than %d bytes", int(b))
}

// slow is what a server says of a statement whose time was over, in our words: the same on each
// database.
type slow struct {
	late
	said error
}

// Unwrap returns both, so that the server's code is found as well.
func (s slow) Unwrap() []error { return []error{s.late, s.said} }

// longestStatement bounds what is parsed at all. The longest of the legitimate corpus has 1,100
// bytes.
const longestStatement = 65_536

// readable refuses what a database would not even read the same way as we do: a NUL ends a text in
// C, and broken UTF-8 is what each reader makes of it.
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
