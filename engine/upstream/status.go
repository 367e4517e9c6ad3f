package upstream

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// wireError is the JSON object in which a server reports an error. Ollama also uses it for an error
// of its llama-server: then the text of Ollama's error contains that server's object.
type wireError struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
}

// Sentence returns the message in an error. The error may be plain text, a JSON string, {"error":
// …}, {"message": …}, or one of these inside another. From 0.30 on Ollama passes on the error of
// its runner in this way:
//
//	{"error":"{\"error\":{\"code\":400,\"message\":\"request (15005 tokens) exceeds the available context size (4096 tokens)\"}}"}
func Sentence(raw []byte) string {
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

// ErrorIn returns the error in a record of a reply, or nil if there is none. An empty member error,
// such as null, "" or {}, counts as none, because some servers write the member in every record.
func ErrorIn(record *fastjson.Value) *fastjson.Value {
	e := record.Get("error")
	if e == nil {
		return nil
	}
	switch string(e.MarshalTo(nil)) {
	case "null", `""`, "{}", "false":
		return nil
	}
	return e
}

// Explain returns the fault for a server's error. Status 0 means an error inside a stream. The
// fault's message is the server's text after the words "the model server says:", because users
// search for that text.
func Explain(status int, text string) *fault.Error {
	if text == "" || strings.HasPrefix(text, "<") { // an error page of a gateway
		text = http.StatusText(status)
	}
	kind, code := kindOf(status, text)
	e := fault.New(kind, "the model server says: %s", text)
	e.Code = code
	e.Curable = kind == fault.Invalid && code == "" || kind == fault.Unavailable && misread(text)
	if code == ContextLength {
		e.Cause = overflowOf(text)
	}
	if kind == fault.NotFound {
		e.Param = "model"
	}
	return e
}

// misread reports whether the text says that a server could not parse its model's text, or could
// not render the prompt: "failed to parse JSON: …", "EOF", "XML syntax error on line 3". Another
// form of the request may avoid that.
func misread(text string) bool {
	for _, word := range []string{"pars", "EOF", "syntax", "invalid character", "unmarshal",
		"template", "jinja", "grammar", "tool", "logprobs"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// sayings lists phrases of servers' messages for errors whose status does not identify them. Each
// has the kind of fault, and OpenAI's code if there is one.
var sayings = []struct {
	words string
	kind  fault.Kind
	code  string
}{
	// llama-server, and Ollama above it
	{"exceeds the available context size", fault.Invalid, ContextLength},
	{"exceeds the context length", fault.Invalid, ContextLength}, // Ollama
	// vLLM, OpenAI, and Ollama of a text to embed
	{"maximum context length", fault.Invalid, ContextLength},
	{"requires more system memory", fault.Unable, "model_too_large"},
	{"out-of-memory during startup", fault.Unable, "model_too_large"},
	{"incompatible with your version of Ollama", fault.Unable, "model_incompatible"},
	{"no longer compatible with your version of Ollama", fault.Unable, "model_incompatible"},
	{"llama-server binary not found", fault.Unable, ""},
	{"invalid format:", fault.Invalid, ""},
	{"Loading model", fault.Busy, wait.ModelLoading}, // llama-server, until the model is loaded
}

// ContextLength is OpenAI's code for a request that is longer than the model's context.
const ContextLength = "context_length_exceeded"

// statuses maps a status to its kind of fault. Of the other statuses, 3xx and 4xx are permanent,
// and the rest is temporary.
var statuses = map[int]struct {
	kind fault.Kind
	code string
}{
	http.StatusBadRequest:            {fault.Invalid, ""},
	http.StatusUnprocessableEntity:   {fault.Invalid, ""},
	http.StatusNotFound:              {fault.NotFound, "model_not_found"},
	http.StatusRequestEntityTooLarge: {fault.TooLarge, ""},
	http.StatusTooManyRequests:       {fault.Limited, ""},
	http.StatusServiceUnavailable:    {fault.Busy, ""},
	529:                              {fault.Busy, ""}, // "overloaded"
	http.StatusRequestTimeout:        {fault.Timeout, ""},
	http.StatusGatewayTimeout:        {fault.Timeout, ""},
	// the server believes that its client left, which is wrong
	499: {fault.Unavailable, ""},
}

// kindOf returns the kind of fault of a server's answer, and OpenAI's code for it. The code is ""
// if OpenAI has none. The message takes precedence over the status. For example, Ollama says 500 if
// a model does not fit into memory, which no second try changes.
func kindOf(status int, text string) (fault.Kind, string) {
	for _, s := range sayings {
		if strings.Contains(text, s.words) {
			return s.kind, s.code
		}
	}
	if s, ok := statuses[status]; ok {
		return s.kind, s.code
	}
	if status >= 300 && status < 500 {
		return fault.Unable, ""
	}
	return fault.Unavailable, ""
}

// RefusalOf returns the fault for an answer with another status than 200.
func RefusalOf(status int, h http.Header, body []byte) *fault.Error {
	e := Explain(status, Sentence(body))
	e.Retry = RetryAfter(h, e.Kind)
	return e
}

// PageFault returns the fault of an answer that is an HTML page, and nil for any other answer. A
// page may come with status 200, from a router or a web interface at a mistyped address.
func PageFault(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "text/html" {
		return nil
	}
	u := *resp.Request.URL
	u.Path, u.RawQuery, u.User = "", "", nil
	return fault.New(fault.Unable,
		"what answers at %s is no model server but sends pages: is the address right?", u.String())
}

// RetryAfter returns the wait that a Retry-After header, in seconds or as a date, asks for. It
// returns 0 if there is no such header. It also returns 0 if the kind is neither Busy nor Limited,
// because with other faults waiting does not help.
func RetryAfter(h http.Header, kind fault.Kind) time.Duration {
	said := h.Get("Retry-After")
	if kind != fault.Busy && kind != fault.Limited {
		return 0
	}
	if s, err := time.ParseDuration(said + "s"); err == nil && s > 0 {
		return s
	}
	if at, err := http.ParseTime(said); err == nil && time.Until(at) > 0 {
		return time.Until(at)
	}
	return 0
}

// IsRefusal reports whether err is a server's answer that it does not support what it was asked
// for, so that it would answer the same again. A fault of kind Unavailable without a cause is such
// an answer, because it comes from a status 500. A fault Unavailable with a cause is a broken
// connection.
func IsRefusal(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Kind == fault.Invalid || f.Kind == fault.NotFound ||
		f.Kind == fault.Unable || f.Kind == fault.Unavailable && f.Cause == nil)
}

// Overflow is the cause of a fault with the code context_length_exceeded. It has the server's
// counts in tokens, or 0 if the server did not say.
type Overflow struct {
	Tokens int // tokens of the request, without its reply if the server counts that separately
	Window int // length of the context
}

// Error implements error. It returns a sentence with the tokens of the request and the length of
// the context.
func (o *Overflow) Error() string {
	return fmt.Sprintf("%d tokens do not fit into a context of %d", o.Tokens, o.Window)
}

// These match how llama-server, OpenAI and vLLM say how long a request is, and how long it may be.
var (
	promptSaid = regexp.MustCompile(`\((\d+) in the messages`)
	tokensSaid = regexp.MustCompile(
		`request \((\d+) tokens|resulted in (\d+) tokens|requested (\d+) tokens|has (\d+) input tokens`)
	windowSaid = regexp.MustCompile(`context size \((\d+) tokens|context length is (\d+)`)
)

// overflowOf returns the numbers of tokens in a server's message: those of the prompt and those of
// the context, or 0 where there is none. OpenAI counts messages and reply separately. The number
// for the messages is preferred, because trimming can only change the messages.
func overflowOf(text string) *Overflow {
	tokens := cmp.Or(firstNumber(promptSaid, text), firstNumber(tokensSaid, text))
	return &Overflow{Tokens: tokens, Window: firstNumber(windowSaid, text)}
}

// firstNumber returns the number in the first group that matched, or 0 if there is none.
func firstNumber(e *regexp.Regexp, text string) int {
	groups := e.FindStringSubmatch(text)
	for i := 1; i < len(groups); i++ {
		if n, err := strconv.Atoi(groups[i]); err == nil {
			return n
		}
	}
	return 0
}
