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

// longestText bounds a description in bytes, because it is a stranger's text for the model. The
// longest one seen in use has 3,000 bytes.
const longestText = 8 << 10

// mostHops is how many further toolnorms a tool may come through. Two toolnorms that have
// registered each other would otherwise list each other's tools with one more name each time:
// a.search, b.a.search, a.b.a.search. A call needs no such bound, because each hop removes one
// name.
const mostHops = 1

// tool converts a tool of the server into a tool for the registry. The parameter ours says that the
// server is another toolnorm. An error says why the tool is left out. A schema that is too costly
// to check is refused here, once, and not with each request that offers the tool.
func (l *link) tool(t listed, ours bool) (tools.Tool, error) {
	out := tools.Tool{
		Name: qualify(l.entry.Name, t.Name), Title: t.Title,
		Description: clip.Dots(t.Description, longestText),
		Schema:      t.Schema, Output: t.Output, Hints: t.Hints, More: t.More,
		// withTimer limits the time of a call, and stops while a user answers a question
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
// even with one server, since a name that changes when a second server comes would break what
// models and people have learnt. Characters that a name may not contain become _. A name that was
// changed so, or is too long, gets a checksum at its end, so that it differs from others. It is cut
// to 119 bytes, which with _ and eight digits are 128, the most that MCP allows.
func qualify(server, tool string) string {
	name := server + "." + tool
	if tools.ValidName(name) {
		return name
	}
	clean := strings.Trim(otherOfTool.ReplaceAllString(tool, "_"), "_")
	return fmt.Sprintf("%.119s_%.4x", server+"."+cmp.Or(clean, "tool"), sha256.Sum256([]byte(tool)))
}

// otherOfTool matches a run of characters that a tool's name may not contain. The whole run becomes
// one _, whatever its script.
var otherOfTool = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// call calls a tool on the server and returns its result. If the connection turns out to be broken,
// call connects again and repeats the call once, but only if that does no harm: if the parameter
// again says that the tool may run twice, or if the server has not run the call. So the first call
// after a server's restart works, and no e-mail is sent twice. The returned error is for the model:
// the server does not answer, it refuses the call, or the call's time is over.
func (l *link) call(ctx context.Context, tool string, args json.RawMessage, again bool) (
	tools.Result, error) {
	var said json.RawMessage // what the client has added to its call: a task, answers to questions
	if p := tools.PeerOf(ctx); p != nil {
		said = p.Params
	}
	params, err := withMembers(said, "name", tool, "arguments", args)
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
		gone := l.entry.Command == "" && neverRan(err) // a command has no sessions
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

// isTask reports whether params ask for the call to become a task, whose result the client fetches
// later. Such a call is made on the client's own connection, because a task exists only on the
// connection that made it.
func isTask(params json.RawMessage) bool {
	var p struct{ Task json.RawMessage }
	return json.Unmarshal(params, &p) == nil && p.Task != nil
}

// way is how a client reaches a server: by a connection of its own (relay), or by the connection
// that all clients share (link).
type way interface {
	// ask sends a request and returns its result. The connection is nil if none could be made, and
	// err says why. If the request failed on a connection, both are set.
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *conn, error)
	lost(*conn) // gives up a connection that broke
}

// way returns the connection by which the client of ctx reaches the server: one of its own, or else
// the one that all clients share. Only a client that servers could ask something gets its own,
// unless the parameter own is true.
func (l *link) way(ctx context.Context, own bool) way {
	if r := l.set.relayOf(ctx, l, own); r != nil {
		return r
	}
	return l
}

// ask sends a request on the connection that all clients share, and returns the result and the
// connection. It returns an error if the connection cannot be made or the request fails. It
// implements the interface way.
func (l *link) ask(ctx context.Context, method string, params json.RawMessage) (
	json.RawMessage, *conn, error) {
	c, err := l.reached(ctx)
	if err != nil {
		return nil, nil, err
	}
	raw, err := c.ask(ctx, method, params)
	return raw, c, err
}

// lost gives up the connection c that all clients share, after it broke. It implements the
// interface way.
func (l *link) lost(c *conn) { l.drop(c) }

// reached returns the connection for a call, and makes one if there is none. A server that is known
// to be down is tried again, but only for callWait, which is enough for one that is up again. It
// returns an error if the connection fails or ctx ends.
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

// unanswered returns the error for the model when a server does not answer. The reason may contain
// secret addresses, so it is only logged. If ctx has ended, unanswered returns the error of ctx.
func (l *link) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.log.Warn().Str("error", reason(err)).Msg("the MCP server does not answer a call")
	if wantsSignIn(err) {
		return fmt.Errorf("%s does not run this: %s", l.entry.Name, signInSentence)
	}
	return fmt.Errorf("the server %s does not answer now; try again later, or do without it",
		l.entry.Name)
}

// callTime is how long a call may take if the configuration does not say. It is the specification's
// default against silent servers.
const callTime = 30 * time.Second
