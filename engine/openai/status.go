package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/engine/upstream"
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
func (o *Client) refused(resp *http.Response, body []byte) *fault.Error {
	e := o.explain(resp.StatusCode, body)
	e.Retry = upstream.RetryAfter(resp.Header, e.Kind)
	if e.Kind == fault.NotFound && !bytes.Contains(bytes.ToLower(body), []byte("model")) {
		path := strings.TrimPrefix(resp.Request.URL.String(), o.root)
		return fault.New(fault.Unable, "the server at %s has no %s: is its URL right?", o.root, path)
	}
	return e
}

// failed turns an error object inside a stream into a fault.
func (o *Client) failed(v *fastjson.Value) *fault.Error {
	return o.explain(v.GetInt("code"), v.MarshalTo(nil))
}

// explain turns what the server said with a status into a fault. A status that is none leaves it to the error's type.
func (o *Client) explain(status int, body []byte) *fault.Error {
	said := readError(body)
	if guess := statusOf(said); guess != 0 && (status < 400 || status > 599) {
		status = guess
	}
	text := upstream.Sentence(body)
	if said.Detail != nil {
		text = upstream.Sentence(said.Detail)
	}
	if o.key != "" {
		text = strings.ReplaceAll(text, o.key, "…")
	}
	e := upstream.Explain(status, text)
	var word string
	if json.Unmarshal(said.Code, &word) == nil && word != "" && e.Code != upstream.ContextLength {
		e.Code = word
	}
	if e.Kind == fault.Invalid && said.Param != "" {
		e.Param = said.Param
	}
	if e.Kind == fault.Limited && word == "insufficient_quota" {
		e.Kind = fault.Unable // no waiting helps
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
	case strings.Contains(kind, "rate_limit"):
		return http.StatusTooManyRequests
	case strings.Contains(kind, "overloaded"):
		return http.StatusServiceUnavailable
	}
	return 0
}
