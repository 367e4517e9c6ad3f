package proxy

import "toolnorm/chat"

// shellReply writes calls of the tools that are served here as commands: as a call of the client's own tool that runs
// commands, so that the result comes back by itself, else as a block that the user runs.
type shellReply struct {
	Reply     // gets text, and calls of the client's tools
	commander *commander
	ours      map[string]bool // the tools whose calls are commands

	text   ending
	fence  fence
	calls  chat.Collector // of ours
	inside bool           // of a call of ours
	left   int            // calls that have been passed on
}

// Event passes an event on, but for those of a call of ours.
func (r *shellReply) Event(e chat.Event) error {
	if e.Kind == chat.CallStart {
		r.inside = r.ours[e.Text]
	}
	switch {
	case isCall(e.Kind) && r.inside:
		if r.calls.Add(e) {
			r.inside = false
			return r.run(r.calls.Calls[len(r.calls.Calls)-1])
		}
		return nil
	case isCall(e.Kind):
		e.Index = r.left
		if e.Kind == chat.CallEnd {
			r.left++
		}
	case e.Kind == chat.Text:
		r.text.note(e.Text)
		r.fence.note(e.Text)
	}
	return r.Reply.Event(e)
}

// run has the client run a call.
func (r *shellReply) run(c chat.Call) error {
	if other, err := r.commander.call(c); err == nil {
		return r.pass(other)
	}
	line, err := r.commander.command(c)
	text := r.fence.end() + r.text.gap()
	if err != nil {
		text += asText(c, err)
	} else {
		text += "```" + r.commander.language + "\n" + line + "\n```\n"
	}
	r.text.note(text)
	return r.Reply.Event(chat.Event{Kind: chat.Text, Text: text})
}

// pass passes a whole call on.
func (r *shellReply) pass(c chat.Call) error {
	for _, e := range []chat.Event{
		{Kind: chat.CallStart, Index: r.left, ID: c.ID, Text: c.Name},
		{Kind: chat.CallArgs, Index: r.left, Text: string(c.Args)},
		{Kind: chat.CallEnd, Index: r.left},
	} {
		if err := r.Reply.Event(e); err != nil {
			return err
		}
	}
	r.left++
	return nil
}
