package xml

import (
	"net/http"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// Form is the form of clients whose prompt describes tools. They are known by that prompt, which no
// other client writes. The model gets real tools instead, and the client its XML. The user only has
// to set the address; @openai after the model's name switches the form off.
type Form struct {
	Below form.Form // writes the text

	// Command returns a function that turns a call that the XML cannot hold into a command, for the
	// client with these headers and tools; nil: such calls are shown as text.
	Command func(h http.Header, theirs []chat.Tool) func(chat.Call) (chat.Call, error)
}

var _ form.Form = Form{}

// Open accepts requests that offer tools only in their prompt. The client runs one call a reply, so
// a second call is never written. The prompt decides and not the User-Agent: forks use other
// libraries, and no other client writes such a section. A request with real tools is never
// accepted.
func (f Form) Open(h http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	if len(a.Tools) > 0 || a.Form != "" && a.Form != form.Void && a.Form != form.Cline {
		return nil, nil
	}
	prompt, messages := Read(a.Messages)
	if prompt == nil || a.Form != "" && a.Form != string(prompt.Protocol) {
		return nil, nil
	}
	below, err := f.Below.Open(h, a, out)
	if err != nil {
		return nil, err
	}
	// Calls are held until they are whole: Void runs a call that is still open when the stream
	// ends.
	a.Messages, a.Hold, a.Single, a.Form = messages, adapters.HoldCall, true,
		string(prompt.Protocol)
	if !a.NoCalls {
		a.Offer(prompt.Offer())
	}
	r := &xmlReply{Reply: below, prompt: prompt, prose: prompt.Prose(), own: own{prompt: prompt}}
	if f.Command != nil {
		r.command = f.Command(h, a.Tools)
	}
	return r, nil
}

// xmlReply writes the call of a reply into its text. The call is written at the end, even if the
// model says more after it: Void loses any text after a call, so the call has to come last.
type xmlReply struct {
	form.Reply // gets text only
	prompt     *Prompt
	prose      *Prose
	own        own
	// nil: nothing can be run in the client's terminal
	command func(chat.Call) (chat.Call, error)

	text  form.Ending
	calls chat.Collector
}

// Event passes an event on, unless it belongs to a call.
func (r *xmlReply) Event(e chat.Event) error {
	switch {
	case e.Kind == chat.Text:
		e.Text = r.prose.Text(r.own.text(e.Text))
		return r.say(e)
	case form.IsCall(e.Kind):
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
	r.text.Note(e.Text)
	if e.Text == "" && e.Meta == nil {
		return nil
	}
	return r.Reply.Event(e)
}

// finish writes the held text, and the call. These clients take an empty reply for an error, so a
// reply that was cut inside its call says so in words. A call that was cut is never written, since
// the client would run its half.
func (r *xmlReply) finish(e chat.Event) error {
	wrote, rest := r.own.end(e.Text)
	if err := r.say(chat.Event{Kind: chat.Text,
		Text: r.prose.Text(rest) + r.prose.End()}); err != nil {
		return err
	}
	switch {
	case len(r.calls.Complete()) > 0: // these clients read one call a reply
		return r.write(r.calls.Calls[0])
	case wrote != nil:
		return r.write(*wrote)
	case !r.text.Said && e.Text == chat.Length:
		return r.say(chat.Event{Kind: chat.Text,
			Text: "(The reply reached its limit before it said anything.)"})
	}
	return nil
}

// write writes the call. If the client's XML cannot hold it (a value holds a mark of its own tool,
// or there are too many arguments), it is written as a command, or else as text that runs nothing:
// if it were dropped, the agent would wait. The pieces of a call are sent separately, see
// Prompt.Write. If a proxy in between joins them, only values that hold another tool's mark suffer.
func (r *xmlReply) write(c chat.Call) error {
	open, rest, err := r.prompt.Write(c)
	if err != nil && r.command != nil {
		if other, cannot := r.command(c); cannot == nil {
			open, rest, err = r.prompt.Write(other)
		}
	}
	if err != nil {
		open, rest = "", r.prose.Text(form.CallAsText(c, err))+r.prose.End()
	}
	// pieces of their own: see Prompt.Write
	for _, text := range []string{r.text.Gap(), open, rest} {
		if err := r.say(chat.Event{Kind: chat.Text, Text: text}); err != nil {
			return err
		}
		if err := r.Flush(); err != nil {
			return err
		}
	}
	return nil
}
