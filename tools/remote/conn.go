package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// conn is one connection with a server: initialized, and of no use any more once its context has
// ended. It is never repaired: whoever finds it broken makes a new one, which is the same work and
// has no half states.
type conn struct {
	client  *client.Client
	ctx     context.Context
	end     context.CancelCauseFunc
	free    func()        // releases what the connection holds besides the client
	changed chan struct{} // the server says that its list of tools has changed
	// It is recognized by the name in its serverInfo: a server that lies about it only loses tools
	// with dots in their names.
	ours bool // the server is a toolnorm itself

	suspected atomic.Bool // suspect runs

	me       greeting
	ids      atomic.Int64 // of requests that pass through
	progress sync.Map     // a progress token of ours -> func(mcp.JSONRPCNotification)
	mirrored atomic.Pointer[map[string]*mcp.Tool]
}

// greeting is how a connection describes its client to the server, and who receives messages that
// the server sends by itself.
type greeting struct {
	who  mcp.Implementation
	can  mcp.ClientCapabilities
	hear func(mcp.JSONRPCNotification) // may be nil

	// handshake asks by initialize alone, as clients of the earlier revisions do: a server of both
	// can ask them.
	handshake bool

	// answer answers the server's requests; nil: it may ask nothing.
	answer func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// errLost is why the calls of a connection end when it breaks. They may have run (see isBroken).
var errLost = errors.New("the connection with the server broke")

// The transports, as they are remembered and shown. What worked last is tried first the next time,
// so they are kept by the link.
const (
	kindSSE       = "sse"
	kindHTTP      = "http"
	kindStdio     = "stdio"
	kindHandshake = "stdio, handshake first" // see asking
)

// asking is how a server is asked for the revision that it speaks. mcp-go asks by server/discover,
// of the latest revision, and when no answer comes in time by initialize, of the earlier ones. A
// command that takes long to start reads both questions at once, and one of the latest revision
// then refuses the second: so a command gets more time, and when that fails as well, it is started
// again and asked by initialize alone. Seen with the Python SDK 2.3.0: "unsupported protocol
// version".
type asking struct {
	patience time.Duration // for an answer to server/discover
	revision string        // not empty: initialize asks for this revision
}

// How long mcp-go waits for the answer to server/discover before it tries initialize. A server of
// HTTP runs already; a command may have to start an interpreter first, as those of the Python SDK.
const (
	patience        = 2 * time.Second
	startPatience   = 15 * time.Second
	beforeDiscovery = mcp.LATEST_LEGACY_PROTOCOL_VERSION
)

// connect makes a connection: for a command over its only transport, for a URL over the transport
// that worked last time, else first over the one that the URL looks like. If it fails, the other
// one is tried. A path that ends in /sse, as in http://192.168.0.18:23016/sse, is tried as the
// older transport first; everything else as Streamable HTTP. The returned kind is to be passed as
// last the next time. The error joins those of all attempts.
func (e Entry) connect(ctx context.Context, last string, me greeting, told func(string)) (
	c *conn, kind string, err error) {
	if e.Command != "" {
		era := asking{patience: startPatience}
		if kind = kindStdio; last == kindHandshake || me.handshake {
			era, kind = asking{revision: beforeDiscovery}, kindHandshake
		}
		c, err = e.open(ctx, me, era, func(c *conn) (transport.Interface, error) {
			p, err := e.start(c.ctx, told, func(why error) {
				c.end(fmt.Errorf("%w: %w", errLost, why))
			})
			if err != nil {
				return nil, err
			}
			return &rawStdio{p}, nil
		})
		return c, kind, err
	}
	// The transport that worked last time comes first: a restart must not cost the time of a wrong
	// guess again.
	kinds := []string{kindHTTP, kindSSE}
	if last == kindSSE || last == "" && strings.HasSuffix(strings.TrimSuffix(path(e.URL), "/"),
		"/sse") {
		kinds = []string{kindSSE, kindHTTP}
	}
	switch e.Type {
	case "sse":
		kinds = []string{kindSSE}
	case "http":
		kinds = []string{kindHTTP}
	}
	var all error
	for _, kind := range kinds {
		if c, err = e.over(ctx, kind, me); err == nil {
			return c, kind, nil
		}
		all = errors.Join(all, err)
		// Only what answers at all can be of the other transport.
		if ctx.Err() != nil || isRefused(err) { // the other transport is at the same address
			break
		}
	}
	return nil, "", all
}

// path returns a URL's text up to its query. It is cut and not parsed, as the URL may hold anything
// that mcp.json does.
func path(text string) string {
	at, _, _ := strings.Cut(text, "?")
	return at
}

// over connects over one transport of HTTP. A server of an earlier revision announces changes on a
// stream that the client must request before it knows whether the server has any, so the first
// connection to such a server is made twice. The stream cannot be requested always, since mcp-go
// then keeps the connection on an earlier revision, even with a server of 2026-07-28.
func (e Entry) over(ctx context.Context, kind string, me greeting) (*conn, error) {
	era := asking{patience: patience}
	if me.handshake {
		era.revision = beforeDiscovery
	}
	if kind == kindSSE {
		return e.open(ctx, me, era, e.sse)
	}
	//lint:ignore SA1019 servers of the older revisions have no other stream for what changes
	listening := e.streamable(transport.WithContinuousListening())
	if me.handshake {
		return e.open(ctx, me, era, listening)
	}
	c, err := e.open(ctx, me, era, e.streamable())
	if err != nil || mcp.IsModernProtocol(c.client.ProtocolVersion()) || !c.tellsChanges() {
		return c, err
	}
	c.close()
	return e.open(ctx, me, era, listening)
}

// sse dials the older transport, of 2024-11-05: a stream for all answers, and an address for
// messages that it names.
func (e Entry) sse(c *conn) (transport.Interface, error) {
	h, free := e.client()
	c.free = free
	t, err := transport.NewSSE(e.URL, transport.WithHTTPClient(h), transport.WithSSELogger(silent),
		transport.WithResponseTimeout(longestCall), transport.WithEndpointTimeout(endpointTime))
	if err != nil {
		return nil, err
	}
	// By this transport the answers come on the stream, so without it nothing can be asked any
	// more.
	t.SetConnectionLostHandler(func(error) { c.end(errLost) })
	return &rawSSE{t}, nil
}

// streamable dials Streamable HTTP. It has no connection to lose: each request is one of its own.
func (e Entry) streamable(more ...transport.StreamableHTTPCOption) func(*conn) (
	transport.Interface, error) {
	return func(c *conn) (transport.Interface, error) {
		h, free := e.client()
		c.free = free
		t, err := transport.NewStreamableHTTP(e.URL, append(more, transport.WithHTTPBasicClient(h),
			transport.WithHTTPLogger(silent))...)
		if err != nil {
			return nil, err
		}
		return &rawHTTP{StreamableHTTP: t}, nil
	}
}

// endpointTime is how long a stream may take to say where messages go, once it is open: servers of
// the older transport say so first of all, and those of the newer open such a stream too, on which
// nothing comes. So it is how long a wrong guess of the transport costs.
const endpointTime = 2 * time.Second

// longestCall bounds what mcp-go itself waits for; calls have their own, shorter limits, by
// Config.CallTime.
const longestCall = 10 * time.Minute

// silent drops what mcp-go would log: it holds URLs, and what matters of it comes back as an error.
var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// open starts a transport and agrees with the server on a revision. ctx bounds the opening; the
// connection lives on, so its own context does not end with ctx: a request that happens to make the
// connection may end at any time.
func (e Entry) open(ctx context.Context, me greeting, era asking,
	dial func(*conn) (transport.Interface, error)) (_ *conn, err error) {
	c := &conn{changed: make(chan struct{}, 1), free: func() {}, me: me}
	c.ctx, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err == nil {
			return
		}
		// What mcp-go says then is "context canceled".
		if cause := context.Cause(c.ctx); errors.Is(cause, errLost) {
			err = cause
		}
		c.close()
	}()
	// mcp-go's Start and Initialize get the connection's own context, which outlives ctx; so ctx
	// has to end them this way.
	stop := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	defer stop()
	t, err := dial(c)
	if err != nil {
		return nil, err
	}
	c.client = client.NewClient(t, client.WithDiscoverTimeout(era.patience))
	c.client.OnNotification(c.hear)
	if err = c.client.Start(c.ctx); err != nil {
		return nil, err
	}
	c.listen(t)
	answer, err := c.client.Initialize(c.ctx,
		mcp.InitializeRequest{Params: mcp.InitializeParams{ProtocolVersion: era.revision,
			ClientInfo: me.who, Capabilities: me.can}})
	if err != nil {
		return nil, err
	}
	// Known by its name, since the tools of a toolnorm may be those of further servers (mostHops).
	c.ours = answer.ServerInfo.Name == "toolnorm"
	if can := c.client.GetServerCapabilities(); mcp.IsModernProtocol(c.client.ProtocolVersion()) &&
		c.tellsChanges() {
		// A stream that breaks is found out by the next refresh; the connection itself has no state
		// that could be lost.
		_, err = c.client.ListenAsync(c.ctx, mcp.SubscriptionFilter{
			ToolsListChanged:     can.Tools != nil && can.Tools.ListChanged,
			PromptsListChanged:   can.Prompts != nil && can.Prompts.ListChanged,
			ResourcesListChanged: can.Resources != nil && can.Resources.ListChanged,
		}, nil)
	}
	return c, err
}

