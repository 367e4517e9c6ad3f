package mcpserver

import (
	"crypto/rand"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// listener is a stream that is notified of changes. There is one for each stream rather than for
// each session: stock mcp-go has one per session, so that of two listeners without a session one is
// never notified.
type listener struct {
	box   *outbox                       // of the stream
	wants func(method, uri string) bool // uri: of the resource that changed; empty otherwise
	// the id of the subscriptions/listen that opened the stream; nil: an older one
	tag json.RawMessage

	// By the 2025 revisions a message goes to one of a session's streams, and must not be broadcast
	// on all of them.
	session string // of several streams of a session only one is told; empty: each is
	first   []byte // what is sent to it before anything else; nil: nothing
}

// hub notifies listeners of changes. One lock is enough, since a notification is only put into a
// box, which never waits.
type hub struct {
	mu        sync.Mutex
	listeners map[*listener]bool
}

// add registers a listener until it is removed. Its first message is put into its box under the
// same lock, so that no notification can come before it: 2026-07-28 wants the acknowledgement
// before all else.
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

// end ends the streams of a session that its client has ended by DELETE.
func (h *hub) end(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		if l.session == session {
			l.box.end(errClosed)
		}
	}
}

// one sends a frame to a session, on one of the streams on which it listens.
func (h *hub) one(session string, f frame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		if session == "" || l.session != session {
			continue
		}
		err := l.box.put(f)
		if err != nil {
			l.box.end(err)
		}
		return err
	}
	return errDeaf
}

// tell sends a notification to every listener that wants it. params is a JSON object, or nil. It
// never waits, since one slow client would hold up all others under the lock: a listener that has
// no room left is ended.
func (h *hub) tell(method string, params json.RawMessage) {
	var about struct {
		URI string `json:"uri"`
	}
	if params != nil && json.Unmarshal(params, &about) != nil {
		return
	}
	// Two changes of the same thing are one notification for a client that has not read the first.
	kind := method + " " + about.URI
	plain := notification(method, orNil(params))
	h.mu.Lock()
	defer h.mu.Unlock()
	// All streams without a session are notified: the empty name never counts as told.
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

// tagged adds the id of a subscription to a notification's parameters, in _meta: each message of a
// subscription bears the id of the subscriptions/listen that opened it, since on stdio several of
// them share a stream. It is spliced in as the client wrote it.
func tagged(params, id json.RawMessage) json.RawMessage {
	meta := append([]byte(`{"_meta":{"`+mcp.MetaKeySubscriptionID+`":`), id...)
	meta = append(meta, '}')
	if len(params) > 2 { // more than {}
		meta = append(append(meta, ','), params[1:]...)
		return meta
	}
	return append(meta, '}')
}

// echo lets the hub hear of changes in an mcp-go server: it is a session to which that server
// broadcasts everything. mcp-go has no other way to notify that its tools, prompts or resources
// have changed.
type echo struct {
	id string
	c  chan mcp.JSONRPCNotification
}

// echo has everything that a session needs.
var _ server.ClientSession = echo{}

// newEcho makes the session. Its channel is as long as an outbox; mcp-go drops what does not fit,
// and the hub reads at once.
func newEcho() echo { return echo{rand.Text(), make(chan mcp.JSONRPCNotification, maxFrames)} }

// Initialize does nothing: the session is born initialised.
func (echo) Initialize() {}

// Initialized reports that the session may be notified of changes: mcp-go skips sessions that are
// not initialized.
func (echo) Initialized() bool { return true }

// NotificationChannel returns where changes arrive.
func (e echo) NotificationChannel() chan<- mcp.JSONRPCNotification { return e.c }

// SessionID returns an id that no other session has.
func (e echo) SessionID() string { return e.id }

// listen passes changes on until stop is closed. changed fires when the registry's tools do; the
// news says that and no more, and clients ask for the list.
func (h *hub) listen(changed <-chan struct{}, e echo, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-changed:
			h.tell(mcp.MethodNotificationToolsListChanged, nil)
		case n := <-e.c:
			var params json.RawMessage
			// Else mcp-go's empty params would be written as {}, where the specification has none.
			if len(n.Params.Meta)+len(n.Params.AdditionalFields) > 0 {
				params = encode(n.Params)
			}
			h.tell(n.Method, params)
		}
	}
}
