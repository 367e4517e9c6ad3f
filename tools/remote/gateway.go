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

// Notify sets the function that is called when a server's prompts or resources may have changed.
// The function f gets the method of the server's notification.
func (s *Set) Notify(f func(method string)) { s.tell.Store(&f) }

// news handles the notifications of a server on the shared connection: it passes on those about
// changed lists. Log lines may belong to another client, and are dropped.
func (s *Set) news(n mcp.JSONRPCNotification) {
	f := s.tell.Load()
	if f != nil && (n.Method == mcp.MethodNotificationPromptsListChanged ||
		n.Method == mcp.MethodNotificationResourcesListChanged) {
		go (*f)(n.Method) // ends at once; mcp-go would wait for f here
	}
}

// Offers returns the capabilities that any of the servers has, as MCP encodes them. A server that
// has not answered yet counts as having all.
func (s *Set) Offers() (can map[string]json.RawMessage) {
	can = map[string]json.RawMessage{}
	for _, l := range s.all() {
		caps, known := l.capabilities()
		for name, c := range capabilities {
			if !known || c.in(caps) {
				can[name] = json.RawMessage(c.text)
			}
		}
	}
	return can
}

// capabilities has each capability as it is offered to clients, and whether a server has it.
var capabilities = map[string]struct {
	text string
	in   func(mcp.ServerCapabilities) bool
}{
	"prompts": {`{"listChanged":true}`,
		func(c mcp.ServerCapabilities) bool { return c.Prompts != nil }},
	"resources": {`{"subscribe":true,"listChanged":true}`,
		func(c mcp.ServerCapabilities) bool { return c.Resources != nil }},
	"completions": {`{}`, func(c mcp.ServerCapabilities) bool { return c.Completions != nil }},
	"logging":     {`{}`, func(c mcp.ServerCapabilities) bool { return c.Logging != nil }},
	"tasks": {`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`,
		func(c mcp.ServerCapabilities) bool { return c.Tasks != nil }},
}

// capabilities returns the capabilities of the server. known is false until the server has answered
// or failed.
func (l *link) capabilities() (caps mcp.ServerCapabilities, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return caps, l.err != nil // a server that is down offers nothing
	}
	return l.conn.client.GetServerCapabilities(), true
}

// all returns the servers in use, as links, in the order of the file.
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

// with returns the links of the servers that have the capability of this name, or may have it
// because they have not answered yet. Servers that are down are left out.
func (s *Set) with(name string) (links []*link) {
	return slices.DeleteFunc(s.all(), func(l *link) bool {
		caps, known := l.capabilities()
		return known && !capabilities[name].in(caps)
	})
}

// Members requests a list, such as prompts/list, from all servers and returns the members of all
// lists. Each member is as its server wrote it, except that the name of a prompt becomes
// server.prompt. A server that does not answer in time is left out. If servers name the same
// address, only the first is listed.
func (s *Set) Members(ctx context.Context, method string) (all []json.RawMessage) {
	capability, _, _ := strings.Cut(method, "/") // both lists of resources need one capability
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ListTime)
	defer cancel()
	links := s.with(capability)
	each := make([][]json.RawMessage, len(links))
	var wait sync.WaitGroup
	for i, l := range links {
		if method == "tasks/list" && s.relayOf(ctx, l, false) == nil {
			continue // on a shared connection, each client would get the tasks of all
		}
		wait.Go(func() { each[i] = l.items(ctx, method, tools.Lists[method]) })
	}
	wait.Wait()
	seen := map[string]bool{}
	for i, items := range each {
		for _, item := range items {
			item, ok := plainItem(method, item)
			if !ok {
				continue
			}
			var about struct{ Name, URI, URITemplate, TaskID string }
			_ = json.Unmarshal(item, &about) // members that are missing stay empty
			id := cmp.Or(about.URI, about.URITemplate)
			if method == "prompts/list" {
				var err error
				id = links[i].entry.Name + "." + about.Name
				if item, err = withMembers(item, "name", id); err != nil {
					continue
				}
			}
			// If two servers have the same address, the first in the file is listed, and it is also
			// the one that is read.
			if id != "" {
				if seen[id] {
					continue
				}
				seen[id] = true
			}
			all = append(all, item)
		}
	}
	return all
}

// items requests all pages of a server's list, and returns the elements that the pages have under
// the given key. If a page cannot be requested or read, it returns the elements of the pages
// before.
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

// Tools returns the tools that servers list only for the client of ctx, and not for all clients. A
// server that is down or does not answer in time is left out.
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

// Forward sends a client's request to the server that it is meant for, and returns the result. The
// result known is false if no server is known for the request. If several servers are possible,
// Forward tries one after the other, and err is the error of the last.
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

// forward sends a request to the server and returns its result. The parameter own asks for a
// connection for this client alone. If the connection turns out to be broken, forward tries once
// more on a new connection. If that is broken too, it returns an error that says that the server
// does not answer.
func (l *link) forward(ctx context.Context, method string, params json.RawMessage, own bool) (
	json.RawMessage, error) {
	way := l.way(ctx, own)
	for first := true; ; first = false {
		raw, c, err := way.ask(ctx, method, params)
		switch {
		case err == nil:
			l.set.places.learn(ctx, l, raw)
			l.watching(way, method, params)
			return plainAnswer(method, params, raw), nil
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

// watching records that a client has subscribed to a resource, or has ended the subscription. The
// connection w, if it belongs to this client alone, is then not closed for lack of use. watching
// does nothing for the connection that all clients share.
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
	_ = json.Unmarshal(params, &p) // empty if there is no address
	return p.URI
}

// target returns the servers for which a request may be meant, the most likely first. It also
// returns the parameters with the names that these servers use, without a server's name in front.
// It returns no servers if none is known.
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

// one returns a list that contains only l, or nil if l is nil.
func one(l *link) []*link {
	if l == nil {
		return nil
	}
	return []*link{l}
}

// member2 returns params with a value set under a key. It returns params unchanged if they are not
// an object or the value cannot be encoded.
func member2(params json.RawMessage, key string, value any) json.RawMessage {
	out, err := withMembers(params, key, value)
	if err != nil {
		return params
	}
	return out
}

// prefixed splits a name of the form server.prompt. It returns the link of that server, or nil if
// there is no such server, and the name that the server itself gives the prompt.
func (s *Set) prefixed(name string) (*link, string) {
	server, rest, _ := strings.Cut(name, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[server], rest
}

// at returns the server that may have a resource, in a list of one. That is the server that has
// named the resource's address, or else one that has named an address with the same scheme and
// host. If no such server is known, it requests the lists of resources from all servers, and then
// looks again. It returns nil if there is still no such server.
func (s *Set) at(ctx context.Context, uri string) []*link {
	links := s.with("resources")
	named := func() *link {
		return cmp.Or(s.places.find(ctx, uri, links), s.places.find(ctx, origin(uri), links))
	}
	l := named()
	if l == nil {
		// No list was requested yet, since a client may know addresses from before.
		s.Members(ctx, "resources/list")
		s.Members(ctx, "resources/templates/list")
		l = named()
	}
	return one(l)
}

// Tell sends a client's notification to the servers that have a connection for this client alone.
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
