// Package field reads the fields of a request's JSON body. Each reader returns an error that says
// what is wrong with the value; the path to the value ("messages[2].content") is put together only
// then, as the error is returned.
//
// Objects are read by a table of [Members], so that a request's fields read like the API's own
// documentation. A body is parsed once, by [Parse] in body.go, and not decoded into structs:
// clients write one field in several shapes (a content is a string, null, a part or a list of
// parts), and unknown fields are kept as they are.
//
// Errors are for the client: one sentence and the path, as OpenAI's SDKs show them (message and
// param). They never quote a value in full, since it may be megabytes.
package field

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/internal/fault"
)

// fieldError says what is wrong with one field of a request. The path grows outwards, and only when
// something is wrong.
type fieldError struct {
	path, say string
}

// Error returns the path and what is wrong there.
func (e *fieldError) Error() string {
	if e.path == "" {
		return e.say
	}
	return e.path + ": " + e.say
}

// Bad returns the error of a field. The path may be empty: then Within adds it.
func Bad(path, format string, args ...any) error {
	return &fieldError{path: path, say: fmt.Sprintf(format, args...)}
}

// Within puts err's path below a field: "[2]" and "content" join to "messages[2].content". Errors
// of other kinds are returned as they are. Paths are built only for errors, so a good request does
// not pay for them.
func Within(path string, err error) error {
	var e *fieldError
	if !errors.As(err, &e) {
		return err
	}
	if e.path == "" || e.path[0] == '[' {
		return &fieldError{path: path + e.path, say: e.say}
	}
	return &fieldError{path: path + "." + e.path, say: e.say}
}

// AsFault turns a field's error into a fault that names the field as its parameter, as OpenAI's
// clients read it.
func AsFault(err error) error {
	var e *fieldError
	if !errors.As(err, &e) {
		return err
	}
	f := fault.New(fault.Invalid, "%s", e.Error())
	f.Param = e.path
	return f
}

// Members is a table of an object's members: the name of each, and where its value is stored, as
// for Into. If To is a function that takes the name as well, it is given the name, since one reader
// may serve several members. A request's fields are listed in such tables so that they can be
// compared with the API's own documentation line by line.
type Members []struct {
	Name string
	To   any
}

// Object reads an object by a table. A member that is not in the table is skipped.
func Object(v *fastjson.Value, members Members) error { return members.Read(v, nil) }

// Read is like Object, but calls rest for the members that the table does not have; a nil rest
// passes them over.
func (m Members) Read(v *fastjson.Value, rest func(key string, v *fastjson.Value) error) error {
	return Each(v, func(key string, v *fastjson.Value) error {
		for i := range m {
			if m[i].Name != key {
				continue
			}
			if to, ok := m[i].To.(func(string, *fastjson.Value) error); ok {
				return to(key, v)
			}
			return Into(v, m[i].To)
		}
		if rest == nil {
			return nil
		}
		return rest(key, v)
	})
}

// Into reads a value of the type that to points to. A null counts as no value: it empties a text
// and changes nothing else, since SDKs write null for unset options. If to is a table, the value
// must be an object; if to is a function, it is called with the value; a pointer to a
// *fastjson.Value keeps the value unread, valid as long as the body's parser is.
func Into(v *fastjson.Value, to any) error {
	switch to := to.(type) {
	case *string:
		return text(v, to)
	case *bool:
		return flag(v, to)
	case **float64:
		return number(v, to)
	case **int64:
		return integer(v, to)
	case **fastjson.Value:
		*to = v
		return nil
	case Members:
		if IsNull(v) {
			return nil
		}
		return to.Read(v, nil)
	}
	return to.(func(*fastjson.Value) error)(v)
}

// Only returns a reader for a field of which one number is served: it returns an error unless the
// value is that one, or null.
func Only(served int64, why string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var n *int64
		if err := Into(v, &n); err != nil || n == nil || *n == served {
			return err
		}
		return Bad("", "%s", why)
	}
}

// Off returns a reader for a flag that is not served: it returns an error if the value is true.
func Off(why string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		on := false
		if err := Into(v, &on); err != nil || !on {
			return err
		}
		return Bad("", "%s", why)
	}
}

// Refuse returns a reader for a field that asks for something that is not served: it returns an
// error unless the value is null, which asks for nothing.
func Refuse(why string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if IsNull(v) {
			return nil
		}
		return Bad("", "%s", why)
	}
}

