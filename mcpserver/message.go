package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
)

// message is one JSON-RPC message, read as far as it must be to know what to do with it. Ids and
// parameters stay the text that the client wrote: an id is given back byte for byte, and arguments
// reach the tool with all their digits.
type message struct {
	raw     []byte          // as it came, for mcp-go's server
	id      json.RawMessage // nil for a notification
	method  string          // empty for the answer to a request of ours
	params  json.RawMessage
	said    params          // the parameters that we read ourselves
	odd     bool            // the parameters hold something that said has no place for
	result  json.RawMessage // of an answer
	failure json.RawMessage // the error of an answer

	// ctx is the context of the message's conn with the sender; if it is nil, the sender is the
	// client that opened the conn. It is kept since a message may wait for a place.
	ctx context.Context
}

// params are the parameters of all methods that we read ourselves, and the names that headers
// repeat. The others are read by mcp-go's server, out of the same text.
type params struct {
	Meta   meta
	Name   string          // of a tool or a prompt
	URI    string          // of a resource
	Args   json.RawMessage // of a tool; read by its schema later
	Cursor string          // of tools/list; empty: the first page
	Task   string          // taskId of 2026-07-28
	State  *string         // requestState of 2026-07-28, sealed; nil: the first round
}

// isRequest reports whether the message wants an answer.
func (m message) isRequest() bool { return m.method != "" && m.id != nil }

// isAnswer reports whether the message answers a request of ours.
func (m message) isAnswer() bool { return m.method == "" }

// readMessage reads one message. The error keeps the id when it could be read; id is nil otherwise,
// and the answer's id is then null, as JSON-RPC 2.0 has it (section 5). The id is read first for
// that reason.
func readMessage(raw []byte) (m message, rpcErr *rpcError) {
	parts, rpcErr := members(raw)
	if rpcErr != nil {
		return m, rpcErr
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
	if m.method == "" && (m.id == nil || m.result == nil && m.failure == nil) {
		return m, fail(codeRequest,
			"a message must have a method, or an id and a result or an error")
	}
	// JSON-RPC takes arrays as well; MCP's parameters are objects. null is what some clients write
	// for none.
	if p := m.params; p != nil && p[0] != '{' && string(p) != "null" {
		return m, fail(codeParams, "params are a JSON object")
	}
	m.odd = m.params != nil && m.said.read(m.params) != nil
	return m, nil
}

// members returns the members of a message, by their names as they are written: encoding/json finds
// those of a struct in any case, so that {"Method":"ping"} would be taken, and another reader of
// the same text might see another method. Invalid UTF-8 is refused, since the id in it would make
// our answer invalid too.
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
	// Said apart, as the text may well be JSON: it is 10,000 levels deep.
	case strings.Contains(syntax.Error(), "max depth"): // encoding/json has no name for it
		return nil, fail(codeParse, "this is nested too deeply")
	}
	return nil, fail(codeParse, "this is not JSON")
}

// read reads parameters, each by its name as it is written. An error is kept for later
// (message.odd): a method that does not use the parameter is answered nevertheless.
func (p *params) read(raw json.RawMessage) error {
	var all map[string]json.RawMessage
	err := json.Unmarshal(raw, &all)
	for name, value := range all {
		var to any
		switch name {
		case "_meta":
			to = &p.Meta
		case "name":
			to = &p.Name
		case "uri":
			to = &p.URI
		case "arguments":
			to = &p.Args
		case "cursor":
			to = &p.Cursor
		case "taskId":
			to = &p.Task
		case "requestState":
			to = &p.State
		default:
			continue
		}
		err = errors.Join(err, json.Unmarshal(value, to))
	}
	return err
}

// isID reports whether a JSON value may be the id of a request: MCP takes strings and whole
// numbers, but not null. 1e400 is not an id; 1.0 is, and is given back as 1.0.
func isID(v json.RawMessage) bool {
	if v[0] == '"' {
		return true
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return err == nil && n == math.Trunc(n)
}

// maxBatch is how many messages may come in one batch. Without it 4 MiB would hold 85,000 of them
// for one place among the requests.
const maxBatch = 100

// isBatch reports whether a body is a JSON array. It looks at one byte, so that a large body is not
// read for it twice.
func isBatch(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))
}

// readBatch cuts a batch into its messages' texts. An empty one is an error, by JSON-RPC 2.0,
// section 6.
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

// appendHead begins the answer to a request. The result follows as it is, and a brace. So a result
// that is the same for many is never copied into a message; it is written from where it is.
func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// notification writes a message that wants no answer. The parameters are a struct of ours or JSON;
// nil leaves them out.
func notification(method string, params any) json.RawMessage {
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

// encode writes compact JSON, with <, > and & as themselves. A value that cannot be written becomes
// null, which our own values never do.
func encode(v any) json.RawMessage {
	b, err := chat.JSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// The codes of JSON-RPC and MCP that we send. Those from -32020 on are of 2026-07-28; -32000 to
// -32019 are left alone, as older servers use them for many things.
const (
	codeParse      = -32700 // not JSON
	codeRequest    = -32600 // not a single request or notification
	codeMethod     = -32601 // no such method
	codeParams     = -32602 // bad parameters, an unknown tool
	codeInternal   = -32603
	codeHeader     = -32020 // a header is missing, or says something else than the body
	codeCapability = -32021 // the client has not declared what the answer needs
	codeVersion    = -32022 // a revision that we do not speak
)

// rpcError is an error as JSON-RPC sends it. A failure inside a tool is not an rpcError but a
// result, which the model reads.
type rpcError struct {
	code    int
	message string
	// nil: the message again, since some clients show the data and not the message
	data   json.RawMessage
	status int // of the HTTP answer; 0: what the code says
}

// fail makes an error with a formatted sentence.
func fail(code int, format string, args ...any) *rpcError {
	return &rpcError{code: code, message: fmt.Sprintf(format, args...)}
}

// withStatus sets the status of the HTTP answer.
func (e *rpcError) withStatus(status int) *rpcError {
	e.status = status
	return e
}

// frame returns the error as the answer to a request; id is nil if it could not be read. The
// data is never left out: Void shows its user the code and the data of an error, and not the
// message.
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

// httpStatus returns the status that an error has as the answer to a POST. Up to 2025-11-25 only
// messages that could not be taken at all have another than 200. By 2026-07-28 a method that is
// unknown is a 404, and errors about headers, capabilities or the revision are a 400: by these a
// client tells a modern server from an older one.
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
