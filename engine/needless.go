package engine

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"toolnorm/chat"
)

// stepNeedless is the name of this change: a reply whose call was not needed, as the model itself
// said, was written again without tools.
const stepNeedless = "no-tool-needed"

// mostDoubted is how many bytes of a call are held back until one of its values is explained. The
// needless calls of small models had up to 110 bytes. Longer calls contain something that was made
// for the user.
const mostDoubted = 256

// doubtCalls is the stage of a reply that asks a model, with GateAuto, whether it needs the tool
// that it calls. It asks if the reply's first call is short and its arguments occur nowhere in the
// conversation, such as get_weather {"city": "New York"} after "Hello!". If the model says that it
// needs no tool, it answers again, without tools. From then on it is asked before tools are
// offered.
//
// A model that was asked before this reply has picked a tool, and is not asked again. If it calls
// another tool, with arguments that occur nowhere in the conversation, it did not need that call.
//
// The question costs a generation of some 20 tokens for such a call, and nothing for others. The
// call is held back until the first of its values that occurs in the conversation. So a call that
// the user asked for is sent as it is written. A long call is sent in any case.
func doubtCalls(j *job, ctx context.Context, in events) events {
	if !asksQuestion(j.request) || gating(j) != GateAuto && j.before.picked == "" {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		d := &doubted{j: j, yield: yield, given: givenIn(j.request)}
		if handAll(in, yield, d.take) && d.pending() && !d.let {
			d.settle(ctx)
		}
	}
}

// doubted is a reply whose first call is perhaps needless, so that it is held back and the model is
// asked whether the message needs a tool.
type doubted struct {
	j     *job
	yield func(chat.Event, error) bool
	kept  []chat.Event // events from the first call on
	args  strings.Builder
	given func(string) bool // reports whether a value is in the conversation
	tried int               // number of the call's values that were checked
	whole bool              // the first call is complete
	let   bool              // events are no longer kept
}

// pending reports whether events of the reply are being held back.
func (d *doubted) pending() bool { return len(d.kept) > 0 }

// take passes an event on, or keeps it as long as it is not known whether the reply's first call is
// needed. It returns false if no more events are wanted.
func (d *doubted) take(ev chat.Event) bool {
	if d.let || !d.pending() && ev.Kind != chat.CallStart {
		return d.yield(ev, nil)
	}
	d.kept = append(d.kept, ev)
	switch {
	case d.whole:
	case ev.Kind == chat.CallStart && ev.Text == d.j.before.picked:
		return d.release()
	case ev.Kind == chat.CallArgs:
		d.args.WriteString(ev.Text)
		if d.args.Len() > mostDoubted || d.explained() {
			return d.release()
		}
	case ev.Kind == chat.CallEnd:
		d.whole = true
	}
	return true
}

// release sends the events that were held back, and ends the holding back. It returns false if no
// more events are wanted.
func (d *doubted) release() bool {
	d.let = true
	return sendAll(d.kept, d.yield)
}

// explained reports whether one of the values in the call's arguments occurs in the conversation.
// Values are checked as soon as they are complete, so a call that was asked for waits only for its
// first such value. explained also returns true if the arguments are not JSON.
func (d *doubted) explained() bool {
	all, err := valuesOf(d.args.String())
	from := d.tried
	d.tried = max(len(all), from)
	return err != nil || slices.ContainsFunc(all[min(from, len(all)):], d.given)
}

// valuesOf returns the texts and numbers that are complete in the beginning of a JSON text. It
// returns an error if the text is not JSON.
func valuesOf(text string) (all []string, err error) {
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	var open []bool // for each open container, whether it is an object
	for isKey := false; ; {
		token, err := in.Token()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				open = append(open, token == '{')
			} else {
				open = open[:len(open)-1]
			}
			isKey = len(open) > 0 && open[len(open)-1]
			continue
		case json.Number:
			// at the end of the text more digits may follow
			if in.InputOffset() < int64(len(text)) {
				all = append(all, token.String())
			}
		case string:
			if !isKey && strings.TrimSpace(token) != "" {
				all = append(all, token)
			}
		}
		isKey = !isKey && len(open) > 0 && open[len(open)-1]
	}
}

// settle asks the model whether it needs a tool. It then sends the reply that was held back or, if
// no tool is needed, a new reply that is made without tools. It is called at the end of the reply,
// when the server is free.
func (d *doubted) settle(ctx context.Context) {
	picked, spent := noTool, chat.Counts{} // asked beforehand, it picked another tool
	if d.j.before.picked == "" {
		picked, spent = d.ask(ctx)
	}
	var reply chat.Counts
	for i, ev := range d.kept {
		if ev.Kind == chat.Usage {
			reply = *ev.Meta.Usage
			d.kept[i] = costing(ev, spent)
		}
	}
	if picked != noTool {
		d.release()
		return
	}
	k, err := d.j.withoutTools(ctx)
	if err != nil {
		d.yield(chat.Event{}, err)
		return
	}
	_, again := k.read(ctx, stepNeedless)
	handAll(again, d.yield, func(ev chat.Event) bool {
		if ev.Kind == chat.Finish {
			ev = withStep(ev, stepNeedless)
		}
		return d.yield(costing(ev, reply.Plus(spent)), nil)
	})
}

// ask asks the model which tool it needs. It returns the tool's name, or noTool, and the tokens
// that were spent. It returns "" if the answer cannot be read. It also returns "" if the model
// picks no tool even for a control question that needs one. Such a model is remembered, since its
// answers mean nothing.
func (d *doubted) ask(ctx context.Context) (picked string, spent chat.Counts) {
	picked, spent = d.j.picks(ctx, question(d.j.request))
	if picked != noTool {
		return picked, spent
	}
	control, more := d.j.picks(ctx, control(callable(d.j.request)[0]))
	found := gateNeeded
	if control == noTool || control == "" {
		found, picked = gateUseless, ""
	}
	d.j.learn(func(l *lessons) { l.gate = found })
	d.j.engine.cfg.Log.Info().Str("model", d.j.name).Bool("asks", found == gateNeeded).Msg(
		"the model called a tool that it did not need")
	return picked, spent.Plus(more)
}

// control returns a user's message that clearly needs the tool. If a model picks no tool for it,
// the model never picks one, so its answer "no tool" to other messages means nothing.
func control(tool chat.Tool) string {
	return "I need this done now: " + firstLine(tool.Description) + ". Use " + tool.Name + "."
}
