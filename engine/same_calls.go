package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"toolnorm/chat"
)

const (
	// defaultSame is how often a reply may make the same call in a row, if the configuration does not say: two calls that are
	// alike happen, a die is rolled three times, and what a fourth would do to send_mail nobody wants.
	defaultSame = 3
	// longestRound is how many calls are looked at together: models go round in circles of two or three.
	longestRound = 4
)

// stepSame is the name of the end of a reply that went on with the same calls.
const stepSame = "same-calls"

// limitSameCalls ends a reply whose model makes the same call over and over, or goes round in the same few: the client would
// run each of them, and three letters sent are better than thirty. What comes once more is not sent, and the server is
// told to stop. A text that repeats itself byte for byte is repetition.go's; here the calls may be spelled differently, with
// other ids and other words between them.
//
// Without it a looping model made the call get_time {"tz":"UTC"} 117 times in one reply of 14 s.
func (j *job) limitSameCalls(_ context.Context, in events) events {
	most := cmp.Or(j.engine.cfg.SameCalls, defaultSame)
	if most < 0 {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		s := &sameness{j: j, most: most, yield: yield}
		handed(in, yield, s.take)
	}
}

// sameness watches the calls of one reply. It looks at what the decoder found, before anything is checked, so a
// loop of wrong calls ends as well.
type sameness struct {
	j     *job
	most  int
	yield func(chat.Event, error) bool
	made  []*madeCall  // the last calls, the last one last
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
		if s.rounds() > 0 {
			s.held = append(s.held, ev)
			return true
		}
	case chat.CallArgs:
		s.calls.Add(ev)
	case chat.CallEnd:
		if s.calls.Add(ev) && s.ended() {
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
	for _, ev := range held {
		if !s.yield(ev, nil) {
			return false
		}
	}
	return true
}

// ended notes a call, and says whether it is one too many. No more calls are remembered than the longest round
// needs.
func (s *sameness) ended() bool {
	call := madeCall{Call: s.last()}
	if n := s.rounds(); n > 0 && call.is(s.made[len(s.made)-n]) {
		return true
	}
	s.made = append(s.made, &call)
	s.made = s.made[max(len(s.made)-s.most*longestRound, 0):]
	return false
}

// last is the call that was read last.
func (s *sameness) last() chat.Call { return s.calls.Calls[len(s.calls.Calls)-1] }

// rounds is how many calls the round has that was gone often enough; 0: there is none. With at most 3 the calls a b a b a b
// make a round of two: the list without its last two calls is equal to the list without its first two.
func (s *sameness) rounds() int {
	for n := 1; n <= longestRound; n++ {
		if last := len(s.made) - n*s.most; last >= 0 && slices.EqualFunc(s.made[last:len(s.made)-n], s.made[last+n:], (*madeCall).is) {
			return n
		}
	}
	return 0
}

// madeCall is a call that was made. The one way to write its arguments is found when it is first compared with another spelling:
// nearly every reply ends before there is anything to compare.
type madeCall struct {
	chat.Call
	value string // of the arguments, as canonical has it; empty: not found yet
}

// is says whether two calls are the same to whoever runs them.
func (c *madeCall) is(other *madeCall) bool {
	return c.Name == other.Name && (bytes.Equal(c.Args, other.Args) || c.canonical() == other.canonical())
}

// canonical is the one way to write the arguments.
func (c *madeCall) canonical() string {
	if c.value == "" {
		c.value = canonical(c.Args)
	}
	return c.value
}

// canonical is a value written the one way that depends on nothing but the value: {"a":1, "b":2} and {"b":2,"a":1} are the same
// call to whoever runs it.
func canonical(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	text, err := chat.JSON(v)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// stop ends the reply. The calls that were sent stand, so it ends as one that is complete.
func (s *sameness) stop() {
	s.j.engine.cfg.Log.Warn().Str("model", s.j.name).Str("tool", s.j.names.forClient(s.last().Name)).Int("times", s.most).
		Msg("the model makes the same calls over and over: the reply is ended (setting max-same-calls)")
	for ev, err := range all(s.j.cutShort(s.bytes, chat.Stop, "the model made the same calls over and over", stepSame)) {
		if !s.yield(ev, err) {
			return
		}
	}
}
