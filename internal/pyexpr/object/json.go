package object

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Conversion between JSON and values. A number keeps the type of its text in both directions: 5 is
// an int and stays 5, 5.0 is a float and stays 5.0, and 123456789012345678901234567890 loses no
// digit. Values that JSON does not have are refused with a hint, never rewritten: NaN, sets, keys
// that are not strings.

// FromJSON returns an argument, decoded from JSON, as a value. Numbers have the type of their text:
// 5 is an int, while 5.0 and 5e0 are floats. depth is the current level of nesting. It raises an
// error if the argument is nested too deeply.
func FromJSON(m *py.Account, v any, depth int) Value {
	if depth > m.Limits.Depth {
		py.Raise(py.LimitError, "an argument is nested more than %d deep", m.Limits.Depth)
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v
	case int:
		return int64(v)
	case string:
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\ufffd")
		}
		m.AllocText(int64(len(v)))
		return v
	case json.Number:
		return fromNumber(m, string(v))
	case []any:
		return fromArray(m, v, depth)
	case map[string]any:
		return fromObject(m, v, depth)
	}
	return py.Raise(py.TypeError, "an argument of Go type %T is no JSON value", v)
}

// fromNumber returns the value of a JSON number. An exponent or a point makes it a float, even 1e2,
// as in Python's json.
func fromNumber(m *py.Account, s string) Value {
	if strings.ContainsAny(s, ".eE") {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(x, 0) {
			py.Raise(py.ValueError, "an argument is no number: %.40q", s)
		}
		m.Alloc(py.BoxBytes)
		return x
	}
	// Nearly every number fits an int64. int() would also look for blanks, underscores and digits
	// of other scripts, which JSON does not have.
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		m.Scan(8 * len(s)) // as int() would charge it
		m.Alloc(py.BoxBytes)
		return n
	}
	return ParseInt(m, s, 10)
}

// fromArray returns the list for a JSON array. The list is a copy, so its memory is charged in
// addition to that of the JSON.
func fromArray(m *py.Account, v []any, depth int) Value {
	m.AllocItems(int64(len(v)))
	items := make(List, len(v))
	for i := range v {
		items[i] = FromJSON(m, v[i], depth+1)
	}
	return items
}

// fromObject returns the dict for a JSON object. It sorts the keys, since a Go map does not have
// their original order.
func fromObject(m *py.Account, v map[string]any, depth int) Value {
	m.AllocItems(int64(len(v)))
	keys := slices.Sorted(maps.Keys(v))
	d := NewDict()
	for _, k := range keys {
		item := FromJSON(m, v[k], depth+1)
		d.Set(m, strings.ToValidUTF8(k, "\ufffd"), item)
	}
	return d
}

// json appends a value as JSON. It raises an error for a value that JSON does not have, and if the
// result is too long or nested too deeply.
func (t *Text) json(v Value, depth int) {
	t.m.Step(1)
	if depth > t.m.Limits.Depth {
		py.Raise(py.LimitError, "the result is nested more than %d deep", t.m.Limits.Depth)
	}
	if t.b.Len() > t.m.Limits.Result {
		tooLong(t.m)
	}
	// Arrays and objects have no blanks: a model's user pays for each token.
	array := func(items []Value) {
		t.series("[", len(items), ",", func(i int) { t.json(items[i], depth+1) }, "]")
	}
	switch v := v.(type) {
	case nil:
		t.Add("null")
	case bool:
		t.Add(strconv.FormatBool(v))
	case int64:
		t.Add(strconv.FormatInt(v, 10))
	case *big.Int:
		t.Add(number.Decimal(t.m, v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			py.Raise(py.ValueError, "Out of range float values are not JSON compliant")
		}
		t.Add(number.FloatText(v))
	case string:
		t.jsonString(v)
	case List:
		array(v)
	case Tuple:
		array(v)
	case *Dict:
		t.jsonObject(v, depth)
	case *Set:
		py.Raise(py.TypeError,
			"Object of type set is not JSON serializable; use sorted(...) to make it a list")
	case span, View, *Iterator:
		py.Raise(py.TypeError,
			"Object of type %s is not JSON serializable; use list(...) to make it a list",
			TypeName(v))
	default:
		py.Raise(py.TypeError, "Object of type %s is not JSON serializable", TypeName(v))
	}
}

// ToJSON returns a result as JSON. It raises an error for a value that JSON does not have, and if
// the JSON is too long or nested too deeply.
func ToJSON(m *py.Account, v Value) string {
	t := &Text{m: m}
	t.json(v, 1)
	if t.b.Len() > m.Limits.Result {
		tooLong(m)
	}
	return t.b.String()
}

// tooLong raises the error for a result that exceeds the limit. Results are for a model's context,
// where a megabyte would be useless.
func tooLong(m *py.Account) {
	py.Raise(py.LimitError, "the result is longer than %d bytes", m.Limits.Result)
}

// jsonString appends a text as a string in JSON. It does not escape <, > and &, because models read
// the result. It raises an error if the text is longer than a result may be.
func (t *Text) jsonString(s string) {
	if len(s) > t.m.Limits.Result {
		tooLong(t.m)
	}
	t.Add(`"`)
	from := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			t.Add(s[from:i])
			t.Add(jsonEscape(c))
			from = i + 1
		}
	}
	t.Add(s[from:])
	t.Add(`"`)
}

// jsonEscape returns the escape for a character that JSON requires to be escaped.
func jsonEscape(c byte) string {
	switch c {
	case '"', '\\':
		return `\` + string(c)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const hex = "0123456789abcdef"
	return `\u00` + string(hex[c>>4]) + string(hex[c&15])
}

// jsonObject appends a dict. It raises an error for a key that is not a string; Python's json would
// silently turn numbers into strings.
func (t *Text) jsonObject(d *Dict, depth int) {
	between := "{"
	for i, k := range d.keys {
		s, ok := k.(string)
		if !ok {
			py.Raise(py.TypeError, "keys of the result must be str, not %s; use str(...)",
				TypeName(k))
		}
		t.Add(between)
		t.jsonString(s)
		t.Add(":")
		t.json(d.vals[i], depth+1)
		between = ","
	}
	if len(d.keys) == 0 {
		t.Add("{")
	}
	t.Add("}")
}
