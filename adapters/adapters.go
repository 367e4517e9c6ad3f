// Package adapters turns what a model wrote into events, and calls back into what the model would have written.
//
// A [Format] is an example of a model family's own output with holes: one small text file that is documentation, parser,
// printer and test at once (families/*.txt). [Format.Decode] reads a reply while it streams, [Format.Append] is its
// inverse.
//
// How the decoder is arranged, from the bytes up:
//
//	reader.go                      one buffer over the source; at(i) is the only way to look forward
//	emit.go, draft.go              what leaves: text that is decided, calls and what of their arguments is held, drafts
//	decode.go, text.go             the run of a reply; the text state and the order of decisions at a mark
//	start.go                       what the prompt has opened already
//	reasoning.go, message.go       the reasoning state; formats made of messages with headers (harmony)
//	match.go, name.go, section.go  literals, call patterns, names: no, cut, or committed
//	envelope.go, others.go, named.go, arguments.go  {"name": …, "arguments": …} and its many spellings; {"NAME": …}
//	json.go, string.go, quotes.go, scalar.go, follow.go, closers.go, unwrap.go  the lenient reader of arguments: strict JSON out, append only
//	repair.go                      the same reader for whole documents: finds the JSON in a text
//	tagged.go, tagvalue.go, cdata.go, tree.go  <parameter=key>value</parameter>, typed by schema, and where a value ends
//	python.go                      f(a=1, b="x")
//	bare.go, fence.go              calls without marks, and the evidence they need
//	announce.go, doubt.go, which.go  the words of evidence; marks that may be mentions; how much evidence is asked for
//	code.go                        what stands in code: fenced blocks and spans
//	format.go, lead.go             Format and Set: a declaration (internal/declaration) and the way back (internal/print)
//	carries.go                     both ways: whether a tool's name comes back
//	grammar*.go                    the same as a grammar: which texts are calls that fit their schemas
//
// Three rules keep the events independent of how the text was cut into chunks: only at(i) looks forward; what may still be
// taken back is declared by a hold, never by "has it been sent"; functions up to the commit answer no, cut or committed,
// and functions behind it cannot fail.
package adapters

import (
	"context"
	"iter"

	"toolnorm/chat"
)

// Options are what a Format must know of the request to read its reply.
type Options struct {
	Tools  []chat.Tool       // the tools offered; with none, only reasoning is separated from text
	Also   map[string]string // further names by which a model may call tools, each with the tool's name; nil: none
	Prompt string            // the end of the rendered prompt (64 bytes do): tells whether the reply begins inside reasoning
	Hold   int               // see the constants
	Which  Which             // which texts that look like calls are calls
	Quiet  bool              // calls inside reasoning stay reasoning, even when nothing follows them
	Alone  bool              // read this format only; else the marks of every known format are live, this one's first

	Context context.Context // ends the reading with its error when it is done, also inside a large piece of text; nil: nothing does
}

// Decode reads a reply. Text from the source is decoded; every other event passes through, and no call or mark reaches
// over it. The sequence ends with a Finish event or an error from the source or the context; model text never makes an error. Leaving
// the range closes the source.
func (f *Format) Decode(in chat.Source, o Options) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		defer in.Close()
		newDecoder(f.Family, in, o, yield).run()
	}
}
