// Package declaration reads what a family file declares: how one model family writes reasoning,
// calls and results.
//
// A declaration is made of examples of the family's own output, with placeholders in them. Each
// example is compiled to a [Pattern], which the decoder matches, the printer fills in and the
// grammar turns into rules, so the three cannot disagree. The package reads declarations only;
// replies are read elsewhere.
//
//	family.go    Family: one family's compiled lines, and tables for reading replies
//	declare.go   the lines of a declaration, and their errors
//	layout.go    Layout: the keys line, which is about printing; Flags
//	pattern.go   Pattern: one example, cut at its placeholders
//	literal.go   Literal: the text between two placeholders, and where models deviate from it
//	marks.go     Index: the marks of several families, by their first bytes
//	about.go     a declaration as people see it: its text, its marks
//	wording.go   Wording: how tools are described to a family's models
package declaration
