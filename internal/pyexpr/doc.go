// Package pyexpr computes Python expressions with bounded means.
//
// An administrator writes `num1 * num2` or `[u for u in users if u.startswith('a')]`, and a model's call fills in the names.
// The language is that of Python's expressions with CPython 3.11's results and messages; there are no statements, no
// imports, no attributes but the methods of a table, and no names but the parameters and a table of functions.
// Nothing ever changes a value, so an expression can do nothing but give a result.
//
// Every operation is charged before it allocates: steps, bytes, the bits of integers, the depth of nesting. So `9**9**9`
// and `'a' * 10**9` are errors after microseconds, where an evaluator without such an account ends the whole process.
//
// Every error of an expression ends the whole of it, and nothing in the language can catch one. So an error unwinds, from
// where it is raised to Compile or Run (Raise and Attempt in package py), and the code between need not pass it on.
//
// From the source to the result:
//
//	program.go               Compile and Run; package syntax reads the source into a tree
//	eval.go                  computes the tree, in frames of variables; comprehension.go the loops; call.go calls and lambdas
//	json.go                  arguments from JSON, the result to JSON
//
// Values:
//
//	values.go                what a value is; its type, truth and length
//	operators.go             + - * and the like; package number on numbers
//	sequences.go             repetition and index; slices.go slices; iterate.go walking; sort.go ordering
//	compare.go               == < in is
//	dict.go, sets.go         hashing, dicts and their views, sets
//	repr.go                  the text of a value; package chars has what CPython knows about characters
//	format.go                f'{x:>8.2f}'; format_spec.go reads the specification
//	percent.go               '%5d' % x; percent_convert.go its letters
//
// What may be called:
//
//	signature.go             how arguments are bound, with CPython's messages
//	functions.go             the table; functions_number.go, functions_sequence.go, functions_lazy.go,
//	                         functions_text.go, functions_type.go its entries
//	methods.go               the table; methods_container.go the methods of lists, tuples and dicts
//	methods_string.go        of strings: find, strip, fill; methods_split.go split, join, replace;
//	                         methods_case.go upper, isdigit; methods_format.go format
//
// Package py is the account of what is spent, and what went wrong and where.
package pyexpr
