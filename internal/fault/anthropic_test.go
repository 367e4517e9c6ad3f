package fault

import (
	"errors"
	"net/http/httptest"
	"testing"
)

func TestAnthropicsClientsGetTheirOwnErrors(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		body   string
	}{
		{New(Invalid, "messages: must be an array"), 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: must be an array"},"request_id":"msg_1"}`},
		{New(NotFound, "no <model>"), 404, `{"type":"error","error":{"type":"not_found_error","message":"no <model>"},"request_id":"msg_1"}`},
		{&Error{Kind: Invalid, Message: "Shorten it.", Code: "context_length_exceeded", Tokens: 40000, Window: 32768}, 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 40000 tokens > 32768 maximum. Shorten it."},"request_id":"msg_1"}`},
		{New(Busy, "no place"), 529, `{"type":"error","error":{"type":"overloaded_error","message":"no place"},"request_id":"msg_1"}`},
		{New(Limited, "slower"), 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slower"},"request_id":"msg_1"}`},
		{New(Unavailable, "gone"), 502, `{"type":"error","error":{"type":"api_error","message":"gone"},"request_id":"msg_1"}`},
		{errors.New("secret"), 500, `{"type":"error","error":{"type":"api_error","message":"toolnorm met an error of its own; the log has the details"},"request_id":"msg_1"}`},
	} {
		w := httptest.NewRecorder()
		w.Header().Set("X-Request-Id", "msg_1")
		WriteAnthropic(w, tt.err)
		if w.Code != tt.status || w.Body.String() != tt.body+"\n" || w.Header().Get("Request-Id") != "msg_1" {
			t.Errorf("%v: %d %s, want %d %s", tt.err, w.Code, w.Body, tt.status, tt.body)
		}
	}
}

// What would come again says so: Claude Code makes one request of a 502 with that header, and three
// without.
func TestAnthropicsClientsDoNotRepeatInVain(t *testing.T) {
	for _, err := range []error{New(Failed, "x"), New(Timeout, "x"), &Error{Kind: Unavailable, Message: "x", Curable: true}, New(Invalid, "x")} {
		w := httptest.NewRecorder()
		if WriteAnthropic(w, err); w.Header().Get("X-Should-Retry") != "false" {
			t.Errorf("%+v: %d %v", err, w.Code, w.Header())
		}
	}
}

func TestThePathSaysWhoseErrorItIs(t *testing.T) {
	for path, want := range map[string]string{"/v1/messages": `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, "/v1/messages/count_tokens": `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`,
		"/api/chat": `{"error":"no"}`, "/v1/messagesx": `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}`} {
		w := httptest.NewRecorder()
		WriteFor(w, httptest.NewRequest("POST", path, nil), New(Invalid, "no"))
		if w.Body.String() != want+"\n" {
			t.Errorf("%s: %s, want %s", path, w.Body, want)
		}
	}
}
