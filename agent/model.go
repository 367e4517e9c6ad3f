package agent

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
)

// Suffix behind a model's name asks for the agent, as in "demo/hermes@agent". A name is all that
// every client lets one choose.
const Suffix = "@agent"

var _ chat.Model = (*Loop)(nil)

// Stream answers a request. One for NAME@agent is answered by NAME with the tools of this program
// and of the registered MCP servers, which are run here and shown as thoughts; calls of the
// client's own tools go to the client and end the reply. Every other request goes to the model as
// it is, and so does one whose client has said which tools may be called, wants a reply continued,
// or wants probabilities, which several replies put together do not have.
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
	// "@agent" alone is the default model.
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

// stream is a run whose steps are a reply. Two goroutines write it: the run, and the keep-alives
// while a tool runs.
type stream struct {
	yield func(chat.Event, error) bool
	pulse *chat.Pulse // nil: nobody waits for keep-alives
	beat  time.Duration
	leave context.CancelFunc

	mu     sync.Mutex // held while anything of the reply is written
	left   bool       // the client reads no more
	calls  int        // of the client's tools, in all steps
	theirs bool       // the call that is being read is one of them
	spoken int        // the last step that has said something; 0: none has
}

// run runs the loop and ends the reply. There is one end and one count of tokens, whatever the
// number of steps: clients take the first end for the last. A stop that is not Final is the cause
// in the end's Meta.
func (s *stream) run(ctx context.Context, l *Loop, request chat.Request) error {
	// All servers: a chat request has no member in which it could name some.
	all, warnings, err := l.collect(ctx, nil)
	if err != nil {
		return err
	}
	if all.empty() && len(warnings) == 0 {
		all = newToolset(l.own(ctx, nil), nil) // with no server there are the tools of this program, which a chat has no other way to use
	}
	var names []string
	for _, t := range request.Tools {
		names = append(names, t.Name)
	}
	// Once more, with the client's names taken, which are known only now.
	ts := newToolset(all.list, names)
	ts.embed = l.cfg.Embed
	// The text is not needed here; what counts is whether the tools are too many and have to be
	// searched.
	ts.describe(l.cfg.ToolTokens)
	n := &native{tools: ts, client: request.Tools}
	// The client's tools are with native now, which offers them in each step beside ours.
	request.Tools = nil
	r := &run{loop: l, ask: Ask{Request: request, Steps: defaultSteps, Closing: true}, tools: ts, speech: n, turns: request.Messages}
	r.tell, r.beats = func(p Progress) { s.tell(p) }, s.beats
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

// finish sends the sum of the steps' tokens and the end of the last one, with the reason of the
// run's end.
func (s *stream) finish(r *run) error {
	end := *r.last.got.End
	meta := chat.Meta{}
	// A copy, since the event may be held by others.
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

// send hands an event on. A client that reads no more ends the run: the context is cancelled, and
// with it the model's reply and the tool that runs.
func (s *stream) send(e chat.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left && !s.yield(e, nil) {
		s.left = true
		s.leave()
	}
	return !s.left
}

// pass hands on what the client should see of a step as it comes, and says whether the event begins
// a call of the client's. Calls of ours are not passed: the client has no such tools. Those of the
// client's are numbered anew, over all steps, since the numbers of a reply must run 0, 1, 2.
func (s *stream) pass(step int, n *native, e chat.Event) bool {
	switch e.Kind {
	case chat.Text:
		// The texts of two steps are two paragraphs to who reads them.
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

// longestShown is how much of arguments and results is shown as a thought, in bytes. The model has
// read them whole; this is for a person who watches.
const longestShown = 300

// tell shows what the agent does as thoughts (reasoning_content), which clients show apart from the
// answer.
func (s *stream) tell(p Progress) {
	var text string
	switch p.Kind {
	case "queue":
		text = fmt.Sprintf("[waiting for the model, place %d]\n", p.Position)
	case "call":
		text = fmt.Sprintf("\n[%s %s]\n", p.Tool, shown(string(compact(p.Arguments))))
	case "result":
		text = fmt.Sprintf("[%d ms: %s]\n", p.Millis, shown(p.Text))
	default:
		return // the events themselves are passed on
	}
	s.send(chat.Event{Kind: chat.Reasoning, Text: text})
}

// shown returns a text as far as a thought shows it, cut between two characters.
func shown(text string) string {
	if len(text) <= longestShown {
		return text
	}
	return strings.ToValidUTF8(text[:longestShown], "") + "…"
}

// beats shows what there is, and keep-alives until the function that it gives is called. A tool may
// run for 30 s, in which a client or a proxy on the way would take the stream for dead.
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

// beating sends keep-alives, the first after a whole beat, until the function that it gives is
// called or one fails. That function waits for a keep-alive that is being written, so that the
// stream has one writer again.
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
