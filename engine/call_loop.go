package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/history"
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
	calls, times := history.Loop(j.request.Messages)
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
