package lenient

import "toolnorm/adapters/internal/scan"

// Reader reads arguments as models write them, and writes strict JSON. A hold (output.go) declares
// what may still be taken back; everything else that was written is final. The Reader looks forward
// through At alone, so it can read a reply that is still arriving. It reads values, members and
// closers itself; a stringReader reads strings, and a lookahead decides what may follow a value.
type Reader struct {
	copier          // the text and the output
	Outside Outside // the reply around the arguments; nil: there is none
	callState
}

// NewReader returns a reader of a text that nothing surrounds.
func NewReader(text scan.Buffer) *Reader {
	return &Reader{copier: copier{Text: Text{Buffer: text}}}
}

// Outside tells a Reader what it must know about the reply around the arguments. The decoder of a
// reply knows the marks of its family, so that a quote before "}</tool_call>" closes its string,
// and what its call needs after the arguments. A document has no Outside.
type Outside interface {
	CallMark(i int) bool // reports whether a mark at offset i can end or follow a call
	CallEnds(i int) bool // reports whether the text at offset i can follow the arguments
}

// callState is the state of the reader for one call.
type callState struct {
	open     stack    // open containers
	quotes   quotes   // of the current string, or the last one
	Seen     []string // keys of the open objects so far, or of tagged arguments
	Unclosed bool     // a closer was missing and was written
	// a key is unknown to its object's schema, but known to that of an outer object
	strayKey bool
	wrapper  int // where the first member begins, while it may hold all arguments; else 0
}

// Reset forgets the state of the arguments that were read, so that a slip in one call does not
// affect the next: bare keys in the first must not make prose in the second a key. The memory of
// stack and keys is reused. Repairs are kept, since they belong to the whole reply.
func (r *Reader) Reset() {
	r.style = style{}
	r.callState = callState{open: r.open[:0], Seen: r.Seen[:0]}
}

// ahead returns a lookahead at the current position.
func (r *Reader) ahead() *lookahead {
	return &lookahead{&r.Text, r.Out, r.open, r.Outside, &r.quotes}
}

// IsMark reports whether there is a mark at offset i that can end or follow a call, or a fence that
// ends the open containers.
func (r *Reader) IsMark(i int) bool { return r.ahead().isMark(i) }

// strings returns the reader of the string that begins here.
func (r *Reader) strings() *stringReader { return &stringReader{&r.copier, &r.quotes, r.ahead()} }
