package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"slices"
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
	tools          []mcp.Tool
	mirrored       map[string]*mcp.Tool // those with arguments that a client of 2026-07-28 repeats in headers
	legacy, modern pages
}

// pages are a list's results by the cursor that asks for each.
type pages map[string]json.RawMessage

func newLists(cfg Config) *lists {
	who := mcp.Implementation{Name: cfg.Name, Version: cfg.Version}
	return &lists{cfg: cfg, identity: encode(map[string]mcp.Implementation{mcp.MetaKeyServerInfo: who})}
}

// listTools answers tools/list.
func (e *engine) listTools(c *caller, m message) (json.RawMessage, *rpcError) {
	if m.odd {
		return nil, fail(codeParams, "a cursor is a text")
	}
	legacy, modern := e.lists.pages()
	all := legacy
	if c.modern {
		all = modern
	}
	page, ok := all[m.said.Cursor]
	if !ok {
		return nil, fail(codeParams, "this cursor leads nowhere, perhaps since the list has changed; begin again without one")
	}
	return page, nil
}

// current are the lists of the registry as it is now.
func (l *lists) current() *toolLists {
	generation := l.cfg.Registry.Snapshot().Generation
	if now := l.now.Load(); now != nil && now.generation == generation {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	snapshot := l.cfg.Registry.Snapshot()
	if now := l.now.Load(); now != nil && now.generation == snapshot.Generation {
		return now
	}
	fresh := &toolLists{generation: snapshot.Generation, tools: l.offered(snapshot), mirrored: map[string]*mcp.Tool{}}
	for i, t := range fresh.tools {
		if len(mcp.ExtractParamHeaderBindings(&t)) > 0 {
			fresh.mirrored[t.Name] = &fresh.tools[i]
		}
	}
	fresh.legacy, fresh.modern = l.write(fresh.tools)
	l.now.Store(fresh)
	return fresh
}

// pages are the lists as they are sent. mcp-go's server does not say when its tools changed, so where it has any the lists are
// written for each request.
func (l *lists) pages() (legacy, modern pages) {
	now := l.current()
	extra := l.extra(now.tools)
	if len(extra) == 0 {
		return now.legacy, now.modern
	}
	return l.write(slices.Concat(now.tools, extra))
}

// write writes tools as both kinds of list.
func (l *lists) write(all []mcp.Tool) (legacy, modern pages) {
	legacy = paginate(all, l.cfg.PageSize, legacyTool, func(items []json.RawMessage, next string) any {
		return legacyPage{items, next}
	})
	modern = paginate(all, l.cfg.PageSize, modernTool, func(items []json.RawMessage, next string) any {
		return modernPage{"complete", l.identity, cacheMillis, cacheScope, legacyPage{items, next}}
	})
	return legacy, modern
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
func paginate(all []mcp.Tool, size int, write func(mcp.Tool) json.RawMessage, page func([]json.RawMessage, string) any) pages {
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
