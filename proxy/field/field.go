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
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// fieldError is an error in one field of a request. Its path is only built when there is an error,
// from the inner field outwards.
type fieldError struct {
	path, say string
}

// Error implements error. It returns the path, if there is one, and what is wrong there.
func (e *fieldError) Error() string {
	if e.path == "" {
		return e.say
	}
	return e.path + ": " + e.say
}

// Bad returns an error that says what is wrong with a field. The path of the field may be empty if
// Within adds it later.
func Bad(path, format string, args ...any) error {
	return &fieldError{path: path, say: fmt.Sprintf(format, args...)}
}

// Within returns err with path put before the path of its field: "messages[2]" and "content" become
// "messages[2].content". If err is nil or has another type, it is returned unchanged. Paths are
// built only for errors, so a good request does not pay for them.
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

// AsFault returns the error of a request's field as a fault with status 400 and the path of the
// field in Param, as OpenAI's clients expect. Other errors are returned unchanged.
func AsFault(err error) error {
	var e *fieldError
	if !errors.As(err, &e) {
		return err
	}
	f := fault.New(fault.Invalid, "%s", e.Error())
	f.Param = e.path
	return f
}

// Members is a table of an object's members. Each has a name, and the destination of its value, To:
// a pointer, a table or a function as in Into, or a function of the name and the value, for several
// members at once. A request's fields are listed in such tables so that they can be compared with
// the API's documentation line by line.
type Members []struct {
	Name string
	To   any
}

// Object stores the members of the object v in the destinations that the table members has for
// them. Other members are skipped. It returns an error if v is not an object or a member has a
// wrong value.
func Object(v *fastjson.Value, members Members) error { return members.Read(v, nil) }

// Read stores the members of the object v in the destinations that the table m has for them. It
// calls rest for members that are not in the table, or skips these if rest is nil. It returns an
// error if v is not an object or a member has a wrong value, and any error that rest returns.
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

// Into stores the value v in a destination, the parameter to. If the destination is a pointer to a
// variable, the variable gets the value. A null empties a string and leaves other variables
// unchanged, since SDKs write null for unset options. If the destination is a table (Members), v
// must be an object or null. If it is a function, the function is called with v. A pointer to a
// *fastjson.Value gets v itself, which is valid as long as the parser of the body. Into returns an
// error if v has the wrong type.
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

// Given returns a function that stores a string, unless the string is empty or null. It is for
// several members with the same meaning, since clients may write null for those that they do not
// use. The function returns an error for a value of another type.
func Given(to *string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var s string
		err := Into(v, &s)
		*to = cmp.Or(s, *to)
		return err
	}
}

// Between returns a function that stores a whole number from low to high in the variable to which
// the parameter to points. Null changes nothing. For any other number the function returns an error
// whose text is the parameter why.
func Between(to *int, low, high int64, why string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		var n *int64
		if err := Into(v, &n); err != nil || n == nil {
			return err
		}
		if *n < low || *n > high {
			return Bad("", "%s", why)
		}
		*to = int(*n)
		return nil
	}
}

// Off returns a function that reads a flag that cannot be turned on. If the flag is true, the
// function returns an error whose text is the parameter why.
func Off(why string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		on := false
		if err := Into(v, &on); err != nil || !on {
			return err
		}
		return Bad("", "%s", why)
	}
}

// Refuse returns a reader for a field that is not supported. The reader returns an error with the
// text why, unless the field is null.
func Refuse(why string) func(*fastjson.Value) error {
	return func(v *fastjson.Value) error {
		if IsNull(v) {
			return nil
		}
		return Bad("", "%s", why)
	}
}

// Member passes v's member key to Into, which stores it in the destination to. An absent member
// counts as null. It returns an error if the member has the wrong type.
func Member(v *fastjson.Value, key string, to any) error {
	return Within(key, Into(OrNull(v.Get(key)), to))
}

// null stands for a member that is absent.
var null = fastjson.MustParse("null")

// OrNull returns v, or a JSON null if v is nil. Readers call the method Type of a value, which
// panics for nil, and nil is what fastjson returns for an absent member.
func OrNull(v *fastjson.Value) *fastjson.Value {
	if v == nil {
		return null
	}
	return v
}

// text stores a string in dst; null is the empty string. Any other value is an error.
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

// flag stores true or false in dst; null leaves dst unchanged. The string "true" is an error,
// because guessing could turn on what somebody meant to turn off.
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

// number stores a finite number in dst; null leaves dst unchanged. Any other value is an error.
func number(v *fastjson.Value, dst **float64) error {
	if v.Type() == fastjson.TypeNull {
		return nil
	}
	if v.Type() != fastjson.TypeNumber {
		return Bad("", "must be a number, not %s", KindOf(v))
	}
	f, err := v.Float64()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return Bad("", "must be a number that is not too large, not %.20s", v.MarshalTo(nil))
	}
	*dst = &f
	return nil
}

// integer stores a whole number in dst, written as 5 or 5.0, as clients in JavaScript and Lua do;
// null leaves dst unchanged. Any other value is an error. So is a number beyond 2^53 with a point
// or an exponent, since it no longer stands for exactly one integer.
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
			return Bad("", "must be a whole number, not %.40s", spelled)
		}
		n = int64(f)
	}
	*dst = &n
	return nil
}

// Raw returns a copy of a value in compact JSON. Blanks between tokens are removed, and everything
// else is as the client wrote it. fastjson's MarshalTo does most of this, but its result is not
// always JSON: it writes a string that was read before as Go source, with "\x1b" for the escape of
// a terminal's colour, and lets some control characters through. In these cases Raw uses its own
// code.
func Raw(v *fastjson.Value) json.RawMessage {
	b := v.MarshalTo(nil)
	control := func(c byte) bool { return c < ' ' }
	if fastjson.ValidateBytes(b) != nil || slices.ContainsFunc(b, control) {
		b = appendRaw(b[:0], v)
	}
	return b
}

// appendRaw appends a value in compact JSON, with members and numbers as the client wrote them.
func appendRaw(b []byte, v *fastjson.Value) []byte {
	switch v.Type() {
	case fastjson.TypeString:
		return chat.AppendShortQuoted(b, string(v.GetStringBytes()))
	case fastjson.TypeArray:
		b = append(b, '[')
		for i, e := range v.GetArray() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendRaw(b, e)
		}
		return append(b, ']')
	case fastjson.TypeObject:
		b = append(b, '{')
		first := true
		v.GetObject().Visit(func(key []byte, e *fastjson.Value) {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = appendRaw(append(chat.AppendShortQuoted(b, string(key)), ':'), e)
		})
		return append(b, '}')
	}
	return v.MarshalTo(b)
}

// Each calls f for every field of an object until f returns an error, and returns that error with
// the field's name. It returns an error if v is not an object. If a field comes twice, f is called
// twice, so the last value is used, as in encoding/json and JavaScript. Readers of lists therefore
// begin with an empty list each time.
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

// Items calls f for every element of an array until f returns an error, and returns that error with
// the element's index. It returns an error if v is not an array.
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

// List calls f for every element of an array and returns its first error, as Items does. If the
// array is absent or null, it does nothing and returns nil.
func List(v *fastjson.Value, f func(v *fastjson.Value) error) error {
	if IsNull(v) {
		return nil
	}
	return Items(v, f)
}

// IsNull reports whether a value is null or absent.
func IsNull(v *fastjson.Value) bool { return v == nil || v.Type() == fastjson.TypeNull }

// KindOf returns the name of a value's type for an error message, such as "an object"; "missing"
// for nil.
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
