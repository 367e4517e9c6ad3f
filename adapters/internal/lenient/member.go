package lenient

import (
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Names of the members of an envelope {"name": …, "arguments": …}, in any model family. The reader
// of arguments needs them for two reasons: models write envelopes inside arguments, and members of
// the envelope follow a closing bracket that came too early.
var (
	NameKeys = map[string]bool{"name": true, "tool": true, "tool_name": true, "function": true,
		"function_name": true, "tool_call": true, "action": true}
	ArgsKeys = map[string]bool{"arguments": true, "parameters": true, "params": true, "args": true,
		"input": true, "tool_input": true, "action_input": true, "kwargs": true}
	IdKeys = map[string]bool{"id": true, "tool_call_id": true, "call_id": true}
)

// Meant returns the member of t that a key means. This is the key itself if the schema has it, and
// otherwise the only member whose name differs only in case, _ and -. For example, models write
// fileName or file-name for file_name. Other misspellings do not count, because a near miss of one
// parameter may be another one. The key is returned unchanged if no member or more than one is
// spelled alike (a_b and aB), or if the member is in seen, because it was already written.
func (r *Reader) Meant(t *schema.Type, key string, seen []string) string {
	if t.Has(key) {
		return key
	}
	alike := t.Alike(key)
	// two members are spelled alike, or the member was written already
	if len(alike) != 1 || slices.Contains(seen, alike[0]) {
		r.Out.doubt(nearMiss(t, key, seen))
		return key
	}
	r.Repaired("key-spelling")
	return alike[0]
}

// nearMiss reports whether a key that t does not have may be a misspelt optional member of t. That
// is a member whose name differs in one character and which is not in seen, the members already
// written. Without that member the call may mean something else. Required members are not
// considered: a call without them does not fit the schema, and is repaired for that reason.
func nearMiss(t *schema.Type, key string, seen []string) bool {
	return len(key) > 3 && !t.Prop(key).Known() &&
		slices.ContainsFunc(t.Members(), func(member string) bool {
			return len(member) > 3 && OneOff(key, member) && !slices.Contains(seen, member) &&
				!slices.Contains(t.Required(), member)
		})
}

// OneOff reports whether two keys differ by one character: one key lacks a character of the other,
// has another character in its place, or has it at another position. It is false for keys of two
// letters, which are too short to compare.
func OneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	k := 0
	for k < len(a) && a[k] == b[k] {
		k++
	}
	// another character, or two that have changed places
	if len(a) == len(b) && k < len(a) && len(a) > 3 {
		return a[k+1:] == b[k+1:] || k+1 < len(a) && a[k] == b[k+1] && a[k+1] == b[k] &&
			a[k+2:] == b[k+2:]
	}
	_, size := utf8.DecodeRuneInString(b[k:])
	return len(a) > 2 && len(b) == len(a)+size && a[k:] == b[k+size:]
}

// nullWords are the words for null in the text of a tag. Qwen3.5 and Step-5 write Python's scalars
// into their tags, as in <parameter=days>\nNone\n</parameter>. Spark writes the word null for any
// type. Other spellings, such as Null, are more likely texts.
var nullWords = []string{"null", "None", "nil"}

// IsNull reports whether the text of a tag is a word for null.
func IsNull(text string) bool { return slices.Contains(nullWords, strings.TrimSpace(text)) }

// NullAhead reports whether the text at the current position begins with a word for null. The value
// may go on after the word. So where the schema allows null as well as strings, a caller reads such
// a value to its end before sending it, because a null is not a string.
func (x *Text) NullAhead() bool {
	n := x.Space(0)
	return slices.ContainsFunc(nullWords, func(word string) bool { return x.Has(n, word) })
}

// Omitted reports whether a null member is left out. It is if the schema neither allows null nor
// requires the member. Models fill every parameter that they know, the optional ones with null, and
// strict clients then refuse the whole call. A required member remains null, because leaving it out
// would break the call as well.
func (r *Reader) Omitted(t *schema.Type, key string) bool {
	typ := t.Prop(key)
	// null is a value here, or leaving the member out would break the call
	if typ.Allows(schema.Null) || slices.Contains(t.Required(), key) {
		return false
	}
	r.Repaired("null-omitted")
	return true
}

