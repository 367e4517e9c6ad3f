package engine

import (
	"context"
	"encoding/json"
	"strings"

	"toolnorm/chat"
)

// stepNeedless names a reply whose call was not needed, as the model itself said, and which was written again without tools.
const stepNeedless = "no-tool-needed"

// doubtCalls is the stage that has a model asked, by GateAuto, whether it needs the tool that it calls: where the reply's first
// call is short and nothing that the user or a tool said explains its arguments, get_weather {"city": "New York"} behind
// "Hello!". A model that says that it needs none answers again, without tools, and is asked before tools from then on.
//
// It costs a generation of some 20 tokens for such a call, and nothing for others. A call that is longer than what waits of
// one leaves as it is.
func doubtCalls(j *job, ctx context.Context, in events) events {
	if !questioned(j.request) || gating(j) != GateAuto {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		d := &doubted{j: j, yield: yield}
		if handed(in, yield, d.take) && d.pending() {
			d.settle(ctx)
		}
	}
}

// doubted is a reply whose first call may not be needed.
type doubted struct {
	j     *job
	yield func(chat.Event, error) bool
	kept  []chat.Event // from the first call on
	args  strings.Builder
	whole bool // the first call is complete
	let   bool // nothing is kept any more
}

// pending reports whether events are kept.
func (d *doubted) pending() bool { return len(d.kept) > 0 }

// take keeps the first call and what comes behind it, as long as it is in doubt.
func (d *doubted) take(ev chat.Event) bool {
	if d.let || !d.pending() && ev.Kind != chat.CallStart {
		return d.yield(ev, nil)
	}
	d.kept = append(d.kept, ev)
	switch {
	case d.whole:
	case ev.Kind == chat.CallArgs:
		d.args.WriteString(ev.Text)
		if d.args.Len() > max(d.j.hold(), leastHeld) && !json.Valid([]byte(d.args.String())) {
			return d.release()
		}
	case ev.Kind == chat.CallEnd:
		if d.whole = true; d.explained() {
			return d.release()
		}
	}
	return true
}

// release sends what was kept.
func (d *doubted) release() bool {
	d.let = true
	return sent(d.kept, d.yield)
}

// explained reports whether a value of the call stands in the conversation.
func (d *doubted) explained() bool {
	var args any
	if json.Unmarshal([]byte(d.args.String()), &args) != nil {
		return true // its repair decides
	}
	return anyValue(args, d.j.given())
}

// anyValue reports whether a text or number within a value fulfils a condition.
func anyValue(v any, is func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) != "" && is(v)
	case float64:
		b, _ := json.Marshal(v)
		return is(string(b))
	case []any:
		for _, one := range v {
			if anyValue(one, is) {
				return true
			}
		}
	case map[string]any:
		for _, one := range v {
			if anyValue(one, is) {
				return true
			}
		}
	}
	return false
}

// settle asks the model whether it needs the tool, now that its reply is over and the server free, and sends the reply, or
// another one.
func (d *doubted) settle(ctx context.Context) {
	picked, spent := d.j.picks(ctx, question(d.j.request))
	if picked == noTool {
		control, more := d.j.picks(ctx, control(d.j.callable()[0]))
		spent = spent.Plus(more)
		found := gateNeeded
		if control == noTool || control == "" {
			found, picked = gateUseless, ""
		}
		d.j.learn(func(l *lessons) { l.gate = found })
		d.j.engine.cfg.Log.Info().Str("model", d.j.name).Bool("asks", found == gateNeeded).Msg("the model called a tool that it did not need")
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
	handed(again, d.yield, func(ev chat.Event) bool {
		if ev.Kind == chat.Finish {
			ev = withStep(ev, stepNeedless)
		}
		return d.yield(costing(ev, reply.Plus(spent)), nil)
	})
}

// control is a message that needs a tool: who picks none for it picks none always.
func control(tool chat.Tool) string {
	return "I need this done now: " + firstLine(tool.Description) + ". Use " + tool.Name + "."
}
