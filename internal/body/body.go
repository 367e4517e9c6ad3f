// Package body reads the JSON bodies of requests to the server itself, and not to a model: one
// object of bounded size, without unknown members. It writes their answers as well.
package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Read decodes a request's body, a JSON object, into v, a pointer to a struct. A body with more
// bytes than the argument most is an error. A member that v does not have is an error that names
// it, since a misspelt member would otherwise be ignored silently. For an empty body the error
// wraps io.EOF, so that routes without a required body can accept it. Every error is a
// *fault.Error.
func Read(r *http.Request, most int, v any) error {
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	switch {
	case err != nil:
		return &fault.Error{Kind: fault.Invalid, Message: "the body did not arrive whole",
			Cause: err}
	case len(text) > most:
		return fault.New(fault.TooLarge, "the body has more than %d bytes", most)
	case len(bytes.TrimSpace(text)) == 0:
		return &fault.Error{Kind: fault.Invalid,
			Message: "the body is empty; a JSON object belongs there", Cause: io.EOF}
	case !utf8.Valid(text): // which encoding/json would replace, so that a text is saved wrongly
		return fault.New(fault.Invalid, "the body is not UTF-8, as JSON has to be")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return unreadable(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fault.New(fault.Invalid, "something follows the JSON object")
	}
	if key, ok := twice(json.NewDecoder(bytes.NewReader(text))); ok {
		f := fault.New(fault.Invalid, "the field %s is there twice", key)
		f.Param = key
		return f
	}
	return nil
}

// twice returns a key that occurs twice in an object of the next JSON value; ok is false if no key
// does. The value must be valid JSON. Such a key is an error, because encoding/json takes the last
// of the two values, and a person may have meant the other.
func twice(d *json.Decoder) (key string, ok bool) {
	token, _ := d.Token()
	open, nested := token.(json.Delim)
	seen := map[string]bool{}
	for nested && d.More() {
		if open == '{' {
			token, _ := d.Token()
			if key, _ = token.(string); seen[key] {
				return key, true
			}
			seen[key] = true
		}
		if key, ok = twice(d); ok {
			return key, true
		}
	}
	if nested {
		_, _ = d.Token() // its end
	}
	return "", false
}

// Write sends v as a JSON answer with the given status. If v cannot be encoded, the error is
// returned before anything is sent.
func Write(w http.ResponseWriter, status int, v any) error {
	text, err := chat.JSON(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(append(text, '\n'))
	return err
}

// embedding matches the name of an embedded struct, which encoding/json puts before that of its
// field. Names of fields begin with a small letter.
var embedding = regexp.MustCompile(`^(?:[A-Z]\w*\.)+`)

// unreadable returns the fault that describes an error of encoding/json. If the error concerns one
// field, Param names it.
func unreadable(err error) error {
	f := fault.New(fault.Invalid, "the body is not a JSON object: %s", err.Error())
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		f.Param = embedding.ReplaceAllString(wrong.Field, "")
		f.Message = f.Param + " has the wrong type: " + wrong.Value
	} else if wrong != nil { // its own text names a type of this program
		f.Message = "the body is not a JSON object: got " + wrong.Value
	} else if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		f.Param = strings.Trim(name, `"`)
		f.Message = "there is no field " + f.Param
	}
	return f
}
