// Package lenient reads JSON as models write it and writes strict JSON. It reads in one pass and
// never changes what was sent.
//
// A [Reader] reads arguments in a reply that is still coming; [Repair] reads a whole document. Both
// run the same code, so a slip is repaired in the same way in a stream, in `toolnorm repair` and in
// damaged arguments that a server passes on. The code follows three rules:
//
//   - It looks forward through scan.Buffer.At alone, and never further than a bound: MaxKey bytes
//     for a key, maxItem bytes for an element, maxRun closers. So the time is linear for every
//     text.
//   - A hold ([Reader.HoldOn]) declares what may still be taken back; whether it was sent is never
//     asked. A key is held until its value begins, a comma until the next member, a number until it
//     ends.
//   - Where a text can be read in two ways, the package notes a doubt ([Output].Doubt) instead of
//     choosing: a call with wrong arguments would run, a call that is shown as text does not.
//
// What surrounds the arguments is known to the recognisers only. The reader asks them two questions
// about it; see [Outside].
//
// The files, from the bytes up:
//
//	text.go        what is at an offset: quotes, keys, signs, comments
//	reader.go      the Reader: its parts, its state, its questions to the recogniser
//	output.go      what is written: holds, settled bytes, repairs
//	space.go       copying white space of every kind; comments
//	string.go      strings: delimiters, escapes, Windows paths
//	quotes.go      quotes inside strings: which of them close
//	scalar.go      keys, numbers, literals, phrases without quotes
//	containers.go  objects, lists, tuples and sets
//	closers.go     closers that are missing, doubled or wrong
//	follow.go      what may follow a value: where a string ends
//	member.go      members by their keys: misspelled, omitted, or wrapping all arguments
//	standin.go     values given in place of an object; text as a value
//	listed.go      arguments in lines, in elements, as flags or as a query
//	damaged.go     the meaning of damaged arguments, from all ways to read them
//	literal.go     values as JSON and Python write them, without slips
//	repair.go      whole documents: where in a text the JSON is
package lenient
