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

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/tools"
)

// longestText bounds a description, in bytes, which is what a stranger tells the model; the longest seen in use has
// 3,000 bytes.
const longestText = 8 << 10

// mostHops is through how many further toolnorms a tool may come. Two that have registered each other would otherwise
// list each other's tools with one more name in front each time: a.search, b.a.search, a.b.a.search. A call needs no
// such bound: each hop takes one name off.
const mostHops = 1

// tool makes a tool of the registry of one that was read; an error says why it is left out. A schema that is too costly
// to check is refused here, once, and not with each request that offers the tool.
func (l *link) tool(t listed, ours bool) (tools.Tool, error) {
	out := tools.Tool{
		Name: qualified(l.entry.Name, t.Name), Title: t.Title, Description: short(t.Description),
		Schema: t.Schema, Output: t.Output, Hints: t.Hints, Timeout: l.set.cfg.CallTime,
	}
	// Only a toolnorm's dots are hops; another server may use dots as it likes.
	if ours && strings.Count(t.Name, ".") > mostHops {
		return out, errors.New("it has come through too many servers")
	}
	if err := schema.Affordable([]chat.Tool{{Name: out.Name, Description: out.Description, Schema: out.Schema}}, nil); err != nil {
		return out, err
	}
	// "May be repeated" is the server's word. A wrong one costs its own user a second run, and only after a break.
	again := isTrue(t.Hints.ReadOnly) || isTrue(t.Hints.Idempotent)
	out.Call = func(ctx context.Context, args json.RawMessage) (tools.Result, error) {
		return l.call(ctx, t.Name, args, again)
	}
	return out, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// qualified is the name under which a server's tool is known here: server.tool, always, since a name that changed when
// a second server comes would break what models and people have learnt. What a name may not hold becomes _, and then,
// as when it is too long, the name's sum behind it keeps it apart from others. 119 bytes, _ and eight digits are 128,
// the most that MCP allows.
func qualified(server, tool string) string {
	name := server + "." + tool
	if tools.ValidName(name) {
		return name
	}
	clean := strings.Trim(otherOfTool.ReplaceAllString(tool, "_"), "_")
	return fmt.Sprintf("%.119s_%.4x", server+"."+cmp.Or(clean, "tool"), sha256.Sum256([]byte(tool)))
}

// otherOfTool are letters that a tool's name may not hold; a row of them is one _, whatever the script.
var otherOfTool = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// short cuts a description between two characters, and shows that it was cut.
func short(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}

// answered is a call's result on the wire. It is read here and not by mcp-go, which gives up a result that has one part
// of a kind that it does not know.
type answered struct {
	Type       string          `json:"resultType"`
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

// result reads what a call gave. resultType is of 2026-07-28: empty is an earlier server, and complete is a result. A
// server that answers input_required wants to ask a user, and there is none here.
func result(text json.RawMessage) (tools.Result, error) {
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		return tools.Result{}, fmt.Errorf("the server's result cannot be read: %w", err)
	}
	if a.Type != "" && a.Type != "complete" {
		return tools.Result{}, fmt.Errorf("the server asks for something else first (%q), which nobody here can answer", a.Type)
	}
	r := tools.Result{Structured: a.Structured, IsError: strings.Trim(string(a.IsError), `"`) == "true"}
	// Some servers write every member, also those that are not there.
	if string(a.Structured) == "null" {
		r.Structured = nil
	}
	var parts []json.RawMessage
	// One part alone, or a text, is what servers write that were made by hand.
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

// readPart reads one piece of content. One that cannot be read is passed on as it was written, and the others beside it.
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

// part is the piece as the registry has it. A kind that is not known is named, as [video], so that the model knows of it.
func (p part) part() tools.Part {
	switch p.Type {
	case "text":
		return tools.Part{Text: p.Text}
	case "image":
		return tools.Part{Kind: tools.Image, Data: p.Data, MIME: p.MIME}
	case "audio":
		return tools.Part{Kind: tools.Audio, Data: p.Data, MIME: p.MIME}
	case "resource":
		return tools.Part{Kind: tools.Resource, URI: p.Resource.URI, Text: p.Resource.Text, Data: p.Resource.Blob, MIME: p.Resource.MIME}
	case "resource_link":
		return tools.Part{Kind: tools.Link, URI: p.URI, Text: p.Name}
	}
	return tools.Part{Text: fmt.Sprintf("[%s]", p.Type)}
}

// call calls a tool on the server. When the connection turns out to be broken, it is made anew and the call is made
// once more if that can do no harm: the server says so of the tool, or has not run it. A second failure is told to the
// model. So the first call behind a server's restart works, and no e-mail is sent twice.
func (l *link) call(ctx context.Context, tool string, args json.RawMessage, again bool) (tools.Result, error) {
	for first := true; ; first = false {
		c, err := l.reached(ctx)
		if err != nil {
			return tools.Result{}, l.unanswered(ctx, err)
		}
		raw, err := c.call(ctx, tool, args)
		if err == nil {
			return result(raw)
		}
		// The caller's time is over or it has left: that says nothing about the connection, which others use.
		if ctx.Err() != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				l.suspect(c)
			}
			return tools.Result{}, ctx.Err()
		}
		gone := neverRan(err)
		if gone || broken(err) {
			l.drop(c)
		}
		switch {
		case first && (gone || again && broken(err)):
		case errors.As(err, new(excess)):
			return tools.Result{}, fmt.Errorf("the connection with %s was ended: %w; ask for less", l.entry.Name, err)
		case broken(err):
			return tools.Result{}, l.unanswered(ctx, err)
		// The server has answered, with an error of the protocol; the model may learn from what it says.
		default:
			return tools.Result{}, fmt.Errorf("%s refuses the call: %w", l.entry.Name, err)
		}
	}
}

// reached is the connection for a call. A server that is known to be down is tried, but not waited for any longer than it
// takes one that is back.
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

// unanswered is what a model reads of a server that does not answer. What it hears about addresses could be secret, so
// the reason is in the log alone.
func (l *link) unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.log.Warn().Str("error", reason(err)).Msg("the MCP server does not answer a call")
	return fmt.Errorf("the server %s does not answer now; try again later, or do without it", l.entry.Name)
}

// callTime is how long a call takes at most when the settings say nothing; the specification's default against silent
// servers.
const callTime = 30 * time.Second
