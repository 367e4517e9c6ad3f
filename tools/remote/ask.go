package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/chat"
	"toolnorm/tools"
)

// ask sends a request unchanged and returns its result as the server wrote it. A server that speaks
// MCP's revision 2026-07-28 can ask the client something by returning a question as the result. ask
// then gets the answer from the client that answers for the connection, and sends the request again
// with it. A client that speaks this revision itself gets the question as the result. An error that
// the server returns is a *tools.RPCError. Other errors mean that the question cannot be answered,
// or that the request failed.
func (c *conn) ask(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, error) {
	peer := tools.PeerOf(ctx)
	for range mostRounds {
		raw, err := c.once(ctx, method, params)
		var said struct {
			Type     string                     `json:"resultType"`
			Requests map[string]json.RawMessage `json:"inputRequests"`
			State    json.RawMessage            `json:"requestState"`
		}
		if err != nil || json.Unmarshal(raw, &said) != nil || said.Type != "input_required" {
			return raw, err
		}
		if peer != nil && peer.Modern {
			return raw, nil
		}
		answers := map[string]json.RawMessage{}
		for key, text := range said.Requests {
			var q struct {
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			}
			if err := json.Unmarshal(text, &q); err != nil {
				return nil, fmt.Errorf("the server's question cannot be read: %w", err)
			}
			if answers[key], err = c.question(ctx, q.Method, q.Params); err != nil {
				return nil, err
			}
		}
		if params, err = withMembers(params, "inputResponses", answers, "requestState",
			said.State); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the server has asked something %d times", mostRounds)
}

// mostRounds is how many questions in a row a server may ask within one request.
const mostRounds = 10

// question passes a server's question to the client that answers for this connection, and returns
// the answer. It returns an error if there is no such client, or if the client fails to answer.
func (c *conn) question(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, error) {
	if c.me.answer == nil {
		return nil, fmt.Errorf(
			"the server asks for something first (%s), which nobody here can answer", method)
	}
	return c.me.answer(ctx, method, params)
}

// once sends one request and returns its result. It returns errLost if the connection ends, a
// *tools.RPCError for the server's own error, and another error if sending fails. If ctx ends
// first, it notifies the server that the request is cancelled.
func (c *conn) once(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, error) {
	ctx, stop := c.alive(ctx)
	defer stop()
	params, told, err := c.heard(ctx, params)
	if err != nil {
		return nil, err
	}
	defer told()
	r := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION,
		ID: mcp.NewRequestId("t" + strconv.FormatInt(c.ids.Add(1), 10)), Method: method}
	if r.Params, r.Header, err = c.addressed(ctx, method, params); err != nil {
		return nil, err
	}
	answer, err := c.client.GetTransport().SendRequest(ctx, r)
	switch cause := context.Cause(ctx); {
	case err != nil && errors.Is(cause, errLost):
		return nil, cause
	case err != nil:
		if ctx.Err() != nil {
			c.takeBack(r.ID)
		}
		return nil, transport.NewError(err)
	case answer.Error != nil:
		e := &tools.RPCError{Code: answer.Error.Code, Message: answer.Error.Message}
		if answer.Error.Data != nil {
			e.Data, _ = chat.JSON(answer.Error.Data) // it was JSON
		}
		return nil, e
	}
	return answer.Result, nil
}

