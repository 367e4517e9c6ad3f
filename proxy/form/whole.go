package form

import (
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Whole is the base of a reply that is written in one piece. It collects the same events that a
// stream would write, so a model's output is interpreted in only one way. The type that embeds
// Whole writes the reply in Close.
type Whole struct {
	Out   Out
	Model string
	// whether an empty reply is not an error, because of the client's stop sequences or in this
	// form
	MayBeEmpty bool

	Reply chat.Collector
}

// Event collects one event. It always returns nil. A call that never ends is not part of the reply.
func (w *Whole) Event(e chat.Event) error {
	w.Reply.Add(e)
	return nil
}

// Flush does nothing and returns nil, since a whole reply has no pieces.
func (w *Whole) Flush() error { return nil }

// Ping does nothing and returns nil. A whole reply can send nothing before its end, because its
// status is not known earlier.
func (w *Whole) Ping(string) error { return nil }

// Ended returns err, or the error of a reply that has no Finish event or is empty although it must
// not be. It returns nil for any other reply.
func (w *Whole) Ended(err error) error {
	return Ended(err, w.Reply.End, !w.MayBeEmpty &&
		w.Reply.Text.Len()+w.Reply.Reasoning.Len() == 0 && len(w.Reply.Complete()) == 0)
}

// Ended returns err if it is not nil. Otherwise it returns the error of a reply that has no Finish
// event or is empty, and nil for any other reply. A reply that was cut at its token limit may be
// empty, because its finish reason tells the client why.
//
// Any other empty reply would make agents repeat their request for ever: the editor Void shows it
// as an error of its own, and Qwen Code repeats the request at once. Its fault tells clients not to
// retry, since each repetition costs a generation that will end in the same way.
func Ended(err error, end *chat.Event, empty bool) error {
	switch {
	case err != nil:
		return err
	case end == nil:
		return fault.New(fault.Unavailable, "the reply ended without saying why")
	case !empty || end.Text == chat.Length:
		return nil
	}
	f := fault.New(fault.Failed, "the model ended its reply without writing anything")
	f.Code = "empty_reply"
	return f
}

// Later holds back what a model wrote after a whole call, and the end of that call, until the reply
// ends. It is for APIs whose clients run a call as soon as it is whole (Responses, Messages). They
// must run no call of a reply that is cut or fails.
//
// A whole call in a cut reply is left out as well. Codex would run it and then fail the turn, so
// that the model never learns the result. Claude Code would run it and ask for the rest, and a
// model that is cut each time would make the call each time.
type Later struct {
	Whole bool     // whether the last call is whole, and everything after it waits
	Cut   []string // the names of the calls of a reply that was cut, none of which may run

	events []chat.Event
}

// Wait holds an event back if a whole call came before it, and returns how many events are held
// back now. If that is 0, the caller must write the event itself.
func (l *Later) Wait(e chat.Event) int {
	if l.Whole {
		l.events = append(l.events, e)
	}
	return len(l.events)
}

// End ends the reply, and returns the events that were held back. whole is false if the reply was
// cut. In that case rest has no events of calls, and the Finish event says that the reply was cut.
// The parameter open is true if a call that was not held back has begun and not ended.
func (l *Later) End(end *chat.Event, open bool) (rest []chat.Event, whole bool) {
	rest, l.events = l.events, nil
	var names []string
	for _, e := range rest {
		switch e.Kind {
		case chat.CallStart:
			open, names = true, append(names, e.Text)
		case chat.CallEnd:
			open = false
		}
	}
	if !IsCut(end, open) {
		return rest, true
	}
	end.Text, l.Whole, l.Cut = chat.Length, false, append(l.Cut, names...)
	return slices.DeleteFunc(rest, func(e chat.Event) bool { return IsCall(e.Kind) }), false
}

// IsCut reports whether a reply that ends with this Finish event is incomplete. It is if the token
// limit was reached, or if a call has begun and not ended (open). Some servers give the reason
// "stop" in the second case, too.
func IsCut(end *chat.Event, open bool) bool { return open || end.Text == chat.Length }
