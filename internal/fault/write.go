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

// object is OpenAI's error object. Its SDKs read all four keys: param and code may be null, but
// must not be missing.
type object struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// OpenAI returns err as the JSON body of an error in OpenAI's API:
// {"error":{"message":…,"type":…,"param":…,"code":…}}.
func OpenAI(err error) []byte {
	f := From(err)
	return encode(struct {
		Error object `json:"error"`
	}{object{f.Message, f.Type(), orNull(f.Param), orNull(f.OpenAICode())}})
}

// Ollama returns err as the JSON body of an error in Ollama's API: {"error":"…"}.
func Ollama(err error) []byte {
	return encode(struct {
		Error string `json:"error"`
	}{From(err).Message})
}

// encode returns v as JSON without a final newline, and without escaping <, > and &. Sentences
// quote what models wrote, such as <tool_call>, and \u003c would be hard to read in a log.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// orNull returns a pointer to s, or nil if s is empty.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Write sends err as an answer in OpenAI's form: status, headers and body.
func Write(w http.ResponseWriter, err error) { write(w, From(err), OpenAI(err)) }

// WriteOllama sends err as an answer in Ollama's form: status, headers and body.
func WriteOllama(w http.ResponseWriter, err error) { write(w, From(err), Ollama(err)) }

// write sends body as the answer for a fault, with the status of its kind.
func write(w http.ResponseWriter, f *Error, body []byte) { writeStatus(w, f, f.Status(), body) }

// writeStatus sends body as the answer for a fault, with a given status. An error of writing is
// ignored, because the client is then gone.
func writeStatus(w http.ResponseWriter, f *Error, status int, body []byte) {
	h := w.Header()
	f.Advise(h)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// Advise sets the headers that say when to try again, or that trying again is useless. Without
// X-Should-Retry: false, OpenAI's clients send a request up to three times if the status is 429 or
// at least 500, and agents repeat all of that; one failure once cost nine generations. Retry-After
// is in whole seconds, rounded up, because 0 would mean at once.
func (e *Error) Advise(h http.Header) {
	row := table[e.Kind]
	if !e.Again() {
		h.Set("X-Should-Retry", "false")
		return
	}
	after := cmp.Or(e.Retry, row.after)
	h.Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
}

// WriteFor sends err as an answer to r in the form of the API that r uses: Ollama's for paths under
// /api/, Anthropic's if AsksAnthropic reports true, and otherwise OpenAI's. It is for code that
// runs before the handlers and knows only the request.
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
