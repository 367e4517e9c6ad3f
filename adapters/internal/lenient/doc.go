// Package lenient reads JSON as models write it and writes strict JSON, in one pass and append
// only.
//
// A [Reader] reads arguments in a reply that is still coming; [Repair] reads a whole document. Both
// are the same code, so a slip is repaired alike in a stream, in `toolnorm repair` and in what a
// server hands over damaged. Three rules keep it honest:
//
//   - It looks forward by scan.Buffer.At alone, and never further than a bound: maxKey bytes for a key, maxItem for an
//     element, maxRun closers. So time is linear, whatever the text.
//   - What may still be taken back is declared by a hold ([Reader.HoldOn]), never by whether it was sent. A key waits for its
//     value, a comma for the member behind it, a number for its end.
//   - Where the text can be read in two ways, one of them wrong, it says so ([Output].Doubt) instead of choosing: wrong
//     arguments run, a call shown as text does not.
//
// What stands around the arguments is the recognisers' business. Two questions are all that is
// asked of it; see Outside.
//
// The files, from the bytes up:
//
//	text.go        what stands at an offset: quotes, keys, signs, comments
//	reader.go      the Reader: its parts, its state, what it asks of the outside
//	output.go      what is written: holds, what is settled, repairs
//	space.go       copying white space of every kind; comments
//	string.go      strings: delimiters, escapes, paths of Windows
//	quotes.go      quotes inside strings: which of them close
//	scalar.go      keys, numbers, literals, phrases without quotes
//	containers.go  objects, lists, tuples and sets
//	closers.go     closers that are missing, doubled or wrong
//	follow.go      what may follow a value: where a string ends
//	member.go      members by their keys: which of the schema one means, which is left out, which holds all arguments
//	standin.go     other values that stand for an object; text as a value
//	listed.go      arguments in a notation of no family: lines, elements, flags, a query
//	damaged.go     what damaged arguments mean, by all ways to read them
//	python.go      literals as Python writes them
//	repair.go      whole documents: where in a text the JSON is
package lenient
