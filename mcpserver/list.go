package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// How long a client of 2026-07-28 may keep a list before it asks again, in milliseconds, and for
// whom. Ten seconds bound how long a client without a subscription misses a new tool. Private:
// tools may differ by who asks, so no shared cache may serve one caller's list to another.
const (
	cacheMillis = 10_000
	cacheScope  = mcp.CacheScopePrivate
)

// lists holds the results of tools/list as they are sent, made once for each state of the registry.
// Only the id of the request is spliced in. A page costs no allocation for each tool, which made
// stock mcp-go take 70 to 125 ms for 1,001 tools.
type lists struct {
	cfg      Config
	identity json.RawMessage // what every result of 2026-07-28 says of the server, in its _meta

	now atomic.Pointer[toolLists]
	mu  sync.Mutex // held while they are made
}

// toolLists are the lists of one state of the registry. They never change, and are swapped whole by
// an atomic pointer.
type toolLists struct {
	generation uint64 // of the registry that they show
	// in its order: the same list each time, so that a model server's prompt cache serves it
	tools []mcp.Tool
	// those with arguments that a client of 2026-07-28 repeats in headers
	mirrored map[string]*mcp.Tool
	// what servers say of tools beside what mcp.Tool holds
	more           map[string]json.RawMessage
	legacy, modern pages

	// the tools that callers see with schemas of their own, by their places in the registry's
	// snapshot
	varied []int
	source []tools.Tool
	mu     sync.Mutex
	seen   map[string][2]pages // the lists of callers, by the schemas that they see
}

// mostSeen bounds how many lists of callers are kept. Callers with the same rights share one.
const mostSeen = 64

// pages are a list's results by the cursor that asks for each; the first page has the empty one.
type pages map[string]json.RawMessage

// newLists returns lists that are written at the first request for them, since tools may still be
// added until then.
func newLists(cfg Config) *lists {
	who := mcp.Implementation{Name: cfg.Name, Version: cfg.Version}
	return &lists{cfg: cfg,
		identity: encode(map[string]mcp.Implementation{mcp.MetaKeyServerInfo: who})}
}

// listTools answers tools/list. A cursor that leads nowhere is -32602, as the specification says;
// the sentence tells the client what to do, since a list may change between two pages through no
// fault of the client.
func (e *engine) listTools(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	if m.odd {
		return nil, fail(codeParams, "a cursor is a text")
	}
	legacy, modern := e.lists.pages(ctx, e.ownTools(ctx, c))
	all := legacy
	if c.modern {
		all = modern
	}
	page, ok := all[m.said.Cursor]
	if !ok {
		return nil, fail(codeParams,
			"this cursor leads nowhere, perhaps since the list has changed; begin again without one")
	}
	return page, nil
}

