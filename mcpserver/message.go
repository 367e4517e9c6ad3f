package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
)

// message is one JSON-RPC message, parsed as far as is needed to know what to do with it. Ids and
// parameters stay the text that the client wrote. So an id is returned byte for byte, and arguments
// reach the tool with all their digits.
type message struct {
	raw     []byte          // as it was received, for mcp-go's server
	id      json.RawMessage // nil for a notification
	method  string          // empty for the answer to a request of this server
	params  json.RawMessage
	said    params          // the parameters that this package reads itself
	odd     bool            // whether a parameter in said has the wrong type
	result  json.RawMessage // of an answer
	failure json.RawMessage // the error of an answer

	// ctx is the context of the message's conn with its sender; nil if the sender is the client
	// that opened the conn. It is stored here since a message may wait in a queue.
	ctx context.Context
}

// params holds those parameters of a message that this package reads itself: the ones on which it
// acts, and the names that HTTP headers repeat. They are the same fields for all methods. mcp-go's
// server parses the other parameters from the same JSON.
type params struct {
	Meta   meta
	Name   string          // of a tool or a prompt
	URI    string          // of a resource
	Args   json.RawMessage // of a tool; parsed later, by its schema
	Cursor string          // of tools/list; empty: the first page
	Task   string          // taskId of 2026-07-28
	State  *string         // requestState of 2026-07-28, sealed; nil: the first round
}

// isRequest reports whether the message needs an answer.
func (m message) isRequest() bool { return m.method != "" && m.id != nil }

// isAnswer reports whether the message answers a request of this server.
func (m message) isAnswer() bool { return m.method == "" }

// readMessage parses one message. It returns an error if raw is no valid message. Even then m has
// the id, if that could be read, since the answer needs it; otherwise the answer's id is null, as
// JSON-RPC 2.0 demands (section 5). Parameters of a wrong type are no error but are noted in m.odd.
func readMessage(raw []byte) (m message, rpcErr *rpcError) {
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF")) // which .NET writes before the first message
	parts, rpcErr := members(raw)
	if rpcErr != nil {
		return m, rpcErr
	}
	if leaveOut(parts) {
		raw = encode(parts)
	}
	m = message{raw: raw, params: parts["params"], result: parts["result"], failure: parts["error"]}
	if id := parts["id"]; id != nil {
		if !isID(id) {
			return m, fail(codeRequest, "an id is a string or an integer")
		}
		m.id = id
	}
	if string(parts["jsonrpc"]) != `"2.0"` {
		return m, fail(codeRequest, `a message must have "jsonrpc":"2.0"`)
	}
	if method := parts["method"]; method != nil && (json.Unmarshal(method, &m.method) != nil ||
		m.method == "") {
		return m, fail(codeRequest, "a method is a name")
	}
	if m.method == "" && m.failure == nil && (m.id == nil || m.result == nil) {
		return m, fail(codeRequest,
			"a message must have a method, or an id and a result or an error")
	}
	// JSON-RPC allows arrays as well; MCP's parameters are objects. Some clients write null
	// for no parameters, and PHP writes no members as [].
	if p := m.params; isEmptyList(p) {
		m.params, parts["params"] = nil, json.RawMessage("{}")
		m.raw = encode(parts)
	} else if p != nil && p[0] != '{' && string(p) != "null" {
		return m, fail(codeParams, "params are a JSON object")
	}
	m.odd = m.params != nil && m.said.read(m.params) != nil
	m.repair(parts)
	return m, nil
}

// leaveOut removes the members of a message that say nothing, and reports whether there were any.
// Programs whose objects have all members write null for a method, a result or an error that is not
// there. A message with a method is no answer, so it has neither result nor error, and a
// notification has no id. The id of an error is null if the client could not read the request
// (JSON-RPC 2.0, section 5); such an error belongs to no question, and answering it could go on
// without end.
func leaveOut(parts map[string]json.RawMessage) bool {
	before := len(parts)
	null := func(name string) bool { return string(parts[name]) == "null" }
	maps.DeleteFunc(parts, func(name string, _ json.RawMessage) bool {
		return null(name) && (name == "method" || name == "error")
	})
	switch failed := parts["error"] != nil; {
	case parts["method"] != nil:
		delete(parts, "result")
		delete(parts, "error")
		if null("id") && bytes.HasPrefix(parts["method"], []byte(`"notifications/`)) {
			delete(parts, "id")
		}
	case failed && null("id"):
		delete(parts, "id")
	}
	return len(parts) < before
}

// isEmptyList reports whether a JSON value is a list without members.
func isEmptyList(value json.RawMessage) bool {
	var all []json.RawMessage
	return len(value) > 0 && value[0] == '[' && json.Unmarshal(value, &all) == nil && len(all) == 0
}

// members returns the members of a message by their exact names. encoding/json ignores case when it
// fills a struct. So {"Method":"ping"} would be accepted, and another reader of the same text might
// see another method. It returns an error if raw is no JSON object, or not valid UTF-8, since an id
// with invalid UTF-8 would make the answer invalid too.
func members(raw []byte) (all map[string]json.RawMessage, rpcErr *rpcError) {
	if !utf8.Valid(raw) {
		return nil, fail(codeParse, "this is not JSON, which is UTF-8")
	}
	err := json.Unmarshal(raw, &all)
	syntax := (*json.SyntaxError)(nil)
	switch {
	case err == nil:
		return all, nil
	case !errors.As(err, &syntax):
		return nil, fail(codeRequest, "a message is one JSON object")
	// A text that is nested too deeply has a message of its own, because it may be valid JSON.
	case strings.Contains(syntax.Error(), "max depth"): // encoding/json has no name for it
		return nil, fail(codeParse, "this is nested too deeply")
	}
	return nil, fail(codeParse, "this is not JSON")
}

