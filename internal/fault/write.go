package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// object is OpenAI's error object, with all of its four keys. Its SDKs read each of them; param and
// code may be null, and may not be missing.
type object struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// OpenAI returns err as the JSON that OpenAI answers with:
// {"error":{"message":…,"type":…,"param":…,"code":…}}.
func OpenAI(err error) []byte {
	f := From(err)
	return encode(struct {
		Error object `json:"error"`
	}{object{f.Message, f.Type(), orNull(f.Param), orNull(f.OpenAICode())}})
}

// Ollama returns err as the JSON that Ollama answers with: {"error":"…"}.
func Ollama(err error) []byte {
	return encode(struct {
		Error string `json:"error"`
	}{From(err).Message})
}

// encode returns v as JSON without a final newline, and with <, > and & unescaped: sentences quote
// what models wrote, like <tool_call>, and \u003c is hard to read in a log.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// orNull returns nil for the empty string, and otherwise a pointer to s.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Write answers a request with err in OpenAI's form: status, headers and body.
func Write(w http.ResponseWriter, err error) { write(w, From(err), OpenAI(err)) }

// WriteOllama answers a request with err in Ollama's form: status, headers and body.
func WriteOllama(w http.ResponseWriter, err error) { write(w, From(err), Ollama(err)) }

// write answers with a fault and its own status.
func write(w http.ResponseWriter, f *Error, body []byte) { writeStatus(w, f, f.Status(), body) }

// writeStatus answers with a fault. A client that is gone cannot be told.
func writeStatus(w http.ResponseWriter, f *Error, status int, body []byte) {
	h := w.Header()
	f.Advise(h)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// Advise sets the headers that tell a client when to try again, or that it is useless: OpenAI's
// clients send a request up to three times when the status is 429 or 500 and more, unless
// X-Should-Retry tells them not to. Agents repeat that again: one failure once cost nine
// generations. Retry-After is in whole seconds, rounded up: 0 would mean at once.
func (e *Error) Advise(h http.Header) {
	row := table[e.Kind]
	if !e.Again() {
		h.Set("X-Should-Retry", "false")
		return
	}
	after := cmp.Or(e.Retry, row.after)
	h.Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
}

// WriteFor answers r with err in the form of the API that r asks: Ollama's under /api/, Anthropic's
// where AsksAnthropic says so, else OpenAI's. It is for code before the handlers, which knows only
// the path.
func WriteFor(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/"):
		WriteOllama(w, err)
	case AsksAnthropic(r):
		WriteAnthropic(w, err)
	default:
		Write(w, err)
	}
}
