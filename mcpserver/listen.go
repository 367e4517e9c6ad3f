package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// listen answers a GET with the stream on which a client of a revision of 2025 is notified of
// changes, or resumes a stream that broke. A server must answer a GET with such a stream or a 405,
// because several clients take a 404 for a wrong address and stop connecting. A client without a
// session may listen too; it is notified of changes of lists, but not of resources. Errors are
// answered with a status.
func (s *Server) listen(w http.ResponseWriter, r *http.Request) {
	principal, named := s.cfg.Principal(r), r.Header.Get("Mcp-Session-Id")
	found, ok := s.sessions.find(named, principal)
	if version := r.Header.Get("Mcp-Protocol-Version"); version != "" && !isKnown(version) {
		s.refuse(w, nil, unsupported(version))
		return
	}
	if named != "" && !ok {
		s.refuse(w, nil, noSession())
		return
	}
	if wait, ok := s.rate.allow(rateKey(found, principal, r), time.Now()); !ok {
		s.tooMany(w, wait)
		return
	}
	out, done, ok := s.open(w)
	if !ok {
		return
	}
	defer done()
	// A client without a session listens under an empty id, for which no record can be found.
	if found == nil {
		found = &session{principal: principal}
	}
	event, session := r.Header.Get("Last-Event-ID"), nameOf(found.id)
	if o, after, ok := s.records.find(event, session); ok && found.id != "" {
		s.replay(r.Context(), out, o, after)
		return
	}
	if found.id != "" && s.elsewhere.follow(r.Context(), out, event, session) {
		return
	}
	if found.id != "" {
		s.sessions.refresh(found)
	}
	l := &listener{session: found.id, box: newOutbox()}
	l.wants = func(_, uri string) bool { return uri == "" || s.sessions.watches(found.id, uri) }
	defer s.engine.hub.add(l)()
	// The first bytes: a client, or a proxy on the way, sees that the stream is open before
	// anything happens.
	out.Comment("listening")
	err := s.pour(r.Context(), out, l.box, plainEvent)
	l.box.end(err)
	s.dropped("listener", err)
}

