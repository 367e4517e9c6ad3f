// Package repair reads damaged text by a search: it returns every reading whose cost is close to
// that of the cheapest one.
//
// A grammar defines the steps from each place in the text, and their costs. A step that correct
// text allows is free, and a slip costs more the less likely it is. [Search] expands the cheapest
// places first. A text that can be read in two ways gives two readings, and the caller decides
// whether to act on them.
//
// The work is bounded: a run of plain bytes is one step, at most [Kept] different outputs are
// followed from one place, and the number of steps is limited by the length of the text.
//
// The files:
//
//	search.go   the search: places, costs, shared outputs
//	cost.go     the costs of slips
//	args.go     arguments in JSON and Python: the grammar, its modes, their end
//	value.go    values, and what is written in their place
//	key.go      keys of members, names of arguments
//	after.go    the text after keys and values: colons, commas, closers
//	string.go   strings: delimiters, unescaped quotes, missing quotes
//	end.go      the ends of strings that have lost a quote
//	mark.go     the family's own quotes, also damaged ones
//	escape.go   backslashes in strings
//	scalar.go   numbers and words in the spelling of other languages
//	ahead.go    looking ahead without reading
package repair
