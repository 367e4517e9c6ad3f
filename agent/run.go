package agent

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"toolnorm/agent/internal/worded"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/tools"
)

// speech describes tools to a model, and reads its calls. Turns and calls of the loop use the
// tools' own names. There are two implementations: contract, for the specification's prompt, and
// native, for chats. The loop is the same for both, with the same bounds and the same reasons for
// its end.
type speech interface {
	// ask returns the request of one step.
	ask(base chat.Request, turns []chat.Message) *chat.Request
	// read returns the events of a reply, including calls.
	read(in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error]
	// look returns the calls in a reply in which the decoder has found none. The parameter end says
	// how the reply ended.
	look(text, end string) []chat.Call
}

// run is one run of the agent: a question, and steps and calls until the answer. It belongs to one
// goroutine, except that another one (see beats) keeps the client's connection alive meanwhile.
type run struct {
	loop   *Loop
	ask    Ask
	tools  *toolset
	speech speech
	// The caller's turns and then those of the run. Earlier turns are never changed, so the server
	// can use its prompt cache in each step.
	turns []chat.Message
	out   Outcome
	last  *reply // nil before the first step
	begun bool   // the model was asked once
	// The calls of the whole run are kept, since a model may also loop by alternating between two
	// calls.
	facts []fact // the calls that have run, with their results
	tell  func(Progress)

	samples samples

	// returns the part of a result that the model reads; nil: all of it
	shape func(tools.Result) tools.Result

	// the tool that the next step must call, since the model has only advised it; empty: the model
	// chooses
	forcing string
	pressed bool // a step was forced because of advice
	// the keys of calls about which the model was told that they are made up; the key "" means that
	// it was told that nothing points to its entry of a list
	doubted map[string]bool

	again bool // the closing question was asked already
	quiet bool // what the model writes is not shown before it is checked
	// takes events as they come, and reports whether an event begins a call of a client's tool;
	// nil: events are not passed on
	pass  func(chat.Event) bool
	beats func() func() // starts keep-alives; the returned function stops them
}

// reply is one reply of the model, in two forms. The field got has the text without the calls. The
// field raw has the text as the model wrote it, which the caller gets when a limit ends the run.
type reply struct {
	raw     strings.Builder // the text as the model wrote it
	got     group
	foreign bool // it has calls that are not ours
}

// group is a reply in which only the first calls count, those before any other text. A model that
// writes on after a call has not seen its result, so its next calls may be based on a result that
// it made up. When it reads the real result, it calls again.
type group struct {
	chat.Collector
	front strings.Builder // the text before the first call
	calls int             // the number of calls that count
	over  bool            // other text came after the first call
}

// Add adds the next event of the reply to g. It also counts the calls, up to the first text that
// follows a call.
func (g *group) Add(e chat.Event) {
	said := (e.Kind == chat.Text || e.Kind == chat.Reasoning) && strings.TrimSpace(e.Text) != ""
	if e.Kind == chat.Text && len(g.Calls) == 0 {
		g.front.WriteString(e.Text)
	}
	g.over = g.over || said && len(g.Calls) > 0
	if g.Collector.Add(e) && !g.over {
		g.calls++
	}
}

// first returns the calls of the reply that come before any other text.
func (g *group) first() []chat.Call { return g.Complete()[:g.calls] }

// steps asks the model step by step until there is a reason to stop, and sets the outcome in r.out.
// It returns an error if nothing can be shown (see failed).
func (r *run) steps(ctx context.Context) error {
	r.tools.question = chat.Asked(r.saidLast())
	for {
		if stop := r.exhausted(); stop != "" {
			return r.end(ctx, stop)
		}
		r.out.Steps++
		if err := r.step(ctx, true); err != nil {
			// Only the loop wanted this call, and the model may still have an answer.
			if r.forcing != "" && useless(err) {
				return r.end(ctx, Final)
			}
			return r.failed(ctx, err)
		}
		calls := r.calls()
		r.forcing = ""
		switch {
		case len(calls) == 0 && !r.last.foreign && r.last.got.End.Text != chat.Length &&
			owed(r, r.last.raw.String()) != "":
			r.forcing, r.pressed = owed(r, r.last.raw.String()), true
			continue
		// A call of a client's tool ends the run, since only the client can run it; text without a
		// call is the answer.
		case r.last.foreign || len(calls) == 0 && r.last.got.End.Text != chat.Length:
			return r.end(ctx, Final)
		// A reply that was cut is not an answer, and a call that was cut must not run.
		case len(calls) == 0:
			return r.end(ctx, Cut)
		}
		if stop := r.act(ctx, calls); stop != "" {
			return r.end(ctx, stop)
		}
	}
}

