package proxy

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
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
