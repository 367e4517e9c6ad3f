package agent

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/clip"
)

// Suffix at the end of a model's name asks for the agent, as in "demo/hermes@agent". The agent is
// chosen this way because the model's name is the only thing that every client lets its user
// choose.
const Suffix = "@agent"

var _ chat.Model = (*Loop)(nil)

// Stream implements chat.Model. A request for NAME@agent is answered by NAME with the tools of this
// program and of the registered MCP servers. These tools are run here and shown as thoughts, while
// calls of the client's own tools go to the client and end the reply. Every other request is passed
// to the model as it is. A request for NAME@agent is passed to NAME, without the agent, if the
// request says which tools may be called, wants a reply continued, or wants probabilities. Several
// joined replies have no probabilities. An error of the run is the last thing that the sequence
// yields.
func (l *Loop) Stream(ctx context.Context, r *chat.Request) iter.Seq2[chat.Event, error] {
	base, model, isBase, err := l.baseOf(ctx, r.Model)
	name, asked := strings.CutSuffix(r.Model, Suffix)
	switch {
	case err != nil:
		return func(yield func(chat.Event, error) bool) { yield(chat.Event{}, err) }
	case isBase:
		name, asked = model, true
	}
	if !asked {
		return l.cfg.Model.Stream(ctx, r)
	}
	plain := *r
	// "@agent" alone means the default model.
	if plain.Model = name; name == "" {
		plain.Model = l.cfg.DefaultModel
	}
	if !isBase && (r.Continue != nil || r.Required || r.Allowed != nil || r.Logprobs) {
		return l.cfg.Model.Stream(ctx, &plain)
	}
	return func(yield func(chat.Event, error) bool) {
		s := &stream{yield: yield, pulse: chat.ObserverOf(ctx).Pulse, beat: l.cfg.Beat}
		ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.Time, errTime)
		defer cancel()
		s.leave = cancel
		answer := func() error { return s.run(ctx, l, plain) }
		if isBase {
			answer = func() error { return s.ofBase(ctx, l, plain, base) }
		}
		if err := answer(); err != nil && !s.left {
			yield(chat.Event{}, err)
		}
	}
}

// stream writes all steps of a run as one reply. Two goroutines write to it: the run, and the
// sender of keep-alives while a tool runs.
type stream struct {
	yield func(chat.Event, error) bool
	pulse *chat.Pulse // nil: no keep-alives are wanted
	beat  time.Duration
	leave context.CancelFunc

	mu     sync.Mutex // held while any part of the reply is written
	left   bool       // the client reads no more
	calls  int        // number of calls of the client's tools, in all steps
	theirs bool       // the call that is being read is the client's
	spoken int        // the last step that has written text; 0: none
}

// run runs the loop and ends the reply. It sends one end and one count of tokens, whatever the
// number of steps, because for clients the reply is over at the first end. A Stop other than Final
// is sent as the Cause in the end's Meta. It returns an error if the run fails before the reply has
// an end.
func (s *stream) run(ctx context.Context, l *Loop, request chat.Request) error {
	// A run uses all servers, since a chat request has no member that could name some.
	all, warnings, err := l.collect(ctx, nil)
	if err != nil {
		return err
	}
	if all.empty() && len(warnings) == 0 {
		// without servers the tools of this program are offered, which a chat cannot use in any
		// other way
		all = newToolset(l.own(ctx, nil), nil)
	}
	var names []string
	for _, t := range request.Tools {
		names = append(names, t.Name)
	}
	// The toolset is made again without the client's names, which are known only now.
	ts := newToolset(all.list, names)
	ts.meanings = l.cfg.Meanings
	// The text is not needed here, only whether there are too many tools, so that they have to be
	// searched.
	ts.describe(l.cfg.ToolTokens)
	n := &native{tools: ts, client: request.Tools}
	// native has the client's tools now, and offers them in each step beside ours.
	request.Tools = nil
	r := &run{loop: l, ask: Ask{Request: request, Steps: defaultSteps, Closing: true}, tools: ts,
		speech: n, turns: request.Messages}
	r.tell, r.beats = func(p Progress) { s.tell(p) }, s.beats
	defer r.samples.leave(l)
	n.advises, n.spelling = r.advises, func() *speller { return spellerOf(r) }
	r.pass = func(e chat.Event) bool { return s.pass(r.out.Steps, n, e) }
	note := chat.ObserverOf(ctx).OnNote
	for _, w := range warnings {
		if note != nil {
			note("Agent", w)
		}
	}
	r.allowed(ctx)
	if err := r.steps(ctx); err != nil || s.left {
		return err
	}
	return s.finish(r)
}

