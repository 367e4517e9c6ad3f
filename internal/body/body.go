// Package body reads the JSON bodies of requests that are meant for the server itself, and not for
// a model: of bounded size, one object, and no member that nobody reads.
package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"toolnorm/internal/fault"
)

// Read reads a request's body of at most so many bytes into v, a pointer to a struct. A member
// that v does not have is an error that names it, since a misspelt one would be dropped in
// silence. An empty body is io.EOF, for routes that can do without one.
func Read(r *http.Request, most int, v any) error {
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	switch {
	case err != nil:
		return &fault.Error{Kind: fault.Invalid, Message: "the body did not arrive whole", Cause: err}
	case len(text) > most:
		return fault.New(fault.TooLarge, "the body has more than %d bytes", most)
	case len(bytes.TrimSpace(text)) == 0:
		return &fault.Error{Kind: fault.Invalid, Message: "the body is empty; a JSON object belongs there", Cause: io.EOF}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return unreadable(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fault.New(fault.Invalid, "something follows the JSON object")
	}
	return nil
}

// unreadable returns the fault for an error of JSON, with the field that it is about.
func unreadable(err error) error {
	f := fault.New(fault.Invalid, "the body is not a JSON object: %s", err.Error())
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		f.Message, f.Param = wrong.Field+" has the wrong type: "+wrong.Value, wrong.Field
	} else if wrong != nil { // its own words name a type of this program's
		f.Message = "the body is not a JSON object: got " + wrong.Value
	} else if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		f.Param = strings.Trim(name, `"`)
		f.Message = "there is no field " + f.Param
	}
	return f
}
