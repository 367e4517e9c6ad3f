// Package window estimates how many tokens a conversation takes, chooses the length of its context,
// and leaves out parts of it when that is not enough.
package window

import (
	"toolnorm/chat"
)

const (
	// Smallest is the shortest context that is asked for, in tokens. Shorter ones save little
	// memory, and each growth has the server load the model again.
	Smallest = 8192
	// Most is the longest context that is asked for by default.
	Most = 32768
	// maxRoom is how many tokens are kept free for a reply when the client sets no limit.
	maxRoom = 2048
)

// Limits bound the context of a model, in tokens; 0: not known.
type Limits struct {
	Trained int // what the model was trained with
	Loaded  int // what it is loaded with now
	Most    int // what may be asked for
}

// Choose returns the context for a request of that many tokens, the reply's included. A context
// that is loaded and long enough is kept, since any other makes the server reload the model;
// otherwise it grows by powers of two, up to the limits. A loaded context is never made shorter.
func (l Limits) Choose(need int) int {
	if l.Loaded >= need && l.Loaded > 0 {
		return l.Loaded
	}
	n := Smallest
	for n < need {
		n *= 2
	}
	for _, limit := range []int{l.Trained, l.Most} {
		if limit > 0 {
			n = min(n, limit)
		}
	}
	return max(n, l.Loaded)
}

// Room returns how many tokens are kept free for the reply in a context of n tokens: what the
// client wants, but no more than a quarter. Many agents ask for 32,000 tokens in every request,
// which would leave no room for the conversation.
func Room(wanted, n int) int {
	if wanted <= 0 {
		wanted = maxRoom
	}
	return min(wanted, n/4)
}

// The parts of a request besides its texts, as bytes of text that take as many tokens.
const (
	messageBytes = 20   // the marks around a message
	callBytes    = 40   // the marks around a call
	toolBytes    = 80   // the marks around a tool
	imageBytes   = 3000 // a picture
)

// MessageBytes returns how much text a message is to a model, in bytes. Reasoning counts, though
// some templates leave them out: an estimate that is too high costs memory, one that is too low
// costs a refusal.
func MessageBytes(m chat.Message) int {
	n := messageBytes + len(m.Content) + len(m.Reasoning) + imageBytes*len(m.Images)
	for _, c := range m.Calls {
		n += callBytes + len(c.Name) + len(c.Args)
	}
	return n
}

// ToolBytes returns how much text a tool is to a model, in bytes.
func ToolBytes(t chat.Tool) int {
	return toolBytes + len(t.Name) + len(t.Description) + len(t.Schema)
}

// Bytes returns how much text a request is to a model, in bytes.
func Bytes(r *chat.Request) int {
	n := 0
	for _, m := range r.Messages {
		n += MessageBytes(m)
	}
	for _, t := range r.Tools {
		n += ToolBytes(t)
	}
	if r.Continue != nil {
		n += len(r.Continue.Prompt) + len(r.Continue.Suffix)
	}
	return n
}
