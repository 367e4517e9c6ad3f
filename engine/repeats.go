package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/repeat"
)

// What is done about a model that makes the same call over and over, and is told the same.
const (
	LoopOff   = "off"   // nothing
	LoopWarn  = "warn"  // the log and the client are told
	LoopBreak = "break" // and the model, which for this request is offered no tools
)

// LoopGuards are the names of the above.
func LoopGuards() []string { return []string{LoopOff, LoopWarn, LoopBreak} }

// loopTimes is how often the same call with the same result makes a loop: twice is a second look, at a
// file that may have changed.
const loopTimes = 3

// detectCallLoop looks for a loop at the end of the conversation. Only calls with the same arguments and the same
// results count, in turns that follow each other: a request that is sent twice is none, and who polls gets another
// result in the end.
func (j *job) detectCallLoop(context.Context) (*job, error) {
	guard := j.engine.cfg.LoopGuard
	calls, times := repeat.Turns(j.request.Messages)
	if guard == LoopOff || times < loopTimes {
		return j, nil
	}
	var names []string
	for _, c := range calls {
		names = append(names, j.names.forClient(c.Name))
	}
	what := fmt.Sprintf("%s, %d times with the same arguments and the same result", strings.Join(names, " and "), times)
	j.engine.cfg.Log.Warn().Str("model", j.name).Strs("tools", names).Int("times", times).Bool("broken", guard == LoopBreak).
		Msg("the model makes the same call over and over")
	if guard == LoopBreak {
		j = j.with(withoutLoop(j.request, times))
		what += "; no tools were offered"
	}
	j.tell(noteLoop, what)
	return j, nil
}

// withoutLoop is a request in which the last result tells the model that it has made this call before, and which offers no
// tools unless a call is wanted. The note stands in the result, since few templates take a system message at the end.
func withoutLoop(r *chat.Request, times int) *chat.Request {
	c := *r
	c.Messages = slices.Clone(r.Messages)
	last := &c.Messages[len(c.Messages)-1]
	last.Content += fmt.Sprintf("\n\n(This was the same call, with the same result, for the %d. time. Calling it again will not change that: answer with what is known, or say what is missing.)", times)
	if !r.Required {
		c.Tools = nil
	}
	return &c
}

// defaultRepeat is how long a text may repeat itself, if the configuration does not say: some 2,000 tokens of nothing new.
const defaultRepeat = 8 << 10

// stepRepetition is the name of the end of a reply that would have had none.
const stepRepetition = "repetition"

// endRepetition ends a generation that repeats itself for limit bytes: by itself it would stop at its limit of
// tokens, if there is one, and Ollama's own guard sees only one token that repeats. Behind the event with which
// the repetition is long enough the server is told to stop, and its counts are estimated.
func (j *job) endRepetition(limit int) chat.Hook {
	text, bytes := new(repeat.Text), 0
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		switch {
		case err != nil:
		case ev.Kind == chat.Text, ev.Kind == chat.Reasoning, ev.Kind == chat.CallArgs:
			bytes += len(ev.Text)
			if run := text.Write(ev.Text); run >= limit {
				j.engine.cfg.Log.Warn().Str("model", j.name).Int("bytes", run).Msg("the model repeats itself without end: the reply is ended (setting max-repeat)")
				return ev, ending(j.guessed(bytes), chat.Length, chat.Meta{Cause: "the model repeated itself without end", Repairs: []string{stepRepetition}})
			}
		case ev.Kind == chat.Finish && chat.MetaOf(ev).Cause == chat.RepeatAbort: // the server has seen it before us
			ev = withStep(ev, stepRepetition)
		}
		return ev, nil
	}
}

// defaultSame is how often a reply may make the same call in a row, if the configuration does not say: two calls that are
// alike happen, a die is rolled three times, and what a fourth would do to send_mail nobody wants.
const defaultSame = 3

// stepSame is the name of the end of a reply that went on with the same calls.
const stepSame = "same-calls"

// limitSameCalls ends a reply whose model makes the same call over and over, or goes round in the same few: the client would
// run each of them, and three letters sent are better than thirty. What comes once more is not sent, and the server is
// told to stop. A text that repeats itself byte for byte is endRepetition's; here the calls may be spelled differently, with
// other ids and other words between them. It looks at what the decoder found, before anything is checked, so a loop of wrong
// calls ends as well.
//
// Without it a looping model made the call get_time {"tz":"UTC"} 117 times in one reply of 14 s.
func (j *job) limitSameCalls(_ context.Context, in events) events {
	most := cmp.Or(j.engine.cfg.SameCalls, defaultSame)
	if most < 0 {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		s := &sameness{j: j, yield: yield, made: repeat.Calls{Most: most}}
		handed(in, yield, s.take)
	}
}

// sameness watches the calls of one reply.
type sameness struct {
	j     *job
	yield func(chat.Event, error) bool
	made  repeat.Calls
	held  []chat.Event // of a call that may be one too many
	calls chat.Collector
	bytes int // that were read
}

// take passes an event on, or keeps it. A call is kept until its end only where the ones before it went round:
// everywhere else its arguments stream.
func (s *sameness) take(ev chat.Event) bool {
	s.bytes += len(ev.Text)
	switch ev.Kind {
	case chat.CallStart:
		s.calls.Add(ev)
		if s.made.Round() > 0 {
			s.held = append(s.held, ev)
			return true
		}
	case chat.CallArgs:
		s.calls.Add(ev)
	case chat.CallEnd:
		if last := s.calls.Add(ev); last && s.made.Add(s.calls.Calls[len(s.calls.Calls)-1]) {
			s.stop()
			return false
		}
	}
	if s.held == nil {
		return s.yield(ev, nil)
	}
	if s.held = append(s.held, ev); ev.Kind == chat.CallArgs {
		return true
	}
	held := s.held
	s.held = nil
	return sent(held, s.yield)
}

// stop ends the reply. The calls that were sent stand, so it ends as one that is complete.
func (s *sameness) stop() {
	tool := s.calls.Calls[len(s.calls.Calls)-1].Name
	s.j.engine.cfg.Log.Warn().Str("model", s.j.name).Str("tool", s.j.names.forClient(tool)).Int("times", s.made.Most).
		Msg("the model makes the same calls over and over: the reply is ended (setting max-same-calls)")
	sent(*ending(s.j.guessed(s.bytes), chat.Stop, chat.Meta{Cause: "the model made the same calls over and over", Repairs: []string{stepSame}}), s.yield)
}
