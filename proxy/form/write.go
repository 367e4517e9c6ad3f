package form

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// wholeRunes returns the length of the part of s that does not end inside a character: all of it
// but at most three bytes.
func wholeRunes(s string) int {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax+1; i-- {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if s[i] >= utf8.RuneSelf && !utf8.FullRuneInString(s[i:]) {
			return i
		}
		break
	}
	return len(s)
}

// Tail holds the begun character at the end of what was written, under four bytes, until its rest
// is there: models write tokens that end inside a character, and JSON text cannot. Whoever cuts a
// stream into chunks needs one for each text that goes on.
type Tail struct{ held string }

// Join puts text behind what is held, and returns it but for the character that it may end in.
func (t *Tail) Join(text string) string {
	if t.held != "" {
		text = t.held + text
	}
	n := wholeRunes(text)
	t.held = strings.Clone(text[n:])
	return text[:n]
}

// Give returns what is held and holds nothing: its rest will not come, and it will be written as
// U+FFFD.
func (t *Tail) Give() (held string) {
	held, t.held = t.held, ""
	return held
}

// WriteJSON answers with a body that is already JSON.
// The length is known, so that a client can tell a reply that broke off from a whole one.
func WriteJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// WriteValue answers with v, which must be of a type that always encodes.
// The length is small and known: models, versions, health.
func WriteValue(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WriteJSON(w, http.StatusOK, append(b, '\n'))
}

// HeaderSafe returns s without everything but printable ASCII, for a header or a comment line.
// Names of tools and models and words of a model's reply get here, and a line feed in one of them
// would begin a header or an event of its own.
func HeaderSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

// SetHeader sets a header unless the value is empty.
func SetHeader(h http.Header, key, value string) {
	if value = HeaderSafe(value); value != "" {
		h.Set(key, value)
	}
}
