package fault

import (
	"fmt"
	"net/http"
	"strings"
)

// anthropic maps kinds of fault to the statuses and error types of Anthropic's API. A kind that is
// not in the map is an api_error with its own status. Clients act on these statuses: Claude Code
// and the SDKs repeat a request after 429, 529 and every other status from 500 on unless
// X-Should-Retry forbids it, and show their own sentences for 401, 404 and 413.
var anthropic = map[Kind]struct {
	status int
	kind   string
}{
	Invalid:      {http.StatusBadRequest, "invalid_request_error"},
	Unauthorized: {http.StatusUnauthorized, "authentication_error"},
	Forbidden:    {http.StatusForbidden, "permission_error"},
	NotFound:     {http.StatusNotFound, "not_found_error"},
	Method:       {http.StatusMethodNotAllowed, "invalid_request_error"},
	Conflict:     {http.StatusConflict, "invalid_request_error"},
	TooLarge:     {http.StatusRequestEntityTooLarge, "request_too_large"},
	Unable:       {http.StatusBadRequest, "invalid_request_error"},
	Limited:      {http.StatusTooManyRequests, "rate_limit_error"},
	Busy:         {529, "overloaded_error"}, // 529 is Anthropic's own; 503 means the same elsewhere
	Timeout:      {http.StatusGatewayTimeout, "timeout_error"},
}

// AnthropicStatus returns the HTTP status of the fault in Anthropic's API. A permanent fault keeps
// its 5xx status, because Claude Code and the SDKs do not repeat a request if the answer has
// X-Should-Retry: false. After an unknown 4xx, however, Claude Code makes six requests, each in a
// plainer form than the one before.
func (e *Error) AnthropicStatus() int {
	if row, ok := anthropic[e.Kind]; ok {
		return row.status
	}
	return e.Status()
}

// Anthropic returns err as the JSON body of an error in Anthropic's API:
// {"type":"error","error":{"type":…,"message":…}, "request_id":…}. If id is empty, request_id is
// left out.
func Anthropic(err error, id string) []byte {
	f := From(err)
	kind := "api_error"
	if row, ok := anthropic[f.Kind]; ok {
		kind = row.kind
	}
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return encode(struct {
		Type  string  `json:"type"`
		Error inner   `json:"error"`
		ID    *string `json:"request_id,omitempty"`
	}{"error", inner{kind, f.anthropicMessage()}, orNull(id)})
}

// anthropicMessage returns the public sentence. For a prompt that is too long, it begins like
// Anthropic's own sentence, because Claude Code reads both numbers in it and then shortens the
// conversation by itself.
func (e *Error) anthropicMessage() string {
	if e.Tokens > 0 && e.Window > 0 {
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum. %s",
			max(e.Tokens, e.Window+1), e.Window, e.Message)
	}
	return e.Message
}

// WriteAnthropic sends err as an answer in Anthropic's form: status, headers and body. If w has a
// header X-Request-Id, the body and the header Request-Id contain that id as well.
func WriteAnthropic(w http.ResponseWriter, err error) {
	f := From(err)
	id := w.Header().Get("X-Request-Id")
	if id != "" {
		w.Header().Set("Request-Id", id) // where Anthropic's SDKs look for it
	}
	writeStatus(w, f, f.AnthropicStatus(), Anthropic(f, id))
}

// AsksAnthropic reports whether r is a request to Anthropic's API, by its path or by the header
// Anthropic-Version, which every request of that API has. The header is checked because some paths,
// such as /v1/models, exist in both APIs, and others, such as /v1/files, do not exist here.
func AsksAnthropic(r *http.Request) bool {
	path := r.URL.Path
	return path == "/v1/messages" || strings.HasPrefix(path, "/v1/messages/") || r.Header.Get(
		"Anthropic-Version") != ""
}
