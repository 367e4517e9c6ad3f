// Package adapters decodes the replies of models to events, and prints calls as the models would
// have written them.
//
// A [Format] is an example of a model family's own output with placeholders: one small text file
// that is documentation, parser, printer and test at once (families/*.txt). [Format.Decode] reads a
// reply while it streams, [Format.Append] is its inverse, and [Format.Grammar] says what a model
// may write.
//
// The package is arranged as follows, from the bytes up. The decoder builds on internal packages:
//
//	internal/scan         the buffer over a reply's text; At(i) is the only way to look forward
//	internal/toolset      which offered tool a name means, in the spellings of models
//	internal/prose        whether the text around a mark means it: announcements in ten languages, quotations, pages
//	internal/claim        whether text between calls announces the next or claims an answer
//	internal/repair       every reading of damaged arguments that is likely, by search
//	internal/lenient      the reader of arguments as models write them, and the repair of documents: strict JSON out
//	internal/wrapper      wrappers: texts that name a tool and contain its arguments
//	internal/notation     calls in any notation: a tool, its parameters with values, and structure
//	internal/restore      the texts that a call with damaged marks may have been meant as
//	internal/form         calls in any arrangement, read whole and to the byte
//	internal/declaration  the text file of a family: patterns, literals, the index of all marks
//	internal/print        the way back: calls as text, and the text that teaches them
//	internal/grammar      the same as a grammar: which texts are calls that fit their schemas
//
// What callers see:
//
//	set.go         Set and Format: families read together; the family of a model's name
//	format.go      the embedded families; Decode; arguments and documents that no reply holds
//	options.go     the decoder's options; the names of repairs
//	meant.go       Meant: whether the words around a call mean it
//	write.go       Append, Prompt, Grammar: calls, results, prompts; names that can be carried
//
// The decoder of a reply, from the bottom up. Each part is a type that knows the parts above it in
// this list; it reaches those below through an interface (taker, opener). The input, the text and
// the output:
//
//	decode.go      decoder: the parts put together; the run and the end of a reply
//	input.go       input: pieces from the source, and which bytes of them may be dropped
//	literal.go     marks: literals, in all the ways in which models write them
//	marks.go       marks: which marks are here, and whether they end a call or a turn
//	page.go        outlet and page: where events are sent; decided text, and the text around a mark
//	code.go        code: which text is code: fenced blocks and spans
//	trial.go       trial: attempts to read a call, which can be taken back
//	calls.go       calls: a call from its certain point to its end; calls that were cut
//	template.go    calls that a model only shows: with placeholders for all values, or the user's own
//	counted.go     counted: which calls of a reply count: none after a made-up result, none twice
//
// What is recognised as a call:
//
//	name.go        names: names of tools and ids, up to where they end
//	closers.go     closers: brackets, fences and closers around arguments
//	outside.go     outside: the text that can follow a call's arguments
//	arguments.go   arguments: the value of an arguments member, and other values in its place
//	decide.go      the meaning of arguments if something in them was odd
//	stopped.go     whether such arguments are correct and were cut by the reply's end
//	envelope.go    objects: {"name": …, "arguments": …} and its many spellings
//	list.go        objects in a row; {"NAME": {…}}; elements of a list that are not calls
//	python.go      python: f(a=1, b="x")
//	header.go      headers: the headers of messages, and where messages end
//	tagahead.go    tagsAhead: the heads of arguments in tags
//	tagmarks.go    the tags of a family with slips in them, and the costs of slips
//	tagdress.go    tags with the right name in another form: other angles, </param>
//	tagtail.go     the text after a call: surplus closers show that it was not over
//	tagwhole.go    whether the tags after a call form whole calls
//	tagged.go      tagged: <parameter=key>value</parameter>
//	tagcdata.go    values in CDATA
//	tagvalue.go    the value of a tag, and where it ends in text written as its family does
//	tagsimple.go   where a value ends in tags that the search does not know
//	tagplan.go     a call whose rest is decided as a whole, since something else was written
//	tagsearch.go   the readings of such a call, and the slips that each assumes
//	tagnext.go     the text after a value there
//	tagtokens.go   the tags in its text, and which of them belong together
//	tagchoice.go   which reading counts
//	tagborder.go   texts that look like a tag where one is missing
//	tagunsure.go   values that may be due to a second slip, in a call with one slip
//	tagodd.go      texts that are dressed as values, or escaped once more
//	taglist.go     lists in values that are not written as JSON
//	tree.go        tags in tags, named like the parameters
//	message.go     messages: formats made of messages (harmony), and bodies that are not JSON
//	formed.go      calls in a form that is read whole
//	match.go       patterns: calls by the patterns of families
//
// What decides whether it is meant as a call:
//
//	draft.go       drafts: calls that are read before it is known that they are calls; checkpoints
//	heard.go       heard: how the conversation explains a call
//	doubt.go       doubt: marks that may be mentions, and texts that announce a call
//	bare.go        unmarked: calls without marks
//	headless.go    calls whose opening mark is missing
//	wrapper.go     wrappers: whole replies that hold calls in no known form
//	restored.go    replies that are calls with slips in their marks
//	unread.go      replies in a family's own marks that nothing reads
//	notated.go     notated: replies that end in a call in any notation
//	spoken.go      whether the conversation mentions the values of such a call
//	fence.go       calls in fenced blocks
//	reasoning.go   thinking: the reasoning state
//	openers.go     openers: the order of decisions at a mark
//	section.go     sections of calls; results that a model makes up after a call
//	start.go       start: elements that the prompt has already opened
//	text.go        text: the reply outside of reasoning
//
// A call in tags that is written as its family writes it is read as it arrives. At the first
// deviation the rest of the call is held back, and its whole text decides. Each reading has a cost,
// the sum of the slips that it assumes. The cheapest counts if no other reading of nearly the same
// cost gives other values. Else the call is in doubt, and becomes text. This keeps four rules: a
// tag at the border of a value is never part of it; surplus closers at the end of the reply show
// that an earlier end was content; a call that stops inside a value is cut; and in a call with a
// slip, anything that a second slip may have caused, such as a text in quotes or a tag inside a
// value, is a second reading. Generators of files and of slips test these rules (tagtrip_test.go,
// tagslips_test.go).
//
// Three rules keep the events independent of how the text was cut into chunks. Only At(i) looks
// forward. Output that may still be taken back is declared by a hold, and no code asks whether it
// has been sent. Functions up to the commit return mismatch, incomplete or committed, and functions
// after it cannot fail.
package adapters