// read decodes the parameters in raw and stores each in p by its exact name. It returns an error if
// one has the wrong type. The caller then only sets message.odd, because a method that does not use
// that parameter is answered all the same.
func (p *params) read(raw json.RawMessage) error {
	var all map[string]json.RawMessage
	err := json.Unmarshal(raw, &all)
	for name, to := range map[string]any{
		"_meta": &p.Meta, "name": &p.Name, "uri": &p.URI, "arguments": &p.Args,
		"cursor": &p.Cursor, "taskId": &p.Task, "requestState": &p.State,
	} {
		if value, ok := all[name]; ok {
			err = errors.Join(err, json.Unmarshal(value, to))
		}
	}
	return err
}

// isID reports whether a JSON value may be the id of a request. MCP allows whole numbers and
// strings that are not empty. So it returns true for 1.0, and false for null, for 1.5, and for
// 1e400, which no float can hold.
func isID(v json.RawMessage) bool {
	if v[0] == '"' {
		return true
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return err == nil && n == math.Trunc(n)
}

// maxBatch is the most messages in one batch. Without this limit, 4 MiB could contain 85,000 of
// them, in one place among the requests.
const maxBatch = 100

// isBatch reports whether a body is a JSON array. It looks only at the first byte, so that a large
// body is not parsed twice.
func isBatch(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))
}

// readBatch returns the texts of the messages in a batch. It returns an error if the body is no
// JSON array, if it is empty (JSON-RPC 2.0, section 6), or if it has more than maxBatch messages.
func readBatch(body []byte) ([]json.RawMessage, *rpcError) {
	var all []json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fail(codeParse, "this is not JSON")
	}
	if len(all) == 0 || len(all) > maxBatch {
		return nil, fail(codeRequest, "a batch holds 1 to %d messages", maxBatch)
	}
	return all, nil
}

// appendHead appends the beginning of an answer to a request, after which the result and a closing
// brace follow. So a result that is the same for many clients is never copied into a message.
func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// notification returns a message that needs no answer. The parameters are a struct or JSON; nil
// parameters are left out.
func notification(method string, params any) json.RawMessage {
	return request(nil, method, params)
}

// request returns a JSON-RPC request with this id. The parameters are a struct or JSON; nil
// parameters are left out.
func request(id any, method string, params any) json.RawMessage {
	return encode(struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", id, method, params})
}

// encode returns v as compact JSON, in which <, > and & are not escaped. It returns null for a
// value that cannot be marshaled, which does not happen to the values of this package.
func encode(v any) json.RawMessage {
	b, err := chat.JSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// The error codes of JSON-RPC and MCP that this server sends. Those from -32020 on belong to
// 2026-07-28. The codes -32000 to -32019 are not used, because older servers use them for many
// other errors.
const (
	codeParse      = -32700 // not JSON
	codeRequest    = -32600 // not a single request or notification
	codeMethod     = -32601 // no such method
	codeParams     = -32602 // bad parameters, an unknown tool
	codeInternal   = -32603
	codeHeader     = -32020 // a header is missing, or contradicts the body
	codeCapability = -32021 // the client has not declared what the answer needs
	codeVersion    = -32022 // a revision that this server does not know
)

// rpcError is an error in the form of JSON-RPC. A failure inside a tool is not an rpcError but a
// result, which the model reads.
type rpcError struct {
	code    int
	message string
	// nil: the message is repeated, since some clients show only the data
	data   json.RawMessage
	status int // of the HTTP answer; 0: it follows from the code
}

// fail returns an error with this code and a formatted message.
func fail(code int, format string, args ...any) *rpcError {
	return &rpcError{code: code, message: fmt.Sprintf(format, args...)}
}

// withStatus sets the status of the HTTP answer and returns e.
func (e *rpcError) withStatus(status int) *rpcError {
	e.status = status
	return e
}

// frame returns the error as the answer to a request. If the request's id could not be read, id is
// nil and the answer's id is null. The data is never left out, because the editor Void shows its
// user the code and the data of an error but not the message.
func (e *rpcError) frame(id json.RawMessage) []byte {
	type body struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	// Void shows the data and drops the message.
	data := e.data
	if data == nil {
		data = encode(e.message)
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   body            `json:"error"`
	}{"2.0", id, body{e.code, e.message, data}})
}

// httpStatus returns the HTTP status with which the error is sent as the answer to a POST. For MCP
// revisions up to 2025-11-25 it is 200, except for messages that could not be accepted at all. In
// 2026-07-28, for which modern is true, an unknown method is a 404, and errors about headers,
// capabilities or the revision are a 400. A client can tell by these statuses whether a server
// knows 2026-07-28.
func (e *rpcError) httpStatus(modern bool) int {
	switch {
	case e.status != 0:
		return e.status
	case e.code == codeParse || e.code == codeRequest:
		return http.StatusBadRequest
	case !modern:
		return http.StatusOK
	}
	switch e.code {
	case codeMethod:
		return http.StatusNotFound
	case codeHeader, codeCapability, codeVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
