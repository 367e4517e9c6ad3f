package remote

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"toolnorm/tools"
)

// directory records which server has named an address or a task in a list or a result. With it, a
// link in a tool's result is read from that tool's server. What a server has sent to only one
// client is known only for that client.
type directory struct {
	mu   sync.Mutex
	at   map[place]*link
	kept []place // in the order in which they came
}

// place identifies an address or a task, together with the session of the client to which a server
// has named it. An empty session means that the server has named it on the connection that all
// clients share.
type place struct{ session, name string }

// mostPlaces is how many places a directory records. Older ones are forgotten.
const mostPlaces = 20_000

// learn records the addresses and tasks in an answer of the server l. It ignores text that is not
// JSON.
func (p *directory) learn(ctx context.Context, l *link, raw json.RawMessage) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	session := ""
	if l.set.relayOf(ctx, l, false) != nil {
		session = tools.PeerOf(ctx).Session
	}
	var names []string
	walk(v, &names)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at = map[place]*link{}
	}
	for _, name := range names {
		key := place{session, name}
		// The first server that names an address keeps it, so that no other can take it over.
		if old := p.at[key]; old != nil && old.ctx.Err() == nil {
			continue
		}
		p.at[key] = l
		if p.kept = append(p.kept, key); len(p.kept) > mostPlaces {
			delete(p.at, p.kept[0])
			p.kept = p.kept[1:] // append drops the front when it grows
		}
	}
}

// walk appends the addresses, their origins and the tasks in a JSON value to names.
func walk(v any, names *[]string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			walk(one, names)
		}
	case map[string]any:
		for key, one := range v {
			text, isText := one.(string)
			switch {
			case !isText:
				walk(one, names)
			case key == "uri" || key == "uriTemplate":
				*names = append(*names, text, origin(text))
			case key == "taskId":
				*names = append(*names, "task "+text)
			}
		}
	}
}

// origin returns one key for all addresses with the same scheme and host, or "" if uri has no
// scheme.
func origin(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	if strings.Contains(host, "{") {
		host = ""
	}
	return "like " + scheme + "://" + host
}

// find returns the server among links that has named an address to the client of ctx, or else to
// all clients. It returns nil if none of them has.
func (p *directory) find(ctx context.Context, name string, links []*link) *link {
	if name == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := tools.PeerOf(ctx); peer != nil && peer.Session != "" {
		if l := p.at[place{peer.Session, name}]; slices.Contains(links, l) && l != nil {
			return l
		}
	}
	if l := p.at[place{"", name}]; slices.Contains(links, l) && l != nil {
		return l
	}
	return nil
}