// current returns the lists of the registry as it is now. Readers take no lock as long as nothing
// has changed; after a change, the first reader writes the lists and concurrent ones wait for it.
func (l *lists) current() *toolLists {
	generation := l.cfg.Registry.Snapshot().Generation
	if now := l.now.Load(); now != nil && now.generation == generation {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Taken again: the registry may have changed while this goroutine waited for the lock.
	snapshot := l.cfg.Registry.Snapshot()
	if now := l.now.Load(); now != nil && now.generation == snapshot.Generation {
		return now
	}
	fresh := &toolLists{generation: snapshot.Generation, tools: l.offered(snapshot.Tools),
		more: adornments(snapshot.Tools), mirrored: map[string]*mcp.Tool{}}
	for i, t := range fresh.tools {
		// The bindings are looked for only once, here: each tools/call of 2026-07-28 needs them,
		// and few tools have any.
		if len(mcp.ExtractParamHeaderBindings(&t)) > 0 {
			fresh.mirrored[t.Name] = &fresh.tools[i]
		}
	}
	for i, t := range snapshot.Tools {
		if t.Seen != nil {
			fresh.varied = append(fresh.varied, i)
		}
	}
	fresh.source, fresh.seen = snapshot.Tools, map[string][2]pages{}
	fresh.legacy, fresh.modern = l.write(fresh.tools, fresh.more)
	l.now.Store(fresh)
	return fresh
}

// pages returns the lists as they are sent to the caller of ctx. mcp-go's server does not say when
// its tools changed, so where it has any the lists are written for each request.
func (l *lists) pages(ctx context.Context, own []tools.Tool) (legacy, modern pages) {
	now := l.current()
	// behind the lists, so that none of an older state is kept with them
	may := l.cfg.Registry.For(ctx)
	all, key := now.seenBy(ctx, may)
	extra, more := l.extra(all), now.more
	if may.Part != "" {
		extra = nil
	}
	if len(own) > 0 {
		added := l.offered(own)
		all, more = slices.Concat(all, added), maps.Clone(more)
		maps.Copy(more, adornments(own))
	}
	switch {
	case len(extra)+len(own) > 0:
		return l.write(slices.Concat(all, extra), more)
	case key == "":
		return now.legacy, now.modern
	}
	now.mu.Lock()
	defer now.mu.Unlock()
	theirs, ok := now.seen[key]
	if !ok {
		theirs[0], theirs[1] = l.write(all, more)
		if len(now.seen) >= mostSeen {
			clear(now.seen)
		}
		now.seen[key] = theirs
	}
	return theirs[0], theirs[1]
}

// seenBy returns the tools as the caller of ctx sees them, with a key for the differences from what
// all callers see. The key is empty if there are none.
func (t *toolLists) seenBy(ctx context.Context, may *tools.Snapshot) (all []mcp.Tool, key string) {
	if all = t.tools; may.Part != "" {
		key = may.Part + "\x00"
		all = slices.DeleteFunc(slices.Clone(all), func(out mcp.Tool) bool {
			_, ok := may.Find(out.Name)
			return !ok
		})
	}
	for _, i := range t.varied {
		schema := t.source[i].Seen(ctx)
		at := slices.IndexFunc(all, func(out mcp.Tool) bool { return out.Name == t.source[i].Name })
		if len(schema) == 0 || at < 0 {
			continue
		}
		if key == "" {
			all = slices.Clone(all)
		}
		all[at].RawInputSchema = objectSchema(schema)
		key += t.source[i].Name + "\x00" + string(schema) + "\x00"
	}
	return all, key
}

// write writes tools as both kinds of list: up to 2025-11-25 a list has no resultType and no cache
// hints.
func (l *lists) write(all []mcp.Tool, more map[string]json.RawMessage) (legacy, modern pages) {
	legacy = paginate(all, l.cfg.PageSize,
		func(t mcp.Tool) json.RawMessage {
			return adorned(legacyTool(t), more[t.Name])
		}, func(items []json.RawMessage, next string) any {
			return legacyPage{items, next}
		})
	modern = paginate(all, l.cfg.PageSize,
		func(t mcp.Tool) json.RawMessage {
			return adorned(encode(t), more[t.Name])
		}, func(items []json.RawMessage, next string) any {
			return modernPage{"complete", l.identity, cacheMillis, cacheScope,
				legacyPage{items, next}}
		})
	return legacy, modern
}

// legacyPage is a result of tools/list.
type legacyPage struct {
	Tools []json.RawMessage `json:"tools"`
	Next  string            `json:"nextCursor,omitempty"`
}

// modernPage is one of 2026-07-28, which demands resultType, ttlMs and cacheScope.
type modernPage struct {
	Type  string          `json:"resultType"`
	Meta  json.RawMessage `json:"_meta"`
	TTL   int64           `json:"ttlMs"` // milliseconds
	Scope mcp.CacheScope  `json:"cacheScope"`
	legacyPage
}

// paginate writes tools as pages. A page's cursor is the name of the last tool before it, so it is
// good on every replica, and after a restart. It is Base64, since clients must take a cursor for
// opaque.
func paginate(all []mcp.Tool, size int, write func(mcp.Tool) json.RawMessage,
	page func([]json.RawMessage, string) any) pages {
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

// offered returns the registry's tools as they are listed, in its order. A tool with an
// x-mcp-header that breaks the rules of 2026-07-28 is left out and logged, since clients would have
// to drop it. mcp-go's AddTool would panic on it.
func (l *lists) offered(from []tools.Tool) []mcp.Tool {
	var all []mcp.Tool
	for _, t := range from {
		out := describe(t)
		if l.cfg.Outcome(t.Name) {
			out.RawOutputSchema = outcomeSchema(t.Output)
		}
		if err := mcp.ValidateParamHeaderAnnotations(&out); err != nil {
			l.cfg.Log.Warn().Str("tool", t.Name).Err(err).Msg(
				"tool not offered to MCP clients: they would refuse it")
			continue
		}
		all = append(all, out)
	}
	return all
}

// extra returns the tools of mcp-go's server by name, except those whose names are taken. They are
// sorted, since a map has no order and a list should be the same each time.
func (l *lists) extra(taken []mcp.Tool) (all []mcp.Tool) {
	extra := l.cfg.Extra.ListTools()
	if len(extra) == 0 {
		return nil
	}
	for _, t := range taken {
		delete(extra, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		all = append(all, extra[name].Tool)
	}
	return all
}

// describe returns a tool as MCP writes it. Schemas go through as text: read into Go values they
// would lose the order of their members and the digits of large numbers.
func describe(t tools.Tool) mcp.Tool {
	if len(t.Output) == 0 {
		t.Output = nil
	}
	if t.Confirm { // a client that hears that a tool only reads does not ask
		t.Hints.ReadOnly, t.Hints.Destructive = nil, nil
	}
	return mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		RawInputSchema: objectSchema(t.Schema), RawOutputSchema: t.Output,
		Annotations: mcp.ToolAnnotation{
			Title: t.Title, ReadOnlyHint: t.Hints.ReadOnly, DestructiveHint: t.Hints.Destructive,
			IdempotentHint: t.Hints.Idempotent, OpenWorldHint: t.Hints.OpenWorld,
		},
	}
}

// objectSchema returns a schema that states explicitly that arguments are an object. Without that,
// some clients refuse the whole list: the TypeScript SDK checks inputSchema.type of every tool. A
// schema of another type, which a tool of a remote server may have, is put into an allOf of it.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil || len(members) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	switch says, ok := members["type"]; {
	// The member is put in by text, so the rest keeps its order.
	case !ok:
		return append([]byte(`{"type":"object",`), bytes.TrimLeft(schema, " \t\r\n{")...)
	case string(says) == `"object"`:
		return schema
	}
	return encode(struct {
		Type string            `json:"type"`
		All  []json.RawMessage `json:"allOf"`
	}{"object", []json.RawMessage{schema}})
}

