package xml

import (
	"net/http"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// Form is the form of clients whose prompt describes tools. They are recognized by that prompt,
// which no other client writes. The model gets real tools instead, and the client gets its XML. The
// user only has to set the address; @openai after the model's name turns the form off.
type Form struct {
	Below form.Form // writes the text

	// Command returns a function that turns a call which the XML cannot express into a command, for
	// a client with these headers and tools. Nil: such calls are shown as text.
	Command func(h http.Header, theirs []chat.Tool) func(chat.Call) (chat.Call, error)
}

var _ form.Form = Form{}

// Open implements form.Form. It accepts requests that offer tools only in their prompt; for others
// it returns nil. The prompt decides and not the User-Agent, because forks use other libraries, and
// no other client writes such a list of tools. The client runs one call per reply, so a second call
// is never written. Open returns the error of the form that writes the rest of the reply.
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
// model says more after it, because the editor Void loses any text after a call.
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

// Event implements form.Reply. It passes an event on, but collects the events of calls, and writes
// the call at the end of the reply. It returns an error if the client cannot be written to.
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

// say passes the text event e on to the client, unless e is empty. It returns an error if the
// client cannot be written to.
func (r *xmlReply) say(e chat.Event) error {
	r.text.Note(e.Text)
	if e.Text == "" && e.Meta == nil {
		return nil
	}
	return r.Reply.Event(e)
}

// finish ends the reply: it writes the text that was held back, and the call if it is complete. A
// call that was cut is not written, because the client would run one half of it. If the reply was
// cut and nothing was written before, finish writes a sentence that says so, since Void, Cline and
// Roo take an empty reply for an error. It returns an error if the client cannot be written to.
func (r *xmlReply) finish(e chat.Event) error {
	wrote, rest := r.own.end(e.Text)
	if err := r.say(chat.Event{Kind: chat.Text,
		Text: r.prose.Text(rest) + r.prose.End()}); err != nil {
		return err
	}
	switch {
	case len(r.calls.Complete()) > 0: // these clients read one call per reply
		return r.write(r.calls.Calls[0])
	case wrote != nil:
		return r.write(*wrote)
	case !r.text.Said && e.Text == chat.Length:
		return r.say(chat.Event{Kind: chat.Text,
			Text: "(The reply reached its limit before it said anything.)"})
	}
	return nil
}

// write writes a call in the client's XML. A call cannot be written so if a value contains a tag of
// the call's own tool, or if there are too many arguments. Such a call becomes a shell command, or
// else plain text that runs nothing, because the agent would wait if the call were dropped. The
// opening tag and the rest are sent separately, so that a value may contain another tool's tag (see
// Prompt.Write). If a proxy joins the two, only calls with such a value are misread. It returns an
// error if the client cannot be written to.
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
