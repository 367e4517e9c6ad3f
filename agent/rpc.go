package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Path is the address of the agent's JSON-RPC API. The name is the specification's.
const Path = "/generate_with_mcp"

// largestBody is how many bytes a request may have: enough for a long conversation without
// pictures.
const largestBody = 8 << 20

// rpcRequest is a request in JSON-RPC 2.0. Version is a pointer, because a missing version counts
// as "2.0", as the specification says, and an empty one does not.
type rpcRequest struct {
	Version *string         `json:"jsonrpc"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	ID      json.RawMessage `json:"id"`
}

// params are the parameters of a request, named as in the specification, except that force_tool,
// knowledge_base_id, select_tool, closing_answer and options are ours. A number is a pointer if 0
// differs from a missing value.
type params struct {
	Model       string                     `json:"model"`
	Messages    []message                  `json:"messages"`
	Temperature *float64                   `json:"temperature"`
	MaxOutput   *int                       `json:"max_output_tokens"`
	Servers     []string                   `json:"mcp_servers"`
	Steps       *int                       `json:"max_iterations"`
	Force       string                     `json:"force_tool"`
	Base        string                     `json:"knowledge_base_id"`
	Choose      bool                       `json:"select_tool"`
	Closing     *bool                      `json:"closing_answer"`
	Options     map[string]json.RawMessage `json:"options"`
}

// message is one message of the caller. Its content may be a text or a list of parts, so it is
// decoded later.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Codes of errors. The last three are our own, and mean that the model cannot be asked, the queue
// is full, or the time is over. They are in the range that JSON-RPC leaves to servers (section
// 5.1).
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeModel    = -32000
	codeBusy     = -32001
	codeDeadline = -32002
)

// rpcError is an error in JSON-RPC, with the HTTP status, which HTTP clients look at first.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	status  int
	cause   error // the error whose headers say when to try again; nil: there is none
}

// Error implements error. It returns the message.
func (e *rpcError) Error() string { return e.Message }

// wrong returns an error of the request itself. Its status is 400 whatever the code, since
// repeating the request cannot help.
func wrong(code int, text string) *rpcError {
	return &rpcError{Code: code, Message: text, status: http.StatusBadRequest}
}

// asRPC returns the JSON-RPC error for an error of a run. A fault of kind Invalid that has a cause
// comes from the model server, so it becomes the model's error. Without a cause the fault is our
// own, and means that the parameters are wrong.
func asRPC(err error) *rpcError {
	var e *rpcError
	if errors.As(err, &e) {
		return e
	}
	f := fault.From(err)
	out := &rpcError{Code: codeModel, Message: f.Message, status: http.StatusBadGateway, cause: f}
	switch {
	case f.Kind == fault.Invalid && f.Cause == nil:
		out.Code, out.status = codeParams, http.StatusBadRequest
	case f.Code == "queue_full", f.Kind == fault.Busy, f.Kind == fault.Limited:
		out.Code, out.status = codeBusy, http.StatusServiceUnavailable
	case f.Kind == fault.Timeout:
		out.Code, out.status = codeDeadline, http.StatusGatewayTimeout
	}
	return out
}

// ServeHTTP implements http.Handler for Path. It answers in one piece or, for clients that accept
// text/event-stream, sends the progress before the answer. Errors before the body is read (method,
// size) have OpenAI's form, since there is no id to answer. All other errors are JSON-RPC. It does
// not check who may call it, so auth.Guard must be put before it.
func (l *Loop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fault.Write(w, fault.New(fault.Method, "%s takes POST, not %s", Path, r.Method))
		return
	}
	// The id of an answer to a request whose id could not be read (JSON-RPC 2.0, section 5).
	id := json.RawMessage("null")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		fault.Write(w, fault.New(fault.TooLarge, "the request is larger than the limit of %d bytes",
			largestBody))
		return
	case err != nil:
		return // the client is gone
	}
	ask, err := readRPC(body, &id)
	if err == nil && l.cfg.May != nil {
		err = l.cfg.May(r.Context(), cmp.Or(ask.Request.Model, l.cfg.DefaultModel))
	}
	if err != nil {
		writeRPCError(w, id, asRPC(err))
		return
	}
	// A single response is the default, as in the specification; events have to be asked for.
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		l.serveStream(w, r, id, ask)
		return
	}
	out, err := l.Run(r.Context(), ask, nil)
	l.log(ask, out, err)
	if err != nil {
		writeRPCError(w, id, asRPC(err))
		return
	}
	writeRPC(w, http.StatusOK, reply20(id, resultOf(out), nil))
}

// log writes a log line about a run. It contains neither the conversation nor the arguments of
// calls.
func (l *Loop) log(a Ask, out *Outcome, err error) {
	if err != nil {
		l.cfg.Log.Warn().Err(err).Str("model", a.Request.Model).Msg("agent")
		return
	}
	l.cfg.Log.Info().Str("model", out.Model).Int("steps", out.Steps).Str("stop",
		string(out.Stop)).Int("calls", len(out.Calls)).
		Int("prompt_tokens", out.Usage.Prompt).Int("completion_tokens", out.Usage.Completion).Dur(
		"queue_ms", out.Waited).Strs("warnings", out.Warnings).Msg("agent")
}

// readRPC reads a request from the body. It sets *id as soon as the request's id is known, even if
// the rest of the request is wrong. It returns an rpcError if the body is not one valid request. An
// array, which is a batch, is refused because a run takes minutes and each answer needs its own
// connection.
func readRPC(body []byte, id *json.RawMessage) (a Ask, err error) {
	var q rpcRequest
	if err := json.Unmarshal(body, &q); err != nil {
		// Two errors have different codes: text that is not JSON, and JSON that is not a request.
		if !json.Valid(body) {
			return a, wrong(codeParse, "the body is no JSON")
		}
		return a, wrong(codeRequest, "the body must be one JSON-RPC request")
	}
	switch first := append(bytes.TrimSpace(q.ID), ' ')[0]; {
	// In JSON-RPC a request without an id gets no answer. The specification allows null, and its
	// callers wait for an answer.
	case len(q.ID) == 0, string(q.ID) == "null":
	case first == '"', isInteger(q.ID):
		*id = q.ID
	default:
		return a, wrong(codeRequest, "id must be a whole number, a string or null")
	}
	switch {
	case q.Version != nil && *q.Version != "2.0":
		return a, wrong(codeRequest, `jsonrpc must be "2.0"`)
	case q.Method == "":
		return a, wrong(codeRequest, "method is missing")
	case !slices.Contains([]string{"generate_content", "generate"}, q.Method):
		return a, wrong(codeMethod, "there is no method "+q.Method+
			"; there are generate_content and generate")
	}
	return readParams(q.Params)
}

// isInteger reports whether an id is a whole number. Other numbers are refused, because JSON-RPC
// advises against fractions, and clients compare ids as they sent them.
func isInteger(text json.RawMessage) bool {
	var n json.Number
	if json.Unmarshal(text, &n) != nil {
		return false
	}
	_, err := n.Int64()
	return err == nil
}

// readParams reads the parameters. If they are wrong, it returns an rpcError that names the wrong
// member, with code -32602. It ignores unknown members, so that callers written for older and newer
// versions are answered.
func readParams(text json.RawMessage) (a Ask, err error) {
	var p params
	if len(text) == 0 {
		return a, wrong(codeParams, "params are missing")
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return a, wrong(codeParams, mistyped(err))
	}
	if len(p.Messages) == 0 {
		return a, wrong(codeParams, "messages must be a list of at least one message")
	}
	a = Ask{Servers: p.Servers, Force: p.Force, Base: p.Base, Choose: p.Choose,
		Closing: p.Closing == nil || *p.Closing}
	a.Request = chat.Request{Model: p.Model, Sampling: chat.Sampling{Temperature: p.Temperature},
		Options: p.Options}
	// 0 and less mean 1, since the default is only for a missing value.
	if p.Steps != nil {
		a.Steps = max(*p.Steps, 1)
	}
	if p.MaxOutput != nil {
		if *p.MaxOutput < 1 {
			return a, wrong(codeParams, "max_output_tokens must be more than 0")
		}
		a.Request.MaxTokens = *p.MaxOutput
	}
	for i, m := range p.Messages {
		turn, err := m.turn()
		if err != nil {
			return a, wrong(codeParams, "messages["+strconv.Itoa(i)+"]: "+err.Error())
		}
		if m.Role == "tool" {
			a.Results = append(a.Results, turn.Content)
		}
		a.Request.Messages = append(a.Request.Messages, turn)
	}
	return a, nil
}

// mistyped returns a sentence for parameters that could not be decoded, which says what their wrong
// member must be.
func mistyped(err error) string {
	var at *json.UnmarshalTypeError
	if !errors.As(err, &at) {
		return "params: " + fault.Short(err.Error())
	}
	want := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Float64: "a number",
		reflect.Bool: "true or false", reflect.String: "a text", reflect.Slice: "a list",
		reflect.Struct: "an object", reflect.Map: "an object"}[at.Type.Kind()]
	return fmt.Sprintf("%s: want %s, got %s", cmp.Or(at.Field, "params"), want, at.Value)
}

// turn returns the message in the form for models. The content may be a text, or OpenAI's list of
// parts. Gemini's name for the assistant is accepted as well, and results of tools become turns of
// the user, as this loop writes them too. It returns an error for an unknown role, and for content
// that is not text.
func (m message) turn() (chat.Message, error) {
	// "model" is Gemini's word; "developer" is OpenAI's newer one for "system".
	role := map[string]chat.Role{"system": chat.System, "developer": chat.System, "user": chat.User,
		"assistant": chat.Assistant, "model": chat.Assistant, "tool": chat.User}[m.Role]
	if role == "" {
		return chat.Message{}, errors.New("role must be system, user or assistant")
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return chat.Message{Role: role, Content: text}, nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return chat.Message{}, errors.New("content must be a text or a list of texts")
	}
	for _, p := range parts {
		// The contract's loop cannot use images, and leaving one out would answer another question.
		if p.Text == nil {
			return chat.Message{}, errors.New("content can hold texts alone")
		}
		text += *p.Text
	}
	return chat.Message{Role: role, Content: text}, nil
}
