package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// subscribe is the stream on which a client of 2026-07-28 hears of the changes that it asked for.
func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, c *caller, m message) {
	box := newOutbox()
	l, hears, fault := s.engine.subscription(r.Context(), box, m)
	if fault != nil {
		s.write(w, frame{body: fault.frame(m.id), status: http.StatusBadRequest})
		return
	}
	out, done, ok := s.open(w)
	if !ok {
		return
	}
	defer done()
	defer s.engine.hub.add(l)()
	if !hears {
		_ = box.put(frame{id: m.id, body: s.engine.listened(m.id), last: true})
	}
	err := s.pour(r.Context(), out, box, plainEvent)
	box.end(err)
	if errors.Is(err, errClosed) {
		out.Buf = plainEvent(out.Buf, frame{id: m.id, body: s.engine.listened(m.id)})
		_ = out.Flush() // the client may have gone as well
	}
	s.dropped("subscription", err)
}

// hold is a subscription on a stream that carries other answers as well. It ends when the client cancels it or leaves.
func (e *engine) hold(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	l, hears, fault := e.subscription(ctx, c.stream, m)
	if fault != nil {
		return nil, fault
	}
	defer e.hub.add(l)()
	if hears {
		<-ctx.Done()
	}
	return e.listened(m.id), nil
}

// subscription is the listener that a subscriptions/listen asks for, and says whether there is anything to hear of. What of the
// wishes is honoured is its first message.
func (e *engine) subscription(ctx context.Context, box *outbox, m message) (l *listener, hears bool, fault *rpcError) {
	var asked struct {
		Notifications mcp.SubscriptionFilter `json:"notifications"`
	}
	if m.params == nil || json.Unmarshal(m.params, &asked) != nil {
		return nil, false, fail(codeParams, "subscriptions/listen says in notifications what it wants to hear of")
	}
	honoured := e.honoured(ctx, asked.Notifications)
	first := tagged(encode(struct {
		Notifications mcp.SubscriptionFilter `json:"notifications"`
	}{honoured}), m.id)
	return &listener{
		box: box, tag: m.id, wants: func(method, uri string) bool { return wanted(honoured, method, uri) },
		first: notification(mcp.MethodNotificationSubscriptionsAcknowledged, first),
	}, !honoured.IsEmpty(), nil
}

// wanted says whether a filter lets a notification pass.
func wanted(f mcp.SubscriptionFilter, method, uri string) bool {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return f.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return f.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return f.ResourcesListChanged
	case mcp.MethodNotificationResourceUpdated:
		return slices.Contains(f.ResourceSubscriptions, uri)
	}
	return false
}

// honoured is the part of a filter that the server can do.
func (e *engine) honoured(ctx context.Context, f mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	can := e.capabilities(ctx)
	f.PromptsListChanged = f.PromptsListChanged && can.Prompts != nil && can.Prompts.ListChanged
	f.ResourcesListChanged = f.ResourcesListChanged && can.Resources != nil && can.Resources.ListChanged
	if can.Resources == nil || !can.Resources.Subscribe {
		f.ResourceSubscriptions = nil
	}
	if len(f.ResourceSubscriptions) > maxWatched {
		f.ResourceSubscriptions = f.ResourceSubscriptions[:maxWatched]
	}
	return f
}

// capabilities are what mcp-go's server can do now; it tells only those who initialize.
func (e *engine) capabilities(ctx context.Context) mcp.ServerCapabilities {
	answer := e.cfg.Extra.HandleMessage(ctx, json.RawMessage(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`))
	if a, ok := answer.(mcp.JSONRPCResponse); ok {
		if result, ok := a.Result.(mcp.InitializeResult); ok {
			return result.Capabilities
		}
	}
	return mcp.ServerCapabilities{}
}

// listened is the result of a subscription, which is its end.
func (e *engine) listened(id json.RawMessage) json.RawMessage {
	meta := append(e.lists.identity[:len(e.lists.identity)-1:len(e.lists.identity)-1], `,"`+mcp.MetaKeySubscriptionID+`":`...)
	meta = append(append(meta, id...), '}')
	return encode(struct {
		Type string          `json:"resultType"`
		Meta json.RawMessage `json:"_meta"`
	}{"complete", meta})
}
