package mcpserver

import (
	"crypto/rand"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// listener is a stream that is told when something changes.
type listener struct {
	box   *outbox
	wants func(method, uri string) bool // uri: of the resource that changed; empty otherwise
	tag   json.RawMessage               // the id of the subscriptions/listen that opened the stream; nil: an older one

	session string // of several streams of a session only one is told; empty: each is
	first   []byte // what it is sent before anything else; nil: nothing
}

// hub tells listeners what has changed.
type hub struct {
	mu        sync.Mutex
	listeners map[*listener]bool
}

// add lets a listener hear of changes until it is removed.
func (h *hub) add(l *listener) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.first != nil {
		_ = l.box.put(frame{body: l.first}) // without room there is no stream
	}
	h.listeners[l] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, l)
	}
}

// end ends the streams of a session.
func (h *hub) end(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		if l.session == session {
			l.box.end(errClosed)
		}
	}
}

// tell sends a notification to everyone who wants it. Nobody is waited for: a listener that has no room left is ended. params
// is a JSON object, or nil.
func (h *hub) tell(method string, params json.RawMessage) {
	var about struct {
		URI string `json:"uri"`
	}
	if params != nil && json.Unmarshal(params, &about) != nil {
		return
	}
	kind := method + " " + about.URI
	plain := notification(method, orNil(params))
	h.mu.Lock()
	defer h.mu.Unlock()
	told := map[string]bool{"": false}
	for l := range h.listeners {
		if told[l.session] || !l.wants(method, about.URI) {
			continue
		}
		told[l.session] = l.session != ""
		body := plain
		if l.tag != nil {
			body = notification(method, tagged(params, l.tag))
		}
		if err := l.box.put(frame{body: body, kind: kind}); err != nil {
			l.box.end(err)
		}
	}
}

// orNil makes absent parameters a nil that is left out.
func orNil(params json.RawMessage) any {
	if params == nil {
		return nil
	}
	return params
}

// tagged adds the id of a subscription to a notification's parameters.
func tagged(params, id json.RawMessage) json.RawMessage {
	meta := append([]byte(`{"_meta":{"`+mcp.MetaKeySubscriptionID+`":`), id...)
	meta = append(meta, '}')
	if len(params) > 2 { // more than {}
		meta = append(append(meta, ','), params[1:]...)
		return meta
	}
	return append(meta, '}')
}

// echo is how the hub hears of what changes in an mcp-go server: a session of it that everything is broadcast to.
type echo struct {
	id string
	c  chan mcp.JSONRPCNotification
}

// Everything that a session must be.
var _ server.ClientSession = echo{}

func newEcho() echo { return echo{rand.Text(), make(chan mcp.JSONRPCNotification, maxFrames)} }

// Initialize does nothing: the session is born initialised.
func (echo) Initialize() {}

// Initialized says that the session may be told of changes.
func (echo) Initialized() bool { return true }

// NotificationChannel is where changes arrive.
func (e echo) NotificationChannel() chan<- mcp.JSONRPCNotification { return e.c }

// SessionID is unlike any other.
func (e echo) SessionID() string { return e.id }

// listen passes changes on until stop is closed.
func (h *hub) listen(changed <-chan struct{}, e echo, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-changed:
			h.tell(mcp.MethodNotificationToolsListChanged, nil)
		case n := <-e.c:
			var params json.RawMessage
			if len(n.Params.Meta)+len(n.Params.AdditionalFields) > 0 {
				params = encode(n.Params)
			}
			h.tell(n.Method, params)
		}
	}
}
