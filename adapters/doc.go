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
//	announce.go, doubt.go          the words of evidence; marks that may be mentions
//	code.go                        what stands in code: fenced blocks and spans
//	format.go, options.go          Format and Set by what is declared (internal/declaration); what reading must know of a request
//	write.go                       the way back (internal/print): calls, results, prompts, and whether a name comes back
//	grammar*.go                    the same as a grammar: which texts are calls that fit their schemas
//
// Three rules keep the events independent of how the text was cut into chunks: only at(i) looks forward; what may still be
// taken back is declared by a hold, never by "has it been sent"; functions up to the commit answer no, cut or committed,
// and functions behind it cannot fail.
package adapters
