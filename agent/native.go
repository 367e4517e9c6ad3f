package agent

import (
	"iter"
	"slices"

	"toolnorm/chat"
	"toolnorm/tools"
)

// native offers the run's tools in the field tools of a chat request, next to those of the client.
// The model that is asked decides how they are described and how calls are constrained to their
// schemas, so models without tool calling work as well. native is used for chats, and contract for
// callers who want the specification's prompt.
type native struct {
	tools  *toolset
	client []chat.Tool
	said   []chat.Message // messages before the reply

	spelling func() *speller // corrects names in an answer
	// reports whether a text is advice to use a tool and not an answer; nil: no text is
	advises func(text string) bool
}

// ask returns a request that offers the client's tools, and this program's tools after them. If the
// program has too many, the request offers only a tool that searches them, and the tools that
// searches have found.
func (n *native) ask(base chat.Request, turns []chat.Message) *chat.Request {
	base.Messages, n.said = n.renamed(turns), turns
	ours := n.tools.list
	if n.tools.searched {
		ours = []tools.Tool{searcher}
		for _, name := range n.tools.found {
			ours = append(ours, n.tools.byName[name])
		}
	}
	// Clipped, so that append does not write into the client's own slice.
	base.Tools = append(slices.Clip(n.client), n.tools.chat(ours, n.safe)...)
	return &base
}

// safe returns a tool's name in the form for model servers, which accept no dots. The name of a
// tool that the client sent with its request is returned unchanged.
func (n *native) safe(name string) string {
	if safe, ok := n.tools.safe[name]; ok {
		return safe
	}
	return name
}

// renamed returns a copy of the turns with the names that the model knows. The run's turns keep the
// tools' own names, which the caller and the log use.
func (n *native) renamed(turns []chat.Message) []chat.Message {
	out := slices.Clone(turns)
	for i, m := range out {
		out[i].Name = n.safe(m.Name)
		out[i].Calls = slices.Clone(m.Calls)
		for j, c := range m.Calls {
			out[i].Calls[j].Name = n.safe(c.Name)
		}
	}
	return out
}

// read returns the events of in, with our tools' own names in calls. It adds events for calls that
// the model wrote in words, such as "Action: add", which the engine takes for text.
func (n *native) read(in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error] {
	w := watch{reader: n.tools.reader(n.isClients)}
	w.advises, w.reader.Messages = n.advises, n.said
	if n.spelling != nil {
		w.speller = n.spelling()
	}
	return w.read(n.own(in))
}

// own returns the events of in, with the names in calls of our tools changed from the request's
// form, server__tool, to server.tool.
func (n *native) own(in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for e, err := range in {
			// Calls come with the names of the request, server__tool; the loop knows server.tool.
			if e.Kind == chat.CallStart && !n.isClients(e.Text) {
				if own, ok := n.tools.also[e.Text]; ok {
					e.Text = own
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// isClients reports whether a name is that of a tool which the client sent with its request. If one
// of our tools has the same name, the client's tool is meant.
func (n *native) isClients(name string) bool {
	return slices.ContainsFunc(n.client, func(t chat.Tool) bool { return t.Name == name })
}

// look always returns nil, because the method read has found all calls already while the reply
// arrived. A call in text that the client has received could not be taken back.
func (n *native) look(_, _ string) []chat.Call { return nil }
