package form

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Batch is how many bytes of a stream may be buffered, if the model is faster than the connection,
// before they are sent.
const Batch = 16 << 10

// wholeRunes returns the length of s without an incomplete character at its end, which has at most
// three bytes.
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

// Tail holds back the incomplete character at the end of a text, at most three bytes, until its
// rest comes. Models write tokens that end inside a character, but JSON text cannot. A writer that
// cuts a stream into chunks needs a Tail for each text that continues over several chunks.
type Tail struct{ held string }

// Join returns the bytes that were held back and text together. If the result ends inside a
// character, Join holds back the bytes of that character.
func (t *Tail) Join(text string) string {
	if t.held != "" {
		text = t.held + text
	}
	n := wholeRunes(text)
	t.held = strings.Clone(text[n:])
	return text[:n]
}

// Give returns the bytes that were held back and forgets them. It is called if the rest of the
// character will not come. The bytes are then written as U+FFFD.
func (t *Tail) Give() (held string) {
	held, t.held = t.held, ""
	return held
}

// WriteJSON answers with a body that is already JSON. It sets the length, so that a client can tell
// a reply that broke off from a whole one. It returns an error if the client cannot be written to.
func WriteJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// WriteValue answers with v as JSON. It is for small answers: models, versions, health. It returns
// an error if v cannot be marshaled or the client cannot be written to.
func WriteValue(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WriteJSON(w, http.StatusOK, append(b, '\n'))
}

// HeaderSafe returns s with only its printable ASCII characters, for a header or a comment line.
// Such text may contain names of tools and models and words of a reply, and a line feed in it would
// begin another header or event.
func HeaderSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

// SetHeader sets a header to the printable ASCII characters of value, unless there are none.
func SetHeader(h http.Header, key, value string) {
	if value = HeaderSafe(value); value != "" {
		h.Set(key, value)
	}
}
