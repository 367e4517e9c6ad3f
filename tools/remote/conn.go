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

// conn is an initialized connection with a server. It cannot be used after its context has ended. A
// broken connection is never repaired. It is replaced by a new one, which is as much work and has
// fewer states.
type conn struct {
	client  *client.Client
	ctx     context.Context
	end     context.CancelCauseFunc
	free    func()        // releases what the connection uses besides the client
	changed chan struct{} // gets a value when the server's list of tools has changed
	// The server is recognized by the name in its serverInfo. One that lies about it only loses
	// tools with dots in their names.
	ours bool // the server is a toolnorm itself

	suspected atomic.Bool // link.suspect runs

	me       greeting
	ids      atomic.Int64 // numbers the requests that are passed through
	progress sync.Map     // a progress token of this connection -> func(mcp.JSONRPCNotification)
	mirrored atomic.Pointer[map[string]*mcp.Tool]
}

// greeting says how a connection describes its client to the server, and which functions get the
// notifications and requests of the server.
type greeting struct {
	who  mcp.Implementation
	can  mcp.ClientCapabilities
	hear func(mcp.JSONRPCNotification) // may be nil

	// handshake: only initialize is sent, as clients of earlier revisions do, and not
	// server/discover. A server that speaks both revisions can then send requests to the client.
	handshake bool

	// answer answers the server's requests. If it is nil, the server cannot ask anything.
	answer func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// errLost is the cause with which the calls of a connection end when the connection breaks. The
// server may have run them (see isBroken).
var errLost = errors.New("the connection with the server broke")

// The kinds of transport, as they are stored and shown. The link stores the kind that worked last
// and tries it first the next time.
const (
	kindSSE       = "sse"
	kindHTTP      = "http"
	kindStdio     = "stdio"
	kindHandshake = "stdio, handshake first" // see asking
)

// asking says how a server is asked for its protocol revision. mcp-go sends server/discover, which
// the latest revision has, and if no answer comes in time, initialize, which earlier revisions
// have. A command that starts slowly gets both requests at once, and a server of the latest
// revision then refuses the second (seen with the Python SDK 2.3.0: "unsupported protocol
// version"). So a command gets more time. If that fails as well, it is started again and sent
// initialize alone.
type asking struct {
	patience time.Duration // how long to wait for an answer to server/discover
	revision string        // if not empty, only initialize is sent, with this revision
}

// How long mcp-go waits for the answer to server/discover before it sends initialize. A server of
// HTTP is already running, while a command may have to start an interpreter first, as with the
// Python SDK.
const (
	patience        = 2 * time.Second
	startPatience   = 15 * time.Second
	beforeDiscovery = mcp.LATEST_LEGACY_PROTOCOL_VERSION
)

// connect connects to the server, and returns the connection and its kind of transport. A command
// has one kind; told gets the lines of its standard error. For a URL, connect first tries the kind
// last, which it returned before. If last is "", it begins with SSE for a path that ends in /sse,
// and otherwise with Streamable HTTP. If the first kind fails, it tries the other. If both fail,
// the error joins their errors.
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
		if ctx.Err() != nil || isRefused(err) { // both use this address
			break
		}
	}
	return nil, "", all
}

// path returns a URL's text up to its query. It does not parse the URL, since one in mcp.json may
// be malformed.
func path(text string) string {
	at, _, _ := strings.Cut(text, "?")
	return at
}

// over connects by HTTP, with Streamable HTTP or SSE as the parameter kind says, or returns an
// error. A server of an earlier revision of MCP announces changes on a stream, which must be
// requested when the connection is made. Only on the connection does the server say whether it
// announces any. If it does, over connects a second time, with the stream. If it always requested
// the stream, mcp-go would use an earlier revision even with a server of revision 2026-07-28.
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

