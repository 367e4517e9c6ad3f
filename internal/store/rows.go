package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Asker is the part of DB and Tx that runs queries.
type Asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Row is a row that is being read. SQLite stores any value in any column, and other programs write
// rows as well. So each column says which values it accepts, and a row with another value is called
// odd and not used.
type Row struct {
	ID    string // if it was read; for reports
	Of    string // the object to which the row belongs
	scan  func(...any) error
	parts []string // the parts that were left out
}

// Scan reads the columns, as sql.Rows.Scan does. The columns are those that this package's
// functions return, or any that database/sql accepts. For a value that a column does not accept,
// the error wraps an Unusable.
func (r *Row) Scan(columns ...any) error { return r.scan(columns...) }

// Without records why a part of a row was left out although the row itself is used.
func (r *Row) Without(why string) { r.parts = append(r.parts, why) }

// Read runs a query, calls the function one for each row, and returns what these calls return. If a
// call fails with an error of type Unusable, the row is left out, and odd is called with the reason
// if it is not nil. Read fails with any other error of a call, or if the query fails. It reads all
// rows before it returns, because a transaction has a single connection, which in PostgreSQL can
// run only one query at a time.
func Read[T any](ctx context.Context, in Asker, odd func(r *Row, why string),
	one func(r *Row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := in.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if odd == nil {
		odd = func(*Row, string) {}
	}
	var all []T
	for rows.Next() {
		r := Row{scan: rows.Scan}
		v, err := one(&r)
		if why, isOdd := Oddness(err); isOdd {
			odd(&r, why)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, why := range r.parts {
			odd(&r, why)
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// Unusable is the error for a value that cannot be used; it says why.
type Unusable string

// Error implements error: it returns the reason.
func (u Unusable) Error() string { return string(u) }

// Oddness returns the reason why a value cannot be used if err wraps an Unusable, with the column's
// name if that is known. For any other error and for nil, the result odd is false.
func Oddness(err error) (why string, odd bool) {
	var u Unusable
	if !errors.As(err, &u) {
		return "", false
	}
	// sql: Scan error on column index 3, name "title": NULL
	if _, column, ok := strings.Cut(err.Error(), `, name "`); ok {
		name, _, _ := strings.Cut(column, `"`)
		return name + " is " + string(u), true
	}
	return string(u), true
}

// longestName is the length, in bytes, of the longest text that a column accepts unless it sets
// another limit. This program writes shorter texts, and a longer one would fill every result.
const longestName = 16 << 10

// text is a sql.Scanner for a column of text.
type text struct {
	into *string
	null bool // NULL is accepted and read as ""
	says bool // the text must not be empty
	// the largest length in bytes
	most int
}

// Named returns a destination for Row.Scan that stores a text in *s. The text may be empty or NULL.
func Named(s *string) any { return text{s, true, false, longestName} }

// Told returns a destination for Row.Scan that stores a text in *s. The text may be empty, but not
// NULL.
func Told(s *string) any { return text{s, false, false, longestName} }

// Needed returns a destination for Row.Scan that stores a text, for example an id, in *s. The text
// must not be empty or NULL.
func Needed(s *string) any { return text{s, false, true, longestName} }

// Text returns a column for a text that must not be empty or NULL. The parameter longest is its
// maximum length in bytes.
func Text(s *string, longest int) any { return text{s, false, true, longest} }

// Long returns a destination for Row.Scan that stores a text in *s. The text may be empty, but not
// NULL. The parameter longest is its maximum length in bytes.
func Long(s *string, longest int) any { return text{s, false, false, longest} }

// Scan implements sql.Scanner: it stores the text. For a value that the column does not accept it
// returns an Unusable.
func (t text) Scan(value any) error {
	s, ok := value.(string)
	switch {
	case value == nil && !t.null:
		return Unusable("NULL")
	case value != nil && !ok:
		return Unusable(Kindly(value) + " and not a text")
	case s == "" && t.says:
		return Unusable("empty")
	case len(s) > t.most:
		return Unusable(fmt.Sprintf("%d bytes long, more than %d", len(s), t.most))
	case !utf8.ValidString(s):
		return Unusable("not UTF-8")
	}
	*t.into = s
	return nil
}

// number reads a column of whole numbers. It implements sql.Scanner.
type number[N int | int64] struct {
	into        *N
	least, most int64
}

// Whole returns a destination for Row.Scan that stores a whole number of any size in *n.
func Whole[N int | int64](n *N) any { return number[N]{n, math.MinInt64, math.MaxInt64} }

// Count returns a destination for Row.Scan that stores a whole number up to two billion in *n. The
// parameter least is the smallest accepted number.
func Count[N int | int64](n *N, least int64) any { return number[N]{n, least, math.MaxInt32} }

// Scan implements sql.Scanner: it stores the number. For a value that the column does not accept it
// returns an Unusable.
func (n number[N]) Scan(value any) error {
	v, ok := value.(int64)
	switch {
	case value == nil:
		return Unusable("NULL")
	case !ok:
		return Unusable(Kindly(value) + " and not a whole number")
	case v < n.least || v > n.most:
		return Unusable(fmt.Sprintf("%d, which is not from %d to %d", v, n.least, n.most))
	}
	*n.into = N(v)
	return nil
}

// Kindly returns a phrase for the type of a column's value, for example "a blob".
func Kindly(value any) string {
	switch value.(type) {
	case []byte:
		return "a blob"
	case string:
		return "a text"
	case float64:
		return "a fraction"
	case int64:
		return "a number"
	}
	return "of another type"
}
