// Package fault defines the error that all packages exchange: a kind, a sentence for the user, and
// the cause for the log. Only the kind decides status, code and advice, so that the same failure
// looks the same in every API of the server.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"toolnorm/internal/clip"
)

// Kind says whose fault it is, and so what a client should do about it.
type Kind uint8

// The kinds of fault.
const (
	// The zero value is our own bug, so an Error without a kind does not blame others.
	Internal     Kind = iota // our own bug
	Invalid                  // the request is wrong: repeating it cannot help
	Unauthorized             // the caller has no key, or a wrong one
	Forbidden                // the caller may not ask this server
	NotFound                 // no such model, path or tool
	Method                   // the path exists, the method does not
	Conflict                 // another caller changed the object meanwhile, or has taken its name
	TooLarge                 // the request is larger than the limit
	Unable                   // the upstream cannot do this until it is changed
	Limited                  // the upstream has a limit on requests, and the caller is over it
	Canceled                 // the client went away
	Failed                   // the model's reply is useless: another try would cost as much again
	Unavailable              // the upstream cannot be reached, broke, or ended in the middle
	Busy                     // the upstream has no free place: try again later
	Timeout                  // the upstream was silent for too long
)

// table is the one place where a kind becomes a status, an OpenAI error type and code, and what a
// client should do next. A permanent fault has a status from 400 to 407 or 413, or a header that
// says so: OpenAI's clients repeat a request after 408, 409, 429 or 5xx, unless they are told not
// to; Vercel's do so in any case, LangChain's also after any other status.
var table = [...]struct {
	status     int
	kind, code string
	again      bool          // the same request may succeed later
	after      time.Duration // when, if the fault does not say
}{
	Internal:     {http.StatusInternalServerError, "server_error", "internal_error", false, 0},
	Invalid:      {http.StatusBadRequest, "invalid_request_error", "", false, 0},
	Unauthorized: {http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", false, 0},
	Forbidden:    {http.StatusForbidden, "invalid_request_error", "forbidden", false, 0},
	NotFound:     {http.StatusNotFound, "invalid_request_error", "not_found", false, 0},
	Method: {http.StatusMethodNotAllowed, "invalid_request_error", "method_not_allowed",
		false, 0},
	Conflict: {http.StatusConflict, "invalid_request_error", "conflict", false, 0},
	TooLarge: {http.StatusRequestEntityTooLarge, "invalid_request_error", "request_too_large",
		false, 0},
	Unable: {http.StatusBadRequest, "invalid_request_error", "upstream_unable", false, 0},
	Limited: {http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded", true,
		2 * time.Second},
	Canceled:    {499, "invalid_request_error", "client_closed_request", false, 0},
	Failed:      {http.StatusBadGateway, "server_error", "model_failed", false, 0},
	Unavailable: {http.StatusBadGateway, "server_error", "upstream_error", true, time.Second},
	Busy: {http.StatusServiceUnavailable, "server_error", "upstream_busy", true,
		2 * time.Second},
	Timeout: {http.StatusGatewayTimeout, "server_error", "upstream_timeout", false, 0},
}

// String returns the word for the kind in metrics, which is its code and never another program's
// text.
func (k Kind) String() string {
	if code := table[k].code; code != "" {
		return code
	}
	return "invalid_request"
}

// Error is a fault with its public sentence. The sentence is for strangers: it contains no address,
// key or path of ours. The cause is only for the operator.
type Error struct {
	Kind    Kind
	Message string        // what the user reads: what is wrong and what to do
	Param   string        // the request field at fault, as "messages[2].role"; empty: null
	Code    string        // overrides the kind's code, if set
	Retry   time.Duration // when to try again; 0: not said
	Cause   error         // what the operator reads; may be nil
	Tokens  int           // of a prompt that is too long; 0: it is not, or its length is unknown
	Window  int           // the context length for which the prompt is too long, in tokens
	// the upstream may answer a request in another form, but not the same request
	Curable bool
}

// New makes a fault with a formatted public sentence. A %w verb sets the cause, and the cause's
// text is then public too: use it only for causes that may be shown.
func New(k Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, Message: Short(err.Error()), Cause: errors.Unwrap(err)}
}

// longest is the length of the longest sentence that is shown, in bytes: more of a server's or a
// client's text explains nothing. 100,000 nested arrays in a record once made a sentence of 14 KB.
const longest = 1000

// Short cuts a text that may come from elsewhere to a readable length.
func Short(text string) string { return clip.Dots(text, longest) }

// Error returns the public sentence, without the cause: errors of this kind are wrapped into texts
// that clients read.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Status returns the HTTP status of the kind.
func (e *Error) Status() int { return table[e.Kind].status }

// Again reports whether the same request may succeed later.
func (e *Error) Again() bool { return table[e.Kind].again && !e.Curable }

// Type returns the OpenAI error type of the kind.
func (e *Error) Type() string { return table[e.Kind].kind }

// OpenAICode returns the error's code, else the kind's; empty when there is none.
func (e *Error) OpenAICode() string {
	if e.Code != "" {
		return e.Code
	}
	return table[e.Kind].code
}

// From finds the fault in err. Any other error becomes an Internal fault whose sentence reveals
// nothing: an error of the operating system names files and addresses. From(nil) is Internal too;
// check err != nil first.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal,
		Message: "toolnorm met an error of its own; the log has the details", Cause: err}
}
