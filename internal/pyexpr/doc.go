// Package pyexpr computes Python expressions with bounded time and memory.
//
// An administrator writes `num1 * num2` or `[u for u in users if u.startswith('a')]`, and a model's
// call fills in the names. The language is that of Python's expressions with CPython 3.11's results
// and messages; there are no statements, no imports, no attributes except the methods of a table,
// and no names except the parameters and a table of functions. Nothing ever changes a value, so an
// expression can only compute a result.
//
// Every operation is charged before it allocates: steps, bytes, the bits of integers, the depth of
// nesting. So `9**9**9` and `'a' * 10**9` are errors after microseconds, where an evaluator without
// such accounting would exhaust the whole process.
//
// Every error ends the whole expression, and nothing in the language can catch it. So an error
// unwinds the stack from where it is raised to Compile or Run (Raise and Attempt in package py),
// and the code between need not pass it on.
//
// From the source to the result:
//
//	program.go               Compile and Run; package syntax reads the source into a tree
//	eval.go                  computes the tree, in frames of variables; comprehension.go the loops; call.go calls and lambdas
//
// What may be called:
//
//	signature.go             how arguments are bound, with CPython's messages
//	functions.go             the table; functions_number.go, functions_sequence.go, functions_lazy.go, functions_type.go its entries
//	methods.go               the table, and the methods of lists, tuples and dicts
//	methods_string.go        of strings: find, strip, fill; methods_split.go split, join, replace;
//	                         methods_case.go upper, isdigit; methods_format.go format
//
// Below are further packages, each of which uses only those after it: object (the values and their
// operators), syntax (from the text of an expression to a tree), number (arithmetic, reading and
// writing of numbers), py (the account of steps and memory, and errors with their place), and also
// chars and power.
package pyexpr
