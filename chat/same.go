package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// Same reports whether two calls are the same to whoever runs them: the same name, and arguments of
// the same value, however they are spelled. Clients and models write arguments anew, with other
// white space and order. Numbers are compared by their digits, so 1 and 1.0 differ.
func (c Call) Same(other Call) bool {
	return c.Name == other.Name && (bytes.Equal(c.Args, other.Args) || c.Key() == other.Key())
}

// SameCalls reports whether two lists have the same calls in the same order.
func SameCalls(a, b []Call) bool { return slices.EqualFunc(a, b, Call.Same) }

// Key returns a text that calls share which are the same: the name, and the arguments written the
// one way that depends on nothing but the value. No arguments are an empty object, and text that is
// no JSON is itself.
func (c Call) Key() string {
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber()
	var v any
	args := c.Args
	switch err := d.Decode(&v); err {
	case nil:
		args, _ = JSON(v) // what was read can be written
	case io.EOF:
		args = json.RawMessage("{}")
	}
	return c.Name + " " + string(args)
}
