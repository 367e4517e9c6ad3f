package doctor

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"toolnorm/engine"
	"toolnorm/internal/exam"
)

//go:embed smalltalk.txt
var smallTalk string

// Chatter counts how often a model calls a tool in answer to small talk, and how that changes if
// the model is first asked whether it needs a tool (setting ask-before-tools).
type Chatter struct {
	Asked int `json:"asked"`       // messages of small talk
	False int `json:"false_calls"` // messages that were answered by a call
	// messages among these that are still answered by a call if the model is first asked
	Still int `json:"still_false"`
	// right calls that are no longer made if the model is first asked
	Lost    int     `json:"lost_calls"`
	Seconds float64 `json:"seconds"`             // per reply, on average
	Gated   float64 `json:"seconds_asked_first"` // the same if it is first asked; 0: not tried
}

// chatter finds out how often the model calls a tool without need. If it ever does, chatter tries
// the setting ask-before-tools on the same messages, and also on the questions that were answered
// by a right call, to know what the setting costs. It returns false if ctx ends.
func (x *examination) chatter(ctx context.Context) bool {
	all, err := exam.Parse(smallTalk)
	taken, _ := x.pick()
	if err != nil || taken == nil || taken.Calls == 0 || taken.Asked < len(x.cfg.Questions) {
		return err == nil
	}
	c := &Chatter{}
	wrong, spent := x.small(ctx, engine.GateNever, "small talk", all)
	if ctx.Err() != nil {
		return false
	}
	x.m.Chatter = c
	c.Asked, c.False, c.Seconds = len(all), len(wrong), spent/float64(len(all))
	if len(wrong) == 0 {
		return true
	}
	var right []exam.Question
	for _, q := range x.cfg.Questions {
		if len(q.Want) > 0 && !taken.missed(q) {
			right = append(right, q)
		}
	}
	still, first := x.small(ctx, engine.GateAlways, "small talk, asked first", wrong)
	lost, second := x.small(ctx, engine.GateAlways, "calls, asked first", right)
	if ctx.Err() != nil {
		x.m.Chatter = nil
		return false
	}
	c.Still, c.Lost, c.Gated = len(still), len(lost), (first+second)/float64(len(wrong)+len(right))
	return true
}

// small asks a model all the questions, with the strategy that is in use for it. It returns those
// that were answered wrongly, and how many seconds all took together. The parameter gate is a value
// of the setting ask-before-tools, and what is the text that the display of progress shows.
func (x *examination) small(ctx context.Context, gate, what string, all []exam.Question) (
	missed []exam.Question, seconds float64) {
	cfg := x.cfg.Engine
	cfg.Gate = map[string]string{"*": gate}
	cfg.Strategy = map[string]string{"*": x.facts.Strategy}
	e := engine.New(cfg)
	for i, q := range all {
		x.cfg.Progress(what, i+1, len(all))
		a := ask(ctx, e, x.offered(q.Text))
		seconds += a.took.Seconds()
		var s exam.Score
		if s.Add(q, a.Calls); s.False > 0 || s.Arguments < len(q.Want) {
			missed = append(missed, q)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return missed, seconds
}

// missed reports whether a question was answered wrongly.
func (w *Way) missed(q exam.Question) bool {
	return slices.ContainsFunc(w.Misses, func(m Miss) bool { return m.Question == q.Text })
}

// helps reports whether the setting ask-before-tools removes at least half of the calls without
// need and loses no right one.
func (c *Chatter) helps() bool {
	return c != nil && c.False > 0 && c.Lost == 0 && c.Still*2 <= c.False
}

// finding adds to the report how often the model called a tool without need, and whether the
// setting ask-before-tools helps. It does nothing if c is nil.
func (c *Chatter) finding(x *examination) {
	if c == nil {
		return
	}
	found := fmt.Sprintf("%d of %d messages of small talk got a call", c.False, c.Asked)
	if c.False == 0 {
		x.finding(OK, "false calls", found, "")
		return
	}
	asked := fmt.Sprintf(
		"asked first whether it needs one: %d, %d right calls lost, %.1f s a reply instead of %.1f s", c.Still, c.Lost, c.Gated, c.Seconds)
	if c.helps() {
		x.finding(Note, "false calls", found+"; "+asked,
			"the line ask-before-tools below has it asked")
		return
	}
	x.finding(Note, "false calls", found+"; "+asked,
		"asking it does not help; few tools, or a larger model, do")
}
