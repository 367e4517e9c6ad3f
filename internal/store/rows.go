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

// Asker is a DB or a Tx.
type Asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Row is a row that is being read. SQLite stores any value in any column, and other programs write
// rows too. So each column defines which values it accepts, and a row with another value is odd.
type Row struct {
	ID    string // if it was read, for reports
	Of    string // the object to which the row belongs
	scan  func(...any) error
	parts []string // the parts that were left out
}

// Scan reads the columns, which are those of this package or any that database/sql reads.
func (r *Row) Scan(columns ...any) error { return r.scan(columns...) }

// Without records why a part was left out of a row that is otherwise used.
func (r *Row) Without(why string) { r.parts = append(r.parts, why) }

// Read makes a value of each row. A row that cannot be used is left out, and odd, if not nil, is
// called with the reason; an error is one of the database. Rows are closed before it returns: a
// transaction has one connection, and PostgreSQL's handles one query at a time.
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

// Unusable is the reason why a value cannot be used.
type Unusable string

// Error returns the reason.
func (u Unusable) Error() string { return string(u) }

// Oddness returns why a row is odd; false for nil and for an error of the database.
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

// longestName is the length of the longest text in a row, in bytes, unless a column sets another.
// The program writes shorter texts; a longer one would fill every result with it.
const longestName = 16 << 10

// text is a column of text.
type text struct {
	into *string
	null bool // NULL is read as ""
	says bool // not empty
	most int
}

// Named returns a column of text that may be empty or NULL.
func Named(s *string) any { return text{s, true, false, longestName} }

// Told returns a column of text that may be empty and not NULL.
func Told(s *string) any { return text{s, false, false, longestName} }

// Needed returns a column of text without which a row is useless, such as an id.
func Needed(s *string) any { return text{s, false, true, longestName} }

// Text returns a column of text that is not empty, of a length in bytes.
func Text(s *string, longest int) any { return text{s, false, true, longest} }

// Long returns a column of text that may be empty and not NULL, of a length in bytes.
func Long(s *string, longest int) any { return text{s, false, false, longest} }

// Scan reads the value of a column, or returns an Unusable.
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

// number is a column of a whole number.
type number[N int | int64] struct {
	into        *N
	least, most int64
}

// Whole returns a column of a whole number of any size.
func Whole[N int | int64](n *N) any { return number[N]{n, math.MinInt64, math.MaxInt64} }

// Count returns a column of a number from least to two billion.
func Count[N int | int64](n *N, least int64) any { return number[N]{n, least, math.MaxInt32} }

// Scan reads the value of a column, or returns an Unusable.
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

// Kindly returns a phrase for the kind of a column's value.
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
