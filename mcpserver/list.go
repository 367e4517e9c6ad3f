package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// How long a client of 2026-07-28 may keep a list before it asks again, and for whom.
const (
	cacheMillis = 10_000
	cacheScope  = mcp.CacheScopePrivate
)

// lists keeps tools/list as it is sent, made once for each state of the registry. Only the id of the request is spliced in.
type lists struct {
	cfg      Config
	identity json.RawMessage // what every result of 2026-07-28 says of the server, in its _meta

	now atomic.Pointer[toolLists]
	mu  sync.Mutex // held while they are made
}

// toolLists are the lists of one state of the registry.
type toolLists struct {
	generation     uint64
	legacy, modern pages
	mirrored       map[string]*mcp.Tool // tools with arguments that a client of 2026-07-28 repeats in headers
}

// pages are a list's results by the cursor that asks for each.
type pages map[string]json.RawMessage

func newLists(cfg Config) *lists {
	who := mcp.Implementation{Name: cfg.Name, Version: cfg.Version}
	return &lists{cfg: cfg, identity: encode(map[string]mcp.Implementation{mcp.MetaKeyServerInfo: who})}
}

// listTools answers tools/list.
func (e *engine) listTools(c *caller, m message) (json.RawMessage, *rpcError) {
	var asked struct {
		Cursor string `json:"cursor"`
	}
	if m.params != nil && json.Unmarshal(m.params, &asked) != nil {
		return nil, fail(codeParams, "a cursor is a text")
	}
	now := e.lists.current()
	all := now.legacy
	if c.modern {
		all = now.modern
	}
	page, ok := all[asked.Cursor]
	if !ok {
		return nil, fail(codeParams, "this cursor leads nowhere, perhaps since the list has changed; begin again without one")
	}
	return page, nil
}

// current are the lists of the registry as it is now. mcp-go's server does not say when its tools changed, so where it has
// tools of its own the lists are made for each request.
func (l *lists) current() *toolLists {
	fixed := len(l.cfg.Extra.ListTools()) == 0
	generation := l.cfg.Registry.Snapshot().Generation
	if now := l.now.Load(); fixed && now != nil && now.generation == generation {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now.Load(); fixed && now != nil && now.generation == generation {
		return now
	}
	fresh := l.make()
	if fixed {
		l.now.Store(fresh)
	}
	return fresh
}

// make writes the lists.
func (l *lists) make() *toolLists {
	snapshot := l.cfg.Registry.Snapshot()
	fresh := &toolLists{generation: snapshot.Generation, mirrored: map[string]*mcp.Tool{}}
	all := l.offered(snapshot)
	for i := range all {
		if len(mcp.ExtractParamHeaderBindings(&all[i])) > 0 {
			fresh.mirrored[all[i].Name] = &all[i]
		}
	}
	fresh.legacy = paginate(all, l.cfg.PageSize, func(items []json.RawMessage, next string) any {
		return legacyPage{items, next}
	}, legacyTool)
	fresh.modern = paginate(all, l.cfg.PageSize, func(items []json.RawMessage, next string) any {
		return modernPage{"complete", l.identity, cacheMillis, cacheScope, legacyPage{items, next}}
	}, func(t mcp.Tool) json.RawMessage { return encode(t) })
	return fresh
}

// legacyPage is a result of tools/list.
type legacyPage struct {
	Tools []json.RawMessage `json:"tools"`
	Next  string            `json:"nextCursor,omitempty"`
}

// modernPage is one of 2026-07-28.
type modernPage struct {
	Type  string          `json:"resultType"`
	Meta  json.RawMessage `json:"_meta"`
	TTL   int64           `json:"ttlMs"`
	Scope mcp.CacheScope  `json:"cacheScope"`
	legacyPage
}

// paginate writes tools as pages. A page's cursor is the name of the last tool before it, so it is good on every replica.
func paginate(all []mcp.Tool, size int, page func([]json.RawMessage, string) any, write func(mcp.Tool) json.RawMessage) pages {
	done, cursor := pages{}, ""
	for {
		here := all[:min(size, len(all))]
		all = all[len(here):]
		items, next := make([]json.RawMessage, 0, len(here)), ""
		for _, t := range here {
			items = append(items, write(t))
		}
		if len(all) > 0 {
			next = base64.RawURLEncoding.EncodeToString([]byte(here[len(here)-1].Name))
		}
		done[cursor] = encode(page(items, next))
		if cursor = next; next == "" {
			return done
		}
	}
}
