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

// speech is how tools are described to a model, and how its calls are read. Between the two, turns
// and calls have the tools' own names. There are two: contract, for the specification's prompt, and
// native, for chats. The loop is the same for both, so its bounds and its ends are too.
type speech interface {
	// ask is the request of one step.
	ask(base chat.Request, turns []chat.Message) *chat.Request
	// read gives the events of a reply, calls among them.
	read(in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error]
	// look finds calls in a reply that has none, as far as its decoder knows; end is how the reply
	// ended.
	look(text, end string) []chat.Call
}

// run is one run of the loop. It belongs to one goroutine, but for beats.
type run struct {
	loop   *Loop
	ask    Ask
	tools  *toolset
	speech speech
	// The caller's turns and then those of the run; nothing in front is ever changed, so the
	// server's prompt cache serves each step.
	turns []chat.Message
	out   Outcome
	last  *reply // nil before the first step
	begun bool   // the model was asked once
	// By name and arguments, over the whole run: a model that alternates between two calls goes
	// round as well.
	facts []fact // what was found out
	tell  func(Progress)

	shape func(tools.Result) tools.Result // what of a result is told; nil: all

	forcing string          // the tool that the next step calls, since the model has only advised it; empty: the model chooses
	pressed bool            // that was done
	doubted map[string]bool // keys of calls that the model was told are made up; "": that one is of a list at which nothing points

	again bool                  // the closing question was asked already
	quiet bool                  // what the model writes is looked at before anybody sees it
	pass  func(chat.Event) bool // takes events as they come, and says whether the call that one begins is somebody else's; nil: nobody does
	beats func() func()         // gives keep-alives until what it gives is called
}

// reply is one reply of the model. Both texts are kept: got is what is left when the calls are read
// out of it, and raw what a caller gets at a limit, "the last response" of the specification.
type reply struct {
	raw     strings.Builder // the text as the model wrote it
	got     group
	foreign bool // it has calls that are not ours
}

// group is a reply of which the first calls count: those with nothing but white space between. What
// a model writes behind a call it has not seen the result of, so what it calls then may rest on a
// result that it made up; with the real one it asks again.
type group struct {
	chat.Collector
	front strings.Builder // the text in front of the first call
	calls int             // that count
	over  bool            // something stood behind them
}

// Add reads the next event.
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

// first returns the calls that count.
func (g *group) first() []chat.Call { return g.Complete()[:g.calls] }

// steps goes round until there is a reason to stop, which is in r.out. An error means that nothing
// can be shown (see failed).
func (r *run) steps(ctx context.Context) error {
	r.tools.question = chat.Asked(r.saidLast())
	for {
		if stop := r.exhausted(); stop != "" {
			return r.end(ctx, stop)
		}
		r.out.Steps++
		if err := r.step(ctx, true); err != nil {
			return r.failed(ctx, err)
		}
		calls := r.calls()
		r.forcing = ""
		switch {
		case len(calls) == 0 && !r.last.foreign && owed(r, r.last.raw.String()) != "":
			r.forcing, r.pressed = owed(r, r.last.raw.String()), true
			continue
		// A call of the client's ends the run, since only the client can run it; text without a
		// call is the answer.
		case r.last.foreign || len(calls) == 0 && r.last.got.End.Text != chat.Length:
			return r.end(ctx, Final)
		// What a cut reply says is no answer, and a call that was cut must not run.
		case len(calls) == 0:
			return r.end(ctx, Cut)
		}
		if stop := r.act(ctx, calls); stop != "" {
			return r.end(ctx, stop)
		}
	}
}

// exhausted returns the bound that forbids another step, or "" when none does. It is asked before a
// step: what has been read and written is paid for.
func (r *run) exhausted() Stop {
	switch {
	case r.out.Steps >= r.ask.Steps:
		return MaxIterations
	case r.out.Usage.Prompt+r.out.Usage.Completion >= r.loop.cfg.Tokens:
		return TokenBudget
	}
	return ""
}

// calls returns the calls of the last reply, also what only looks like one. With a call of the
// client's among them nothing is looked for: the reply goes to the client as it is.
func (r *run) calls() []chat.Call {
	if calls := r.last.got.first(); len(calls) > 0 || r.last.foreign {
		return calls
	}
	text := r.last.got.Text.String()
	// A thought that never ends holds the call that it ends with.
	if strings.TrimSpace(text) == "" {
		text = r.last.got.Reasoning.String()
	}
	return r.speech.look(text, r.last.got.End.Text)
}

