package proxy

import (
	"net/http"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/proxy/xmltools"
)

// xmlDialect is that of clients whose prompt describes tools, and who look for calls in the text: Void, Cline, Roo. They
// are known by that prompt, which no other client writes. The model gets real tools instead, and the client its XML.
type xmlDialect struct {
	shell *Shell // takes calls that the XML cannot hold; nil: they are shown as text
}

var _ Dialect = xmlDialect{}

// Open takes requests that offer no tools but in their prompt. The client runs one call a reply, so there is no second.
func (d xmlDialect) Open(h http.Header, a *Ask, out Out) (Reply, error) {
	if len(a.Tools) > 0 || a.Form != "" && a.Form != formVoid && a.Form != formCline {
		return nil, nil
	}
	prompt, messages := xmltools.Read(a.Messages)
	if prompt == nil || a.Form != "" && a.Form != string(prompt.Protocol) {
		return nil, nil
	}
	below, err := openAI{}.Open(h, a, out)
	if err != nil {
		return nil, err
	}
	a.Messages, a.Hold, a.Single, a.Form = messages, adapters.HoldCall, true, string(prompt.Protocol)
	if !a.NoCalls {
		err = a.offer(prompt.Offer())
	}
	r := &xmlReply{Reply: below, prompt: prompt, prose: prompt.Prose()}
	if d.shell != nil {
		r.commander = d.shell.commander(h, a.Tools)
	}
	return r, err
}

// xmlReply writes the call of a reply into its text. It leaves at the end, whatever the model says behind it.
type xmlReply struct {
	Reply     // gets text only
	prompt    *xmltools.Prompt
	prose     *xmltools.Prose
	commander *commander // nil: nothing can be run in the client's terminal

	text  ending
	calls chat.Collector
}

// Event passes an event on, but for those of a call.
func (r *xmlReply) Event(e chat.Event) error {
	switch {
	case e.Kind == chat.Text:
		e.Text = r.prose.Text(e.Text)
		return r.say(e)
	case isCall(e.Kind):
		r.calls.Add(e)
		return nil
	case e.Kind == chat.Finish:
		if err := r.finish(e); err != nil {
			return err
		}
	}
	return r.Reply.Event(e)
}

// say passes text on, if there is any.
func (r *xmlReply) say(e chat.Event) error {
	r.text.note(e.Text)
	if e.Text == "" && e.Meta == nil {
		return nil
	}
	return r.Reply.Event(e)
}

// finish writes what is held, and the call. A reply that has nothing to show would be an error for these clients, so one
// that was cut inside its call says so.
func (r *xmlReply) finish(e chat.Event) error {
	if err := r.say(chat.Event{Kind: chat.Text, Text: r.prose.End()}); err != nil {
		return err
	}
	switch {
	case len(r.calls.Complete()) > 0: // these clients read one call a reply
		return r.write(r.calls.Calls[0])
	case !r.text.said && e.Text == chat.Length:
		return r.say(chat.Event{Kind: chat.Text, Text: "(The reply reached its limit before it said anything.)"})
	}
	return nil
}

// write writes the call, as a command where its own form cannot hold it, else as text that runs nothing.
func (r *xmlReply) write(c chat.Call) error {
	open, rest, err := r.prompt.Write(c)
	if err != nil && r.commander != nil {
		if other, cannot := r.commander.call(c); cannot == nil {
			open, rest, err = r.prompt.Write(other)
		}
	}
	if err != nil {
		open, rest = "", r.prose.Text(asText(c, err))+r.prose.End()
	}
	for _, text := range []string{r.text.gap(), open, rest} { // pieces of their own: see Prompt.Write
		if err := r.say(chat.Event{Kind: chat.Text, Text: text}); err != nil {
			return err
		}
		if err := r.Flush(); err != nil {
			return err
		}
	}
	return nil
}