// tellsChanges reports whether the server will announce changes of its lists. A server that will
// not is asked every refreshTime.
func (c *conn) tellsChanges() bool {
	can := c.client.GetServerCapabilities()
	return can.Tools != nil && can.Tools.ListChanged ||
		can.Prompts != nil && can.Prompts.ListChanged ||
		can.Resources != nil && can.Resources.ListChanged
}

// hear handles messages that the server sends by itself. It must not block, as mcp-go calls it
// while it reads the stream; the holder of the connection asks for a list that has changed.
func (c *conn) hear(n mcp.JSONRPCNotification) {
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		if f, ok := c.progress.Load(fmt.Sprint(n.Params.AdditionalFields["progressToken"])); ok {
			f.(func(mcp.JSONRPCNotification))(n)
		}
		return
	case string(mcp.MethodNotificationToolsListChanged):
		select {
		// The channel has room for one: news that was not read yet covers all that follow.
		case c.changed <- struct{}{}:
		default: // told already
		}
	}
	if c.me.hear != nil {
		c.me.hear(n)
	}
}

// close ends the connection. Ending a command, or a session, can take seconds, so it is called
// where no request waits, or in a goroutine.
func (c *conn) close() {
	c.end(errLost)
	if c.client != nil {
		_ = c.client.Close()
	}
	c.free()
}

