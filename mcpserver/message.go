package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"toolnorm/chat"
)

// message is one JSON-RPC message, read as far as it must be to know what to do with it.
type message struct {
	raw    []byte
	id     json.RawMessage // nil for a notification
	method string          // empty for the answer to a request of ours
	params json.RawMessage
	said   params          // what of the parameters is ours to read
	odd    bool            // the parameters hold something that said has no place for
	result json.RawMessage // of an answer
	fault  json.RawMessage // the error of an answer
}

// params are the parameters of all methods that we read ourselves, and the names that headers repeat.
type params struct {
	Meta   meta            `json:"_meta"`
	Name   string          `json:"name"`
	URI    string          `json:"uri"`
	Args   json.RawMessage `json:"arguments"`
	Cursor string          `json:"cursor"`
	State  *string         `json:"requestState"`
}

// isRequest says that the message wants an answer.
func (m message) isRequest() bool { return m.method != "" && m.id != nil }

// isAnswer says that the message answers a request of ours.
func (m message) isAnswer() bool { return m.method == "" }

// readMessage reads one message. The error keeps the id when it could be read; id is nil otherwise.
func readMessage(raw []byte) (m message, fault *rpcError) {
	var parts struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return m, fail(codeParse, "this is not JSON")
		}
		return m, fail(codeRequest, "a message is one JSON object")
	}
	m = message{raw: raw, params: parts.Params, result: parts.Result, fault: parts.Error}
	if parts.ID != nil {
		if !isID(parts.ID) {
			return m, fail(codeRequest, "an id is a string or a number")
		}
		m.id = parts.ID
	}
	if string(parts.Version) != `"2.0"` {
		return m, fail(codeRequest, `a message has "jsonrpc":"2.0"`)
	}
	if parts.Method != nil && (json.Unmarshal(parts.Method, &m.method) != nil || m.method == "") {
		return m, fail(codeRequest, "a method is a name")
	}
	if m.method == "" && (m.id == nil || m.result == nil && m.fault == nil) {
		return m, fail(codeRequest, "a message has a method, or an id and a result or an error")
	}
	if p := m.params; p != nil && p[0] != '{' && string(p) != "null" {
		return m, fail(codeParams, "params are a JSON object")
	}
	m.odd = m.params != nil && json.Unmarshal(m.params, &m.said) != nil
	return m, nil
}

// isID says that a JSON value may be the id of a request.
func isID(v json.RawMessage) bool {
	return v[0] == '"' || v[0] == '-' || '0' <= v[0] && v[0] <= '9'
}

// maxBatch is how many messages may come in one batch.
const maxBatch = 100

// isBatch says that a body is a JSON array.
func isBatch(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("["))
}

// readBatch cuts a batch into its messages' texts.
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

// appendHead begins the answer to a request. The result follows as it is, and a brace.
func appendHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// notification writes a message that wants no answer. The parameters are a struct of ours or JSON; nil leaves them out.
func notification(method string, params any) json.RawMessage {
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

// encode writes compact JSON. What cannot be written is null; values of ours can.
func encode(v any) json.RawMessage {
	b, err := chat.JSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
