// Package grammar builds a grammar of a family's calls to the offered tools, which a server
// enforces token by token while the model writes. A call that fits the grammar is spelled
// correctly, has all required members, and names an offered tool, which no later repair can
// guarantee.
//
// The grammar comes from the same declaration as the decoder of [toolnorm/adapters] and the printer
// of [toolnorm/adapters/internal/print]. Values have the same [print.Spelling] as in prompts, so a
// model may always write what its prompt shows. The tests match random printed calls against the
// grammar, and decode random texts that the grammar generates.
//
// The language is GBNF as llama.cpp reads it. Constraints that GBNF cannot express, or only in
// rules that a server needs minutes to read, are left out and reported in Grammar.Dropped; the
// schema check of the call enforces them later. Schemas come from [toolnorm/chat/schema] as places
// with references, unions and allOf resolved.
//
//	grammar.go  Of: the grammar of a family, and the triggers that activate it
//	calls.go    the calls of a reply: marks, sections, several calls, messages, arguments
//	value.go    a place of a schema: its choices, references, lists
//	object.go   objects: members, in any order if there are few, and unlisted names
//	text.go     strings: quoted, or raw up to the mark that ends them
//	pattern.go  regular expressions and formats as GBNF
//	numbers.go  numbers and their bounds, digit by digit
//	rules.go    the set of rules, and the operators of GBNF
package grammar
