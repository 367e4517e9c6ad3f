package engine

import (
	"context"
	"iter"
	"slices"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/wait"
)

// A request and its reply pass through the engine in one direction each, and this file lists the
// steps. The method prepare decides everything before the model server is asked. The method read
// turns the server's text into events. The method reply passes these events through the stages.
// Each line names the file that does the work. Two things happen around this: engine.go makes a
// second attempt, and strategy.go tries the next strategy.

// step decides one thing about a request. It returns the job changed, or the same job if there is
// nothing to decide. An error ends the request.
type step func(*job, context.Context) (*job, error)

// prepare returns a job with all decisions that come before the reply. The order of the steps
// matters. Names and messages must have their final form before they are measured, and the context
// must be known before tools are weighed against it. The steps that ask the model itself come last,
// since they need all the rest. It returns the error of the first step that fails, or an error if
// ctx ends.
func (e *Engine) prepare(ctx context.Context, pulse *wait.Pulse, r *chat.Request) (*job, error) {
	j, err := e.begin(ctx, pulse, r) // checks.go, server.go: the model, its server, its family
	if err != nil {
		return nil, err
	}
	for _, do := range []step{
		// format_answer.go: with tools offered, response_format moves into the system prompt
		(*job).moveFormatToPrompt,
		(*job).probe, // server.go: what the model and its server can do
		// template.go: the form in which the model's own template writes calls
		(*job).readTemplate,
		(*job).checkSupported,   // checks.go: what the request wants and they cannot do
		(*job).aliasTools,       // names.go: names that the family cannot write
		(*job).normalizeHistory, // history.go: a conversation that the template takes
		(*job).fitTools,         // tool_budget.go: tools that take more than the setting allows
		(*job).detectCallLoop,   // repeats.go: the same call over and over, turn by turn
		(*job).chooseContext,    // context.go: how much room prompt and reply get
		(*job).weighTools,       // tool_budget.go: a warning when tools take most of it
		(*job).chooseStrategy,   // strategy.go: how to get at the model's text
		(*job).askBeforeTools,   // gate.go: whether the model needs a tool at all
		(*job).forceCall,        // force.go: tool_choice
	} {
		if j, err = do(j, ctx); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, whyUnfinished(ctx)
		}
	}
	return j, nil
}

// events is a reply on its way to the client. Each stage of a reply takes events and returns other
// events. A stage that has nothing to do returns the same events, and then costs nothing.
type events = iter.Seq2[chat.Event, error]

// eachEvent returns the events in the parameter in, each one changed by the function change. Text
// and errors are passed on unchanged: most events are text, and no caller has anything to change in
// it.
func eachEvent(in events, change func(chat.Event) chat.Event) events {
	return func(yield func(chat.Event, error) bool) {
		for ev, err := range in {
			if err == nil && ev.Kind != chat.Text {
				ev = change(ev)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// handAll calls the function take with each event until take returns false. It reports whether take
// accepted all of them. An error is passed to yield and ends the loop.
func handAll(in events, yield func(chat.Event, error) bool, take func(chat.Event) bool) bool {
	for ev, err := range in {
		if err != nil {
			yield(chat.Event{}, err)
			return false
		}
		if !take(ev) {
			return false
		}
	}
	return true
}

// sendAll calls yield with each event until yield returns false. It reports whether yield accepted
// all of them.
func sendAll(all []chat.Event, yield func(chat.Event, error) bool) bool {
	return !slices.ContainsFunc(all, func(ev chat.Event) bool { return !yield(ev, nil) })
}

// reply opens the model's reply and returns the events for the client. An error is the last event.
// The returned job is the one for which the server accepted a request. It may differ from j,
// because a server may have refused a longer request before.
//
// The order of the stages matters. Needless calls are left out before the others are checked.
// Whether a required call was made is checked when calls that do not fit are repaired or gone. Ids
// and stop sequences apply to what will be sent, not to what was dropped.
func (j *job) reply(ctx context.Context) (*job, events) {
	k := *j
	k.seen = &seen{pace: newPace(j)}
	if j.request.Logprobs && len(j.request.Tools) > 0 {
		k.seen.tokens = new(gathered)
	}
	j = &k
	j, out := j.read(ctx, j.strategy)
	r := j.request
	// needless.go: calls that the model does not need
	out = doubtCalls(j, ctx, out)
	// repeats.go: the same call over and over, inside one reply
	out = j.reportSameCalls(r, j.names, out)
	// guard.go, repair.go: only calls that fit their schemas
	out = j.guardCalls(ctx, out)
	out = requireCall(r, out) // force.go: tool_choice is kept, or an error
	// format_answer.go: response_format together with tools
	out = j.formatAnswer(ctx, out)
	// logprobs.go: probabilities of a text together with tools
	out = addLogprobs(j, out)
	out = j.before.add(out)                          // finish.go: tokens that were spent beforehand
	out = numberCalls(r, out)                        // finish.go: indexes and ids
	out = stopAtStops(r, j.before.spent, out)        // finish.go: the client's stop sequences
	out = j.names.restore(out)                       // names.go: the client's names of tools
	return j, finish(ctx, j.format, j.strategy, out) // finish.go: exactly one end
}

// read opens one generation and decodes it. The server's records become events of text (package
// upstream and the packages of the kinds of server), hooks watch these (source.go), and the
// family's format finds the calls in the text (adapters). An error is the last event.
//
// A forced reply is read in the format of Hermes, whatever the family is. It is one JSON object,
// and addMarks puts the tags of that format around it. The end of the prompt does not matter then.
func (j *job) read(ctx context.Context, generation string) (*job, events) {
	j, src, tail, err := j.source(ctx, generation)
	if err != nil {
		return j, errorReply(err)
	}
	o, format := j.decoding(), j.format
	o.Prompt, o.Context = tail, ctx
	if generation == Tokens || generation == Tap { // strategy tap may send no tokens
		o.Control, o.Whole = j.facts.ControlMarks, generation == Tokens
	}
	switch {
	// with log probabilities each text belongs to its tokens, and there are no calls to look for
	case j.request.Logprobs && len(j.request.Tools) == 0:
		return j, onlyOffered(j, closing(src, all(src)))
	case j.force != nil:
		o.Prompt, format, src = "", adapters.Named("hermes"), chat.Watch(src, addMarks())
	}
	if j.seen != nil && j.seen.pace != nil {
		o.HoldNow = j.seen.pace.held
	}
	return j, onlyOffered(j, closing(src, format.Decode(src, o)))
}

// errorReply returns a reply that is only an error. Nothing was sent before it, so it can still
// become an HTTP status.
func errorReply(err error) events {
	return func(yield func(chat.Event, error) bool) { yield(chat.Event{}, err) }
}
