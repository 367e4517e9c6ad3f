package proxy

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"toolnorm/internal/fault"
)

// writeJSON answers with a body that is already JSON.
func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// writeValue answers with v, which must be of a type that always encodes.
func writeValue(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(b, '\n'))
}

// writeError answers with err's status and OpenAI's error body.
func writeError(w http.ResponseWriter, err error) {
	f := fault.From(err)
	setRetry(w.Header(), f)
	// A client that is gone cannot be told.
	_ = writeJSON(w, f.Status(), append(appendError(nil, f), '\n'))
}

// setRetry says when to try again, if that is known.
func setRetry(h http.Header, f *fault.Error) {
	if f.Retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int(f.Retry.Seconds()+0.999)))
	}
}

// appendError appends OpenAI's error object with all of its four keys.
func appendError(b []byte, err error) []byte {
	f := fault.From(err)
	b = append(b, `{"error":{"message":`...)
	b = appendQuoted(b, f.Message)
	b = append(b, `,"type":`...)
	b = appendQuoted(b, f.Type())
	b = append(b, `,"param":`...)
	b = appendOrNull(b, f.Param)
	b = append(b, `,"code":`...)
	b = appendOrNull(b, f.OpenAICode())
	return append(b, "}}"...)
}

// appendOrNull appends s as a JSON string, null when empty.
func appendOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendQuoted(b, s)
}

// headerSafe is s with everything but printable ASCII taken out: fit for a header or a comment line.
func headerSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

// setSafe sets a header unless the value is empty.
func setSafe(h http.Header, key, value string) {
	if value = headerSafe(value); value != "" {
		h.Set(key, value)
	}
}
