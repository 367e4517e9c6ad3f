package pyexpr

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Between JSON and values. A number keeps the type that its text has, in both directions: 5 is an int and stays 5, 5.0 is a
// float and stays 5.0, and 123456789012345678901234567890 loses no digit. What JSON does not have is refused with a hint,
// never rewritten: NaN, sets, keys that are no strings.

// fromJSON makes a value of an argument. Numbers keep what they are: 5 is an int, 5.0 and 5e0 are floats.
func fromJSON(m *machine, v any, depth int) (value, error) {
	if depth > m.limits.Depth {
		return nil, raise(LimitError, "an argument is nested more than %d deep", m.limits.Depth)
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v, nil
	case int:
		return int64(v), nil
	case string:
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\ufffd")
		}
		return v, m.allocText(int64(len(v)))
	case json.Number:
		return fromNumber(m, string(v))
	case []any:
		return fromArray(m, v, depth)
	case map[string]any:
		return fromObject(m, v, depth)
	}
	return nil, raise(TypeError, "an argument of Go type %T is no JSON value", v)
}

// fromNumber reads a JSON number. An exponent or a point makes a float, even of 1e2: so does Python's json.
func fromNumber(m *machine, s string) (value, error) {
	if strings.ContainsAny(s, ".eE") {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(x, 0) {
			return nil, raise(ValueError, "an argument is no number: %.40q", s)
		}
		return x, m.alloc(boxBytes)
	}
	return parseInt(m, s, 10)
}

// fromArray charges the list before it is made, though the JSON is in memory already: the account is of what the run adds.
func fromArray(m *machine, v []any, depth int) (value, error) {
	if err := m.allocItems(int64(len(v))); err != nil {
		return nil, err
	}
	items := make(list, len(v))
	for i := range v {
		item, err := fromJSON(m, v[i], depth+1)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

// fromObject orders the keys, since a Go map has lost the order that the JSON had.
func fromObject(m *machine, v map[string]any, depth int) (value, error) {
	if err := m.allocItems(int64(len(v))); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	d := newDict()
	for _, k := range keys {
		item, err := fromJSON(m, v[k], depth+1)
		if err != nil {
			return nil, err
		}
		if err := d.set(m, strings.ToValidUTF8(k, "\ufffd"), item); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// toJSON writes a result. Its size is charged as it grows, and limited besides.
func toJSON(m *machine, t *text, v value, depth int) error {
	if err := m.step(1); err != nil {
		return err
	}
	if depth > m.limits.Depth {
		return raise(LimitError, "the result is nested more than %d deep", m.limits.Depth)
	}
	if t.b.Len() > m.limits.Result {
		return tooLong(m)
	}
	switch v := v.(type) {
	case nil:
		return t.add("null")
	case bool:
		return t.add(strconv.FormatBool(v))
	case int64:
		return t.add(strconv.FormatInt(v, 10))
	case *big.Int:
		s, err := decimal(m, v)
		if err != nil {
			return err
		}
		return t.add(s)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return raise(ValueError, "Out of range float values are not JSON compliant")
		}
		return t.add(floatText(v))
	case string:
		return jsonString(m, t, v)
	case list:
		return jsonItems(m, t, v, depth)
	case tuple:
		return jsonItems(m, t, v, depth)
	case *dict:
		return jsonObject(m, t, v, depth)
	}
	return notJSON(v)
}

// tooLong is the error of a result beyond the limit. Such results are for a model's context, where a megabyte has no place.
func tooLong(m *machine) error {
	return raise(LimitError, "the result is longer than %d bytes", m.limits.Result)
}

// notJSON says what to do with a value that JSON does not know.
func notJSON(v value) error {
	switch v.(type) {
	case *set:
		return raise(TypeError, "Object of type set is not JSON serializable; use sorted(...) to make it a list")
	case span, view, *iterator:
		return raise(TypeError, "Object of type %s is not JSON serializable; use list(...) to make it a list", typeName(v))
	}
	return raise(TypeError, "Object of type %s is not JSON serializable", typeName(v))
}

// jsonString writes a string, and leaves <, > and & as they are: the text is read by models.
func jsonString(m *machine, t *text, s string) error {
	if len(s) > m.limits.Result {
		return tooLong(m)
	}
	if err := t.add(`"`); err != nil {
		return err
	}
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if err := t.add(s[from:i]); err != nil {
			return err
		}
		if err := t.add(jsonEscape(c)); err != nil {
			return err
		}
		from = i + 1
	}
	if err := t.add(s[from:]); err != nil {
		return err
	}
	return t.add(`"`)
}

// jsonEscape writes the escapes that JSON asks for and no others.
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

// jsonItems writes a list or a tuple as an array, without blanks: the text is paid for by the token.
func jsonItems(m *machine, t *text, items []value, depth int) error {
	if err := t.add("["); err != nil {
		return err
	}
	for i, v := range items {
		if i > 0 {
			if err := t.add(","); err != nil {
				return err
			}
		}
		if err := toJSON(m, t, v, depth+1); err != nil {
			return err
		}
	}
	return t.add("]")
}

// jsonObject writes a dict whose keys are strings; Python's json would turn numbers into strings without saying so.
func jsonObject(m *machine, t *text, d *dict, depth int) error {
	between := "{"
	for i, k := range d.keys {
		s, ok := k.(string)
		if !ok {
			return raise(TypeError, "keys of the result must be str, not %s; use str(...)", typeName(k))
		}
		if err := t.add(between); err != nil {
			return err
		}
		if err := jsonString(m, t, s); err != nil {
			return err
		}
		if err := t.add(":"); err != nil {
			return err
		}
		if err := toJSON(m, t, d.vals[i], depth+1); err != nil {
			return err
		}
		between = ","
	}
	if len(d.keys) == 0 {
		return t.add("{}")
	}
	return t.add("}")
}