// Member reads one member of an object, which may be absent, as Into does.
func Member(v *fastjson.Value, key string, to any) error {
	return Within(key, Into(OrNull(v.Get(key)), to))
}

// null is the value of a member that is absent.
var null = fastjson.MustParse("null")

// OrNull returns v, or null when v is absent.
// Readers look at a value's type, which panics for the nil that fastjson gives for an absent one.
func OrNull(v *fastjson.Value) *fastjson.Value {
	if v == nil {
		return null
	}
	return v
}

// text reads a string; null is empty.
func text(v *fastjson.Value, dst *string) error {
	switch v.Type() {
	case fastjson.TypeString:
		*dst = string(v.GetStringBytes())
	case fastjson.TypeNull:
		*dst = ""
	default:
		return Bad("", "must be a string, not %s", KindOf(v))
	}
	return nil
}

// flag reads true or false; null leaves dst.
// "true" as a text is an error: guessing would turn on what somebody meant to turn off.
func flag(v *fastjson.Value, dst *bool) error {
	switch v.Type() {
	case fastjson.TypeTrue, fastjson.TypeFalse:
		*dst = v.Type() == fastjson.TypeTrue
	case fastjson.TypeNull:
	default:
		return Bad("", "must be true or false, not %s", KindOf(v))
	}
	return nil
}

// number reads a finite number; null leaves dst nil.
func number(v *fastjson.Value, dst **float64) error {
	if v.Type() == fastjson.TypeNull {
		return nil
	}
	f, err := v.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return Bad("", "must be a number, not %s", KindOf(v))
	}
	*dst = &f
	return nil
}

// integer reads a whole number, spelled 5 or 5.0 (as by clients in JavaScript and Lua); null leaves
// dst nil. Beyond 2^53 a spelling with a point or an exponent no longer names one integer, and is
// refused.
func integer(v *fastjson.Value, dst **int64) error {
	if v.Type() == fastjson.TypeNull {
		return nil
	}
	if v.Type() != fastjson.TypeNumber {
		return Bad("", "must be a whole number, not %s", KindOf(v))
	}
	spelled := string(v.MarshalTo(nil))
	n, err := strconv.ParseInt(spelled, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(spelled, 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return Bad("", "must be a whole number, not %s", spelled)
		}
		n = int64(f)
	}
	*dst = &n
	return nil
}

// Raw copies a value that has not been read yet, as the client spelled it except for blanks between
// tokens. fastjson unescapes a string when it is first read, and then no longer knows its spelling.
func Raw(v *fastjson.Value) (json.RawMessage, error) {
	b := v.MarshalTo(nil)
	for _, c := range b {
		// Compact JSON has such bytes only inside strings, where they are forbidden; the parser
		// lets some through.
		if c < ' ' {
			return nil, Bad("", "holds a control character inside a string, which JSON forbids")
		}
	}
	return b, nil
}

// Each calls f for every field of an object until one is wrong, and names that field. A field that
// comes twice is read twice, so the last one counts, as in encoding/json and JavaScript. Readers of
// lists therefore begin with an empty list each time.
func Each(v *fastjson.Value, f func(key string, v *fastjson.Value) error) error {
	if v == nil || v.Type() != fastjson.TypeObject {
		return Bad("", "must be an object, not %s", KindOf(v))
	}
	var err error
	v.GetObject().Visit(func(key []byte, v *fastjson.Value) {
		if err != nil {
			return
		}
		if e := f(string(key), v); e != nil {
			err = Within(string(key), e)
		}
	})
	return err
}

// Items calls f for every element of an array until one is wrong, and names that element.
func Items(v *fastjson.Value, f func(v *fastjson.Value) error) error {
	if v == nil || v.Type() != fastjson.TypeArray {
		return Bad("", "must be an array, not %s", KindOf(v))
	}
	for i, e := range v.GetArray() {
		if err := f(e); err != nil {
			return Within("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// List is like Items, for an array that may be absent or null.
func List(v *fastjson.Value, f func(v *fastjson.Value) error) error {
	if IsNull(v) {
		return nil
	}
	return Items(v, f)
}

// IsNull reports whether a value is null or absent.
func IsNull(v *fastjson.Value) bool { return v == nil || v.Type() == fastjson.TypeNull }

// KindOf returns the name of a value's type for a sentence.
func KindOf(v *fastjson.Value) string {
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
