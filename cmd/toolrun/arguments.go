package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostInput is the most bytes that are read from standard input. The server has the same limit for
// a call.
const mostInput = 4 << 20

// arguments returns the arguments of the call from the command line, --b64 or standard input; nil
// if there are none. A text that is no JSON is returned as it is, since it is repaired where the
// tool is run, like a model's own arguments. It returns an error for invalid Base64, or if standard
// input is too long or cannot be read.
func (p *program) arguments(o options) (json.RawMessage, error) {
	switch {
	case o.b64 != "":
		return fromBase64(o.b64)
	case len(o.args) == 0:
		return nil, nil
	case o.args[0] != "-":
		return json.RawMessage(o.args[0]), nil
	}
	text, err := io.ReadAll(io.LimitReader(p.stdin, mostInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("standard input: %w", err)
	case len(text) > mostInput:
		return nil, fmt.Errorf("standard input holds more than %d bytes", mostInput)
	}
	return text, nil
}

// fromBase64 decodes Base64 in the standard or the URL alphabet, or returns an error if it is
// neither. Padding is optional, because it gets lost in shells where = is special.
func fromBase64(data string) (json.RawMessage, error) {
	data = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(data, "="))
	text, err := base64.RawStdEncoding.DecodeString(data)
	if err != nil {
		return nil, errors.New("--b64 is not valid Base64")
	}
	return text, nil
}
