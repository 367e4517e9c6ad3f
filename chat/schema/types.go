package schema

import (
	"strings"

	"toolnorm/internal/jsontree"
)

// Kinds is a set of JSON types. The empty set means that nothing is known, so everything is
// allowed. As bits, what two schemas both allow is one operation.
type Kinds uint8

// The JSON types, in the order in which a writer names them.
const (
	String Kinds = 1 << iota
	Number
	Integer
	Boolean
	Null
	Object
	Array
)

// Any are all types: what a schema says that names none, or "any".
const Any = String | Integer | Number | Boolean | Null | Object | Array

// typeWords are the type names of JSON Schema, and how programmers and other APIs call the same:
// Python's str and dict, Gemini's capitals, Void's and Go's int. Every reader of schemas goes by
// this table, so that what a model is told, what a call's values are turned into and what they are
// checked against is the same. Before there was one table the prompt said "integer" for {"type":
// "int"}, the model wrote "3", nothing turned it into a number, and the check refused the schema
// and with it every check of the tool.
var typeWords = map[string]Kinds{
	"string": String, "integer": Integer, "number": Number | Integer, "boolean": Boolean,
	"null": Null, "object": Object, "array": Array,
	"str": String, "text": String, "float": Number | Integer, "double": Number | Integer, "decimal": Number | Integer,
	"int": Integer, "long": Integer, "int32": Integer, "int64": Integer, "bool": Boolean,
	"dict": Object, "map": Object, "list": Array, "tuple": Array, "none": Null, "nil": Null,
	"any": Any, "mixed": Any,
}

// Named returns the types that a type name stands for, all of them for "any"; 0 for a name that
// nobody knows, such as "file". Case does not count, since Gemini's API writes STRING and OBJECT.
func Named(word string) Kinds { return typeWords[strings.ToLower(word)] }

// each returns the types one by one. Integer beside number is not among them, as numbers include
// it.
func (k Kinds) each() (all []Kinds) {
	for one := String; one <= Array; one <<= 1 {
		if k&one != 0 && (one != Integer || k&Number == 0) {
			all = append(all, one)
		}
	}
	return all
}

// kindNames are JSON Schema's own words.
var kindNames = map[Kinds]string{String: "string", Number: "number", Integer: "integer", Boolean: "boolean", Null: "null", Object: "object", Array: "array"}

// Names returns the types in JSON Schema's own words, in one order; none when all are there, since
// that says nothing.
func (k Kinds) Names() (names []string) {
	if k == Any {
		return nil
	}
	for _, one := range k.each() {
		names = append(names, kindNames[one])
	}
	return names
}

// kindsOf reads the type keyword, a name or a list of names. With a name that nobody knows nothing
// is known of the place: to hold a value to the others could be wrong. {"type": ["string", "file"]}
// is such a list.
func kindsOf(v *jsontree.Value) (k Kinds) {
	if kind(v) == String {
		return Named(v.Text)
	}
	for _, w := range words(v) {
		if Named(w) == 0 {
			return 0
		}
		k |= Named(w)
	}
	return k
}

// kind returns the type of a value, 0 for one that is not there.
func kind(v *jsontree.Value) Kinds { return KindOf(v.Raw) }

// words returns the strings in a list; what is no string is passed over, as in {"required": ["a",
// null]}.
func words(v *jsontree.Value) (all []string) {
	for _, item := range v.Items {
		if kind(item) == String {
			all = append(all, item.Text)
		}
	}
	return all
}
