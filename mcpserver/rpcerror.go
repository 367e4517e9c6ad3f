package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// The codes of JSON-RPC and MCP that we send.
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

// rpcError is an error as JSON-RPC sends it.
type rpcError struct {
	code    int
	message string
	data    json.RawMessage // nil: the message again, since some clients show the data and not the message
	status  int             // of the HTTP answer; 0: what the code says
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

// frame is the error as the answer to a request; a nil id is one that could not be read.
func (e *rpcError) frame(id json.RawMessage) []byte {
	type body struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
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

// httpStatus is the status that an error has as the answer to a POST. Up to 2025-11-25 only messages that could not be taken at
// all have another than 200.
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
