package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// Notify registers f to be called when a server's prompts or resources may have changed, with the
// method of the notification.
func (s *Set) Notify(f func(method string)) { s.tell.Store(&f) }

// news handles the notifications of a server on the shared connection. Log lines may be another
// client's, and are dropped.
func (s *Set) news(n mcp.JSONRPCNotification) {
	f := s.tell.Load()
	if f != nil && (n.Method == mcp.MethodNotificationPromptsListChanged ||
		n.Method == mcp.MethodNotificationResourcesListChanged) {
		go (*f)(n.Method) // ends at once; not here, as mcp-go waits
	}
}

// Offers returns the capabilities of all servers together, as MCP writes them. A server that has
// not answered yet may have any.
func (s *Set) Offers() (can map[string]json.RawMessage) {
	can = map[string]json.RawMessage{}
	for _, l := range s.all() {
		caps, known := l.capabilities()
		for name, value := range map[string]string{
			"prompts": `{"listChanged":true}`, "resources": `{"subscribe":true,"listChanged":true}`,
			"completions": `{}`, "logging": `{}`,
			"tasks": `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`,
		} {
			if !known || has(caps, name) {
				can[name] = json.RawMessage(value)
			}
		}
	}
	return can
}

// has reports whether a server has a capability.
func has(caps mcp.ServerCapabilities, name string) bool {
	switch name {
	case "prompts":
		return caps.Prompts != nil
	case "resources":
		return caps.Resources != nil
	case "completions":
		return caps.Completions != nil
	case "logging":
		return caps.Logging != nil
	case "tasks":
		return caps.Tasks != nil
	}
	return false
}

// capabilities returns the capabilities of the server; known is false while the server has neither
// answered nor failed.
func (l *link) capabilities() (caps mcp.ServerCapabilities, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return caps, l.err != nil // a server that is down offers nothing
	}
	return l.conn.client.GetServerCapabilities(), true
}

// all returns the links in the file's order.
func (s *Set) all() (links []*link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.file.servers {
		if l := s.links[w.entry.Name]; w.err == nil && l != nil {
			links = append(links, l)
		}
	}
	return links
}

// with returns the links that have or may have a capability, without those that are down.
func (s *Set) with(name string) (links []*link) {
	return slices.DeleteFunc(s.all(), func(l *link) bool {
		caps, known := l.capabilities()
		return known && !has(caps, name)
	})
}

// Members returns the members of a list of all servers, each as its server wrote it except for the
// name of a prompt, which becomes server.prompt. A server that does not answer in time is left out.
func (s *Set) Members(ctx context.Context, method string) (all []json.RawMessage) {
	capability, _, _ := strings.Cut(method, "/") // the lists of resources are of one
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ListTime)
	defer cancel()
	links := s.with(capability)
	each := make([][]json.RawMessage, len(links))
	var wait sync.WaitGroup
	for i, l := range links {
		if method == "tasks/list" && s.relayOf(ctx, l, false) == nil {
			continue // the tasks of a connection that is shared would be everybody's
		}
		wait.Go(func() { each[i] = l.items(ctx, method, tools.Lists[method]) })
	}
	wait.Wait()
	seen := map[string]bool{}
	for i, items := range each {
		for _, item := range items {
			var about struct{ Name, URI, URITemplate, TaskID string }
			_ = json.Unmarshal(item, &about) // an item without one is shown as it is
			// If two servers have the same address, the first in the file is listed, and it is also
			// the one that is read.
			if id := cmp.Or(about.URI, about.URITemplate); id != "" {
				if seen[id] {
					continue
				}
				seen[id] = true
			}
			if method == "prompts/list" {
				var err error
				if item, err = withMembers(item, "name", links[i].entry.Name+"."+
					about.Name); err != nil {
					continue
				}
			}
			all = append(all, item)
		}
	}
	return all
}

// items returns the members of a server's list, of all its pages.
func (l *link) items(ctx context.Context, method, key string) (all []json.RawMessage) {
	way, cursor := l.way(ctx, false), ""
	for range mostPages {
		params := json.RawMessage("{}")
		if cursor != "" {
			params, _ = withMembers(nil, "cursor", cursor)
		}
		raw, c, err := way.ask(ctx, method, params)
		if err != nil {
			if c != nil && ctx.Err() == nil && (isBroken(err) || neverRan(err)) {
				way.lost(c)
			}
			return all
		}
		o, err := readObject(raw)
		var page []json.RawMessage
		if err != nil || json.Unmarshal(o.get(key), &page) != nil {
			return all
		}
		l.set.places.learn(ctx, l, raw)
		all = append(all, page...)
		next := wording(o.get("nextCursor"))
		if next == "" || next == cursor || len(all) > mostTools {
			return all
		}
		cursor = next
	}
	return all
}

// Tools returns the tools that servers list only for the client of ctx, beside those that they list
// for all.
func (s *Set) Tools(ctx context.Context) (all []tools.Tool) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ListTime)
	defer cancel()
	links := s.all()
	each := make([][]tools.Tool, len(links))
	var wait sync.WaitGroup
	for i, l := range links {
		if _, down := l.patience(); down != nil {
			continue // a server that is known to be down is not waited for
		}
		if r := s.relayOf(ctx, l, false); r != nil {
			wait.Go(func() { each[i], _ = r.listed(ctx) }) // a server that does not answer has none
		}
	}
	wait.Wait()
	now := s.cfg.Registry.Snapshot()
	for _, own := range each {
		for _, t := range own {
			if now.Source(t.Name) == "" {
				all = append(all, t)
			}
		}
	}
	return all
}

