package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/repeat"
)

// The values of Loops.LoopGuard. They say what is done if a model makes the same call over and
// over, and gets the same result.
const (
	LoopOff   = "off"   // nothing
	LoopWarn  = "warn"  // the log and the client are told
	LoopBreak = "break" // the model is told as well, and gets no tools for this request
)

// loopTimes is how often the same call must have the same result to count as a loop. Twice is only
// a second look, for example at a file that may have changed.
const loopTimes = 3

// detectCallLoop looks for a loop at the end of the conversation, and returns the job with the loop
// broken if the settings say so. A loop is the same calls with the same arguments and the same
// results in several consecutive turns. A request that is sent twice is not a loop, and polling
// yields another result in the end. It never fails.
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
	what := fmt.Sprintf("%s, %d times with the same arguments and the same result",
		strings.Join(names, " and "), times)
	j.engine.cfg.Log.Warn().Str("model", j.name).Strs("tools", names).Int("times", times).Bool(
		"broken", guard == LoopBreak).
		Msg("the model makes the same call over and over")
	if guard == LoopBreak {
		j = j.with(withoutLoop(j.request, times))
		what += "; no tools were offered"
	}
	j.tell(noteLoop, what)
	return j, nil
}

// withoutLoop returns a request whose last result has a note for the model: it has made this call
// before. The request offers no tools unless a call is required. The note is part of the result,
// since few templates accept a system message at the end.
func withoutLoop(r *chat.Request, times int) *chat.Request {
	c := *r
	c.Messages = slices.Clone(r.Messages)
	last := &c.Messages[len(c.Messages)-1]
	last.Content += fmt.Sprintf(
		"\n\n(This was the same call, with the same result, for the %d. time. Calling it again will not change that: answer with what is known, or say what is missing.)", times)
	if !r.Required {
		c.Tools = nil
	}
	return &c
}

// defaultRepeat is how many bytes a text may repeat itself by default, which is some 2,000 tokens
// without anything new.
const defaultRepeat = 8 << 10

// stepRepetition names the end of a reply that repeated itself.
const stepRepetition = "repetition"

// endRepetition returns a hook that ends a generation that has repeated itself over as many bytes
// as the parameter limit says. Otherwise it would only stop at its limit of tokens, if there is
// one, and Ollama's own guard detects only a single repeated token. When the repetition is long
// enough, the server is told to stop, and the counts are estimated.
func (t *target) endRepetition(r *chat.Request, limit int) chat.Hook {
	text, bytes := new(repeat.Text), 0
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		switch {
		case err != nil:
		case ev.Kind == chat.Text, ev.Kind == chat.Reasoning, ev.Kind == chat.CallArgs:
			bytes += len(ev.Text)
			if run := text.Write(ev.Text); run >= limit {
				t.engine.cfg.Log.Warn().Str("model", t.name).Int("bytes", run).Msg(
					"the model repeats itself without end: the reply is ended (setting max-repeat)")
				return ev, ending(guessCounts(r, bytes), chat.Length,
					chat.Meta{Cause: "the model repeated itself without end",
						Repairs: []string{stepRepetition}})
			}
		// the server has detected the repetition first
		case ev.Kind == chat.Finish && chat.MetaOf(ev).Cause == chat.RepeatAbort:
			ev = withStep(ev, stepRepetition)
		}
		return ev, nil
	}
}

// defaultSame is how many calls in a row end a reply by default, if they only repeat earlier calls.
const defaultSame = 3

// reportSameCalls is the stage for a reply that the decoder has ended because its model made the
// same call, or the same few calls, over and over. It logs this, and adds token counts to the end
// of the reply. The counts are estimated, because the server has not counted the tokens. The first
// of the repeated calls have been sent, and further copies are not worth their tokens.
//
// Without such an end a looping model made the call get_time {"tz":"UTC"} 117 times in one reply of
// 14 s.
func (t *target) reportSameCalls(r *chat.Request, n *names, in events) events {
	return func(yield func(chat.Event, error) bool) {
		bytes, tool := 0, ""
		handAll(in, yield, func(ev chat.Event) bool {
			bytes += len(ev.Text)
			if ev.Kind == chat.CallStart {
				tool = ev.Text
			}
			if ev.Kind != chat.Finish ||
				!slices.Contains(chat.MetaOf(ev).Repairs, adapters.SameCalls) {
				return yield(ev, nil)
			}
			t.engine.cfg.Log.Warn().Str("model", t.name).Str("tool", n.forClient(tool)).
				Msg(
					"the model makes the same calls over and over: the reply is ended (setting max-same-calls)")
			return sendAll(*ending(guessCounts(r, bytes), ev.Text, chat.MetaOf(ev)), yield)
		})
	}
}

// mostLookups is how many values of a reply are looked up in its conversation.
const mostLookups = 500

// givenIn returns a function that reports whether a value occurs in the conversation, so that the
// model need not have made it up. After mostLookups values it always returns false.
func givenIn(r *chat.Request) func(value string) bool {
	var all []string
	asked := 0
	return func(value string) bool {
		if asked++; asked > mostLookups {
			return false
		}
		if all == nil {
			for _, m := range r.Messages {
				all = append(all, strings.ToLower(m.Content))
				for _, c := range m.Calls {
					all = append(all, strings.ToLower(string(c.Args)))
				}
			}
		}
		value = strings.ToLower(value)
		return slices.ContainsFunc(all, func(text string) bool {
			return strings.Contains(text, value)
		})
	}
}
