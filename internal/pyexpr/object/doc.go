// Package object has the values of expressions and Python's operations on them. No operation
// changes a value, and each is charged before it makes one.
//
//	values.go                what a value is; its type, truth and length
//	operators.go             + - * and the like; package number computes with numbers
//	sequences.go             repetition and index; slices.go slices and ranges; iterate.go walking; sort.go ordering
//	compare.go               == < in is
//	dict.go, sets.go         hashing, dicts and their views, sets
//	repr.go                  the text of a value; package chars has what CPython knows about characters
//	format.go                f'{x:>8.2f}'; format_spec.go reads the specification
//	percent.go               '%5d' % x; percent_convert.go its letters
//	json.go                  arguments from JSON, the result to JSON
package object