// MaxWrap is how many objects may be wrapped around a call's own object.
const MaxWrap = 3

// wraps reports whether the only member of an object, if it is named key, can contain all arguments
// of a tool, as in {"arguments": {"city": "Rome"}}. Some models put the arguments into one more
// object. The name "properties" comes from models that copy the structure of the schema in the
// prompt. If the tool has a parameter of that name, or its schema lists no members, the member is
// data.
func wraps(t *schema.Type, key string) bool {
	return (ArgsKeys[key] || key == "properties") && len(t.Members()) > 0 && !t.Has(key) &&
		!t.Prop(key).Known()
}

// beside reports whether the member m can occur beside one that contains all arguments of a tool.
// For example, the arguments of get_weather may be {"name": "get_weather", "arguments": {"city":
// "Rome"}}, which repeats the whole call. With the name of another tool it would be another call,
// so the result is false.
func beside(name string, t *schema.Type, m scan.Field) bool {
	named := NameKeys[m.Key] && scan.Unquote(m.Value) == name || IdKeys[m.Key] || m.Key == "type"
	return named && !t.Has(m.Key)
}

// wrapped returns the value of the only member of args if that member contains all arguments of a
// tool, as in {"arguments": {"city": "Rome"}}. Otherwise it returns "".
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

// Unwrapped returns the arguments of the tool name that are wrapped in the only member of args, as
// in {"arguments": {"city": "Rome"}}. The value of that member may be an object or a string. It
// returns false if nothing was unwrapped. The inner object must be empty or have a parameter of the
// schema, because an object of unknown members under "input" may be data. The parameter args must
// be a complete object, because the content of half a wrapper is unknown.
func Unwrapped(name string, t *schema.Type, args string) (string, bool) {
	// the arguments may be a string, {"arguments": "{\"city\": \"Rome\"}"}, or wrapped twice,
	// {"arguments": {"input": {"city": "Rome"}}}
	inner := strings.TrimSpace(scan.Unquote(wrapped(name, t, args)))
	out, whole := RepairAs(inner, t)
	// without a parameter among its members, the object is data
	list := scan.Fields(out)
	return out, whole && inner[0] == '{' &&
		(len(list) == 0 || slices.ContainsFunc(list, func(m scan.Field) bool {
			return t.Has(m.Key)
		}))
}

// HoldWrapper holds back the first member of the arguments, whose output begins at start, if the
// member may be a wrapper: a member such as "arguments" that contains all arguments. Only the first
// member of the outermost object can be one, because nothing has been sent before it, and a later
// one comes after real arguments.
func (r *Reader) HoldWrapper(t *schema.Type, key string, start int) {
	if r.wrapper == 0 && len(r.open) <= 1 && t == r.Out.Typ &&
		(wraps(t, key) || OfEnvelope(key) && !t.Has(key)) {
		r.wrapper = start
		r.HoldOn()
	}
}

// Unwrap ends the holding back of the first member of the arguments that HoldWrapper has begun. If
// the member is a wrapper, which contains all arguments, they replace it. In a call that was cut
// the wrapper remains, because its content is not complete.
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

// WrapperAhead reports whether a member with the key just read contains all arguments of a call, as
// "arguments" may. Its value must be an object that begins with a parameter of the tool and does
// not describe that parameter. It is called while it is uncertain whether the text is a call;
// without it, only a parameter of the tool would be accepted as the first key. A description such
// as {"properties": {"city": {"type": "string"}}} is an echo of the tool list and not a call.
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
// with type or description. An echoed list of tools has such objects where a call has values. So
// has the text of a model that explains a tool. In {"city": {"type": "string", …}} the key is the
// parameter's name, so only the value shows the difference.
func (x *Text) Describes(i int) bool {
	i += x.Space(i)
	if x.At(i) != '{' {
		return false
	}
	i += 1 + x.Space(i+1)
	return x.Has(i, `"type"`) || x.Has(i, `"description"`)
}