// over reports whether the connection is of no use any more: it broke, or was given up.
func (c *conn) over() bool { return c.ctx.Err() != nil }

// do runs a request that ends with the connection, and gives the result as the server wrote it.
// mcp-go reads what plain makes of it; nil: the result itself. Without the hook on c.ctx a call
// over SSE would wait for its own limit when the stream on which its answer comes has gone.
func (c *conn) do(ctx context.Context, plain func(json.RawMessage) json.RawMessage,
	request func(context.Context) error) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })()
	// rawHTTP and the others put the text here, by the context (raw.go).
	raw := &kept{plain: plain}
	err := request(context.WithValue(ctx, rawKey{}, raw))
	// What mcp-go says then is "context canceled", which would look as if the caller had left.
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errLost) {
		err = cause
	}
	return raw.text, err
}

// Bounds of a list: how much of it is kept, and how long a server can make us request one page
// after the other.
const (
	mostPages = 100
	mostTools = 2000
)

// list requests the tools, as the server writes them. What exceeds the bounds is left out, and
// reported in odd.
func (c *conn) list(ctx context.Context) (all []json.RawMessage, odd []LeftOut, err error) {
	var cursor mcp.Cursor
	size, mirrored := 0, map[string]*mcp.Tool{}
	for range mostPages {
		request := mcp.ListToolsRequest{}
		request.Params.Cursor = cursor
		var page *mcp.ListToolsResult
		raw, err := c.do(ctx, plainPage, func(ctx context.Context) (err error) {
			page, err = c.client.ListToolsByPage(ctx, request)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		// The texts and not mcp-go's values: a schema read into those loses keywords and the order
		// of its members.
		texts, next, err := readPage(raw)
		if err != nil {
			return nil, nil, err
		}
		here, refused := allowedTexts(texts, page.Tools)
		for i, t := range page.Tools {
			if len(mcp.ExtractParamHeaderBindings(&t)) > 0 {
				mirrored[t.Name] = &page.Tools[i]
			}
		}
		c.mirrored.Store(&mirrored)
		all, odd = append(all, here...), append(odd, refused...)
		size += len(raw)
		// A cursor that leads to itself is a server's error, and would be an endless list.
		more := next != "" && next != string(cursor)
		if len(all) > mostTools || size > largestAnswer && more {
			odd = append(odd, LeftOut{"the rest of the list", fmt.Sprintf(
				"a server can have %d tools here, in %d bytes", mostTools, largestAnswer)})
			return all[:min(len(all), mostTools)], odd, nil
		}
		if !more {
			return all, odd, nil
		}
		cursor = mcp.Cursor(next)
	}
	return all, append(odd,
		LeftOut{"the rest of the list", fmt.Sprintf("it has more than %d pages", mostPages)}), nil
}

// allowedTexts returns the texts of a page without the tools that mcp-go has left out, whose
// x-mcp-header breaks the rules, as 2026-07-28 demands of clients. Both lists are in one order, so
// they are walked together. mcp-go has not seen what cannot be read; that stays, for link.list to
// report.
func allowedTexts(texts []json.RawMessage, tools []mcp.Tool) (out []json.RawMessage,
	odd []LeftOut) {
	for _, text := range texts {
		t, err := readTool(text)
		switch {
		case err != nil:
			out = append(out, text)
		case len(tools) > 0 && t.Name == tools[0].Name:
			out, tools = append(out, text), tools[1:]
		default:
			odd = append(odd, LeftOut{t.Name,
				"its x-mcp-header breaks the rules of MCP 2026-07-28"})
		}
	}
	return out, odd
}
