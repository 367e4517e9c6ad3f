package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/internal/fault"
)

// wrong is what is wrong with one field of a request. The path grows outwards, and only when something is wrong.
type wrong struct {
	path, say string
}

// Error is the path and what is wrong there.
func (w *wrong) Error() string {
	if w.path == "" {
		return w.say
	}
	return w.path + ": " + w.say
}

// bad says what is wrong with a field.
func bad(path, format string, args ...any) error {
	return &wrong{path: path, say: fmt.Sprintf(format, args...)}
}

// within puts err's path below a field: "[2]" and "content" join to "messages[2].content".
func within(path string, err error) error {
	var w *wrong
	if !errors.As(err, &w) {
		return err
	}
	if w.path == "" || w.path[0] == '[' {
		return &wrong{path: path + w.path, say: w.say}
	}
	return &wrong{path: path + "." + w.path, say: w.say}
}

// asFault makes a field's error one that a client can be shown.
func asFault(err error) error {
	var w *wrong
	if !errors.As(err, &w) {
		return err
	}
	f := fault.New(fault.Invalid, "%s", w.Error())
	f.Param = w.path
	return f
}

// text reads a string; null is empty.
func text(dst *string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		switch v.Type() {
		case fastjson.TypeString:
			*dst = string(v.GetStringBytes())
		case fastjson.TypeNull:
			*dst = ""
		default:
			return bad("", "must be a string, not %s", kindOf(v))
		}
		return nil
	}
}

// flag reads true or false; null leaves dst.
func flag(dst *bool) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		switch v.Type() {
		case fastjson.TypeTrue, fastjson.TypeFalse:
			*dst = v.Type() == fastjson.TypeTrue
		case fastjson.TypeNull:
		default:
			return bad("", "must be true or false, not %s", kindOf(v))
		}
		return nil
	}
}

// number reads a finite number; null leaves dst nil.
func number(dst **float64) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if v.Type() == fastjson.TypeNull {
			return nil
		}
		f, err := v.Float64()
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return bad("", "must be a number, not %s", kindOf(v))
		}
		*dst = &f
		return nil
	}
}

// integer reads a whole number, spelled 5 or 5.0; null leaves dst nil.
func integer(dst **int64) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if v.Type() == fastjson.TypeNull {
			return nil
		}
		if v.Type() != fastjson.TypeNumber {
			return bad("", "must be a whole number, not %s", kindOf(v))
		}
		spelled := string(v.MarshalTo(nil))
		n, err := strconv.ParseInt(spelled, 10, 64)
		if err != nil {
			f, ferr := strconv.ParseFloat(spelled, 64)
			if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
				return bad("", "must be a whole number, not %s", spelled)
			}
			n = int64(f)
		}
		*dst = &n
		return nil
	}
}

// raw copies a value that nothing has looked into yet, as the client spelled it but for blanks between tokens.
func raw(v *fastjson.Value) (json.RawMessage, error) {
	b := v.MarshalTo(nil)
	for _, c := range b {
		// Compact JSON has such bytes only inside strings, where they may not stand; the parser lets some through.
		if c < ' ' {
			return nil, bad("", "holds a control character inside a string, which JSON forbids")
		}
	}
	return b, nil
}

// each calls f for every field of an object until one is wrong, and names that field. A field given twice is read twice.
func each(v *fastjson.Value, f func(key string, v *fastjson.Value) error) error {
	if v == nil || v.Type() != fastjson.TypeObject {
		return bad("", "must be an object, not %s", kindOf(v))
	}
	var err error
	v.GetObject().Visit(func(key []byte, v *fastjson.Value) {
		if err != nil {
			return
		}
		if e := f(string(key), v); e != nil {
			err = within(string(key), e)
		}
	})
	return err
}

// items calls f for every element of an array until one is wrong, and names that element.
func items(v *fastjson.Value, f func(i int, v *fastjson.Value) error) error {
	if v == nil || v.Type() != fastjson.TypeArray {
		return bad("", "must be an array, not %s", kindOf(v))
	}
	for i, e := range v.GetArray() {
		if err := f(i, e); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// isNull says that a value is null or absent.
func isNull(v *fastjson.Value) bool { return v == nil || v.Type() == fastjson.TypeNull }

// kindOf names a value's type in a sentence.
func kindOf(v *fastjson.Value) string {
	if v == nil {
		return "missing"
	}
	switch v.Type() {
	case fastjson.TypeNull:
		return "null"
	case fastjson.TypeObject:
		return "an object"
	case fastjson.TypeArray:
		return "an array"
	case fastjson.TypeString:
		return "a string"
	case fastjson.TypeNumber:
		return "a number"
	}
	return "true or false"
}