// useless reports whether an error means that the model has answered, but not in the form that the
// request asked for. It returns false for nil.
func useless(err error) bool { return fault.From(err).Kind == fault.Failed }

// exhausted returns the bound that forbids another step, or "" if none does. It is called before a
// step, because the tokens of the last step are already spent.
func (r *run) exhausted() Stop {
	switch {
	case r.out.Steps >= r.ask.Steps:
		return MaxIterations
	case r.out.Usage.Prompt+r.out.Usage.Completion >= r.loop.cfg.Tokens:
		return TokenBudget
	}
	return ""
}

// calls returns the calls of the last reply. If there are none, it looks for calls in the reply's
// text that the decoder has not taken for calls. If the reply calls a client's tool, its text is
// not searched, because the reply goes to the client as it is.
func (r *run) calls() []chat.Call {
	if calls := r.last.got.first(); len(calls) > 0 || r.last.foreign {
		return calls
	}
	text := r.last.got.Text.String()
	// A call at the end of a thought that never ends is part of the thought.
	if strings.TrimSpace(text) == "" {
		text = r.last.got.Reasoning.String()
	}
	return r.speech.look(text, r.last.got.End.Text)
}

// end sets the outcome of the run, with the last reply as the answer. It asks the model for another
// answer (see close) if the last reply is no answer, or if a tool has ended the step. At a limit,
// it asks for one if the caller has set Closing. The error is that of close.
func (r *run) end(ctx context.Context, stop Stop) error {
	r.out.Stop = stop
	if r.last == nil {
		return nil
	}
	r.out.Text = strings.TrimSpace(r.last.raw.String())
	// Without calls the decoded text is the answer, which does not contain the family's marks.
	if stop == NeedsConsent {
		r.asks()
		return nil
	}
	if len(r.last.got.Calls) == 0 {
		r.out.Text = strings.TrimSpace(worded.Answer(r.last.got.Text.String()))
	}
	if speller := spellerOf(r); speller != nil && r.pass == nil {
		r.out.Text = speller.correct(r.out.Text)
	}
	said := r.last.got.Text.String()
	none := stop == Final && !r.last.foreign && (!r.isAnswer(said) || r.advises(said))
	if none || stop == Escalated || r.ask.Closing && (stop == MaxIterations ||
		stop == RepeatedCall) {
		return r.close(ctx)
	}
	return nil
}

// failed ends a run whose model failed. It returns an error if there is nothing to show yet, and
// otherwise sets the outcome and returns nil. The outcome is needed because a call that has run
// cannot be undone, so the caller must be told of it.
func (r *run) failed(ctx context.Context, err error) error {
	if len(r.out.Calls) == 0 || r.pass != nil { // a stream has shown the calls already
		if cause := context.Cause(ctx); cause != nil {
			return gone(cause)
		}
		return err
	}
	stop := ModelError
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTime):
		stop = WallTime
	case cause != nil:
		stop = Cancelled
	default:
		r.out.Warnings = append(r.out.Warnings, "the model failed: "+fault.From(err).Message)
	}
	r.out.Stop = stop
	if r.out.Text = strings.TrimSpace(r.last.raw.String()); r.out.Text == "" && r.ask.Base != "" {
		// the result of the search has what was asked for; the model would only put it into words
		r.out.Text = r.consulted()
	}
	return nil
}

// gone returns the error for a context that ended. The error is errTime (504), or says that the
// client went away (499), which only the log shows.
func gone(cause error) error {
	if errors.Is(cause, errTime) {
		return errTime
	}
	return fault.New(fault.Canceled, "the client went away: %w", cause)
}

