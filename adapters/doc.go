// Package adapters turns what a model wrote into events, and calls back into what the model would have written.
//
// A [Format] is an example of a model family's own output with holes: one small text file that is documentation, parser,
// printer and test at once (families/*.txt). [Format.Decode] reads a reply while it streams, [Format.Append] is its
// inverse, and [Format.Grammar] says what a model may write.
//
// Four rooms need nothing of the decoder, and it is what remains here:
//
//	internal/declaration   what a family file says, and the index of all families' marks
//	internal/print         the way back: calls, results and prompts
//	internal/grammar       the same as a grammar for servers that take one
//	internal/lenient       the reader of arguments: JSON as models write it in, strict JSON out; on internal/scan
//
// What other packages call:
//
//	format.go, options.go  Format and Set, Decode; what reading must know of a request
//	write.go, grammar.go   calls, results and prompts as text; whether a tool's name comes back; grammars
//	native.go, reasons.go  calls that a server has parsed, repaired; the names of all repairs
//
// The decoder, from the bytes up:
//
//	reader.go       where text comes from: one buffer over the source; at(i) is the only way to look forward
//	emit.go         what is sent: text that is decided, calls, and what of their arguments is held
//	draft.go        a whole call that is read on trial, and taken back if it is none
//	cut.go          what is kept of a call that the end of the text cut
//	decode.go       the decoder, the run of a reply and its end
//	text.go         the text state: plain bytes, and the order of decisions at a mark
//	start.go        what the prompt has opened already: reasoning, a plain reply, a call
//	reasoning.go    the reasoning state: where it ends, and calls at its end
//	header.go       headers of messages (harmony's <|start|>assistant<|channel|>…)
//	message.go      messages by their routes, and calls in them
//	result.go       results that a model makes up behind its own call
//
// A call with marks, up to its arguments:
//
//	match.go        literals and examples of calls: no, cut, or committed
//	section.go      several calls between the marks of a section
//	headless.go     calls whose opening mark is missing
//	name.go         names and ids, as long as they can still become an offered tool's
//	toolset.go      the offered tools, by the names that models write
//	escaped.go      names with escapes: get\_weather
//	callend.go      the marks behind a call, each of them optional
//
// What stands in a call:
//
//	envelope.go     {"name": …, "arguments": …} and its many spellings
//	others.go       lists whose elements are not all calls
//	named.go        {"NAME": {…}}
//	arguments.go    the value of an arguments member: an object, or what stands for one
//	rawbody.go      program text in the place of arguments
//	tagged.go       <parameter=key>value</parameter>
//	tagvalue.go     where such a value ends, and what type it has
//	cdata.go        values in CDATA
//	tree.go         tags that are named like the parameters, and nest
//	python.go       f(a=1, b="x")
//
// A call without marks, and what is only a mention:
//
//	bare.go         JSON and names with arguments behind text: they need evidence
//	fence.go        fences that hold calls
//	announce.go     the words that announce a call, in ten languages
//	doubt.go        marks that may be mentions wait for what follows
//	code.go         blocks and spans of code, in which nothing is a call
//
// Three rules keep the events independent of how the text was cut into chunks: only at(i) looks forward; what may still be
// taken back is declared by a hold, never by "has it been sent"; functions up to the commit answer no, cut or committed,
// and functions behind it cannot fail.
package adapters
