// Package history makes of a conversation, as clients write it, one that every template takes: each
// result behind the call that it answers, ids that are there and differ, no call said twice, and no
// text lost.
//
//	pair.go    ids of calls, and which result answers which call
//	repeat.go  calls that the text beside them repeats
//	strict.go  templates that want system text first, and user and assistant in turn
package history

import (
	"slices"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Which turns of the assistant keep what it thought.
const (
	None = "none" // no turn
	Last = "last" // those behind the last user message: the work that goes on
	All  = "all"  // every turn; the model's template leaves out what the model was taught to do without
)

// Policies returns the names of the above.
func Policies() []string { return []string{None, Last, All} }

// Policy is what a model and its template want. The zero value puts right what is wrong, and
// nothing else: pairs, ids and order of results, which no template can do without.
type Policy struct {
	Reasoning string           // None, Last or All; empty: All
	Strict    bool             // the template wants system text first, and user and assistant in turn
	Format    *adapters.Format // in which the model writes calls; nil: text that repeats calls is not looked for
	Tools     []chat.Tool      // that are offered, for reading such text
}

// What a Note says was done.
const (
	CallIDs  = "call-ids"       // a call had no id or one used before, or a result named no open call and was paired by order
	Orphans  = "orphan-results" // a result that answers no call is shown as the user's message
	Moved    = "moved-results"  // a result stood elsewhere than behind its call, or in another order than the calls
	Repeated = "repeated-calls" // an assistant's text repeated its calls
	Roles    = "roles"          // turns of one role were joined, or a late system message became the user's
)

// Note is one thing that was done, to the message with that index in the client's count: operators
// and clients see these (Toolnorm-History), and look for the message where they wrote it.
type Note struct {
	Index int
	Code  string
}

// turn is a message and where the client had it, since notes speak of the client's count.
type turn struct {
	chat.Message
	at int
}

// talk is a conversation on its way through the steps.
type talk struct {
	turns []*turn
	notes []Note
	noted map[Note]bool // the same
}

// Normal returns the conversation as a template takes it, and notes of what was changed. It does
// not change the given messages, and its own output goes through it unchanged. The steps go in this
// order: texts are compared with calls that have their ids, and roles are put in turn last, when
// every result has its place.
func Normal(ms []chat.Message, p Policy) ([]chat.Message, []Note) {
	t := &talk{turns: make([]*turn, len(ms))}
	own := make([]turn, len(ms))
	for i, m := range ms {
		m.Calls = slices.Clone(m.Calls)
		own[i] = turn{m, i}
		t.turns[i] = &own[i]
	}
	t.pair()
	if p.Format != nil {
		t.unrepeat(p.Format, p.Tools)
	}
	t.forget(p.Reasoning)
	if p.Strict {
		t.alternate()
	}
	out := make([]chat.Message, len(t.turns))
	for i, turn := range t.turns {
		out[i] = turn.Message
	}
	slices.SortStableFunc(t.notes, func(a, b Note) int { return a.Index - b.Index })
	return out, t.notes
}

// note records what was done to the message with the client's index, each thing once a message.
func (t *talk) note(at int, code string) {
	n := Note{at, code}
	if t.noted == nil {
		t.noted = map[Note]bool{}
	}
	if !t.noted[n] {
		t.noted[n] = true
		t.notes = append(t.notes, n)
	}
}

// forget removes what the assistant thought, where the policy says so. By default it removes
// nothing: templates know best, since most print reasoning only until the user speaks again, some
// always, some never, as each model was trained.
func (t *talk) forget(policy string) {
	if policy == "" || policy == All {
		return
	}
	end := len(t.turns)
	if policy == Last {
		for end > 0 && t.turns[end-1].Role != chat.User {
			end--
		}
	}
	for i := range t.turns[:end] {
		t.turns[i].Reasoning = ""
	}
}
