package schema

import (
	"strings"

	"toolnorm/internal/jsontree"
)

// Kinds is a set of JSON types, as bits, so that the intersection of two sets is one operation. The
// empty set means that nothing is known, so everything is allowed.
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

// Any is the set of all types, for a schema that names no type, or "any".
const Any = String | Integer | Number | Boolean | Null | Object | Array

// typeWords maps type names to types: the names of JSON Schema, and those that programmers and
// other APIs use for the same types, such as Python's str and dict, Gemini's capitals, Void's and
// Go's int. Every reader of schemas uses this table, so that the prompt, the conversion of a call's
// values and the check agree. Before there was one table, the prompt said "integer" for {"type":
// "int"}, and the model wrote "3". Nothing turned that into a number, and the check refused the
// schema, so that no call of the tool was checked.
var typeWords = map[string]Kinds{
	"string": String, "integer": Integer, "number": Number | Integer, "boolean": Boolean,
	"null": Null, "object": Object, "array": Array,
	"str": String, "text": String, "float": Number | Integer, "double": Number | Integer,
	"decimal": Number | Integer,
	"int":     Integer, "long": Integer, "int32": Integer, "int64": Integer, "bool": Boolean,
	"dict": Object, "map": Object, "list": Array, "tuple": Array, "none": Null, "nil": Null,
	"any": Any, "mixed": Any,
}

// Named returns the types that a type name means. It returns all types for "any", and 0 for an
// unknown name such as "file". Case does not matter, because Gemini's API writes STRING and OBJECT.
func Named(word string) Kinds { return typeWords[strings.ToLower(word)] }

// each returns the types in k one by one. If k has both Number and Integer, Integer is left out,
// because numbers include integers.
func (k Kinds) each() (all []Kinds) {
	for one := String; one <= Array; one <<= 1 {
		if k&one != 0 && (one != Integer || k&Number == 0) {
			all = append(all, one)
		}
	}
	return all
}

// kindNames maps the types to JSON Schema's own words.
var kindNames = map[Kinds]string{String: "string", Number: "number", Integer: "integer",
	Boolean: "boolean", Null: "null", Object: "object", Array: "array"}

// Names returns the types in JSON Schema's own words, in a fixed order. It returns nil if k has all
// of them, because that says nothing.
func (k Kinds) Names() (names []string) {
	if k == Any {
		return nil
	}
	for _, one := range k.each() {
		names = append(names, kindNames[one])
	}
	return names
}

// kindsOf reads the type keyword, which is a name or a list of names. It returns 0 if there is no
// name, or one is unknown, as in {"type": ["string", "file"]}, because restricting values to the
// known types could be wrong.
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

// kind returns the type of a value, or 0 if the value is absent.
func kind(v *jsontree.Value) Kinds { return KindOf(v.Raw) }

// words returns the strings in a list. It skips other values, as in {"required": ["a", null]}.
func words(v *jsontree.Value) (all []string) {
	for _, item := range v.Items {
		if kind(item) == String {
			all = append(all, item.Text)
		}
	}
	return all
}
