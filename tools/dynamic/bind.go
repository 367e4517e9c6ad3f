package dynamic

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/sqlsafe"
)

// bound converts a value that Param.read returned into the form in which a database takes it.
//
//	type         PostgreSQL          SQLite
//	DATE         date                text, 2024-01-31
//	TIMESTAMP    timestamptz         text in UTC, 2024-01-31 09:30:00, as SQLite's own functions write it
//	UUID         uuid                text in small letters
//	OBJECT       jsonb               text, JSON
//	LIST         array, as date[]    text, JSON, for json_each
//
// Lists of lists and lists of objects are jsonb as well, because PostgreSQL's nested arrays must
// all have the same length.
func (p *Param) bound(on sqlsafe.Kind, v any) any {
	k := p.kind()
	if on == sqlsafe.PostgreSQL {
		return k.postgres(v)
	}
	switch {
	case v == nil:
		return nil
	case k.lists > 0:
		return jsonText(k.stamps(v))
	case k.base == typeObject:
		return jsonText(v)
	case k.base == typeTimestamp:
		return stamp(v)
	}
	return scalar(v)
}

// scalar returns v, with a json.Number converted for a database (see number).
func scalar(v any) any {
	if n, ok := v.(json.Number); ok {
		return number(n)
	}
	return v
}

// jsonText returns a value as JSON text, or "null" if it cannot be encoded.
func jsonText(v any) string {
	text, err := chat.JSON(v)
	if err != nil {
		return "null"
	}
	return string(text)
}

// stamps returns a value in which all times have SQLite's form (see stamp), also inside lists.
func (k kind) stamps(v any) any {
	all, ok := v.([]any)
	switch {
	case ok:
		out := make([]any, len(all))
		for i, one := range all {
			out[i] = k.stamps(one)
		}
		return out
	case k.base == typeTimestamp:
		return stamp(v)
	}
	return v
}

// stamp returns a time in UTC in the form that SQLite's functions write, with a blank between date
// and time. With a T between them, SQLite would sort the time after all others of the same day. A
// value that is not a time is returned unchanged.
func stamp(v any) any {
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v))
	if err != nil {
		return v
	}
	return at.UTC().Format("2006-01-02 15:04:05.999999999")
}

// postgresNames maps our types to PostgreSQL's. A single text is passed without a type, so that
// PostgreSQL infers its type from the statement.
var postgresNames = map[string]string{
	typeString: "text", typeInteger: "int4", typeNumber: "numeric", typeBoolean: "bool",
	typeDate: "date", typeTimestamp: "timestamptz", typeUUID: "uuid", typeEnum: "text",
	typeObject: "jsonb",
}

// postgres returns a value of the type k as PostgreSQL gets it. The result is a sqlsafe.Typed with
// the name of the type if PostgreSQL needs to be told that, and otherwise v.
func (k kind) postgres(v any) any {
	name := postgresNames[k.base]
	switch {
	case k.lists > 1, k.base == typeObject:
		if v == nil {
			return sqlsafe.Typed{Type: "jsonb"}
		}
		return sqlsafe.Typed{Type: "jsonb", Text: []byte(jsonText(v))}
	case k.lists == 1:
		all, _ := v.([]any)
		if k.base == typeInteger || k.base == typeEnum {
			name = elementType(all, name)
		}
		if v == nil {
			return sqlsafe.Typed{Type: name + "[]"}
		}
		return sqlsafe.Typed{Type: name + "[]", Text: arrayText(all)}
	case v == nil && k.base != typeString && k.base != typeEnum:
		return sqlsafe.Typed{Type: name}
	case v == nil:
		return nil
	}
	switch k.base {
	case typeTimestamp:
		if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v)); err == nil {
			v = at.UTC().Format(time.RFC3339Nano) // PostgreSQL knows no zone beyond 16 hours
		}
		return sqlsafe.Typed{Type: name, Text: fmt.Append(nil, v)}
	case typeDate, typeUUID:
		return sqlsafe.Typed{Type: name, Text: fmt.Append(nil, v)}
	}
	if n, ok := v.(json.Number); ok {
		if _, err := n.Int64(); err != nil {
			return sqlsafe.Decimal(n) // a double would keep 17 digits of a numeric
		}
	}
	return scalar(v)
}

// elementType returns the smallest PostgreSQL type that can represent all numbers of a list, or
// "text" if the list has texts. For an empty list it returns the parameter standard.
func elementType(all []any, standard string) string {
	var size int
	for _, one := range all {
		n, ok := one.(json.Number)
		if !ok {
			return "text"
		}
		switch n := number(n).(type) {
		case int64:
			if n > math.MaxInt32 || n < math.MinInt32 {
				size = max(size, 1)
			}
		default:
			size = 2
		}
	}
	if len(all) == 0 {
		return standard
	}
	return []string{"int4", "int8", "numeric"}[size]
}

// arrayText returns a list in PostgreSQL's notation for arrays.
func arrayText(all []any) []byte {
	quoted := make([]string, len(all))
	for i, one := range all {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(fmt.Sprint(one)) + `"`
	}
	return []byte("{" + strings.Join(quoted, ",") + "}")
}

// number converts a number for SQLite. Whole numbers become int64 and keep all their digits,
// because a double has only 53 bits and would round a 64-bit id to that of another row. Numbers
// that fit into neither int64 nor float64 are passed as their digits.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if strings.ContainsAny(string(n), ".eE") {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return sqlsafe.Decimal(n)
}

// blanks returns placeholder values for a statement that is checked but not run. It returns several
// sets of values, one for each size of number, because the types of the columns may depend on the
// size. A value is NULL, or a number such as 1, or false. It is never "" or 0, because PostgreSQL
// computes some expressions while it plans: "" is not a date, and 0 cannot be a divisor.
func (c *compiled) blanks(on sqlsafe.Kind) (sets [][]sql.NamedArg) {
	sizes := []any{int64(1)}
	if on == sqlsafe.PostgreSQL && slices.ContainsFunc(c.draft.Params, func(p Param) bool {
		return p.number() && p.kind().lists == 0
	}) {
		sizes = append(sizes, int64(1)<<40, 1.5)
	}
	for _, size := range sizes {
		var set []sql.NamedArg
		for _, p := range c.draft.Params {
			v := p.bound(on, nil)
			switch k := p.kind(); {
			case k.lists > 0:
			case p.number():
				v = size
			case k.base == typeBoolean:
				v = false
			}
			set = append(set, sql.Named(p.Name, v))
		}
		sets = append(sets, set)
	}
	return sets
}

// number reports whether a parameter's values are numbers, or lists of numbers.
func (p *Param) number() bool {
	switch p.kind().base {
	case typeInteger, typeNumber:
		return true
	case typeEnum:
		return len(p.Choices) > 0 && !slices.ContainsFunc(p.Choices, func(v Value) bool {
			_, ok := v.get().(json.Number)
			return !ok
		})
	}
	return false
}
