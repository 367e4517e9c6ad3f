package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/tools"
)

// callTool runs a tool of the registry, or else of mcp-go's server, and returns its result. For an
// unknown name it returns an error of the protocol. If a known tool fails, or if the arguments are
// wrong, it returns a result with isError and a text, because a model reads results and can correct
// its arguments. SEP-1303 demands that from revision 2025-11-25 on.
func (e *engine) callTool(ctx context.Context, c *caller, m message) (json.RawMessage, *rpcError) {
	name := m.said.Name
	if name == "" {
		return nil, fail(codeParams, "tools/call needs the name of a tool")
	}
	may := e.cfg.Registry.For(ctx)
	t, ours := e.tool(ctx, c, name)
	if !ours && (may.Part != "" || e.cfg.Extra.GetTool(name) == nil) {
		return nil, e.unknown(ctx, name)
	}
	// The limiter gets the tool's own name: Void puts six random characters before it
	// (k3j9ab_search_docs), and each such name would have a limit of its own.
	if ours {
		name = t.Name
	}
	if wait, ok := e.tools.allow(name, time.Now()); !ok {
		// A result rather than a 429, so that the model reads it and can wait.
		text := fmt.Sprintf("%s is called too often; try again in %d s", name,
			int(math.Ceil(wait.Seconds())))
		return e.result(c, name, tools.Failure(text)), nil
	}
	if !ours {
		return e.bridge(ctx, c, m)
	}
	ctx, done := reporting(ctx, c)
	defer done()
	res := e.cfg.Registry.Run(ctx, t, m.said.Args)
	if !c.modern && len(t.Output) > 0 && !e.cfg.Outcome(name) {
		res = objectOf(res)
	}
	return e.result(c, name, res), nil
}

// tool returns the tool of this name from the registry, or from those that other servers offer only
// to this client. The name may have the random prefix that the editor Void adds. It returns false
// if there is none.
func (e *engine) tool(ctx context.Context, c *caller, name string) (tools.Tool, bool) {
	if t, ok := e.cfg.Registry.For(ctx).Find(name); ok {
		return t, true
	}
	own := e.ownTools(ctx, c)
	if i := slices.IndexFunc(own, func(t tools.Tool) bool { return t.Name == name }); i >= 0 {
		return own[i], true
	}
	return tools.Tool{}, false
}

// ownTools returns the tools of the MCP servers behind this one that only this client may use. It
// returns nil if this server cannot send requests to the client.
func (e *engine) ownTools(ctx context.Context, c *caller) []tools.Tool {
	if !c.asksBack() {
		return nil
	}
	may := e.cfg.Registry.For(ctx)
	return slices.DeleteFunc(e.cfg.Gateway.Tools(ctx), func(t tools.Tool) bool {
		return !may.Admits(t)
	})
}

// unknown returns the error for a tool that does not exist. Its data names similar tools, as the
// registry finds them. That a tool was switched off is also said in the message, because the editor
// Void shows a user only the data of an error, and most other clients show only the message.
func (e *engine) unknown(ctx context.Context, name string) *rpcError {
	rpcErr := fail(codeParams, "Unknown tool: %s", clip.To(name, 128))
	if why := e.cfg.Registry.For(ctx).Gone(name); why != "" {
		rpcErr.message += ": " + why
	}
	// This is the registry's message for an unknown name, which lists similar names.
	rpcErr.data = encode(e.cfg.Registry.Call(ctx, name, nil).Text())
	return rpcErr
}

// callResult is the result of tools/call. Type and Meta belong to revision 2026-07-28, which
// demands Type and recommends Meta.
type callResult struct {
	Type       string          `json:"resultType,omitempty"` // since 2026-07-28
	Meta       json.RawMessage `json:"_meta,omitempty"`
	Content    []content       `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

// content is one part of a result. Text is a pointer because an empty text must be written as
// "text":"", whereas parts of other types have no such member.
type content struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	Data     []byte    `json:"data,omitempty"`
	MIME     string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// resource is an embedded document, either a text or bytes.
type resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitempty"`
	Blob []byte  `json:"blob,omitempty"`
}

// result returns the result of a tool in JSON. The first part is always a complete text, since some
// clients show nothing else: the editor Void reads only content[0], and throws an exception if
// there is none. A structured value that is not valid JSON gives a result with an error.
func (e *engine) result(c *caller, tool string, r tools.Result) json.RawMessage {
	// Only up to 2025-11-25, since no client that hides errors speaks the newer revision.
	if r.IsError && !c.modern && c.hidesErrors() {
		return encode(callResult{Content: []content{textOf("Error: " + r.Text())}})
	}
	if len(r.Raw) > 0 && !c.hidesErrors() {
		return e.passed(c, r.Raw)
	}
	if e.cfg.Outcome(tool) {
		r = asOutcome(r)
	}
	out := callResult{Content: contents(r), Structured: r.Structured, IsError: r.IsError}
	switch {
	case c.modern:
		out.Type, out.Meta = "complete", e.lists.identity
	case len(r.Structured) > 0 && r.Structured[0] != '{':
		out.Structured = nil // earlier revisions know only objects; the text has it
	}
	if body, err := chat.JSON(out); err == nil {
		return body
	}
	// A tool's code may return a structured value that is not valid JSON; the client gets a
	// result in any case.
	out.Content, out.Structured,
		out.IsError = []content{textOf(tool + " gave a structured result that is no JSON")}, nil,
		true
	return encode(out)
}

