package proxy

import (
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// gathering puts a call together from its events, for a form in which it is written whole.
type gathering struct {
	call chat.Call
	args strings.Builder
}

// take takes an event of a call, and gives the call when it is complete.
func (g *gathering) take(e chat.Event) (c chat.Call, done bool) {
	switch e.Kind {
	case chat.CallStart:
		g.call = chat.Call{ID: e.ID, Name: e.Text}
		g.args.Reset()
	case chat.CallArgs:
		g.args.WriteString(e.Text)
	case chat.CallEnd:
		g.call.Args = json.RawMessage(g.args.String())
		if g.args.Len() == 0 {
			g.call.Args = json.RawMessage("{}")
		}
		return g.call, true
	}
	return chat.Call{}, false
}

// isCall says that an event is part of a call.
func isCall(k chat.Kind) bool { return k == chat.CallStart || k == chat.CallArgs || k == chat.CallEnd }

// ending is how the visible text ends so far: the newlines that must come in front of a paragraph.
type ending struct {
	said bool
	last string // up to two bytes
}

// note takes the next piece of the text.
func (e *ending) note(text string) {
	e.said = e.said || text != ""
	e.last += text[max(0, len(text)-2):]
	e.last = e.last[max(0, len(e.last)-2):]
}

// gap is what ends the paragraph.
func (e *ending) gap() string {
	switch {
	case !e.said, e.last == "\n\n":
		return ""
	case strings.HasSuffix(e.last, "\n"):
		return "\n"
	}
	return "\n\n"
}

// offer adds tools to those of the client.
func (a *Ask) offer(more []chat.Tool) error {
	if a.Logprobs && len(more) > 0 {
		return asFault(bad("logprobs", "cannot be had while tools are offered: a call's tokens are not those of its arguments"))
	}
	a.Tools = append(a.Tools[:len(a.Tools):len(a.Tools)], more...)
	return nil
}

// asText is a call that its client's form cannot hold, with the reason, for whoever reads the reply.
func asText(c chat.Call, why error) string {
	return "The tool " + c.Name + " was to be called, but the call cannot be written for this client: " + why.Error() + ". It was:\n\n```json\n" +
		string(c.Args) + "\n```\n"
}
