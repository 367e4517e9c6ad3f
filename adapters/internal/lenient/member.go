package lenient

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Names of members by their meaning in an envelope, {"name": …, "arguments": …}, whichever family
// writes it. They are known here, since models write envelopes inside arguments, and members of one
// behind a closer that came too early.
var (
	NameKeys = map[string]bool{"name": true, "tool": true, "tool_name": true, "function": true, "function_name": true, "tool_call": true, "action": true}
	ArgsKeys = map[string]bool{"arguments": true, "parameters": true, "params": true, "args": true, "input": true, "tool_input": true, "action_input": true, "kwargs": true}
	IdKeys   = map[string]bool{"id": true, "tool_call_id": true, "call_id": true}
)

// Meant returns the member of t that a key stands for: itself when the schema has it, else the only
// one that is spelled alike but for case, _ and -, unless that one was written already (it is among
// seen). Models write fileName or file-name for file_name. Only equality counts, never distance: a
// near miss of one parameter may be another one. Where two members are spelled alike (a_b and aB),
// and where the true name has been written already, the key stays as it is, and the schema says
// what comes of it.
func (r *Reader) Meant(t *schema.Type, key string, seen []string) string {
	if t.Has(key) {
		return key
	}
	alike := t.Alike(key)
	// of two that are spelled alike, which one is meant cannot be told
	if len(alike) != 1 || slices.Contains(seen, alike[0]) {
		return key
	}
	r.Repaired("key-spelling")
	return alike[0]
}

// nullWords are the words for null that the text of a tag may be. Qwen3.5 and Step-5 write Python's
// scalars into their tags, <parameter=days>\nNone\n</parameter>, Spark the word null for any type.
// Other spellings, as Null, are more likely texts.
var nullWords = []string{"null", "None", "nil"}

// IsNull reports whether the text of a tag is a word for null.
func IsNull(text string) bool { return slices.Contains(nullWords, strings.TrimSpace(text)) }

// NullAhead reports whether the text that begins here begins with a word for null. It is a quick
// look: whether the word is all of the value is seen only when the value has ended. It is asked
// under a schema that allows null beside text, where a stream of the text must not begin.
func (x *Text) NullAhead() bool {
	n := x.Space(0)
	return slices.ContainsFunc(nullWords, func(word string) bool { return x.Has(n, word) })
}

// Omitted reports whether a member is left out because it is null where the schema neither allows
// null nor asks for the member. Models fill every parameter they know of, the optional ones with
// null; strict clients then refuse the whole call. A required member stays null, since leaving it
// out would be no better and what was written would be gone.
func (r *Reader) Omitted(t *schema.Type, key string) bool {
	typ := t.Prop(key)
	// null is a value here, or leaving the member out would break the call
	if typ.Allows(schema.Null) || slices.Contains(t.Required(), key) {
		return false
	}
	r.Repaired("null-omitted")
	return true
}

// MaxWrap is how many objects may stand around a call's own one.
const MaxWrap = 3

// wraps reports whether a lone member of that name can hold the arguments of a tool: the schema
// does not know it. Some models put all arguments into one more object, {"arguments": {"city":
// "Rome"}}; "properties" comes from models that copy the shape of the schema they were shown. A
// tool that has a parameter of that name, or whose schema says nothing, is left alone: there it is
// data.
func wraps(t *schema.Type, key string) bool {
	return (ArgsKeys[key] || key == "properties") && len(t.Members()) > 0 && !t.Has(key) && !t.Prop(key).Known()
}

// beside reports whether a member can occur beside one that holds all arguments of a tool, as the
// members around arguments do. {"name": "get_weather", "arguments": {"city": "Rome"}} as the
// arguments of get_weather is the whole call once more inside itself. With another tool's name it
// would be another call, and is left alone.
func beside(name string, t *schema.Type, m scan.Field) bool {
	named := NameKeys[m.Key] && scan.Unquote(m.Value) == name || IdKeys[m.Key] || m.Key == "type"
	return named && !t.Has(m.Key)
}

