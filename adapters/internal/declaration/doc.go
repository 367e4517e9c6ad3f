// Package declaration reads what a family file declares: how one model family writes reasoning,
// calls and results.
//
// A declaration is an example of the family's own output with holes in it. Compiled to a [Pattern]
// the same example is matched by the decoder, filled in by the printer and turned into rules by the
// grammar, so the three cannot disagree. Nothing here reads a reply: the package knows what may
// stand in one, not what does.
//
//	family.go    Family: one family's lines, compiled, and the tables that reading them needs
//	declare.go   the lines of a declaration, and what is wrong with them
//	layout.go    Layout: what the keys line says of printing; Flags
//	pattern.go   Pattern: one example, cut at its holes
//	literal.go   Literal: the text between two holes, with the places where models are sloppy
//	marks.go     Index: the marks of all families of a set, by their first bytes; which of them may be control tokens
//	about.go     what a declaration says, for people: its text, its marks
//	wording.go   Wording: the words in which a family wants its tools described
package declaration
