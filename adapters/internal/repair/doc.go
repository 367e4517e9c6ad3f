// Package repair reads damaged text by search: it returns every reading that costs little more than
// the cheapest one.
//
// A grammar says which steps lead on from a place in the text and what each costs. What correct
// text allows is free, a slip costs more the less likely it is. [Search] expands the cheapest
// places first, so it needs no rule for any particular defect, and a text that can be read in two
// ways gives two readings: whoever asks decides by them whether the text may be acted on.
//
// The work is bounded: plain runs are one step, at most [Kept] different outputs are followed at
// one place, and the number of steps is limited by the length of the text.
//
// The files:
//
//	search.go   the search: places, costs, outputs that are shared
//	cost.go     what each slip costs
//	args.go     arguments as JSON and Python write them: the grammar, its modes, what ends them
//	value.go    values, and what stands in their place
//	key.go      keys of members, names of arguments
//	after.go    what stands behind keys and values: colons, commas, closers
//	string.go   strings: delimiters, quotes that are not escaped, quotes that are missing
//	end.go      strings that have lost a quote: where they end
//	mark.go     the family's own quotes, also damaged ones
//	escape.go   backslashes in strings
//	scalar.go   numbers and words in the spelling of other languages
//	ahead.go    what stands at a place, looked at without being read
package repair
