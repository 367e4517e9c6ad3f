// Package window estimates how many tokens a conversation takes, chooses the length of its context,
// and leaves out parts of it when that is not enough.
package window

import (
	"toolnorm/chat"
)

const (
	// Smallest is the shortest context that is requested, in tokens. Shorter ones save little
	// memory, and for each longer one the server has to load the model again.
	Smallest = 8192
	// Most is the longest context that is requested by default.
	Most = 32768
	// maxRoom is how many tokens are kept free for a reply if the client sets no limit.
	maxRoom = 2048
)

// Limits are the lengths, in tokens, that bound the context of a model. An unknown length is 0.
type Limits struct {
	Trained int // the length that the model was trained with
	Loaded  int // the length with which it is loaded now
	Most    int // the longest that may be requested
}

// Choose returns the context length for a request that needs the given number of tokens, including
// its reply. If the model is loaded with a context that is long enough, that is kept, since any
// other makes the server load the model again. Otherwise the length grows by powers of two, up to
// the limits. It is never shorter than the loaded one.
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

// Room returns how many tokens are kept free for the reply in a context of n tokens. This is the
// number that the client wants, or maxRoom if it names none, but at most a quarter of the context.
// Many agents ask for 32,000 tokens in every request, which would leave no room for the
// conversation.
func Room(wanted, n int) int {
	if wanted <= 0 {
		wanted = maxRoom
	}
	return min(wanted, n/4)
}

// The parts of a request besides its texts, as bytes of text with as many tokens.
const (
	messageBytes = 20   // the tags around a message
	callBytes    = 40   // the tags around a call
	toolBytes    = 80   // the tags around a tool
	imageBytes   = 3000 // a picture
)

// MessageBytes returns how many bytes of text a message amounts to for a model. Reasoning is
// included, although some templates leave it out. An estimate that is too high costs memory, but
// one that is too low costs a refusal.
func MessageBytes(m chat.Message) int {
	n := messageBytes + len(m.Content) + len(m.Reasoning) + imageBytes*len(m.Images)
	for _, c := range m.Calls {
		n += callBytes + len(c.Name) + len(c.Args)
	}
	return n
}

// ToolBytes returns how many bytes of text a tool amounts to for a model.
func ToolBytes(t chat.Tool) int {
	return toolBytes + len(t.Name) + len(t.Description) + len(t.Schema)
}

// Bytes returns how many bytes of text a request amounts to for a model.
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
