// Package schema is the only reader of JSON Schema in this program. The schema of a tool's
// arguments is described to a model, turned into a server's constraint or a grammar, used to
// correct a value of the wrong type, and filled in by the demo. All of them use this
// package's result, so that they cannot understand one schema in five ways. (Calls are checked by
// [toolnorm/engine/valid], which uses a library; engine/testdata/readers.txt compares the two,
// schema by schema.)
//
// It does not validate: a schema that it cannot read allows everything. It is lenient where clients
// are: int, str and dict are types, a keyword whose value is null is ignored, a reference may be a
// pointer, an anchor or an id. A constraint that a writer cannot express is never lost
// silently: it is a [Dropped], with the place and the keyword.
//
// A schema is read in three forms, since its writers need three different things:
//
//   - A [Place] has the constraints of all keywords, references and allOf, merged in each alternative of a union. Writers of
//     constraints use it, because they need everything that applies to an alternative.
//   - A [Written] is a place as its author wrote it. Writers who show a schema to a model use it: a union is shown once,
//     beside the constraints that always apply, in the author's order and with his descriptions.
//   - A [Type] is compiled for reading arguments, where each member of a call is looked up while the call streams.
//
// {"$ref":"#/$defs/day","description":"when"} beside "day":
// {"anyOf":[{"type":"string"},{"type":"null"}]} is thus a Place that refers to two alternatives,
// text and null; a Written whose description is "when" and whose alternatives are those two; and a
// Type that does not change texts and null, and turns 5 into "5".
//
// # What servers enforce
//
// Servers of models turn a schema into a grammar, each with its own part of JSON Schema. What was
// found with llama-server and Ollama decides what [ConstrainCalls] writes:
//
//   - Enforced: const, enum, lists of types, required, additionalProperties false, unions and an allOf of objects, counts of
//     elements, prefixItems, lengths of strings, bounds of integers, patterns between ^ and $, the formats of
//     heldFormats, references within the document, recursion too.
//   - Passed over in silence: bounds of fractions, uniqueItems, not, if and then, other formats, references elsewhere.
//   - Refused, with the whole request: \d in a pattern, a pattern without anchors, true as a schema, a type that does not
//     exist, a reference that leads nowhere.
//
// The first group is written, the second and third are dropped and reported. If the server reports
// an error all the same, the engine may ask once more with a weak constraint (Options.Weak).
//
// # What is bounded
//
// A schema comes with a request, so the client decides each of its sizes. There are three bounds:
// [Affordable] bounds the text before anything is read; a budget of places bounds what references
// and unions make of it; and each writer bounds what it writes.
//
// Reading is linear in the schema. References are followed lazily, and a budget cuts schemas that
// refer to themselves without an end, which is large enough for every schema that passes
// [Affordable].
//
//	document.go   Doc: a schema's text and its references; Dropped
//	types.go      Kinds, and the one table of type names
//	place.go      Place: a place as the writers of constraints see it; unions
//	read.go       reading a place, keyword by keyword; number.go: bounds and lengths
//	merge.go      two places that both apply, as in an allOf
//	written.go    Written: a place as its author wrote it
//	retell.go     Retold: a schema with shorter descriptions; which keywords hold schemas
//	compile.go    Compile: the Type of a schema
//	schema.go     Type: a place as the reader of arguments sees it
//	lookup.go     the members that all parts of a place list, computed once
//	coerce.go     correcting values of the wrong type, and JSON strings
//	constrain.go  ConstrainCalls: schemas in the words of model servers, and its bounds
//	write.go      the constraint as a whole: unions, references, free values
//	parts.go      the constraint of one place, type by type
//	pattern.go    regular expressions as servers take them
//	standing.go   the parts of a call that are kept when another part is written again, and the constraint that makes a model keep it
//	wellformed.go Wellformed: repairs keywords whose values are of the wrong kind
//	budget.go     Affordable: limits of a request's schemas, checked before anything is read
package schema
