package lenient

import "toolnorm/adapters/internal/scan"

// Reader reads arguments as models write them, and writes strict JSON. What it writes is append only: what may still be
// taken back is declared by a hold (output.go). It looks forward by at alone, so it can stand in a reply that still comes.
type Reader struct {
	scan.Buffer
	argState
	Out     *Output  // what is being written; nil: nothing is
	Spare   Output   // the output of Capture
	Repairs []string // what was repaired, each once
	Outside Outside  // what stands around the arguments; nil: nothing does
}

// Outside is what a reader must know of the reply around the arguments that it reads. The decoder of a reply answers by the
// marks of its family, so that a quote in front of "}</tool_call>" closes its string, and by what the call it reads needs
// behind its arguments. Around a document nothing stands.
type Outside interface {
	CallMark(i int) bool // a mark that can end or follow a call stands at offset i
	CallEnds(i int) bool // what stands at offset i can follow the arguments as a whole
}

// IsMark reports whether a mark that can end or follow a call stands at offset i. A fence ends what is open.
// A fence counts inside a container only: at its end the model has stopped writing the call, whatever is still open.
func (r *Reader) IsMark(i int) bool {
	return r.Outside != nil && r.Outside.CallMark(i) || len(r.stack) > 0 && r.Has(i, "```")
}

// argumentsEnd says whether what stands at offset i can follow the arguments as a whole; behind a document anything can.
func (r *Reader) argumentsEnd(i int) bool { return r.Outside == nil || r.Outside.CallEnds(i) }

// Reset forgets the state of the arguments that were read. The memory of stack and keys stays: calls follow each other.
// Repairs stay: they are of the whole reply.
func (r *Reader) Reset() { r.argState = argState{stack: r.stack[:0], Seen: r.Seen[:0]} }

// argState is the state of the argument reader, for one call.
// A slip in one call must say nothing about the next: bare keys in the first do not make prose in the second a key.
type argState struct {
	stack        []level  // open containers
	Quotes       []Delim  // delimiters of {pseudo}; nil in JSON
	Seen         []string // keys of tagged arguments so far
	Python       bool     // inside a Python call
	Positional   bool     // the last value of the Python call has no name
	inKey        bool     // inside a key, which ends at its first quote
	stringAt     int      // where the string being read begins
	quoted       int      // how many of its own quotes the string being read has inside
	escaped      int      // how many double quotes it has that are escaped
	beginsQuoted bool     // the first of those that are not stands at its beginning
	endsEarly    bool     // the first of them looked like its end
	inner        bool     // the string being read has quotes inside that are not escaped
	noColons     bool     // a key without a colon was seen
	bareKeys     bool     // a key without quotes was seen
	Unclosed     bool     // a container was closed for the model
	strayKey     bool     // a key stands in an object whose schema does not know it, while that of one around it does
	wrapper      int      // where the first member begins, while it may hold all arguments; 0: it does not
}
