package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/clip"
	"toolnorm/tools"
)

// longestText bounds a description, in bytes, since it is a stranger's text for the model; the
// longest seen in use has 3,000 bytes.
const longestText = 8 << 10

// mostHops is through how many further toolnorms a tool may come. Two that have registered each
// other would otherwise list each other's tools with one more name in front each time: a.search,
// b.a.search, a.b.a.search. A call needs no such bound: each hop takes one name off.
const mostHops = 1

// tool makes a tool of the registry from a tool of the server; its error says why the tool is left
// out. A schema that is too costly to check is refused here, once, and not with each request that
// offers the tool.
func (l *link) tool(t listed, ours bool) (tools.Tool, error) {
	out := tools.Tool{
		Name: qualify(l.entry.Name, t.Name), Title: t.Title,
		Description: clip.Dots(t.Description, longestText),
		Schema:      t.Schema, Output: t.Output, Hints: t.Hints, More: t.More,
		// timed limits the time of a call, and stops while a user answers a question
		Timeout: longestCall,
	}
	// Only a toolnorm's dots are hops; another server may use dots as it likes.
	if ours && strings.Count(t.Name, ".") > mostHops {
		return out, errors.New("it has come through too many servers")
	}
	if err := schema.Affordable(
		[]chat.Tool{{Name: out.Name, Description: out.Description, Schema: out.Schema}},
		nil); err != nil {
		return out, err
	}
	// "May be repeated" is the server's word. A wrong one costs its own user a second run, and only
	// after a break.
	again := isTrue(t.Hints.ReadOnly) || isTrue(t.Hints.Idempotent)
	out.Call = func(ctx context.Context, args json.RawMessage) (tools.Result, error) {
		ctx, cancel := withTimer(ctx, l.set.cfg.CallTime, out.Name)
		defer cancel()
		r, err := l.call(ctx, t.Name, args, again)
		if cause := context.Cause(ctx); err != nil && errors.As(cause, new(late)) {
			err = cause
		}
		return r, err
	}
	return out, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// qualify returns the name under which a server's tool is known here. It is always server.tool,
// since a name that changed when a second server comes would break what models and people have
// learnt. Characters that a name may not hold become _, and then, as when the name is too long, a
// checksum at its end keeps it apart from others. 119 bytes, _ and eight digits are 128, the most
// that MCP allows.
func qualify(server, tool string) string {
	name := server + "." + tool
	if tools.ValidName(name) {
		return name
	}
	clean := strings.Trim(otherOfTool.ReplaceAllString(tool, "_"), "_")
	return fmt.Sprintf("%.119s_%.4x", server+"."+cmp.Or(clean, "tool"), sha256.Sum256([]byte(tool)))
}

// otherOfTool matches characters that a tool's name may not contain; a run of them becomes one _,
// whatever the script.
var otherOfTool = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// answered is a call's result on the wire. It is read here and not by mcp-go, which refuses a
// result with a part of an unknown kind.
type answered struct {
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    json.RawMessage `json:"isError"`
}

// part is one piece of content.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     []byte `json:"data"`
	MIME     string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob []byte `json:"blob"`
	} `json:"resource"`
}

// result reads the result of a call. A question, which is a kind of result in 2026-07-28, and a
// task have no content; only the calls of clients that read whole results get one.
func result(text json.RawMessage) (tools.Result, error) {
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return tools.Result{}, fmt.Errorf("the server's result cannot be read: %w", err)
	}
	r := tools.Result{Raw: proper(text), Structured: a.Structured,
		IsError: strings.Trim(string(a.IsError), `"`) == "true"}
	// Some servers write every member, also those that are not there.
	if string(a.Structured) == "null" {
		r.Structured = nil
	}
	var parts []json.RawMessage
	// Servers that were written by hand may send a single part, or a text.
	if json.Unmarshal(a.Content, &parts) != nil {
		parts = []json.RawMessage{a.Content}
	}
	for _, text := range parts {
		if len(text) > 0 && string(text) != "null" {
			r.Content = append(r.Content, readPart(text))
		}
	}
	return r, nil
}

// proper returns a result that every client of MCP can read as it is, or nil if text cannot be
// passed on so.
func proper(text json.RawMessage) json.RawMessage {
	o, err := readObject(text)
	if err != nil || o.twice() != nil {
		return nil
	}
	var parts []json.RawMessage
	switch wrong := json.Unmarshal(o.get("content"), &parts); {
	case o.get("content") == nil &&
		(o.get("task") != nil || wording(o.get("resultType")) == "input_required"):
		return text
	case wrong != nil, parts == nil, o.empty():
		return nil
	case o.get("isError") != nil && hint(o.get("isError")) == nil:
		return nil
	}
	for _, one := range parts {
		var p part
		o, err := readObject(one)
		if err != nil || json.Unmarshal(one, &p) != nil || !p.whole(o) {
			return nil
		}
	}
	return text
}

// whole reports whether a piece has what its kind must have. A null in a member's place is refused
// by clients.
func (p part) whole(o object) bool {
	inner, _ := readObject(o.get("resource")) // a value that is not an object has no members
	if o.empty() || inner.empty() {
		return false
	}
	switch p.Type {
	case "text":
		return o.get("text") != nil
	case "image", "audio":
		return o.get("data") != nil && p.MIME != ""
	case "resource":
		return p.Resource.URI != "" && (inner.get("text") != nil || inner.get("blob") != nil)
	case "resource_link":
		return p.URI != "" && p.Name != ""
	}
	return false
}