// textOf returns a part with this text.
func textOf(text string) content { return content{Type: mcp.ContentTypeText, Text: &text} }

// asOutcome returns a result in the form that the company's tools promise: an object with the
// member success, and with a result or an error. The object is both the text and the structured
// value of the result. IsError keeps its value, for clients that read it.
func asOutcome(r tools.Result) tools.Result {
	text := tools.OutcomeOf(r).JSON()
	out := tools.TextOf(string(text))
	out.Structured, out.IsError = text, r.IsError
	return out
}

// contents returns the parts of a result. The first part is always a text. If the result begins
// with another part, contents inserts a text that describes the parts, for example "[image
// image/png, 3 bytes]".
func contents(r tools.Result) []content {
	all := make([]content, 0, len(r.Content)+1)
	// The first part may be an image: Void takes a first part that is not text for an error.
	if len(r.Content) == 0 || r.Content[0].Kind != tools.Text {
		all = append(all, textOf(r.Text()))
	}
	for _, p := range r.Content {
		all = append(all, part(p))
	}
	return all
}

// part returns a part of a tool's result, such as a text or an image, as MCP encodes it.
func part(p tools.Part) content {
	switch p.Kind {
	case tools.Image:
		return content{Type: mcp.ContentTypeImage, Data: p.Data, MIME: p.MIME}
	case tools.Audio:
		return content{Type: mcp.ContentTypeAudio, Data: p.Data, MIME: p.MIME}
	case tools.Link:
		return content{Type: mcp.ContentTypeLink, URI: p.URI, Name: p.Text, MIME: p.MIME}
	case tools.Resource:
		r := &resource{URI: p.URI, MIME: p.MIME, Blob: p.Data}
		if len(p.Data) == 0 {
			r.Text = &p.Text
		}
		return content{Type: mcp.ContentTypeResource, Resource: r}
	}
	return textOf(p.Text)
}

// reporting returns a context through which a tool sends progress and log lines to its caller, in
// order. The function done stops that, since nothing may follow the answer. Progress is sent only
// if the request has a progress token, as the protocol demands. Log lines are sent only if the
// caller has set a log level. A request of 2026-07-28 that sets none gets no log lines, because
// defaultLevel is only for sessions.
func reporting(ctx context.Context, c *caller) (_ context.Context, done func()) {
	r := &reports{c: c, ctx: ctx, last: -1}
	var to tools.Reporter
	// Without a token from the client no progress may be sent.
	if c.meta.Progress != nil {
		to.Progress = r.progress
	}
	if c.now().level != "" {
		to.Log = r.log
	}
	return tools.WithReporter(ctx, to), r.done
}

// reports sends the progress and the log lines of one tool call to the client.
type reports struct {
	c   *caller
	ctx context.Context // of the call, since the functions of a Reporter get none

	mu   sync.Mutex
	last float64 // the last progress that was sent; it must increase
	// whether done was called
	over bool
}

// progress sends how far the call has come. Values that do not increase are dropped, since the
// protocol wants each value to be greater than the one before. The comparison is written so that
// NaN is dropped, too.
func (r *reports) progress(done, total float64, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !(done > r.last) {
		return
	}
	r.last = done
	r.send(mcp.MethodNotificationProgress, struct {
		Token   json.RawMessage `json:"progressToken"`
		Done    float64         `json:"progress"`
		Total   float64         `json:"total,omitempty"`
		Message string          `json:"message,omitempty"`
	}{r.c.meta.Progress, done, total, text})
}

// log sends a log line, if the client wants lines of its level. The client sets the level by
// logging/setLevel, or in revision 2026-07-28 with each request.
func (r *reports) log(level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !mcp.LoggingLevel(level).ShouldSendTo(r.c.now().level) {
		return
	}
	r.send(mcp.MethodNotificationMessage, struct {
		Level string `json:"level"`
		Data  string `json:"data"`
	}{level, text})
}

// send sends a notification and waits until the stream has room for it. An error is ignored: the
// client then cannot be reached, or the call has ended. The caller must hold r.mu, which keeps the
// order of notifications.
func (r *reports) send(method mcp.MCPMethod, params any) {
	_ = r.c.out(r.ctx, frame{body: notification(string(method), params)})
}

// done stops the reports of a tool call: later ones are dropped. It waits for a report that is
// being sent, so that the answer follows it.
func (r *reports) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
