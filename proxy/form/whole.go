package form

import (
	"slices"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Whole is the base of a reply that is written in one piece: it collects the same events that a
// stream would write, so a model's output is read in only one way. The type that embeds Whole
// writes the reply in Close.
type Whole struct {
	Out   Out
	Model string
	// the client's stop sequences may leave nothing, or nothing is a right answer in this form
	MayBeEmpty bool

	Reply chat.Collector
}

// Event collects one event. A call that is never finished is left out.
func (w *Whole) Event(e chat.Event) error {
	w.Reply.Add(e)
	return nil
}

// Flush does nothing: a whole reply has no pieces.
func (w *Whole) Flush() error { return nil }

// Ping does nothing: nothing can be sent before the status is known, at the end.
func (w *Whole) Ping(string) error { return nil }

// Ended returns the error of a reply that ended badly, nil when it ended well.
// A reply that was cut at its token limit may be empty: its finish reason tells the client why.
func (w *Whole) Ended(err error) error {
	switch {
	case err != nil:
		return err
	case w.Reply.End == nil:
		return ErrUnfinished()
	case w.MayBeEmpty || w.Reply.End.Text == chat.Length ||
		w.Reply.Text.Len()+w.Reply.Reasoning.Len() > 0 || len(w.Reply.Complete()) > 0:
		return nil
	}
	return ErrEmpty()
}

// ErrUnfinished returns the fault of a reply whose events end without a Finish.
func ErrUnfinished() error {
	return fault.New(fault.Unavailable, "the reply ended without saying why")
}

// ErrEmpty returns the fault of a model that stopped without writing anything: an empty reply makes
// agents repeat their request for ever. Void shows it as an error of its own, and Qwen Code repeats
// the request at once. Clients are told to give up, since each repetition costs a generation that
// will end in the same way.
func ErrEmpty() error {
	f := fault.New(fault.Failed, "the model ended its reply without writing anything")
	f.Code = "empty_reply"
	return f
}

// Later holds back what a model wrote after a whole call until the reply ends, and with it the end
// of the call. It is for APIs whose clients run a call as soon as they see that it is whole
// (Responses, Messages): of a reply that is cut or breaks off, they must run nothing.
//
// A whole call in a cut reply is left out as well. Codex would run it and then fail the turn, so
// that the model never learns the result; Claude Code would run it and ask for the rest, and a
// model that is cut each time would make the call each time.
type Later struct {
	Whole bool     // the last call is whole, and what follows it waits
	Cut   []string // the calls of a reply that was cut, by name: none of them may run

	events []chat.Event
}

// Wait keeps an event that has to wait, and returns how many events wait now; 0 means that the
// event need not wait.
func (l *Later) Wait(e chat.Event) int {
	if l.Whole {
		l.events = append(l.events, e)
	}
	return len(l.events)
}

// End ends the reply, and returns the events that waited and whether the reply is whole. If the
// reply was cut, end is changed to say so, and the events of calls are left out. Open says that a
// call which did not wait has not ended.
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

// IsCut reports whether a reply with this end was cut: at its limit, or inside a call, for which
// some servers give the reason "stop".
func IsCut(end *chat.Event, open bool) bool { return open || end.Text == chat.Length }
