package adapters

import "toolnorm/adapters/internal/scan"

// argReader reads arguments as models write them, and writes strict JSON. What it writes is append only: what may still be
// taken back is declared by a hold (output.go). It looks forward by at alone, so it can stand in a reply that still comes.
type argReader struct {
	scan.Buffer
	argState
	call    *call    // what is being written; nil: nothing is
	spare   call     // the output of scratch
	repairs []string // what was mended, each once
	outside outside  // what stands around the arguments; nil: nothing does
}

// outside is what a reader must know of the reply around the arguments that it reads.
type outside interface {
	CallMark(i int) bool // a mark that can end or follow a call stands at offset i
	CallEnds(i int) bool // what stands at offset i can follow the arguments as a whole
}

// isMark says whether a mark that can end or follow a call stands at offset i. A fence ends what is open.
func (d *argReader) isMark(i int) bool {
	return d.outside != nil && d.outside.CallMark(i) || len(d.stack) > 0 && d.Has(i, "```")
}

// argumentsEnd says whether what stands at offset i can follow the arguments as a whole; behind a document anything can.
func (d *argReader) argumentsEnd(i int) bool { return d.outside == nil || d.outside.CallEnds(i) }

// reset forgets the state of the arguments that were read.
func (d *argReader) reset() { d.argState = argState{stack: d.stack[:0], seen: d.seen[:0]} }

// argState is the state of the argument reader, for one call.
type argState struct {
	stack      []level  // open containers
	quotes     []delim  // delimiters of {pseudo}; nil in JSON
	seen       []string // keys of tagged arguments so far
	python     bool     // inside a Python call
	positional bool     // the last value of the Python call has no name
	inKey      bool     // inside a key, which ends at its first quote
	stringAt   int      // where the string being read begins
	quoted     int      // how many of its own quotes the string being read has inside
	escaped    int      // how many double quotes it has that are escaped
	firstQuote int      // where the first of those that are not stands; -1: none does
	endsEarly  bool     // the first of them looked like its end
	inner      bool     // the string being read has quotes inside that are not escaped
	noColons   bool     // a key without a colon was seen
	bareKeys   bool     // a key without quotes was seen
	unclosed   bool     // a container was closed for the model
	strayKey   bool     // a key stands in an object whose schema does not know it, while that of one around it does
	wrapper    int      // where the first member begins, while it may hold all arguments; 0: it does not
}
