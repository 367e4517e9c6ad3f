// Package adapters turns what a model wrote into events, and calls back into what the model would have written.
//
// A [Format] is an example of a model family's own output with holes: one small text file that is documentation, parser,
// printer and test at once (families/*.txt). [Format.Decode] reads a reply while it streams, [Format.Append] is its
// inverse, and [Format.Grammar] says what a model may write.
//
// How the package is arranged, from the bytes up. What the decoder stands on has walls of its own:
//
//	internal/scan         the buffer over a reply's text; At(i) is the only way to look forward
//	internal/toolset      which offered tool a name means, in the spellings of models
//	internal/prose        what the text around a mark says of it: announcements in ten languages, quotations, pages
//	internal/claim       whether what stands between two calls announces the second, or claims what the first has answered
//	internal/lenient      the reader of arguments as models write them, and the repair of documents: strict JSON out
//	internal/repair       every reading of damaged arguments that is likely, by search
//	internal/declaration  what the text file of a family says: patterns, literals, the index of all marks
//	internal/print        the way back: calls as text, and the text that teaches them
//	internal/grammar      the same as a grammar: which texts are calls that fit their schemas
//
// What callers see:
//
//	set.go         Set and Format: families that are read together, which of them a model's name means
//	format.go      the embedded families; Decode; arguments and documents that no reply holds
//	options.go     what reading must know of a request; the names of repairs
//	write.go       Append, Prompt, Grammar: calls, results, prompts, and whether a name comes back
//
// The run of a reply, and what leaves:
//
//	decode.go      the decoder, its state by concern, checkpoints, the end of a reply
//	input.go       pieces from the source, and what may be forgotten of them
//	text.go        the text state: the order of decisions at a mark
//	reasoning.go   the reasoning state
//	start.go       what the prompt has opened already
//	counted.go     which calls of a reply count: none behind a made-up result, none twice
//	emit.go        text that is decided, calls and what of their arguments is held, drafts, calls that were cut
//
// What is recognised as a call:
//
//	match.go       literals and call patterns: mismatch, incomplete, matched, committed
//	name.go        names of tools and ids, up to where they end
//	section.go     sections of calls; results that a model makes up behind a call
//	message.go     formats made of messages (harmony), and bodies that are no JSON
//	header.go      the headers of messages
//	envelope.go    {"name": …, "arguments": …} and its many spellings
//	list.go        calls one after the other; {"NAME": {…}}; elements of a list that are no calls
//	arguments.go   the value of an arguments member, and what stands for it
//	decide.go      what arguments mean in which something was odd
//	callend.go     what can follow a call's arguments, and its closers
//	tagged.go      <parameter=key>value</parameter>
//	tagcdata.go    values in CDATA
//	tagvalue.go    the value of a tag, and where it ends in text as its family writes it
//	tagplan.go     a call whose rest is decided as a whole, since something else was written
//	tagsearch.go   the readings of such a call, by what each takes for granted
//	tagtokens.go   the tags in its text, and which of them belong together
//	tagchoice.go   which reading counts
//	tagmarks.go    the tags of a family with slips in them, and what slips cost
//	tagtail.go     what stands behind a call: closers that are left over say that it was not over
//	taglist.go     lists in values that are not written as JSON
//	tree.go        tags in tags, named like the parameters
//	python.go      f(a=1, b="x")
//
// What says whether it is meant as one:
//
//	bare.go        calls without marks
//	headless.go    calls whose opening mark is missing
//	fence.go       calls in fenced blocks
//	code.go        what stands in code: fenced blocks and spans
//	doubt.go       marks that may be mentions, and what announces a call
//
// A call in tags that is written as its family writes it is read as it comes. At the first thing that is not, nothing more of
// it leaves, and its whole text decides: each way to read it costs what it takes for granted, and the cheapest counts if no
// other one of nearly its cost gives other values. Else the call is in doubt, and becomes text.
// The laws that this keeps: a tag at the border of a value is never part of it; closers that are left over at the end of the
// reply show that an earlier end was content; and a call that stops inside a value is cut.
// Generators of files and of slips hold it to them (tagtrip_test.go, tagslips_test.go).
//
// Three rules keep the events independent of how the text was cut into chunks: only At(i) looks forward; what may still be
// taken back is declared by a hold, never by "has it been sent"; functions up to the commit answer mismatch, incomplete or
// committed, and functions behind it cannot fail.
package adapters
