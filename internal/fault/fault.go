// Package fault is the one error that crosses package borders: a kind, a sentence for the user, and the cause for the log.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Kind says whose fault it is, and so what a client should do about it.
type Kind uint8

// The kinds of fault.
const (
	Internal    Kind = iota // our own bug
	Invalid                 // the request is wrong: repeating it cannot help
	NotFound                // no such model, path or tool
	TooLarge                // the request is larger than the limit
	Unavailable             // the upstream cannot be reached, broke, or ended in the middle
	Busy                    // the upstream has no place free: try again later
	Timeout                 // the upstream was silent for too long
	Canceled                // the client went away
	Forbidden               // the caller may not ask this server
	Method                  // the path exists, the method does not
)

// table is the one place where a kind becomes a status and an OpenAI error type and code.
var table = [...]struct {
	status     int
	kind, code string
}{
	Internal:    {http.StatusInternalServerError, "server_error", "internal_error"},
	Invalid:     {http.StatusBadRequest, "invalid_request_error", ""},
	NotFound:    {http.StatusNotFound, "invalid_request_error", "not_found"},
	TooLarge:    {http.StatusRequestEntityTooLarge, "invalid_request_error", "request_too_large"},
	Unavailable: {http.StatusBadGateway, "server_error", "upstream_error"},
	Busy:        {http.StatusServiceUnavailable, "server_error", "upstream_busy"},
	Timeout:     {http.StatusGatewayTimeout, "server_error", "upstream_timeout"},
	Canceled:    {499, "invalid_request_error", "client_closed_request"},
	Forbidden:   {http.StatusForbidden, "invalid_request_error", "forbidden"},
	Method:      {http.StatusMethodNotAllowed, "invalid_request_error", "method_not_allowed"},
}

// Error is a fault with its public sentence.
type Error struct {
	Kind    Kind
	Message string        // what the user reads: what is wrong and what to do
	Param   string        // the request field at fault, if one is
	Code    string        // overrides the kind's code, if set
	Retry   time.Duration // when to try again; 0: not said
	Cause   error         // what the operator reads; may be nil
	Curable bool          // the upstream may answer when it is asked in another way
}

// New makes a fault with a formatted public sentence. A %w verb sets the cause.
func New(k Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Error is the public sentence followed by the cause when that says more.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Status is the HTTP status of the kind.
func (e *Error) Status() int { return table[e.Kind].status }

// Type is the OpenAI error type of the kind.
func (e *Error) Type() string { return table[e.Kind].kind }

// OpenAICode is the error's code, else the kind's; empty when there is none.
func (e *Error) OpenAICode() string {
	if e.Code != "" {
		return e.Code
	}
	return table[e.Kind].code
}

// From finds the fault in err. An error that is none becomes an Internal fault whose sentence gives nothing away.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Internal, Message: "toolnorm met an error of its own; the log has the details", Cause: err}
}
