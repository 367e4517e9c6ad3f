package remote

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// SetLevel stores the level of log lines that the client of ctx wants, and sends it to the servers
// that have a connection for this client alone. From then on, servers are reached over such
// connections, since otherwise nothing shows to which client a log line belongs. It does nothing
// for a client without a session or one that speaks MCP's revision 2026-07-28.
func (s *Set) SetLevel(ctx context.Context, params json.RawMessage) {
	p := tools.PeerOf(ctx)
	if p == nil || p.Session == "" || p.Modern {
		return
	}
	s.relayMu.Lock()
	if s.levels == nil || len(s.levels) >= mostPlaces {
		s.levels = map[string]json.RawMessage{}
	}
	s.levels[p.Session] = params
	var open []*relay
	for key, r := range s.relays {
		if key.session == p.Session {
			open = append(open, r)
		}
	}
	s.relayMu.Unlock()
	for _, r := range open {
		r.mu.Lock()
		c := r.conn
		r.mu.Unlock()
		if c != nil {
			r.setLevel(ctx, c)
		}
	}
}

// setLevel sends the server the level of log lines that the client wants. It does nothing if the
// client has not set a level or the server has no logging.
func (r *relay) setLevel(ctx context.Context, c *conn) {
	r.link.set.relayMu.Lock()
	params := r.link.set.levels[r.session]
	r.link.set.relayMu.Unlock()
	if params != nil && c.client.GetServerCapabilities().Logging != nil &&
		!mcp.IsModernProtocol(c.client.ProtocolVersion()) {
		// without it, only log lines are missing
		_, _ = c.once(ctx, string(mcp.MethodSetLogLevel), params)
	}
}