// alive returns a context that ends with ctx or with the connection, and a function that frees it.
// Without it, a call over SSE would go on waiting when the stream for its answer is gone.
func (c *conn) alive(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// takeBack notifies the server that the client no longer waits for a request. Over HTTP with MCP's
// revision 2026-07-28 it sends nothing, because the end of the request's stream means the same.
func (c *conn) takeBack(id mcp.RequestId) {
	if c.over() || mcp.IsModernProtocol(c.client.ProtocolVersion()) &&
		c.client.GetSessionId() != "" {
		return
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{Method: string(mcp.MethodNotificationCancelled)}}
	n.Params.AdditionalFields = map[string]any{"requestId": id,
		"reason": "the client does not wait any more"}
	c.send(n)
}

// send sends a notification in the background. It does not wait, and a notification that cannot be
// sent within sendTime is lost, which MCP allows.
func (c *conn) send(n mcp.JSONRPCNotification) {
	ctx, cancel := context.WithTimeout(c.ctx, sendTime)
	go func() { // ends with its time
		defer cancel()
		_ = c.client.GetTransport().SendNotification(ctx, n)
	}()
}

// sendTime bounds how long sending a notification takes.
const sendTime = 5 * time.Second

// heard returns a request's parameters with a progress token of this connection added, or unchanged
// if the client wants no progress. The caller must call stop after the answer; stop waits until all
// progress that came before the answer has been passed on. A goroutine passes progress on, since a
// client that reads slowly must not delay messages for others. heard returns an error if params is
// not an object.
func (c *conn) heard(ctx context.Context, params json.RawMessage) (
	_ json.RawMessage, stop func(), err error) {
	meta, err := readMember(params, "_meta")
	if err != nil {
		return nil, nil, err
	}
	token, timer := fmt.Sprintf("t%d", c.ids.Add(1)), timerOf(ctx)
	if tools.PeerOf(ctx) != nil && meta.get("progressToken") == nil {
		return params, func() {}, nil // the client wants none
	}
	if meta, err = meta.with("progressToken", token); err != nil {
		return nil, nil, err
	}
	if params, err = withMembers(params, "_meta", meta.text()); err != nil {
		return nil, nil, err
	}
	news, end, told := make(chan mcp.JSONRPCNotification, mostNews), make(chan struct{}),
		make(chan struct{})
	c.progress.Store(token, func(n mcp.JSONRPCNotification) {
		timer.again()
		select {
		case news <- n:
		default: // messages of a flooding server beyond the limit are dropped
		}
	})
	go func() { // ends with stop
		defer close(told)
		for {
			select {
			case n := <-news:
				report(ctx, n)
			case <-end:
				for range len(news) {
					report(ctx, <-news)
				}
				return
			}
		}
	}()
	return params, func() {
		c.progress.Delete(token)
		close(end)
		<-told
	}, nil
}

// report passes a server's progress notification on to the Reporter of ctx.
func report(ctx context.Context, n mcp.JSONRPCNotification) {
	at := n.Params.AdditionalFields
	done, _ := at["progress"].(float64)
	total, _ := at["total"].(float64)
	message, _ := at["message"].(string)
	tools.Progress(ctx, done, total, message)
}

// mostNews is how many progress notifications of one request may wait for its client. Further ones
// are dropped.
const mostNews = 1024

// addressed returns a request's parameters and headers as the server's revision requires. For
// revision 2026-07-28 it adds the metadata and headers that each request must have. For earlier
// revisions it removes that metadata and adds no headers. It returns an error if params is not an
// object.
func (c *conn) addressed(ctx context.Context, method string, params json.RawMessage) (
	any, http.Header, error) {
	version := c.client.ProtocolVersion()
	peer := tools.PeerOf(ctx)
	modern := mcp.IsModernProtocol(version)
	if params == nil && !modern {
		return nil, nil, nil
	}
	if !modern && (peer == nil || !peer.Modern) {
		return params, nil, nil
	}
	meta, err := readMember(params, "_meta")
	if err != nil {
		return nil, nil, err
	}
	if !modern { // what only the newer revision has in each request
		for _, key := range []string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientCapabilities,
			mcp.MetaKeyClientInfo, mcp.MetaKeyLogLevel} {
			meta = slices.DeleteFunc(meta, func(m member) bool { return m.key == key })
		}
		params, err = withMembers(params, "_meta", meta.text())
		return params, nil, err
	}
	can, who := any(c.me.can), any(c.me.who)
	if peer != nil && peer.Modern {
		can = peer.Can
		if peer.Client != nil {
			who = peer.Client
		}
		if peer.Level != "" {
			meta, _ = meta.with(mcp.MetaKeyLogLevel, peer.Level)
		}
	}
	for _, m := range []struct {
		key   string
		value any
	}{{mcp.MetaKeyProtocolVersion, version}, {mcp.MetaKeyClientCapabilities, can},
		{mcp.MetaKeyClientInfo, who}} {
		if meta, err = meta.with(m.key, m.value); err != nil {
			return nil, nil, err
		}
	}
	if params, err = withMembers(params, "_meta", meta.text()); err != nil {
		return nil, nil, err
	}
	header := http.Header{}
	for name, value := range mcp.StandardHeaders(version, mcp.MCPMethod(method), params) {
		header.Set(name, value)
	}
	if all := c.mirrored.Load(); all != nil && method == string(mcp.MethodToolsCall) {
		var named struct{ Name string }
		_ = json.Unmarshal(params, &named) // ours
		if t := (*all)[named.Name]; t != nil {
			for name, value := range mcp.GenerateParamHeaders(t, params) {
				header.Set(name, value)
			}
		}
	}
	return params, header, nil
}

// listen sets a handler for the requests that the server sends over the transport t, such as a
// question to the user. The handler has the connection's client answer them, but answers a ping
// itself. If the client returns an error, the server gets that error as the answer. listen does
// nothing if the connection has no such client, or if servers cannot send requests over t, as with
// the older HTTP transport.
func (c *conn) listen(t transport.Interface) {
	both, ok := t.(transport.BidirectionalInterface)
	if !ok || c.me.answer == nil {
		return
	}
	both.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (
		*transport.JSONRPCResponse, error) {
		if r.Method == string(mcp.MethodPing) {
			return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage("{}")), nil
		}
		var params json.RawMessage
		if r.Params != nil {
			text, err := chat.JSON(r.Params)
			if err != nil {
				return nil, err
			}
			params = text
		}
		// mcp-go's limit of 30 s is too short for users who read a question.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestCall)
		defer cancel()
		defer context.AfterFunc(c.ctx, cancel)()
		raw, err := c.me.answer(ctx, r.Method, params)
		var refused *tools.RPCError
		switch {
		case errors.As(err, &refused):
			var data any
			if refused.Data != nil {
				data = refused.Data
			}
			return transport.NewJSONRPCErrorResponse(r.ID, refused.Code, refused.Message, data), nil
		case err != nil:
			return transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, err.Error(), nil),
				nil
		}
		return transport.NewJSONRPCResultResponse(r.ID, raw), nil
	})
}

// readMember returns the object under a key of params. If params or the member is missing or null,
// it returns an empty object. It returns an error if either is not an object.
func readMember(params json.RawMessage, key string) (object, error) {
	if params == nil {
		return object{}, nil
	}
	o, err := readObject(params)
	if err != nil {
		return nil, err
	}
	inner := o.get(key)
	if inner == nil || string(inner) == "null" {
		return object{}, nil
	}
	return readObject(inner)
}

// withMembers returns the object params with further members set. The parameter pairs has a key and
// a value in turn. A key that exists is replaced in its place, and others are appended; a nil
// json.RawMessage is skipped. It returns an error if params is not an object or a value cannot be
// encoded.
func withMembers(params json.RawMessage, pairs ...any) (json.RawMessage, error) {
	o := object{}
	if params != nil {
		var err error
		if o, err = readObject(params); err != nil {
			return nil, err
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if text, ok := pairs[i+1].(json.RawMessage); ok && text == nil {
			continue
		}
		var err error
		if o, err = o.with(pairs[i].(string), pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return o.text(), nil
}
