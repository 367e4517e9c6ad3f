package upstream

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/internal/fault"
)

// openAIError is an error object as OpenAI and its imitators write it.
type openAIError struct {
	Error  json.RawMessage `json:"error"`
	Detail json.RawMessage `json:"detail"` // FastAPI's word for it
	Type   string          `json:"type"`
	Param  string          `json:"param"`
	Code   json.RawMessage `json:"code"` // a word, or the status as a number
}

// refused turns an answer that is not 200 into a fault.
func (o *OpenAI) refused(resp *http.Response, body []byte) *fault.Error {
	e := o.explain(resp.StatusCode, body)
	if e.Kind == fault.Busy {
		e.Retry = retryAfter(resp.Header.Get("Retry-After"), e.Retry)
	}
	if e.Kind == fault.NotFound && !bytes.Contains(bytes.ToLower(body), []byte("model")) {
		path := strings.TrimPrefix(resp.Request.URL.String(), o.root)
		return fault.New(fault.Unavailable, "the server at %s has no %s: is its URL right?", o.root, path)
	}
	return e
}

// retryAfter reads a Retry-After header: seconds or a date.
func retryAfter(header string, otherwise time.Duration) time.Duration {
	if s, err := time.ParseDuration(header + "s"); err == nil && s > 0 {
		return s
	}
	if at, err := http.ParseTime(header); err == nil && time.Until(at) > 0 {
		return time.Until(at)
	}
	return otherwise
}

// failed turns an error object inside a stream into a fault.
func (o *OpenAI) failed(v *fastjson.Value) *fault.Error {
	return o.explain(v.GetInt("code"), v.MarshalTo(nil))
}

// explain turns what the server said with a status into a fault. A status that is none leaves it to the error's type.
func (o *OpenAI) explain(status int, body []byte) *fault.Error {
	said := readError(body)
	if guess := statusOf(said); guess != 0 && (status < 400 || status > 599) {
		status = guess
	}
	text := unwrap(body)
	if said.Detail != nil {
		text = unwrap(said.Detail)
	}
	if o.key != "" {
		text = strings.ReplaceAll(text, o.key, "…")
	}
	e := explain(status, text)
	var word string
	if json.Unmarshal(said.Code, &word) == nil && word != "" {
		e.Code = word
	}
	if e.Kind == fault.Invalid && said.Param != "" {
		e.Param = said.Param
	}
	if strings.Contains(text, "maximum context length") {
		e.Kind, e.Code = fault.Invalid, "context_length_exceeded"
	}
	e.Curable = e.Curable && e.Code == ""
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		e.Message += " (that is about the key that toolnorm has for this server)"
	}
	return e
}

// readError finds the error object in a body, itself or inside "error".
func readError(body []byte) openAIError {
	var e, inner openAIError
	_ = json.Unmarshal(body, &e) // plain text has nothing but itself
	if json.Unmarshal(e.Error, &inner) == nil {
		return inner
	}
	return e
}

// statusOf guesses the status that an error object without one stands for.
func statusOf(e openAIError) int {
	switch kind := strings.ToLower(e.Type); {
	case strings.Contains(kind, "invalid_request"), strings.Contains(kind, "badrequest"), strings.Contains(kind, "exceed_context"):
		return http.StatusBadRequest
	case strings.Contains(kind, "rate_limit"), strings.Contains(kind, "overloaded"):
		return http.StatusTooManyRequests
	}
	return 0
}