// wrapped returns the value of the member that holds all arguments of a tool, or "" when there is
// none. With one member too many, it is an object like any other.
func wrapped(name string, t *schema.Type, args string) string {
	value := ""
	for _, m := range scan.Fields(args) {
		switch {
		case value == "" && wraps(t, m.Key):
			value = m.Value
		case !beside(name, t, m):
			return ""
		}
	}
	return value
}

// Unwrapped returns the arguments that the lone member of an object holds, also in a string. They
// are accepted only when at least one member is known to the schema, or there is none: an object of
// unknown members under "input" may be what the tool wants to have there. ok is false where nothing
// was unwrapped. Unwrapped is called for a whole object only: what half a wrapper holds cannot be
// known.
func Unwrapped(name string, t *schema.Type, args string) (string, bool) {
	// {"arguments": "{\"city\": \"Rome\"}"}
	// what it holds may be wrapped once more: {"arguments": {"input": {"city": "Rome"}}}
	inner := strings.TrimSpace(scan.Unquote(wrapped(name, t, args)))
	out, whole := RepairAs(inner, t)
	// none of its members is a parameter: it is data
	list := scan.Fields(out)
	return out, whole && inner[0] == '{' && (len(list) == 0 || slices.ContainsFunc(list, func(m scan.Field) bool { return t.Has(m.Key) }))
}

// HoldWrapper begins to hold the first member of the arguments, which begins at start, when it can
// hold them all. Only the first member of the outermost object is looked at: that one decides
// before anything has left, and a wrapper that comes later stands beside real arguments.
func (r *Reader) HoldWrapper(t *schema.Type, key string, start int) {
	if r.wrapper == 0 && len(r.open) <= 1 && t == r.Out.Typ && (wraps(t, key) || OfEnvelope(key) && !t.Has(key)) {
		r.wrapper = start
		r.HoldOn()
	}
}

// Unwrap ends that hold: where the member does hold them all, what it holds takes its place.
// A call that was cut inside keeps the wrapper, since what it holds is not whole.
func (r *Reader) Unwrap() {
	if r.wrapper == 0 {
		return
	}
	if !r.Out.Broken {
		if args, ok := Unwrapped(r.Out.Name, r.Out.Typ, "{"+string(r.Held(r.wrapper))+"}"); ok {
			r.TakeBack(r.wrapper)
			r.Put(args[1 : len(args)-1])
			r.Repaired("wrapped")
		}
	}
	r.wrapper = 0
	r.HoldOff()
}

// WrapperAhead reports whether a member with the key just read holds the arguments: an object,
// plain or in a string, that begins with a parameter of the tool and does not describe it. It is
// called before the commit, where the first key must be a parameter of the tool, and "arguments" is
// not. A description, {"properties": {"city": {"type": "string"}}}, is the tool list echoed, and
// not a call.
func (x *Text) WrapperAhead(t *schema.Type, key string) bool {
	n := 1 + x.Space(0)
	if !wraps(t, key) || x.At(n-1) != ':' {
		return false
	}
	if n += x.Space(n); x.At(n) != '{' {
		return false
	}
	parameter, value := x.KeyAt(n + 1 + x.Space(n+1))
	return t.Has(parameter) && !x.Describes(value)
}

// Describes reports whether a description of a parameter follows at offset i: an object that begins
// with type or description. An echoed list of tools holds such objects where a call holds values; a
// model that explains a tool writes them too. {"city": {"type": "string", …}} has the parameter's
// own name as a key, so only its value can tell.
func (x *Text) Describes(i int) bool {
	i += x.Space(i)
	if x.At(i) != '{' {
		return false
	}
	i += 1 + x.Space(i+1)
	return x.Has(i, `"type"`) || x.Has(i, `"description"`)
}
