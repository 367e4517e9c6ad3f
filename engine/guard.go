package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/valid"
)

// guard lets only calls through that fit their tools' schemas.
//
// What was sent cannot be taken back. So one rule holds: every prefix of arguments that was sent
// can be extended to an object that fits. A string that the schema leaves free is sent as the model
// writes it. A number, an enum or a bounded string waits until it is complete (valid.Prefix knows
// which). A call that turns out wrong waits for the end of the reply, since a server does one thing
// at a time, and is then repaired, step by step (repair.go). Everything after it waits as well,
// because clients expect calls in the model's order.
//
// For example, if days must be at most 7, {"city": "Rome", "days": 9} is written again. If the
// beginning of a long city has been sent already, it is kept, and only "days": 2} is new. If
// nothing helps, the call is left incomplete there, and the reply ends with the reason length.
type guard struct {
	j     *job
	ctx   context.Context
	yield func(chat.Event, error) bool

	call  *guarded        // the call that is being read; nil outside of calls
	wrong *guarded        // a call that must be repaired; nil: none
	late  []chat.Event    // the events after the wrong call
	text  strings.Builder // the text that was sent
	calls []sentCall      // the calls that were sent
	asked int             // number of generations that repairs have used
	spent chat.Counts     // the tokens of these generations
	own   *chat.Counts    // tokens of the reply itself; nil: not known yet
	steps []string        // names of what was done, each once
	// what was first wrong with a call that could not be sent, and what the model wrote
	why string
}

// sentCall is a call that was sent.
type sentCall struct {
	// bytes of text before the call
	behind int
	chat.Call
}

// guarded is a call that is being passed on by guard. Its arguments are kept until all of them were
// sent, because a call that does not fit is repaired as a whole.
type guarded struct {
	start chat.Event
	tool  chat.Tool
	rules *valid.Validator
	args  *valid.Prefix
	// the text of a call that can be read in several ways, so that its arguments are not known
	text  string
	whole bool // nothing is sent before the call is complete
	begun bool // the start was sent
	sent  int  // bytes of the arguments that were sent
	// what is wrong with it
	reason []valid.Problem
	stands *schema.Standing // what a new call keeps of the arguments; nil: nothing
}

// guardCalls returns the events of a reply after every call in them is checked. A request without
// tools has no calls. With Unchecked, the client or its tool checks the calls. In these two cases
// it returns the events unchanged.
func (j *job) guardCalls(ctx context.Context, in events) events {
	if len(j.request.Tools) == 0 || j.engine.cfg.Unchecked {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		g := &guard{j: j, ctx: ctx, yield: yield}
		if handAll(in, yield, g.take) {
			g.repairAll()
		}
	}
}

// take passes an event on or, while a wrong call waits for its repair, keeps it. Like every yield
// function, it returns false if the consumer wants no more events.
func (g *guard) take(ev chat.Event) bool {
	if ev.Kind == chat.Usage {
		g.own = ev.Meta.Usage
	}
	if g.wrong != nil && g.wrong.goesOn(ev) {
		g.wrong.text += ev.Text
		return true
	}
	// everything after a wrong call waits for its repair, the counts and the end included
	if g.wrong != nil {
		g.late = append(g.late, ev)
		return true
	}
	switch ev.Kind {
	case chat.Text:
		if ev.Meta != nil && ev.Meta.Doubt != "" && g.repairs() {
			return g.doubtful(ev)
		}
		g.text.WriteString(ev.Text)
	case chat.CallStart:
		return g.begin(ev)
	case chat.CallArgs:
		return g.write(ev)
	case chat.CallEnd:
		return g.end()
	case chat.Usage:
		ev = costing(ev, g.spent)
	case chat.Finish:
		return g.finish(ev)
	}
	return g.yield(ev, nil)
}

// tool returns the offered tool that a call names, or a tool without a schema if no such tool was
// offered.
func (g *guard) tool(name string) chat.Tool { return g.j.names.tool(g.j.request.Tools, name) }

// rules returns the validator of a tool's arguments.
func (g *guard) rules(tool chat.Tool) *valid.Validator {
	return g.j.rules(tool, g.j.names.forClient(tool.Name))
}

// begin starts to hold back a call, until some of its arguments may be sent. Until then the call
// can still become text, or another call, without the client noticing. The call of a strict tool
// must fit the schema exactly, so it is held back until it is complete. begin always returns true.
func (g *guard) begin(ev chat.Event) bool {
	tool := g.tool(ev.Text)
	rules := g.rules(tool)
	g.call = &guarded{start: ev, tool: tool, rules: rules, args: rules.Prefix(),
		whole: rules.Whole() || tool.Strict}
	return true
}

// doubtful keeps the text of a call whose arguments can be read in more than one way. The client
// gets nothing of it, and the model writes the call again later. doubtful always returns true.
func (g *guard) doubtful(ev chat.Event) bool {
	tool := g.tool(ev.Meta.Doubt)
	rules := g.rules(tool)
	g.wrong = &guarded{start: chat.Event{Kind: chat.CallStart, Text: tool.Name}, tool: tool,
		rules: rules, args: rules.Prefix(), text: ev.Text,
		reason: []valid.Problem{
			{Keyword: "json", Text: "arguments: can be read in more than one way"}}}
	return true
}

// goesOn reports whether an event is more text of the call c. It returns true only for a call that
// was read as text, because it is doubtful whether the model meant a call.
func (c *guarded) goesOn(ev chat.Event) bool {
	return c.text != "" && ev.Kind == chat.Text && ev.Meta != nil && ev.Meta.Doubt == c.tool.Name
}

// repairs reports whether the settings allow a call that does not fit to be written again.
func (g *guard) repairs() bool { return !g.j.engine.cfg.NoRewrite || !g.j.engine.cfg.NoReask }