// outcomeSchema returns the schema of a tools.Outcome whose result has the schema result. It must
// match what asOutcome writes: clients check structuredContent against it, and drop results that do
// not fit.
func outcomeSchema(result json.RawMessage) json.RawMessage {
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	type is struct {
		Type string `json:"type"`
	}
	type properties struct {
		Success is              `json:"success"`
		Result  json.RawMessage `json:"result"`
		Error   is              `json:"error"`
	}
	return encode(struct {
		Type       string     `json:"type"`
		Properties properties `json:"properties"`
		Required   []string   `json:"required"`
	}{"object", properties{is{"boolean"}, result, is{"string"}}, []string{"success"}})
}

// adornments returns, by the names of tools, what their servers say of them beyond what mcp.Tool
// holds.
func adornments(all []tools.Tool) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, t := range all {
		if len(t.More) > 0 {
			out[t.Name] = unhinted(t)
		}
	}
	return out
}

// unhinted returns what a tool's server says of it. If a person must be asked before each call, the
// hints are left out.
func unhinted(t tools.Tool) json.RawMessage {
	var own map[string]json.RawMessage
	if !t.Confirm || json.Unmarshal(t.More, &own) != nil {
		return t.More
	}
	delete(own, "annotations")
	return encode(own)
}

// adorned returns a tool with the members that its server adds. The annotations are then the
// server's own.
func adorned(tool, more json.RawMessage) json.RawMessage {
	var all, own map[string]json.RawMessage
	if more == nil || json.Unmarshal(tool, &all) != nil || json.Unmarshal(more, &own) != nil {
		return tool
	}
	delete(all, "annotations")
	maps.Copy(all, own)
	return encode(all)
}

// legacyTool writes a tool for the revisions before 2026-07-28, whose structured results are
// objects (objectOf).
func legacyTool(t mcp.Tool) json.RawMessage {
	t.RawOutputSchema = objectOutput(t.RawOutputSchema)
	return encode(t)
}
