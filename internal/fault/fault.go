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

// Kind says what went wrong and so what a client should do about it.
type Kind uint8

// The kinds of fault.
const (
	// The zero value blames this program, so an Error without a kind does not blame others.
	Internal     Kind = iota // our own bug
	Invalid                  // the request is wrong, so repeating it cannot help
	Unauthorized             // the caller has no key, or an invalid one
	Forbidden                // the caller has no right to ask this server
	NotFound                 // no such model, path or tool
	Method                   // the path exists, but not with this method
	Conflict                 // another caller changed the object meanwhile, or has taken its name
	TooLarge                 // the request is larger than the limit
	Unable                   // the upstream cannot do this until its setup is changed
	Limited                  // the upstream limits requests, and the caller has exceeded the limit
	Canceled                 // the client went away
	// the model's reply is useless, and another try would cost as much again
	Failed
	Unavailable // the upstream cannot be reached, crashed, or broke off its answer
	Busy        // the upstream has no capacity now; try again later
	Timeout     // the upstream was silent for too long
)

// table maps each kind to a status, an OpenAI error type and code, and whether a client should try
// again. A permanent fault must have a status from 400 to 407 or 413, or a header that forbids a
// repetition, because OpenAI's clients repeat a request after 408, 409, 429 or 5xx unless they are
// told not to. Vercel's clients repeat these in any case, and LangChain's also repeat after other
// statuses.
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

// String returns the word for the kind in metrics, which is its code. It never contains text of
// another program.
func (k Kind) String() string {
	if code := table[k].code; code != "" {
		return code
	}
	return "invalid_request"
}

// Error is a fault with a public sentence. Strangers read the sentence, so it must not contain
// addresses, keys or paths of this server. The cause is only for the operator.
type Error struct {
	Kind    Kind
	Message string        // for the user: what is wrong and what to do
	Param   string        // the request field at fault, for example "messages[2].role"; empty: null
	Code    string        // replaces the kind's code, unless empty
	Retry   time.Duration // the time after which to try again; 0: unknown
	Cause   error         // for the operator; may be nil
	// the length of a prompt that is too long; 0: it is not, or its length is unknown
	Tokens int
	Window int // the context length for which the prompt is too long, in tokens
	// the upstream may answer the request in another form, but not in the same one
	Curable bool
}

// New returns a fault with a formatted public sentence. A %w verb sets the cause, whose text then
// becomes public too, so use %w only for causes that may be shown.
func New(k Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, Message: Short(err.Error()), Cause: errors.Unwrap(err)}
}

// Wrong returns the fault of a request with a wrong field. The format and its arguments make the
// sentence that explains it.
func Wrong(param, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Param: param, Message: fmt.Sprintf(format, args...)}
}

// longest is the length, in bytes, of the longest sentence that is shown. More of a server's or a
// client's text explains nothing; 100,000 nested arrays in a record once made a sentence of 14 KB.
const longest = 1000

// Short returns text, cut to a readable length if it is too long. Use it for text that may come
// from elsewhere.
func Short(text string) string { return clip.Dots(text, longest) }

// Error implements error. It returns the public sentence without the cause, because such errors are
// wrapped into texts that clients read.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, or nil if there is none.
func (e *Error) Unwrap() error { return e.Cause }

// Status returns the HTTP status for the kind.
func (e *Error) Status() int { return table[e.Kind].status }

// Again reports whether the same request may succeed later.
func (e *Error) Again() bool { return table[e.Kind].again && !e.Curable }

// Type returns the OpenAI error type for the kind.
func (e *Error) Type() string { return table[e.Kind].kind }

// OpenAICode returns the error's own code or, if that is empty, the code of its kind, which may be
// empty as well.
func (e *Error) OpenAICode() string {
	if e.Code != "" {
		return e.Code
	}
	return table[e.Kind].code
}

// From returns the first *Error in err's chain. Any other error, and nil, becomes an Internal
// fault. Its sentence reveals nothing of err, because an error of the operating system names files
// and addresses.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal,
		Message: "toolnorm met an error of its own; the log has the details", Cause: err}
}
