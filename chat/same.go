package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// Same reports whether two calls have the same effect, because they have the same name, and
// arguments of the same value, however they are spelled. Clients and models write arguments again
// with different white space and order. Numbers are compared by their digits, so 1 and 1.0 differ.
func (c Call) Same(other Call) bool {
	return c.Name == other.Name && (bytes.Equal(c.Args, other.Args) || c.Key() == other.Key())
}

// SameCalls reports whether two lists have the same calls in the same order.
func SameCalls(a, b []Call) bool { return slices.EqualFunc(a, b, Call.Same) }

// Key returns a text that is equal for calls that are the same: the name, and the arguments in a
// form that depends only on their value. Missing arguments count as an empty object, and text that
// is not JSON is used unchanged.
func (c Call) Key() string {
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber()
	var v any
	args := c.Args
	switch err := d.Decode(&v); err {
	case nil:
		args, _ = JSON(v) // cannot fail: the value was parsed from JSON
	case io.EOF:
		args = json.RawMessage("{}")
	}
	return c.Name + " " + string(args)
}
