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

// asText is a call that its client's form cannot hold, with the reason, for whoever reads the reply.
func asText(c chat.Call, why error) string {
	return "The tool " + c.Name + " was to be called, but the call cannot be written for this client: " + why.Error() + ". It was:\n\n```json\n" +
		string(c.Args) + "\n```\n"
}