// step asks the model once, and sets r.last to its reply. It waits in the queue before ModelTime
// begins, so that a long queue does not look like a slow model. It leaves the queue when the reply
// has ended, before any tool runs. It returns an error if the model fails, a time limit is
// exceeded, or the reply breaks off.
func (r *run) step(ctx context.Context, withTools bool) error {
	// Each step waits in the queue: between two steps, while tools run, others use the model.
	leave, err := r.queued(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, r.loop.cfg.ModelTime,
		fault.New(fault.Timeout, "the model took longer than %v for one reply",
			r.loop.cfg.ModelTime))
	defer cancel()
	request := r.closing()
	if withTools {
		request = r.speech.ask(r.ask.Request, r.turns)
	}
	switch {
	case withTools && r.out.Steps == 1 && r.ask.Force != "":
		request = r.forced(r.ask.Force)
	case withTools && r.forcing != "":
		request = r.forced(r.forcing)
	}
	fresh := &reply{}
	raw := teed(r.loop.cfg.Model.Stream(ctx, request), &fresh.raw)
	events := r.speech.read(raw)
	// This reply is the answer: a call in it would not be run, so calls are not read.
	if !withTools {
		events = raw
	}
	for e, err := range events {
		if err != nil {
			// If the context has ended, its cause is the reason, and not what the server says about
			// the cut request.
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			// The decoder returns this error for a reply that was cut in a call; the text is in the
			// reply nevertheless.
			if errors.Is(err, io.ErrUnexpectedEOF) {
				break // there is no Finish
			}
			return err
		}
		// take may have found that the client reads no more.
		if fresh.take(r, e); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	// A reply without an end is not complete: taking it for an answer could be wrong in any way.
	if fresh.got.End == nil {
		return fault.New(fault.Unavailable, "the model's reply has no end")
	}
	r.last = fresh
	r.out.Usage = r.out.Usage.Plus(fresh.got.Usage)
	return nil
}

// take adds an event to the reply, and reports it immediately, so that a client sees the text while
// the model writes.
func (p *reply) take(r *run, e chat.Event) {
	p.got.Add(e)
	if r.quiet {
		return
	}
	// The model has made up what it writes after a call, so that is not part of the answer.
	if e.Kind == chat.Text && p.got.calls > 0 && !p.foreign {
		e.Kind = chat.Reasoning
	}
	if r.pass != nil && r.pass(e) {
		p.foreign = true
	}
	switch e.Kind {
	case chat.Text:
		r.tell(Progress{Step: r.out.Steps, Kind: "text", Text: e.Text})
	case chat.Reasoning:
		r.tell(Progress{Step: r.out.Steps, Kind: "reasoning", Text: e.Text})
	}
}

// teed returns the events of in, and writes their text to b as well, before the decoder removes
// calls and their tags from it.
func teed(in iter.Seq2[chat.Event, error], b *strings.Builder) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for e, err := range in {
			if e.Kind == chat.Text {
				b.WriteString(e.Text)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// queued waits in the queue for the model. Meanwhile it sends keep-alives, and reports each change
// of the place. The caller must call leave after the request. It returns an error if the queue is
// full or the context ends.
func (r *run) queued(ctx context.Context) (leave func(), err error) {
	q := r.loop.cfg.Queue
	if q == nil {
		return func() {}, nil
	}
	defer r.beats()()
	leave, waited, err := q.Enter(ctx, r.ask.Request.Model, r.begun || len(r.out.Calls) > 0,
		func(position int, waited time.Duration) {
			r.tell(Progress{Step: r.out.Steps, Kind: "queue", Position: position,
				Millis: waited.Milliseconds()})
		})
	r.out.Waited += waited
	r.begun = r.begun || err == nil
	return leave, err
}

// begin chooses the first tool before the loop, if the caller has asked for that. It looks up a
// tool that the caller has named, so that a wrong name is an error of the request and costs no
// step.
func (r *run) begin(ctx context.Context) error {
	if r.ask.Base != "" {
		return r.consult(ctx)
	}
	if r.ask.Force != "" {
		t, err := r.tools.named(r.ask.Force)
		if err != nil {
			return err
		}
		r.ask.Force, r.out.Chosen = t, "forced"
		return nil
	}
	// If the caller names a tool there is nothing to choose, so Force comes first.
	if r.ask.Choose && !r.tools.empty() {
		return r.choose(ctx)
	}
	return nil
}

// forced returns the request of a step in which the model must call the tool with this name. It is
// like a request with tool_choice, and the arguments are constrained to the schema if the server
// can do so. There is no prompt that describes the tools, since the model has nothing to choose.
func (r *run) forced(name string) *chat.Request {
	t := r.tools.byName[name]
	request := r.ask.Request
	request.Messages = slices.Clone(r.turns)
	request.Tools = []chat.Tool{{Name: r.tools.safe[t.Name], Description: t.Description,
		Schema: t.Schema}}
	request.Required = true
	return &request
}