// readPart reads one piece of content. A piece that cannot be read is passed on as it was written.
func readPart(text json.RawMessage) tools.Part {
	var p part
	switch plain, ok := scalar(text); {
	case ok:
		return tools.Part{Text: plain}
	case json.Unmarshal(text, &p) != nil:
		return tools.Part{Text: string(text)}
	}
	return p.part()
}

// part returns the piece as the registry has it. A kind that is not known is named, as [video], so
// that the model knows of it.
func (p part) part() tools.Part {
	switch p.Type {
	case "text":
		return tools.Part{Text: p.Text}
	case "image":
		return tools.Part{Kind: tools.Image, Data: p.Data, MIME: p.MIME}
	case "audio":
		return tools.Part{Kind: tools.Audio, Data: p.Data, MIME: p.MIME}
	case "resource":
		return tools.Part{Kind: tools.Resource, URI: p.Resource.URI, Text: p.Resource.Text,
			Data: p.Resource.Blob, MIME: p.Resource.MIME}
	case "resource_link":
		return tools.Part{Kind: tools.Link, URI: p.URI, Text: p.Name}
	}
	return tools.Part{Text: fmt.Sprintf("[%s]", p.Type)}
}

// call calls a tool on the server. When the connection turns out to be broken, it is made again,
// and the call is repeated if that can do no harm: the server says that the tool may be repeated,
// or has not run it. The model reads of a second failure. So the first call after a server's
// restart works, and no e-mail is sent twice.
func (l *link) call(ctx context.Context, tool string, args json.RawMessage, again bool) (
	tools.Result, error) {
	params, err := callParams(ctx, tool, args)
	if err != nil {
		return tools.Result{}, err
	}
	way := l.way(ctx, isTask(params))
	for first := true; ; first = false {
		raw, c, err := way.ask(ctx, string(mcp.MethodToolsCall), params)
		if err == nil {
			l.set.places.learn(ctx, l, raw)
			return result(raw)
		}
		if c == nil {
			return tools.Result{}, l.unanswered(ctx, err)
		}
		// The caller's time is over or it has left: that says nothing about the connection, which
		// others use.
		if ctx.Err() != nil {
			if errors.As(context.Cause(ctx), new(late)) {
				l.suspect(c)
			}
			return tools.Result{}, ctx.Err()
		}
		var no forbidden
		if errors.As(err, &no) {
			return tools.Result{}, no
		}
		gone := neverRan(err)
		if gone || isBroken(err) {
			way.lost(c)
		}
		switch {
		case first && (gone || again && isBroken(err)):
		case errors.As(err, new(excess)):
			return tools.Result{}, fmt.Errorf("the connection with %s was ended: %w; ask for less",
				l.entry.Name, err)
		case isBroken(err):
			return tools.Result{}, l.unanswered(ctx, err)
		// The server has answered with an error of the protocol, from which the model may learn.
		default:
			return tools.Result{}, fmt.Errorf("%s refuses the call: %w", l.entry.Name, err)
		}
	}
}

// callParams returns the parameters of a call for the server: its own name of the tool, the
// arguments as its schema has them, and what the client has added to its call, as a task or the
// answers to earlier questions.
func callParams(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	var params json.RawMessage
	if p := tools.PeerOf(ctx); p != nil {
		params = p.Params
	}
	return withMembers(params, "name", tool, "arguments", args)
}

// isTask reports whether a call is to become a task, which lives with the connection that made it.
func isTask(params json.RawMessage) bool {
	var p struct{ Task json.RawMessage }
	return json.Unmarshal(params, &p) == nil && p.Task != nil
}

// way is how the client of a context reaches a server: by a relay, or by the shared connection.
type way interface {
	// ask sends a request. The returned connection is nil if there was none.
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *conn, error)
	lost(*conn) // gives up a connection that broke
}

// way chooses. own asks for a relay also for a client that cannot be asked anything.
func (l *link) way(ctx context.Context, own bool) way {
	if r := l.set.relayOf(ctx, l, own); r != nil {
		return r
	}
	return l
}

// ask sends a request on the connection that is shared.
func (l *link) ask(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, *conn, error) {
	c, err := l.reached(ctx)
	if err != nil {
		return nil, nil, err
	}
	raw, err := c.ask(ctx, method, params)
	return raw, c, err
}

// lost gives up the shared connection.
func (l *link) lost(c *conn) { l.drop(c) }

// reached returns the connection for a call. A server that is known to be down is tried, but
// reached waits only as long as a server takes that is up again.
func (l *link) reached(ctx context.Context) (*conn, error) {
	if _, down := l.patience(); down != nil {
		waiting, cancel := context.WithTimeout(ctx, callWait)
		defer cancel()
		c, err := l.connection(waiting)
		if err != nil && ctx.Err() == nil {
			err = down
		}
		return c, err
	}
	return l.connection(ctx)
}

// unanswered returns the error that a model reads when a server does not answer. Addresses in the
// error could be secret, so the reason is only in the log.
func (l *link) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.log.Warn().Str("error", reason(err)).Msg("the MCP server does not answer a call")
	return fmt.Errorf("the server %s does not answer now; try again later, or do without it",
		l.entry.Name)
}

// callTime is how long a call takes at most when the settings say nothing; the specification's
// default against silent servers.
const callTime = 30 * time.Second
