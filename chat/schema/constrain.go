package schema

import (
	"encoding/json"
	"math"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// Constraint is a schema written with only those keywords that model servers understand. The
// parameter `format` of Ollama, and response_format of other servers, turn it into a grammar
// without an error. A model that has to follow this grammar cannot write without end.
//
// References are resolved, recursion is written under $defs, allOf is merged, oneOf becomes anyOf,
// and the keywords beside a union are put into its branches. A keyword that belongs to one type
// implies that type. Members are in their order. Bounds that the original lacks are added, see
// Options.
//
// A value that fits the original fits the constraint as well, under three conditions. It is within
// the added bounds. Where the original has a pattern, the text has no character that JSON escapes.
// Where the original has only patterns of names, each name matches one of them. The reverse is not
// true: Dropped lists what the constraint does not enforce. The constraint uses a small part of
// JSON Schema, because servers refuse a whole request for one word (`\d`, a pattern without
// anchors, true for a schema, an unknown type) and ignore others silently (not, if, bounds of
// fractions, uniqueItems). Of 69 hard schemas llama-server refused 11 as they were, and Ollama 0.24
// refused 16 or crashed. As rewritten here, they refused none. The model's answer is checked
// against the original afterwards.
type Constraint struct {
	Schema  json.RawMessage
	Dropped []Dropped // what the constraint does not enforce, sorted
}

// Options are the options of a constraint. The zero value makes a full constraint for a call of
// which no part is fixed.
type Options struct {
	// Weak is for the retry when a server refuses the full constraint. A weak one has types,
	// members, enums and small bounds, but no patterns, formats, tuples and references.
	Weak bool
	// MaxLength bounds the characters of a string that has no bound or a larger one. 0 means 1000,
	// and a negative number means no bound. Servers accept at most 1999, so a larger one counts as
	// that.
	MaxLength int
	MaxItems  int       // the same for elements of an array; 0 means 64, at most 1000
	Stands    *Standing // which part of the arguments is fixed; nil if none is
	Long      bool      // integers of more than 16 digits may be meant
}

const (
	// exactInteger is the greatest integer that every reader of JSON reads exactly. It is the bound
	// where a schema has none, because a model that must write an integer and has none in mind goes
	// on writing digits.
	exactInteger = 1<<53 - 1
	// longInteger replaces exactInteger where identifiers of 19 digits may be meant, which must not
	// be cut into wrong ones. It means "no bound" to servers, which would stop at 16 digits on
	// their own.
	longInteger = math.MaxInt64 - 1
)

// integer returns the largest absolute value of integers whose schema has no bounds.
func (o Options) integer() int64 {
	if o.Long {
		return longInteger
	}
	return exactInteger
}

// length returns the general limit for the number of characters in a string. It is negative if
// there is none. Without a limit a model may write for ever under a schema: both of two calls
// without one ran past 100 s, while 25 of 25 calls with limits ended as JSON.
func (o Options) length() int { return o.bound(o.MaxLength, 1000, 200, maxCount) }

// elements returns the general limit for the number of elements in an array. It is negative if
// there is none.
func (o Options) elements() int { return o.bound(o.MaxItems, 64, 16, maxElements) }

// bound returns the parameter usual if asked is 0. Otherwise it returns asked, but at most the
// parameter most, the greatest bound that servers accept. In a weak constraint, which is for old
// servers, it returns at most the parameter weak: a grammar of Ollama 0.24 ends at 32 KB, and an
// array repeats the rules of its elements.
func (o Options) bound(asked, usual, weak, most int) int {
	switch {
	case o.Weak && (asked == 0 || asked > weak):
		return weak
	case asked == 0:
		return usual
	}
	return min(asked, most)
}

// ConstrainCalls returns the constraint for a call object, {"name": …, "arguments": …}, of one of
// the tools. Without tools any object fits. A schema of the arguments alone would forbid the token
// with which a model wants to end them, `}}` in one piece. The model then goes on within the last
// value instead: "days": 1000000000000000, which fits the schema and is wrong.
//
// If the option Stands is set, which makes sense for one tool only, some members are fixed. They
// must have the given values, in the given order, and the other members follow them.
func ConstrainCalls(tools []chat.Tool, o Options) Constraint {
	if len(tools) == 0 {
		return Constraint{Schema: json.RawMessage(`{"type":"object"}`)}
	}
	c := constrainer{o: o}
	var calls []*Place
	docs := ParseTools(tools)
	for i, t := range tools {
		args := docs[i].Arguments()
		if o.Stands != nil {
			args = docs[i].continued(args, o.Stands)
		}
		calls = append(calls, callObject(t.Name, args))
	}
	c.put(Union(calls))
	return Constraint{Schema: c.dst, Dropped: docs[0].Dropped()}
}

// ConstrainAnswer returns the constraint for an answer. The parameter form is the schema of the
// answer, from the field response_format. If o.Stands is set, the parts of the answer that it fixes
// must have their fixed values.
func ConstrainAnswer(form json.RawMessage, o Options) Constraint {
	doc := ParseTools([]chat.Tool{{Schema: form}})[0]
	answer := doc.Arguments()
	if o.Stands != nil {
		answer = doc.continued(answer, o.Stands)
	}
	c := constrainer{o: o}
	c.put(answer)
	return Constraint{Schema: c.dst, Dropped: doc.Dropped()}
}

// callObject returns the subschema for a call of one tool. The name comes first, because it
// distinguishes the tools of a union, and a reader of the streamed call has to know the tool before
// its arguments. No other member is allowed.
func callObject(name string, args *Place) *Place {
	s := &Place{Kinds: Object, Objects: Objects{Listed: true, More: never(),
		Required: []string{"name", "arguments"}}}
	s.Members = []Member{{"name", &Place{Kinds: String, Enum: []string{Quote(name)}}},
		{"arguments", args}}
	return s
}

// constrainer writes one constraint, of one document or of several.
type constrainer struct {
	o        Options
	dst      []byte
	defs     []*Place          // references
	around   []*jsontree.Value // of a weak constraint: references that are written in place
	free     bool              // the definition for places that allow anything is needed
	integers bool              // the definition for places that allow any integer is needed
	defined  bool              // the definitions have begun
}

const maxWritten = 1 << 20 // bytes of a constraint
