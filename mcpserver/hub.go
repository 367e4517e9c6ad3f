package mcpserver

import (
	"crypto/rand"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// listener is a stream that is notified of changes. There is one listener for each stream, because
// streams of 2026-07-28 have no session. mcp-go's own server has one for each session, so of two
// streams without a session it notifies only one.
type listener struct {
	box *outbox // of the stream
	// whether it wants this notification; uri is that of the changed resource, or empty
	wants func(method, uri string) bool
	// the id of the subscriptions/listen that opened the stream; nil: an older kind of stream
	tag json.RawMessage

	// the session; only one of the streams of a session is notified. If it is empty, the stream has
	// no session and is always notified
	session string
	first   []byte // what is sent before anything else; nil: nothing
}

// hub notifies listeners of changes. One lock is enough, since a notification is only put into an
// outbox, which never waits.
type hub struct {
	mu        sync.Mutex
	listeners map[*listener]bool
}

// add registers a listener, and returns a function that removes it. The first message of the
// listener is put into its outbox under the same lock, so that no notification can precede it:
// 2026-07-28 wants the acknowledgement before all else.
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

// one sends a frame to a session, on one of the streams on which it listens. It returns errDeaf if
// the session does not listen. If the stream has no room, one ends the stream and returns an error.
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

// tell sends a notification to every listener that wants it. The parameters are a JSON object or
// nil. tell never waits, since one slow client would delay all others under the lock. A listener
// whose outbox is full is ended.
func (h *hub) tell(method string, params json.RawMessage) {
	var about struct {
		URI string `json:"uri"`
	}
	if params != nil && json.Unmarshal(params, &about) != nil {
		return
	}
	// Two changes of the same resource or list are one notification for a client that has not read
	// the first.
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

// orNil returns params, or an untyped nil if there are none, so that they are omitted in JSON.
func orNil(params json.RawMessage) any {
	if params == nil {
		return nil
	}
	return params
}

// tagged returns the parameters of a notification with the id of a subscription in their _meta.
// Each message of a subscription has the id of the subscriptions/listen that opened it, because
// several subscriptions share one stream on stdio. The id stays as the client wrote it.
func tagged(params, id json.RawMessage) json.RawMessage {
	meta := append([]byte(`{"_meta":{"`+mcp.MetaKeySubscriptionID+`":`), id...)
	meta = append(meta, '}')
	if len(params) > 2 { // more than {}
		meta = append(append(meta, ','), params[1:]...)
		return meta
	}
	return append(meta, '}')
}

// echo is a session that the hub registers with mcp-go's server. The server notifies all registered
// sessions when its prompts, resources or tools have changed. The hub has no other way to learn of
// such changes.
type echo struct {
	id string
	c  chan mcp.JSONRPCNotification
}

// echo has everything that a session needs.
var _ server.ClientSession = echo{}

// newEcho returns a session for the hub. Its channel has room for as many notifications as an
// outbox. mcp-go drops notifications for which the channel has no room, but the hub reads them
// immediately.
func newEcho() echo { return echo{rand.Text(), make(chan mcp.JSONRPCNotification, maxFrames)} }

// Initialize does nothing, since the session counts as initialized from the beginning.
func (echo) Initialize() {}

// Initialized returns true, because mcp-go does not notify sessions that are not initialized.
func (echo) Initialized() bool { return true }

// NotificationChannel returns the channel to which mcp-go sends notifications.
func (e echo) NotificationChannel() chan<- mcp.JSONRPCNotification { return e.c }

// SessionID returns an id that no other session has.
func (e echo) SessionID() string { return e.id }

// listen tells all listeners about changes until stop is closed. The channel changed signals that
// the tools of the registry have changed. The other changes are notifications that mcp-go's server
// sends to the session e. The notification about tools does not say what changed, so clients ask
// for the list.
func (h *hub) listen(changed <-chan struct{}, e echo, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-changed:
			h.tell(mcp.MethodNotificationToolsListChanged, nil)
		case n := <-e.c:
			var params json.RawMessage
			// Otherwise empty params would be written as {}, where the specification has none.
			if len(n.Params.Meta)+len(n.Params.AdditionalFields) > 0 {
				params = encode(n.Params)
			}
			h.tell(n.Method, params)
		}
	}
}
