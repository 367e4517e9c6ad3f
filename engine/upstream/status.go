package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolnorm/internal/fault"
)

// retryBusy is when to try again if a busy server does not say.
const retryBusy = 2 * time.Second

// wireError is an error object of Ollama or, inside of its string, of the llama-server below it.
type wireError struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
}

// unwrap finds the sentence in an error: plain text, a JSON string, {"error": …}, {"message": …}, or one inside the
// other, as Ollama passes on what its runner said.
func unwrap(raw []byte) string {
	for range 4 {
		var text string
		var e wireError
		switch {
		case json.Unmarshal(raw, &text) == nil:
			raw = []byte(text)
		case json.Unmarshal(raw, &e) != nil:
			return strings.TrimSpace(string(raw))
		case len(e.Error) > 0:
			raw = e.Error
		case e.Message != "":
			raw = []byte(e.Message)
		default:
			return strings.TrimSpace(string(raw))
		}
	}
	return strings.TrimSpace(string(raw))
}

// explain turns what the server said into a fault. Status 0 is an error inside a stream.
func explain(status int, text string) *fault.Error {
	if text == "" {
		text = http.StatusText(status)
	}
	kind, code := kindOf(status, text)
	e := fault.New(kind, "the model server says: %s", text)
	e.Code = code
	e.Curable = kind == fault.Invalid && code == "" || kind == fault.Unavailable && misread(text)
	if kind == fault.Busy {
		e.Retry = retryBusy
	}
	if kind == fault.NotFound {
		e.Param = "model"
	}
	return e
}

// misread says whether the text is of a server that could not read what its model wrote, or not write the prompt.
func misread(text string) bool {
	for _, word := range []string{"pars", "EOF", "syntax", "invalid character", "unmarshal", "template", "jinja", "grammar", "tool", "logprobs"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// kindOf sorts an answer of the server into a fault and, where OpenAI has a word of its own, that code.
func kindOf(status int, text string) (fault.Kind, string) {
	switch {
	case strings.Contains(text, "exceeds the available context size"), strings.Contains(text, "exceeds the context length"):
		return fault.Invalid, "context_length_exceeded"
	case status == http.StatusNotFound:
		return fault.NotFound, "model_not_found"
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return fault.Busy, ""
	case status == http.StatusRequestEntityTooLarge:
		return fault.TooLarge, ""
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return fault.Invalid, ""
	case status == http.StatusGatewayTimeout, status == http.StatusRequestTimeout:
		return fault.Timeout, ""
	}
	return fault.Unavailable, ""
}

// refused turns an answer that is not 200 into a fault.
func refused(status int, h http.Header, body []byte) *fault.Error {
	e := explain(status, unwrap(body))
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 && e.Kind == fault.Busy {
		e.Retry = time.Duration(s) * time.Second
	}
	return e
}

// broken turns a failed request or read into a fault: the cause of a cancelled context, else a server that cannot be
// reached (base is its address, empty when the connection had been made).
func broken(ctx context.Context, base string, err error) *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(context.Cause(ctx), &f):
		return f
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return &fault.Error{Kind: fault.Timeout, Message: "the model server did not answer in time", Cause: err}
	case ctx.Err() != nil:
		return &fault.Error{Kind: fault.Canceled, Message: "the client went away", Cause: err}
	case base == "":
		return &fault.Error{Kind: fault.Unavailable, Message: "the connection to the model server broke in the middle of the reply", Cause: err}
	}
	return &fault.Error{
		Kind:    fault.Unavailable,
		Message: "Ollama cannot be reached at " + base + ": start it with \"ollama serve\", or set OLLAMA_HOST to where it runs",
		Cause:   err,
	}
}