// sse returns the transport of the revision 2024-11-05, in which one event stream carries all
// answers and names the address for messages. It returns an error if the URL cannot be parsed.
func (e Entry) sse(c *conn) (transport.Interface, error) {
	h, free := e.client()
	c.free = free
	t, err := transport.NewSSE(e.URL, transport.WithHTTPClient(h), transport.WithSSELogger(silent),
		transport.WithResponseTimeout(longestCall), transport.WithEndpointTimeout(endpointTime))
	if err != nil {
		return nil, err
	}
	// With this transport, answers come on the stream, so the connection ends with it.
	t.SetConnectionLostHandler(func(error) { c.end(errLost) })
	return &rawSSE{t}, nil
}

// streamable returns a function that makes a Streamable HTTP transport. No handler for a lost
// connection is set, because each request of this transport is independent.
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

// endpointTime is how long an open stream may take to name the address for messages. Servers of the
// older transport name it first of all. Those of the newer one open such a stream too, but send
// nothing on it, so this is what a wrong guess of the transport costs.
const endpointTime = 2 * time.Second

// longestCall bounds how long mcp-go waits; calls have a shorter limit (Config.CallTime).
const longestCall = 10 * time.Minute

// silent drops mcp-go's log. The log contains URLs, and what matters in it is returned as an error.
var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// open makes a connection with the transport that dial returns, and agrees with the server on a
// revision of MCP, for which it asks as era says. It returns an error if one of these fails or ctx
// ends first. The connection outlives ctx, since the request that happens to make the connection
// may end at any time.
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
		// The next refresh notices a stream that breaks; the connection itself has no state that
		// could be lost.
		_, err = c.client.ListenAsync(c.ctx, mcp.SubscriptionFilter{
			ToolsListChanged:     can.Tools != nil && can.Tools.ListChanged,
			PromptsListChanged:   can.Prompts != nil && can.Prompts.ListChanged,
			ResourcesListChanged: can.Resources != nil && can.Resources.ListChanged,
		}, nil)
	}
	return c, err
}

// tellsChanges reports whether the server announces changes of its lists. Other servers are asked
// for their lists every refreshTime.
func (c *conn) tellsChanges() bool {
	can := c.client.GetServerCapabilities()
	return can.Tools != nil && can.Tools.ListChanged ||
		can.Prompts != nil && can.Prompts.ListChanged ||
		can.Resources != nil && can.Resources.ListChanged
}

// hear handles a notification from the server. It must not block, because mcp-go waits for it. So
// if the tools change, it only sends a signal; the connection's owner then lists the tools.
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
		default: // a value is already waiting
		}
	}
	if c.me.hear != nil {
		c.me.hear(n)
	}
}

// close ends the connection. Ending a command or a session can take seconds, so close is called
// where no request waits, or in a goroutine.
func (c *conn) close() {
	c.end(errLost)
	if c.client != nil {
		_ = c.client.Close()
	}
	c.free()
}

// over reports whether the connection has ended, because it broke or was given up.
func (c *conn) over() bool { return c.ctx.Err() != nil }

// do runs a request and returns its result as the server wrote it. The library mcp-go reads the
// result as well, but converted by the function plain, unless plain is nil. If the connection
// breaks, do returns errLost. It returns other errors of the request unchanged.
func (c *conn) do(ctx context.Context, plain func(json.RawMessage) json.RawMessage,
	request func(context.Context) error) (json.RawMessage, error) {
	ctx, stop := c.alive(ctx)
	defer stop()
	// The transports in raw.go find this in the context and store the text in it.
	raw := &kept{plain: plain}
	err := request(context.WithValue(ctx, rawKey{}, raw))
	// What mcp-go says then is "context canceled", which would look as if the caller had left.
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errLost) {
		err = cause
	}
	return raw.text, err
}

// Bounds of a list: the requested pages, since a server could go on without end, and the tools
// taken.
const (
	mostPages = 100
	mostTools = 2000
)

// list requests the server's tools and returns each tool's JSON. Tools that mcp-go refuses or that
// exceed the bounds are left out and reported in odd. It fails if a page cannot be requested or
// read.
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

// allowedTexts returns those of the texts, each the JSON of one tool, that mcp-go has accepted. The
// parameter tools has the accepted tools in the same order. mcp-go leaves out tools whose
// x-mcp-header breaks the rules of 2026-07-28; these are reported in odd. A text that cannot be
// read is kept, so that link.list reports it.
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
