package schema

import (
	"encoding/json"
	"math"

	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// Constraint is a schema written with the keywords that model servers understand: `format` of
// Ollama, and response_format of other servers, turn it into a grammar without an error, and it
// leaves a model no room to run on for ever.
//
// References are resolved, recursion is written under $defs, allOf is merged, oneOf becomes anyOf,
// and the keywords beside a union are put into its branches. A keyword that belongs to one type
// implies it. Members keep their order. Bounds that the original lacks are added: see Options.
//
// A value that fits the original fits the constraint as well, if it stays within these bounds, has
// no character that JSON escapes where the original has a pattern, and no name that no pattern
// matches where the original has only patterns of names. The reverse is not true: Dropped says
// where. The constraint uses a small part of JSON Schema, since servers refuse a whole request for
// one word (`\d`, a pattern without anchors, true for a schema, an unknown type) and pass over
// others in silence (not, if, bounds of fractions, uniqueItems). Of 69 hard schemas llama-server
// refused 11 as they were and Ollama 0.24 refused 16 or crashed; as rewritten here, they refused
// none. The model's answer is checked against the original afterwards.
type Constraint struct {
	Schema  json.RawMessage
	Dropped []Dropped // what of the original the constraint does not hold, sorted
}

// Options are the options of a constraint. The zero value makes a full constraint for a call of
// which nothing is kept.
type Options struct {
	// for the retry when a server refuses the full one: types, members, enums and small bounds,
	// without patterns, formats, tuples and references
	Weak bool
	// characters of a string without a bound of its own or with a larger bound; 0: 1000; at most
	// 1999, the most that servers take; negative: no bound
	MaxLength int
	MaxItems  int       // elements of an array, likewise; 0: 64; at most 1000
	Stands    *Standing // what is kept of the arguments; nil: nothing
	Long      bool      // integers of more than 16 digits may be meant
}

const (
	// exactInteger is the greatest integer that every reader of JSON reads exactly, and the bound
	// where a schema has none: a model that is held to an integer and has none in mind goes on
	// writing digits.
	exactInteger = 1<<53 - 1
	// longInteger replaces exactInteger where identifiers of 19 digits may be meant, which must not
	// be cut into wrong ones. It means "no bound" to servers, which would stop at 16 digits by
	// themselves.
	longInteger = math.MaxInt64 - 1
)

// integer returns the bound of integers.
func (o Options) integer() int64 {
	if o.Long {
		return longInteger
	}
	return exactInteger
}

// length returns the bound of strings, negative for none. Without a bound a model that is held to a
// schema may write for ever: of two such calls both ran past 100 s, while with bounds 25 of 25
// ended as JSON.
func (o Options) length() int { return o.bound(o.MaxLength, 1000, 200, maxCount) }

// elements returns the bound of arrays, negative for none.
func (o Options) elements() int { return o.bound(o.MaxItems, 64, 16, maxElements) }

// bound returns the bound that is asked for, up to the most that servers take, or the usual bound.
// The weak bounds are for old servers: a grammar of Ollama 0.24 ends at 32 KB, and an array repeats
// the rules of its elements.
func (o Options) bound(asked, usual, weak, most int) int {
	switch {
	case o.Weak && (asked == 0 || asked > weak):
		return weak
	case asked == 0:
		return usual
	}
	return min(asked, most)
}

// ConstrainCalls makes the schema of a call object, {"name": …, "arguments": …}, for one of the
// tools. A schema of the arguments alone would forbid the token that a model wants at their end,
// `}}` in one piece, and it goes on within the last value instead: "days": 1000000000000000, which
// fits the schema and is wrong.
//
// With Stands, which makes sense for one tool only, members that are kept are held to their values,
// in their order, and the others follow.
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

// ConstrainAnswer makes the schema of an answer under a response_format, in which the parts that
// Stands names are held to their values.
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

// callObject returns the shape of one tool's call. The name comes first: it tells the tools of a
// union apart, and a reader of the streamed call has to know the tool before its arguments. No
// other member is allowed.
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
	around   []*jsontree.Value // of a weak constraint: the references that are written in place
	free     bool              // places take anything
	integers bool              // places take any integer
	defined  bool              // the definitions have begun
}

const maxWritten = 1 << 20 // bytes of a constraint