// forget ends a session at its client's request. Its id is no longer valid, even after a restart,
// its streams end, and its running calls are cancelled. For another caller's session it answers
// 404, as for a session that never existed.
func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	named := r.Header.Get("Mcp-Session-Id")
	if named == "" {
		s.refuse(w, nil, fail(codeRequest,
			"DELETE ends the session that Mcp-Session-Id names").withStatus(http.StatusBadRequest))
		return
	}
	if _, ok := s.sessions.find(named, s.cfg.Principal(r)); !ok {
		s.refuse(w, nil, noSession())
		return
	}
	if err := s.sessions.end(named, time.Now()); err != nil {
		s.cfg.Log.Warn().Err(err).Msg(
			"cannot save the end of an MCP session: it works again after a restart")
	}
	s.over(named)
	if s.cfg.Shared != nil {
		if err := s.cfg.Shared.TellAll(aboutEnd, named); err != nil {
			s.cfg.Log.Warn().Err(err).Msg(
				"cannot tell other replicas that an MCP session has ended: its calls there go on")
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// over ends everything that runs for a session whose id is no longer valid: streams, calls and
// records. Nothing new can begin for such a session.
func (s *Server) over(session string) {
	s.engine.hub.end(session)
	s.engine.running.cancelIf(func(r inFlight) bool { return r.session == session })
	s.records.end(session)
	s.cfg.Gateway.Left(session)
}

// subscribe answers with the stream on which a client of 2026-07-28 is notified of the changes that
// it asked for. The stream stays open for hours. So MaxStreams limits the number of such streams,
// and not MaxCalls, which is for requests that are answered at the same time.
func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, m message) {
	box := newOutbox()
	l, hears, rpcErr := s.engine.subscription(r.Context(), box, m)
	if rpcErr != nil {
		s.write(w, frame{body: rpcErr.frame(m.id), status: http.StatusBadRequest})
		return
	}
	out, done, ok := s.open(w)
	if !ok {
		return
	}
	defer done()
	defer s.engine.hub.add(l)()
	// Nothing of what was asked for can happen here, so the subscription is over as soon as it is
	// acknowledged.
	if !hears {
		_ = box.put(frame{id: m.id, body: s.engine.listened(m.id), last: true})
	}
	err := s.pour(r.Context(), out, box, plainEvent)
	box.end(err)
	// On shutdown the specification wants the result of the request before the stream is closed.
	if errors.Is(err, errClosed) {
		out.Buf = plainEvent(out.Buf, frame{id: m.id, body: s.engine.listened(m.id)})
		_ = out.Flush() // the client may have gone as well
	}
	s.dropped("subscription", err)
}

// hold answers a request for notifications of changes (subscriptions/listen) on stdio, where one
// stream carries all answers. It waits until the client cancels the request with
// notifications/cancelled or leaves, and then returns the result. It returns an error if the
// parameters cannot be read.
func (e *engine) hold(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	l, hears, rpcErr := e.subscription(ctx, c.stream, m)
	if rpcErr != nil {
		return nil, rpcErr
	}
	defer e.hub.add(l)()
	if hears {
		<-ctx.Done()
	}
	return e.listened(m.id), nil
}

// subscription returns the listener for a subscriptions/listen. hears is false if this server
// cannot send any of the notifications that were asked for. The first message of the listener,
// notifications/subscriptions/acknowledged, says which part of the request is honoured. From it a
// client knows which changes it must poll for. It returns an error if the parameters cannot be
// read.
func (e *engine) subscription(ctx context.Context, box *outbox, m message) (
	l *listener, hears bool, rpcErr *rpcError) {
	var asked struct {
		Notifications mcp.SubscriptionFilter `json:"notifications"`
	}
	if m.params == nil || json.Unmarshal(m.params, &asked) != nil {
		return nil, false, fail(codeParams,
			"subscriptions/listen says in notifications what it wants to hear of")
	}
	honoured := e.honoured(ctx, asked.Notifications)
	first := tagged(encode(struct {
		Notifications mcp.SubscriptionFilter `json:"notifications"`
	}{honoured}), m.id)
	return &listener{
		box: box, tag: m.id, wants: func(method, uri string) bool {
			return wanted(honoured, method, uri)
		},
		first: notification(mcp.MethodNotificationSubscriptionsAcknowledged, first),
	}, !honoured.IsEmpty(), nil
}

// wanted reports whether a filter includes a notification. Progress and log lines are never
// included, because they are sent with their own request.
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

// honoured returns the part of a client's filter for which this server can send notifications of
// changes. For tools it always can. For prompts and resources it can only if mcp-go's server
// declares so. Resources beyond maxWatched are left out; the client sees in the acknowledgement
// which remain.
func (e *engine) honoured(ctx context.Context, f mcp.SubscriptionFilter) mcp.SubscriptionFilter {
	can := e.capabilities(ctx)
	f.PromptsListChanged = f.PromptsListChanged && can.Prompts != nil && can.Prompts.ListChanged
	f.ResourcesListChanged = f.ResourcesListChanged && can.Resources != nil &&
		can.Resources.ListChanged
	if can.Resources == nil || !can.Resources.Subscribe {
		f.ResourceSubscriptions = nil
	}
	// The acknowledgement shows what is left, so the client knows.
	if len(f.ResourceSubscriptions) > maxWatched {
		f.ResourceSubscriptions = f.ResourceSubscriptions[:maxWatched]
	}
	return f
}

// capabilities returns what mcp-go's server can do now. mcp-go says that only in its answer to
// initialize, so this method sends an empty initialize, as a client would; that begins no session.
// If there is no such answer, the result is empty.
func (e *engine) capabilities(ctx context.Context) mcp.ServerCapabilities {
	answer := e.extra(ctx).HandleMessage(ctx, json.RawMessage(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`))
	if a, ok := answer.(mcp.JSONRPCResponse); ok {
		if result, ok := a.Result.(mcp.InitializeResult); ok {
			return result.Capabilities
		}
	}
	return mcp.ServerCapabilities{}
}

// listened returns the result that ends a subscription. It contains this server's identity and the
// id of the subscription. The slice expression with three indexes keeps append from writing into
// the identity that all requests share.
func (e *engine) listened(id json.RawMessage) json.RawMessage {
	meta := append(e.lists.identity[:len(e.lists.identity)-1:len(e.lists.identity)-1], `,"`+
		mcp.MetaKeySubscriptionID+`":`...)
	meta = append(append(meta, id...), '}')
	return encode(struct {
		Type string          `json:"resultType"`
		Meta json.RawMessage `json:"_meta"`
	}{"complete", meta})
}
