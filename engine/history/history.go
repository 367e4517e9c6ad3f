// Package history turns a conversation, as clients write it, into one that every template takes:
// each result after the call that it answers, every call with an id of its own, no call repeated in
// the text, and no text lost.
//
//	pair.go    ids of calls, and which result answers which call
//	repeat.go  calls that the text of the same message repeats
//	strict.go  templates that want system text first, and user and assistant in turn
package history

import (
	"slices"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// The values of Policy.Reasoning say which turns of the assistant keep their reasoning.
const (
	None = "none" // no turn
	Last = "last" // the turns after the last user message, which are the work in progress
	// every turn; the model's template leaves out what the model was not trained to see
	All = "all"
)

// Policies returns the values of Policy.Reasoning.
func Policies() []string { return []string{None, Last, All} }

// Policy describes the needs of a model and its template. With the zero value only the needs of
// every template are met: pairs, ids and order of results.
type Policy struct {
	Reasoning string // None, Last or All; empty: All
	// the template wants system text first, and user and assistant in alternation
	Strict bool
	// the format of the model's calls; nil: texts are not searched for repeated calls
	Format *adapters.Format
	Tools  []chat.Tool // the offered tools, for reading such text
}

// The codes of a Note, which say what was changed.
const (
	// a call had no id or one used before, or a result had the id of no open call and was paired by
	// order
	CallIDs = "call-ids"
	Orphans = "orphan-results" // a result that answers no call is shown as the user's message
	// a result was not directly after its call, or in another order than the calls
	Moved    = "moved-results"
	Repeated = "repeated-calls" // an assistant's text repeated its calls
	// turns of one role were joined, or a late system message became the user's
	Roles = "roles"
)

// Note is one change to a message. Index is the message's place in the client's conversation,
// because operators and clients read notes in the header Toolnorm-History, and look for the message
// there.
type Note struct {
	Index int
	Code  string
}

// turn is a message with its index in the client's conversation. Notes about changes name that
// index.
type turn struct {
	chat.Message
	at int
}

// talk is a conversation while Normal changes it, step by step.
type talk struct {
	turns []*turn
	notes []Note
	noted map[Note]bool // the notes as a set
}

// Normal returns the conversation in a form that templates accept, and notes of what was changed.
// It does not change the given messages. Applied to its own result, it changes nothing. The order
// of the steps matters. Texts are compared with calls that already have their ids, and roles are
// made to alternate last, when every result has its place.
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

// note records a change to the message that has the index at in the client's conversation. Each
// kind of change (code) is recorded once per message.
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

// forget removes the assistant's reasoning according to the policy. By default it removes nothing,
// because templates know best. Most print reasoning only until the user speaks again, some always,
// and some never, as each model was trained.
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