// finish sends the sum of the tokens of all steps, and the end of the last step with the reason for
// the run's end. It always returns nil.
func (s *stream) finish(r *run) error {
	end := *r.last.got.End
	meta := chat.Meta{}
	// Meta is copied, since others may still use the event.
	if end.Meta != nil {
		meta = *end.Meta
	}
	if r.out.Stop != Final && meta.Cause == "" {
		meta.Cause = "agent: " + string(r.out.Stop)
	}
	end.Meta = &meta
	usage := r.out.Usage
	// The steps' own counts were not passed on; this is their sum.
	_ = s.send(chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: &usage}}) && s.send(end)
	return nil
}

// send passes an event on, and reports whether the client reads more. If it does not, send cancels
// the context of the run, which ends the model's reply and the running tool.
func (s *stream) send(e chat.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left && !s.yield(e, nil) {
		s.left = true
		s.leave()
	}
	return !s.left
}

// pass passes on the events of a step that the client should see, and reports whether the event
// begins a call of a client's tool. Calls of our own tools are not passed on, because the client
// has no such tools. The client's calls are numbered again over all steps, since the numbers in a
// reply must be 0, 1, 2 and so on.
func (s *stream) pass(step int, n *native, e chat.Event) bool {
	switch e.Kind {
	case chat.Text:
		// The texts of two steps become two paragraphs.
		if s.spoken > 0 && s.spoken < step {
			e.Text = "\n\n" + e.Text
		}
		s.spoken = step
		s.send(e)
	case chat.Reasoning:
		s.send(e)
	case chat.CallStart:
		if s.theirs = n.isClients(e.Text); s.theirs {
			e.Index = s.calls
			s.send(e)
			return true
		}
	case chat.CallArgs, chat.CallEnd:
		if s.theirs {
			e.Index = s.calls
			s.send(e)
		}
		if e.Kind == chat.CallEnd && s.theirs {
			s.calls++
			s.theirs = false
		}
	}
	return false
}

// longestShown is how many bytes of arguments and of results are shown as a thought. The model
// reads all of them, but thoughts are for people who watch.
const longestShown = 300

// tell shows what the agent does as thoughts (reasoning_content), which clients display apart from
// the answer.
func (s *stream) tell(p Progress) {
	var text string
	switch p.Kind {
	case "queue":
		text = fmt.Sprintf("[waiting for the model, place %d]\n", p.Position)
	case "call":
		text = fmt.Sprintf("\n[%s %s]\n", p.Tool,
			clip.Dots(string(compact(p.Arguments)), longestShown))
	case "result":
		text = fmt.Sprintf("[%d ms: %s]\n", p.Millis, clip.Dots(p.Text, longestShown))
	default:
		return // the events themselves are passed on
	}
	s.send(chat.Event{Kind: chat.Reasoning, Text: text})
}

// beats flushes what is buffered, and sends keep-alives until the returned function is called. A
// tool may run for 30 s, and a client or a proxy in between would take a silent stream for dead.
func (s *stream) beats() func() {
	if s.pulse == nil {
		return func() {}
	}
	s.pulse.Idle()
	return beating(s.beat, func() error {
		s.mu.Lock() // an event and a keep-alive must not be written into each other
		defer s.mu.Unlock()
		err := s.pulse.Beat("")
		if err != nil {
			s.leave()
		}
		return err
	})
}

// beating sends keep-alives, the first after a whole interval, until one fails or stop is called.
// The stop function waits for a keep-alive that is being written, so that the stream has one writer
// again.
func beating(every time.Duration, send func() error) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if send() != nil {
					return
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}
