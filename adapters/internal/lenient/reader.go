package lenient

import "toolnorm/adapters/internal/scan"

// Reader reads arguments as models write them, and writes strict JSON. What it writes is append
// only: what may still be taken back is declared by a hold (output.go). It looks forward by At
// alone, so it can stand in a reply that still comes. It reads values, members and closers itself.
// Strings are read by a stringReader, and what may follow a value is asked of what is ahead.
type Reader struct {
	copier          // the text, and what is written of it
	Outside Outside // what stands around the arguments; nil: nothing does
	callState
}

// NewReader returns a reader of a text, around which nothing stands.
func NewReader(text scan.Buffer) *Reader { return &Reader{copier: copier{Text: Text{Buffer: text}}} }

// Outside is what a reader must know of the reply around the arguments that it reads. The decoder
// of a reply answers by the marks of its family, so that a quote in front of "}</tool_call>" closes
// its string, and by what the call it reads needs behind its arguments. Around a document nothing
// stands.
type Outside interface {
	CallMark(i int) bool // a mark that can end or follow a call stands at offset i
	CallEnds(i int) bool // what stands at offset i can follow the arguments as a whole
}

// callState is the state of the reader for one call.
type callState struct {
	open     stack    // open containers
	quotes   quotes   // the string that is read, or was read last
	Seen     []string // keys of the open objects so far, or of tagged arguments
	Unclosed bool     // a container was closed for the model
	strayKey bool     // a key stands in an object whose schema does not know it, while that of one around it does
	wrapper  int      // where the first member begins, while it may hold all arguments; 0: it does not
}

// Reset forgets the state of the arguments that were read. The memory of stack and keys stays:
// calls follow each other. A slip in one call must say nothing about the next: bare keys in the
// first do not make prose in the second a key. Repairs stay: they are of the whole reply.
func (r *Reader) Reset() {
	r.style = style{}
	r.callState = callState{open: r.open[:0], Seen: r.Seen[:0]}
}

// ahead returns what looks ahead from here.
func (r *Reader) ahead() *lookahead { return &lookahead{&r.Text, r.Out, r.open, r.Outside, &r.quotes} }

// IsMark reports whether a mark that can end or follow a call stands at offset i, or a fence that
// ends what is open.
func (r *Reader) IsMark(i int) bool { return r.ahead().isMark(i) }

// strings returns the reader of the string that begins here.
func (r *Reader) strings() *stringReader { return &stringReader{&r.copier, &r.quotes, r.ahead()} }