// end makes the outcome. The last reply is the answer, as it is, but where it is none: then, where
// a tool has ended the step, and at a limit when the caller wants an answer there (Closing), the
// model is asked for one, see close.
func (r *run) end(ctx context.Context, stop Stop) error {
	r.out.Stop = stop
	if r.last == nil {
		return nil
	}
	r.out.Text = strings.TrimSpace(r.last.raw.String())
	// Where there were no calls the decoded text is the answer: the family's marks are out of it.
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
	if none || stop == Escalated || r.ask.Closing && (stop == MaxIterations || stop == RepeatedCall) {
		return r.close(ctx)
	}
	return nil
}

// failed ends a run whose model failed: with an error when there is nothing to show yet, else with
// what there is. A call that has run cannot be taken back, so its caller must hear of it.
func (r *run) failed(ctx context.Context, err error) error {
	if len(r.out.Calls) == 0 || r.pass != nil { // a stream has shown what there is
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
		r.out.Text = r.consulted() // what was asked for is in the knowledge base; the model would only word it
	}
	return nil
}

// gone returns the error of a context that ended: errTime (504), or that the client went away
// (499), which only the log shows.
func gone(cause error) error {
	if errors.Is(cause, errTime) {
		return errTime
	}
	return fault.New(fault.Canceled, "the client went away: %w", cause)
}

// step asks the model once. Its place in the queue is waited for in front of ModelTime, so a long
// line is no slow model; it is given back when the reply has ended, before any tool runs.
func (r *run) step(ctx context.Context, withTools bool) error {
	// For each step: between two of them, while tools run, others use the model.
	leave, err := r.queued(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, r.loop.cfg.ModelTime, fault.New(fault.Timeout, "the model took longer than %v for one reply", r.loop.cfg.ModelTime))
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
	// This reply is the answer: a call in it would not be run, so it is not read out.
	if !withTools {
		events = raw
	}
	for e, err := range events {
		if err != nil {
			// What the server says of a request that was cut off is not the reason; the reason is
			// who cut it.
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			// The decoder says so of a reply that was cut in a call; its text is in the reply all
			// the same.
			if errors.Is(err, io.ErrUnexpectedEOF) {
				break // of the decoder: no Finish has come
			}
			return err
		}
		// take may just have found that the client reads no more.
		if fresh.take(r, e); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	// A server that breaks off without an end has not said all: to take it for an answer could be
	// wrong in any way.
	if fresh.got.End == nil {
		return fault.New(fault.Unavailable, "the model's reply has no end")
	}
	r.last = fresh
	r.out.Usage = r.out.Usage.Plus(fresh.got.Usage)
	return nil
}

// take adds an event of a reply, and tells of it as it comes, so that a client sees the text while
// it is written.
func (p *reply) take(r *run, e chat.Event) {
	p.got.Add(e)
	if r.quiet {
		return
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

// teed keeps the text of a reply as it passes, before the decoder takes calls and marks out of it.
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

// queued waits for a place in front of the model. Keep-alives are sent meanwhile, and each change
// of the place.
func (r *run) queued(ctx context.Context) (leave func(), err error) {
	q := r.loop.cfg.Queue
	if q == nil {
		return func() {}, nil
	}
	defer r.beats()()
	leave, waited, err := q.Enter(ctx, r.ask.Request.Model, r.begun || len(r.out.Calls) > 0, func(position int, waited time.Duration) {
		r.tell(Progress{Step: r.out.Steps, Kind: "queue", Position: position, Millis: waited.Milliseconds()})
	})
	r.out.Waited += waited
	r.begun = r.begun || err == nil
	return leave, err
}

// begin does what stands in front of the loop: the choice of a tool. A tool that the caller has
// named is looked up here, so that a wrong name is an error of the request and no step.
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
	// With a tool that is named there is nothing to choose, so Force comes first.
	if r.ask.Choose && !r.tools.empty() {
		return r.choose(ctx)
	}
	return nil
}

// forced returns the first request of a run whose tool is said: it takes the way of a request with
// tool_choice, by which the engine holds the model to a call of that tool, and its arguments to the
// schema where the server can. The contract's prompt is left out of it, since the model has nothing
// to choose.
func (r *run) forced(name string) *chat.Request {
	t := r.tools.byName[name]
	request := r.ask.Request
	request.Messages = slices.Clone(r.turns)
	request.Tools = []chat.Tool{{Name: r.tools.safe[t.Name], Description: t.Description, Schema: t.Schema}}
	request.Required = true
	return &request
}
