package shell

import (
	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// reply writes calls of this server's tools as commands. A command is a call of the client's own
// tool that runs commands, so that the result comes back by itself, or else a block that the user
// runs. A reply may also contain calls of the client's tools, which are passed on with new numbers,
// without gaps. A block is text, so a reply with only blocks ends with "stop".
type reply struct {
	form.Reply // gets text, and calls of the client's tools
	commander  *Commander
	ours       map[string]bool // the names of the tools whose calls become commands

	text   form.Ending
	fence  form.Fence
	calls  chat.Collector // of this server's tools
	inside bool           // whether the current call is of such a tool
	passed int            // how many calls were passed on to the form below
}

// Event implements form.Reply: it collects the events of a call of this server's tools, and writes
// that call as a command when it is complete. Other events are passed on. It returns an error if
// the client cannot be written to.
func (r *reply) Event(e chat.Event) error {
	if e.Kind == chat.CallStart {
		r.inside = r.ours[e.Text]
	}
	switch {
	case form.IsCall(e.Kind) && r.inside:
		if r.calls.Add(e) {
			r.inside = false
			return r.run(r.calls.Calls[len(r.calls.Calls)-1])
		}
		return nil
	case form.IsCall(e.Kind):
		e.Index = r.passed
		if e.Kind == chat.CallEnd {
			r.passed++
		}
	case e.Kind == chat.Text:
		r.text.Note(e.Text)
		r.fence.Note(e.Text)
	}
	return r.Reply.Event(e)
}

// run writes a call as a command that the client runs, or as text if there can be no command. If
// the model has left a block open, it is closed first, because the editor Void shows a button only
// for a closed block. Each block has one line, since Void would run only the first of several. It
// returns an error if the client cannot be written to.
func (r *reply) run(c chat.Call) error {
	if other, err := r.commander.Call(c); err == nil {
		return r.pass(other)
	}
	line, err := r.commander.command(c)
	text := r.fence.End() + r.text.Gap()
	if err != nil {
		text += form.CallAsText(c, err)
	} else {
		text += "```" + r.commander.language + "\n" + line + "\n```\n"
	}
	r.text.Note(text)
	return r.Reply.Event(chat.Event{Kind: chat.Text, Text: text})
}

// pass passes a whole call on as events. It returns an error if the client cannot be written to.
func (r *reply) pass(c chat.Call) error {
	for _, e := range []chat.Event{
		{Kind: chat.CallStart, Index: r.passed, ID: c.ID, Text: c.Name},
		{Kind: chat.CallArgs, Index: r.passed, Text: string(c.Args)},
		{Kind: chat.CallEnd, Index: r.passed},
	} {
		if err := r.Reply.Event(e); err != nil {
			return err
		}
	}
	r.passed++
	return nil
}
