// Package valid checks the arguments of a call against the whole JSON Schema of its tool, drafts 4
// to 2020-12, and says what is wrong in sentences that a model can act on.
//
// A schema is compiled once and kept. Nothing is ever loaded from elsewhere: a reference that
// leaves the schema is an error. What takes too long is refused beforehand, by bounds on size,
// depth and work.
//
// Checking itself is done by a library, which is strict: one odd keyword makes it refuse a schema,
// and with that every check of the tool's calls would be off. So a schema is first made sound: what
// chat/schema understands leniently is spelled here as the specification has it, and what says
// nothing is taken out.
//
// A call can be checked while it streams, too. That decides what of it may leave: what has left
// cannot be taken back, so a value counts as safe only when nothing that follows could make it
// wrong.
//
// # What may leave when
//
// A Prefix decides for each value by its schema (hold_test.go has a case for each keyword):
//
//   - Byte by byte: a text without rules, or with a minLength that it has reached; members and elements of objects and
//     arrays whose keywords speak of one member at a time (properties, required, additionalProperties, items, counts of
//     elements). An optional text, a union of it and null, counts as one, and so does a lone reference.
//   - When the value is whole: numbers, booleans, null, enum and const, a text with maxLength, pattern or format, and
//     whatever stands under not, an allOf or a union of several kinds.
//   - When the object or array around is whole: conditions, dependencies, counts of members, rules for names,
//     uniqueItems, contains, tuples, unevaluated members, and unions that differ in what they require.
//
// # Drafts
//
// A schema that names its draft is checked by that draft's rules. One that names none, as nearly
// all of tools, is brought to the newest, since its author may have any draft in mind:
//
//	draft 3   "required": true beside a type: passed over
//	draft 4   "id": "#name", and "exclusiveMinimum": true beside a minimum, are said anew
//	draft 6   const, contains, propertyNames, examples; true and false are schemas
//	draft 7   if, then, else
//	2019-09   $defs, $anchor, dependentRequired and dependentSchemas; keywords beside $ref count; a format is a note,
//	          which is checked here all the same
//	2020-12   prefixItems for the list form of items, which is said anew; $dynamicRef
//	OpenAPI   nullable: null is added to the types, the union and the values
//
//	cache.go     Cache: the validators of the schemas that were used last
//	compile.go   Validator: a schema compiled by the library, and what it says of one that is none
//	modern.go    spellings of older drafts and of OpenAPI brought up to date, and what is no keyword taken out
//	document.go  arguments as the library takes them, numbers with all their digits, and where in the text they stand
//	graph.go     the compiled schema as a graph: what cannot be checked, and how much work a check may be
//	check.go     Check: the problems of a call, and their places by name
//	say.go       the library's errors as sentences
//	marks.go     which places of a call have to change, from the same errors
//	stands.go    what stands of a call that does not fit, and a call without its surplus members
//	meant.go     misspelt names put right, and optional members that do not fit left out
//	bounds.go    numbers brought within their bounds
//	prefix.go    Prefix: a call checked while it streams
//	places.go    which schema speaks of a value of which one byte is known
//	leaf.go      the value that a Prefix waits for until it is whole
//	rest.go      what must follow the safe part of a call so that it becomes another one
package valid
