package lenient

import "toolnorm/adapters/internal/scan"

// Reader reads arguments as models write them, and writes strict JSON. It can read a reply that is
// still arriving, because it looks forward only through At. Output that may still be taken back is
// marked by a hold (output.go); all other output is final. The Reader itself reads values, members
// and closing brackets. A stringReader reads strings, and a lookahead decides which text may follow
// a value.
type Reader struct {
	copier          // the text and the output
	Outside Outside // the reply around the arguments; nil if there is none
	callState
}

// NewReader returns a reader without an Outside, so nothing surrounds its text.
func NewReader(text scan.Buffer) *Reader {
	return &Reader{copier: copier{Text: Text{Buffer: text}}}
}

// Outside tells a Reader of arguments what may come after them in the reply. The decoder of a reply
// implements it, because it knows the tags of its model family: in "Rome"}</tool_call> they show
// that the quotation mark closes its string. It also knows what its call needs after the arguments.
// For a document that is not in a reply there is no Outside.
type Outside interface {
	CallMark(i int) bool // reports whether a tag at offset i can end or follow a call
	CallEnds(i int) bool // reports whether the text at offset i can follow the arguments
}

// callState is what the reader knows about the call that it reads.
type callState struct {
	open     stack    // open containers
	quotes   quotes   // of the current string, or the last one
	Seen     []string // keys of the open objects so far, or of tagged arguments
	Unclosed bool     // a closing bracket was missing and was added
	// strayKey means that a key is unknown to its object's schema, but not to that of an outer
	// object.
	strayKey bool
	wrapper  int // the start of the first member while it may contain all arguments, otherwise 0
}

// Reset forgets the state of the arguments that were read, so that an error in one call does not
// affect the next. For example, a key without quotation marks in the first call must not make a
// word of prose in the second a key. The memory of the stack and the keys is reused. Repairs are
// not reset, because they belong to the whole reply.
func (r *Reader) Reset() {
	r.style = style{}
	r.callState = callState{open: r.open[:0], Seen: r.Seen[:0]}
}

// ahead returns a value that examines the text after the current position without consuming it.
func (r *Reader) ahead() *lookahead {
	return &lookahead{&r.Text, r.Out, r.open, r.Outside, &r.quotes}
}

// IsMark reports whether the text at offset i ends the arguments: a tag that can end or follow a
// call, or, inside a container, a fence (```).
func (r *Reader) IsMark(i int) bool { return r.ahead().isMark(i) }

// strings returns a reader for the string at the current position.
func (r *Reader) strings() *stringReader { return &stringReader{&r.copier, &r.quotes, r.ahead()} }