// write adds ev's text to the arguments, and sends the part that can no longer turn out wrong. It
// sends nothing before some length is reached, because a short call that turns out wrong is better
// asked for once more, which requires that nothing of it was sent. It returns false if no more
// events are wanted.
func (g *guard) write(ev chat.Event) bool {
	c := g.call
	c.args.Write(ev.Text)
	if c.whole || len(c.args.Text()) <= adapters.Held(g.j.hold()) {
		return true
	}
	return g.release(c, c.args.Safe())
}

// release sends the arguments of the call c up to the given offset, and before them the start of
// the call. It does not send again what was sent. It returns false if no more events are wanted.
func (g *guard) release(c *guarded, to int) bool {
	if !c.begun {
		c.begun = true
		if !g.yield(c.start, nil) {
			return false
		}
	}
	if to <= c.sent {
		return true
	}
	piece := string(c.args.Text()[c.sent:to]) // a copy: the Prefix goes on writing into its buffer
	c.sent = to
	return g.yield(chat.Event{Kind: chat.CallArgs, Index: c.start.Index, Text: piece}, nil)
}

// end completes a call whose arguments have ended, and returns false if no more events are wanted.
// A call that fits is sent. If a call fits without the members that its schema forbids, or with
// misspelt ones renamed, it is sent like that, since models like to add members ("reason": "user
// asked"). Any other call is kept to be repaired later. To generate it again now would risk the
// parts that were right.
func (g *guard) end() bool {
	c := g.call
	g.call = nil
	if c.reason = c.rules.Check(c.args.Text()); len(c.reason) > 0 {
		if args, ok := c.rules.Trimmed(c.args.Text()); ok {
			g.step(stepSurplus)
			return g.complete(c, args)
		}
		if args, ok := g.extends(c, c.rules.Renamed); ok {
			g.step(stepRenamed)
			return g.complete(c, args)
		}
		g.wrong = c
		return true
	}
	if c.args.Cut() {
		g.step(stepSurplus)
	}
	return g.release(c, len(c.args.Text())) && g.close(c, c.args.Text())
}

// close ends a call whose arguments were sent. It returns false if no more events are wanted. If
// the client wants only one call (parallel_tool_calls false), close also ends the reply, and so
// stops the model, because raw text cannot be constrained to one call beforehand.
func (g *guard) close(c *guarded, args json.RawMessage) bool {
	g.calls = append(g.calls,
		sentCall{g.text.Len(), chat.Call{ID: c.start.ID, Name: c.tool.Name, Args: args}})
	if !g.yield(chat.Event{Kind: chat.CallEnd, Index: c.start.Index}, nil) {
		return false
	}
	if g.j.request.Single {
		g.step(stepSingle)
		g.stop(chat.Stop, "")
		return false
	}
	return true
}

// said returns the text and the calls that were sent, in the form in which the model writes them.
// Few replies need it (after a repair, or an end before the model's own), so calls are printed here
// and not when they are sent.
func (g *guard) said() string {
	var all []byte
	text, at := g.text.String(), 0
	for _, c := range g.calls {
		all = append(append(all, text[at:c.behind]...), g.j.format.Append(nil, c.Call)...)
		at = c.behind
	}
	return string(append(all, text[at:]...))
}

// stop sends the end of the reply, with the given reason and cause, even if the model would go on
// or has written more. If the tokens are not known, they are estimated.
func (g *guard) stop(reason, cause string) {
	counts := g.own
	if counts == nil {
		guess := guessCounts(g.j.request, len(g.said()))
		counts = &guess
	}
	end := ending(counts.Plus(g.spent), reason, chat.Meta{Cause: cause, Repairs: g.steps})
	sendAll(*end, g.yield)
}

// finish passes on the event that ends a reply, and returns false if no more events are wanted. If
// the reply was cut within a call, the rest of the call is not made up, because it is not known
// what would have followed: {"path": "/tmp/x" might have gone on with , "dry_run": true}.
//
// If instead the model ended the call itself, but wrongly, the part that was sent is kept, and the
// rest is written again.
func (g *guard) finish(ev chat.Event) bool {
	if c := g.call; c != nil && c.begun && g.j.seen != nil && g.j.seen.end == chat.Stop {
		if c.stands = c.args.Standing(); c.stands != nil {
			c.reason = []valid.Problem{{Keyword: "json", Text: "arguments: the end is no JSON"}}
			g.call, g.wrong = nil, c
			ev.Text = chat.Stop
			g.late = append(g.late, ev)
			return true
		}
	}
	if g.ranOn(ev) && g.bounded() {
		ev.Text, ev.Meta, g.call = chat.Stop, nil, nil
	}
	meta := chat.MetaOf(ev)
	// Nothing of such a call was sent, so the trace and a header get its beginning. The client sees
	// a reply that ended with length, and so learns what was lost.
	if c := g.call; c != nil && !c.begun && meta.Cut == "" {
		meta.Cut = g.j.names.forClient(c.tool.Name) + " " +
			string(c.args.Text()[:min(len(c.args.Text()), chat.MaxCut)])
	}
	meta.Repairs = append(meta.Repairs[:len(meta.Repairs):len(meta.Repairs)], g.steps...)
	meta.Cause = cmp.Or(meta.Cause, g.why)
	ev.Meta = &meta
	return g.yield(costing(ev, g.spent), nil)
}

// step records the name of a repair for the reply's Meta and its observer. A name is recorded only
// once, since the names go into a header and into logs, where each is counted.
func (g *guard) step(name string) {
	if !slices.Contains(g.steps, name) {
		g.steps = append(g.steps, name)
		if g.j.observer.OnRepair != nil {
			g.j.observer.OnRepair(name)
		}
	}
}
