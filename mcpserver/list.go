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

// How long a client of 2026-07-28 may cache a list, in milliseconds, and for whom. After ten
// seconds at most, a client without a subscription sees a new tool. The scope is private, because
// tools may differ by caller, so that no shared cache may give one caller's list to another.
const (
	cacheMillis = 10_000
	cacheScope  = mcp.CacheScopePrivate
)

// lists holds the encoded results of tools/list. The results are encoded once for each state of the
// registry. An answer only puts the id of the request before such a result. mcp-go's own server
// encodes each tool for each answer, which took 70 to 125 ms for 1,001 tools.
type lists struct {
	cfg      Config
	identity json.RawMessage // the _meta of every result of 2026-07-28, which names the server

	now atomic.Pointer[toolLists]
	mu  sync.Mutex // held while lists are made
}

// toolLists holds the lists of tools for one state of the registry. It never changes. When the
// registry has changed, a new toolLists takes its place.
type toolLists struct {
	generation uint64 // of the registry
	// in the order of the registry, so that the list is always the same and a model server can use
	// its prompt cache
	tools []mcp.Tool
	// the tools with arguments that a client of 2026-07-28 repeats in headers
	mirrored map[string]*mcp.Tool
	// what servers add to their tools beyond the fields of mcp.Tool
	more           map[string]json.RawMessage
	legacy, modern pages

	// the tools that callers see with schemas of their own, as indexes into source
	varied []int
	// the tools of the snapshot
	source []tools.Tool
	mu     sync.Mutex
	seen   map[string][2]pages // the lists for callers that see other schemas, by those schemas
}

// mostSeen is the most lists for single callers that are kept. Callers with the same rights share
// one.
const mostSeen = 64

// pages maps the cursor of each page of a list to the result with that page. The cursor of the
// first page is empty.
type pages map[string]json.RawMessage

// newLists returns lists that are made at the first request for them, since tools may still be
// added until then.
func newLists(cfg Config) *lists {
	who := mcp.Implementation{Name: cfg.Name, Version: cfg.Version}
	return &lists{cfg: cfg,
		identity: encode(map[string]mcp.Implementation{mcp.MetaKeyServerInfo: who})}
}

// listTools answers tools/list. For an unknown cursor it returns the error -32602, as the
// specification demands. The message tells the client what to do, since a list may have changed
// between two pages.
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

// current returns the lists for the present state of the registry. Readers take no lock unless
// something has changed. After a change the first reader makes the lists, and concurrent readers
// wait for it.
func (l *lists) current() *toolLists {
	generation := l.cfg.Registry.Snapshot().Generation
	if now := l.now.Load(); now != nil && now.generation == generation {
		return now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Taken again, because the registry may have changed while this goroutine waited.
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

// pages returns tools/list, page by page, for the caller of ctx. The argument own has additional
// tools for this caller. The list legacy is for revisions up to 2025-11-25, and modern is for
// 2026-07-28. If mcp-go's server has tools, the lists are made for each request, because that
// server does not say when its tools have changed.
func (l *lists) pages(ctx context.Context, own []tools.Tool) (legacy, modern pages) {
	now := l.current()
	// read after the lists, so that no older state is stored with them
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

// seenBy returns the tools as the caller of ctx sees them: those in may, with the schemas that this
// caller sees. It also returns a key that identifies how they differ from what all callers see. The
// key is empty if they do not differ.
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

// write returns the tools as two lists: legacy is for revisions up to 2025-11-25, and modern is for
// 2026-07-28. Only a modern list has resultType and cache hints. The map more has the members that
// a tool's server adds, by the tool's name.
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

// legacyPage is a result of tools/list up to 2025-11-25.
type legacyPage struct {
	Tools []json.RawMessage `json:"tools"`
	Next  string            `json:"nextCursor,omitempty"`
}

// modernPage is a result of tools/list of 2026-07-28, which demands resultType, ttlMs and
// cacheScope.
type modernPage struct {
	Type  string          `json:"resultType"`
	Meta  json.RawMessage `json:"_meta"`
	TTL   int64           `json:"ttlMs"` // milliseconds
	Scope mcp.CacheScope  `json:"cacheScope"`
	legacyPage
}

// paginate splits a list of tools into pages of this size. write encodes a tool, and page makes a
// page from such tools and the cursor of the next page. A cursor is the name of the last tool of
// the page before, so it is valid at every replica and after a restart. It is encoded in Base64,
// because clients must treat a cursor as opaque.
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

// offered converts tools of the registry to the tools that clients see in lists, in the same order.
// A tool with an x-mcp-header that breaks the rules of 2026-07-28 is left out and logged, since
// clients would have to drop it. mcp-go's AddTool would panic on such a tool.
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

// extra returns the tools of mcp-go's server whose names are not taken. They are sorted by name,
// since a map has no order and a list should always be the same.
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

// describe returns a tool in the form of MCP. Schemas stay text, because Go values would lose the
// order of members and the digits of large numbers.
func describe(t tools.Tool) mcp.Tool {
	if len(t.Output) == 0 {
		t.Output = nil
	}
	if t.Confirm { // a client that is told that a tool only reads does not ask its user
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

// objectSchema returns a schema that states that arguments are an object. Without that, some
// clients refuse the whole list. For example, the TypeScript SDK checks inputSchema.type of every
// tool. A schema of another type, which a tool of a remote server may have, becomes a part of an
// allOf.
func objectSchema(schema json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil || len(members) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	switch says, ok := members["type"]; {
	// The member is inserted into the text, so the rest keeps its order.
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

// outcomeSchema returns the schema of a tools.Outcome with a result of this schema. It must match
// what asOutcome returns, because clients check structuredContent against it and drop results that
// do not fit.
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

// adornments returns the JSON members that tools have beyond the fields of mcp.Tool, by the names
// of the tools. Tools without such members are left out.
func adornments(all []tools.Tool) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, t := range all {
		if len(t.More) > 0 {
			out[t.Name] = unhinted(t)
		}
	}
	return out
}

// unhinted returns the JSON members of a tool beyond the fields of mcp.Tool. In the member
// "annotations", the tool's server says how dangerous the tool is. It is left out if a person must
// confirm each call of the tool.
func unhinted(t tools.Tool) json.RawMessage {
	var own map[string]json.RawMessage
	if !t.Confirm || json.Unmarshal(t.More, &own) != nil {
		return t.More
	}
	delete(own, "annotations")
	return encode(own)
}

// adorned returns tool, an encoded tool, with the members in the JSON object more, which the server
// of the tool has added. They replace the tool's own, and the tool's own annotations are removed
// even if more has none. If more is nil, tool is returned unchanged.
func adorned(tool, more json.RawMessage) json.RawMessage {
	var all, own map[string]json.RawMessage
	if more == nil || json.Unmarshal(tool, &all) != nil || json.Unmarshal(more, &own) != nil {
		return tool
	}
	delete(all, "annotations")
	maps.Copy(all, own)
	return encode(all)
}

// legacyTool encodes a tool for the revisions before 2026-07-28, in which a structured result must
// be an object (see objectOf).
func legacyTool(t mcp.Tool) json.RawMessage {
	t.RawOutputSchema = objectOutput(t.RawOutputSchema)
	return encode(t)
}