// Forward passes a request of a client on to the server that it is for, and its result back. known
// is false when it is for none.
func (s *Set) Forward(ctx context.Context, method string, params json.RawMessage) (
	result json.RawMessage, known bool, err error) {
	links, params := s.target(ctx, method, params)
	own := method == "resources/subscribe" || strings.HasPrefix(method, "tasks/")
	for i, l := range links {
		timed, cancel := withTimer(ctx, s.cfg.CallTime, l.entry.Name)
		result, err = l.forward(timed, method, params, own)
		if cause := context.Cause(timed); err != nil && errors.As(cause, new(late)) {
			err = cause
		}
		cancel()
		if err == nil || i == len(links)-1 || ctx.Err() != nil {
			return result, true, err
		}
	}
	return nil, false, nil
}

// forward sends a request to the server and returns its result. If the connection turns out to be
// broken, it tries once more on a new one.
func (l *link) forward(ctx context.Context, method string, params json.RawMessage, own bool) (
	json.RawMessage, error) {
	way := l.way(ctx, own)
	for first := true; ; first = false {
		raw, c, err := way.ask(ctx, method, params)
		switch {
		case err == nil:
			l.set.places.learn(ctx, l, raw)
			l.watching(way, method, params)
			return raw, nil
		case c == nil:
			return nil, l.unanswered(ctx, err)
		case ctx.Err() == nil && (neverRan(err) || isBroken(err)):
			way.lost(c)
			if first {
				continue
			}
			return nil, l.unanswered(ctx, err)
		}
		return nil, err
	}
}

// watching remembers what a client has subscribed to, which keeps its connection.
func (l *link) watching(w way, method string, params json.RawMessage) {
	r, ok := w.(*relay)
	if !ok {
		return
	}
	uri := uriOf(params)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch method {
	case "resources/subscribe":
		r.watched[uri] = true
	case "resources/unsubscribe":
		delete(r.watched, uri)
	}
}

// uriOf returns the address that a request is about, or "" if it has none.
func uriOf(params json.RawMessage) string {
	var p struct{ URI string }
	_ = json.Unmarshal(params, &p) // without one it is about none
	return p.URI
}

// target returns the servers that a request may be for, the likeliest first, and its parameters in
// the form in which they know them.
func (s *Set) target(ctx context.Context, method string, params json.RawMessage) (
	[]*link, json.RawMessage) {
	var p struct {
		Name   string
		TaskID string
		Ref    struct{ Type, Name, URI string }
	}
	_ = json.Unmarshal(params, &p) // a missing member matches nothing
	switch {
	case method == "prompts/get":
		l, name := s.prefixed(p.Name)
		return one(l), member2(params, "name", name)
	case method == "completion/complete" && p.Ref.Type == "ref/prompt":
		l, name := s.prefixed(p.Ref.Name)
		ref, err := readMember(params, "ref")
		if err != nil {
			return nil, params
		}
		return one(l), member2(params, "ref", json.RawMessage(member2(ref.text(), "name", name)))
	case method == "completion/complete":
		return s.at(ctx, p.Ref.URI), params
	case strings.HasPrefix(method, "tasks/"):
		return one(s.places.find(ctx, "task "+p.TaskID, s.all())), params
	}
	return s.at(ctx, uriOf(params)), params
}

// one returns a list of a link, or nil for no link.
func one(l *link) []*link {
	if l == nil {
		return nil
	}
	return []*link{l}
}

// member2 returns params with a text or a value under a key; params that cannot be read stay as
// they are.
func member2(params json.RawMessage, key string, value any) json.RawMessage {
	out, err := withMembers(params, key, value)
	if err != nil {
		return params
	}
	return out
}

// prefixed returns the server of a name server.prompt, and the server's own name of the prompt.
func (s *Set) prefixed(name string) (*link, string) {
	server, rest, _ := strings.Cut(name, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[server], rest
}

// at returns the servers that may have a resource: the server that has named it, or else those that
// have named others like it.
func (s *Set) at(ctx context.Context, uri string) []*link {
	links := s.with("resources")
	if l := s.places.find(ctx, uri, links); l != nil {
		return one(l)
	}
	if l := s.places.find(ctx, origin(uri), links); l != nil {
		return one(l)
	}
	// No list was requested yet, since a client may know addresses from before.
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		s.Members(ctx, method)
	}
	for _, key := range []string{uri, origin(uri)} {
		if l := s.places.find(ctx, key, links); l != nil {
			return one(l)
		}
	}
	return nil
}

// Tell passes a notification of a client's on to the servers that it has for itself.
func (s *Set) Tell(ctx context.Context, method string) {
	p := tools.PeerOf(ctx)
	s.relayMu.Lock()
	defer s.relayMu.Unlock()
	for key, r := range s.relays {
		if p == nil || key.session != p.Session {
			continue
		}
		r.mu.Lock()
		if r.peer = p; r.conn != nil {
			r.conn.send(mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION,
				Notification: mcp.Notification{Method: method}})
		}
		r.mu.Unlock()
	}
}
