// Package grammar writes what a model of a family may write: a grammar of its calls to the offered
// tools, which a server holds the model to token by token. A call that fits cannot be misspelled,
// has all that it must have, and names a tool that is there, which no repair afterwards can
// promise.
//
// It is the third use of a family's one declaration: what [toolnorm/adapters] reads and
// [toolnorm/adapters/internal/print] prints, a grammar allows. Values are written in the same
// [print.Spelling], so that what stands in a model's prompt is always among what it may write; the
// tests print random calls and read them with the grammar, and read with the decoder what the
// grammar makes at random.
//
// The language is GBNF as llama.cpp reads it. What it cannot say, or would say in rules that a
// server reads for minutes, is left open and reported in Grammar.Dropped; the check of the call
// finds it later. Schemas come from [toolnorm/chat/schema] as places whose references, unions and
// allOf are settled.
//
//	grammar.go  Of: the grammar of a family, and the triggers at which a server begins to hold the model to it
//	calls.go    the calls of a reply: marks, sections, several calls, messages, and where their arguments stand
//	value.go    a place of a schema: choices, spelled by their kind in tags and keywords; references as rules of their own, lists
//	object.go   members, in any order when they are few, and the names that no schema has
//	text.go     strings: quoted, or raw up to the mark that ends them
//	pattern.go  regular expressions and formats as GBNF
//	numbers.go  numbers and their bounds, digit by digit
//	rules.go    the rules in the making, and the words of GBNF
package grammar
