package admin

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// maxBody bounds what an administrator sends, in bytes. The longest draft has 64 KiB of
// definition and 50 parameters with 1 KiB of description each; what is imported in bulk
// comes by the command line.
const maxBody = 1 << 20

// read reads a request's body into v, a pointer. A member that v does not have is an
// error that names it, since a misspelt one would be dropped in silence.
func read(r *http.Request, v any) error { return readUpTo(r, maxBody, v) }

// readUpTo reads a body of at most so many bytes.
func readUpTo(r *http.Request, most int, v any) error {
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	switch {
	case err != nil:
		return &fault.Error{Kind: fault.Invalid, Message: "the body did not arrive whole", Cause: err}
	case len(text) > most:
		return fault.New(fault.TooLarge, "the body has more than %d bytes", most)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return unreadable(err)
	}
	if d.More() {
		return fault.New(fault.Invalid, "something follows the JSON object")
	}
	return nil
}

// unreadable is an error of JSON with the field that it is about.
func unreadable(err error) error {
	f := fault.New(fault.Invalid, "the body is no JSON object: %s", err.Error())
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		f.Message, f.Param = wrong.Field+" cannot be a "+wrong.Value, wrong.Field
	} else if wrong != nil { // its own words name a type of this program's
		f.Message = "the body is no JSON object: got " + wrong.Value
	} else if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		f.Param = strings.Trim(name, `"`)
		f.Message = "there is no field " + f.Param
	}
	return f
}

// write answers with v as JSON.
func write(w http.ResponseWriter, status int, v any) error {
	text, err := chat.JSON(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(append(text, '\n'))
	return err
}

// document is the description of the API.
//
//go:embed openapi.yaml
var document []byte

// document shows the description of the API.
func (s *Server) document(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	_, err := w.Write(document)
	return err
}
