package shell

import (
	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// reply writes calls of the tools that are served here as commands: as a call of the client's own
// tool that runs commands, so that the result comes back by itself, else as a block that the user
// runs. Calls of both kinds may mix in one reply, so those that are passed on are renumbered
// without gaps. A block is text, so a reply of blocks alone ends with "stop".
type reply struct {
	form.Reply // gets text, and calls of the client's tools
	commander  *Commander
	ours       map[string]bool // the names of the tools whose calls become commands

	text   form.Ending
	fence  form.Fence
	calls  chat.Collector // of ours
	inside bool           // of a call of ours
	passed int            // how many calls the form below has got
}

// Event passes an event on, unless it belongs to a call of one of our tools.
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

// run writes a call as a command for the client to run. Void shows a button only for a closed
// block, and each block holds one line, since Void would run only the first of several. If the
// model has left a block open, it is closed first.
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

// pass passes a whole call on.
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
