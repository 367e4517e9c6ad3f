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

// openAIError is an error object in the form of OpenAI and its imitators:
//
//	{"error":{"message":"…","type":"invalid_request_error","param":"tools","code":"context_length_exceeded"}}
type openAIError struct {
	Error  json.RawMessage `json:"error"`  // an object, or a sentence alone
	Detail json.RawMessage `json:"detail"` // FastAPI's name for error
	Type   string          `json:"type"`
	Param  string          `json:"param"` // which field of the request is wrong
	Code   json.RawMessage `json:"code"`  // a word, or the status as a number
}

// refused returns the fault for an answer that is not 200. A 404 that does not name a model is
// about the address. It is the answer to a wrong path in the settings, and "model not found" would
// hide that.
func (o *Client) refused(resp *http.Response, body []byte) *fault.Error {
	e := o.explain(resp.StatusCode, body)
	e.Retry = upstream.RetryAfter(resp.Header, e.Kind)
	if e.Kind == fault.NotFound && !bytes.Contains(bytes.ToLower(body), []byte("model")) {
		path := strings.TrimPrefix(resp.Request.URL.String(), o.root)
		return fault.New(fault.Unable, "the server at %s has no %s: is its URL right?", o.root,
			path)
	}
	return e
}

// failed returns the fault for an error object inside a stream. The status was already 200. If the
// object's code is a number, as llama-server sends it, the code is used as the status:
// {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}
func (o *Client) failed(v *fastjson.Value) *fault.Error {
	return o.explain(v.GetInt("code"), v.MarshalTo(nil))
}

// explain returns the fault for a server's error and its status. If there is no status, it is
// concluded from the error's type. If the message contains the key for this server, the key is
// removed, since the message is sent to the client, whose key is another. If the error has a code
// of the server's own, the server knows what was wrong, so no other strategy is tried.
func (o *Client) explain(status int, body []byte) *fault.Error {
	said := readError(body)
	if guess := statusOf(said); guess != 0 && (status < 400 || status > 599) {
		status = guess
	}
	text := upstream.Sentence(body)
	if said.Detail != nil {
		text = upstream.Sentence(said.Detail)
	}
	// Servers repeat a key that they refuse: "key sk-secret is wrong".
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
		e.Kind = fault.Unable // waiting does not help
	}
	e.Curable = e.Curable && e.Code == ""
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		e.Message += " (that is about the key that toolnorm has for this server)"
	}
	return e
}

// readError returns the error object in a body, which is the body itself or inside "error". For
// FastAPI's {"detail": …} it returns an object with only that member.
func readError(body []byte) openAIError {
	var e, inner openAIError
	_ = json.Unmarshal(body, &e) // plain text has no members
	if json.Unmarshal(e.Error, &inner) == nil {
		return inner
	}
	return e
}

// statusOf returns the HTTP status that the error object e probably had, by its type. It returns 0
// if the type is unknown. It recognizes the spellings BadRequestError of vLLM,
// invalid_request_error of OpenAI, and exceed_context_size_error of llama-server.
func statusOf(e openAIError) int {
	switch kind := strings.ToLower(e.Type); {
	case strings.Contains(kind, "invalid_request"), strings.Contains(kind, "badrequest"),
		strings.Contains(kind, "exceed_context"):
		return http.StatusBadRequest
	case strings.Contains(kind, "rate_limit"):
		return http.StatusTooManyRequests
	case strings.Contains(kind, "overloaded"):
		return http.StatusServiceUnavailable
	}
	return 0
}
