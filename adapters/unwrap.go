package adapters

import (
	"strings"

	"toolnorm/chat/schema"
)

// Some models put all arguments into one more object: {"arguments": {"city": "Rome"}}.

// wraps says whether a lone member of that name can hold the arguments of a tool: the schema does not know it.
func wraps(t *schema.Type, key string) bool {
	return (argsKeys[key] || key == "properties") && len(t.Members()) > 0 && !t.Has(key) && !t.Prop(key).Known()
}

// beside says whether a member can stand beside one that holds all arguments of a tool: it is what stands around arguments.
func beside(name string, t *schema.Type, m field) bool {
	named := nameKeys[m.key] && unquote([]byte(m.value)) == name || idKeys[m.key] || m.key == "type"
	return named && !t.Has(m.key)
}

// wrapped is the value of the member that holds all arguments of a tool, "" when there is none.
func wrapped(name string, t *schema.Type, args string) string {
	value := ""
	for _, m := range membersOf(args) {
		switch {
		case value == "" && wraps(t, m.key):
			value = m.value
		case !beside(name, t, m):
			return ""
		}
	}
	return value
}

// unwrapped are the arguments that the lone member of an object holds, also in a string.
func unwrapped(name string, t *schema.Type, args string) (string, bool) {
	inner := args
	for range maxWrap {
		value := wrapped(name, t, inner)
		if value == "" {
			break
		}
		inner = strings.TrimSpace(unquote([]byte(value)))
		if !strings.HasPrefix(inner, "{") {
			return "", false
		}
		if out, whole := repairAs(inner, nil); whole {
			inner = out
		} else {
			return "", false
		}
	}
	if inner == args {
		return "", false
	}
	out, whole := repairAs(inner, t)
	if list := membersOf(out); !whole || len(list) > 0 && !hasAny(t, list) {
		return "", false
	}
	return out, true
}

// hasAny says whether the schema knows one of the members.
func hasAny(t *schema.Type, list []field) bool {
	for _, m := range list {
		if t.Has(m.key) {
			return true
		}
	}
	return false
}

// holdWrapper begins to hold the first member of the arguments, which begins at start, when it can hold them all.
func (d *argReader) holdWrapper(t *schema.Type, key string, start int) {
	if d.wrapper == 0 && len(d.stack) <= 1 && t == d.call.typ && (wraps(t, key) || ofEnvelope(key) && !t.Has(key)) {
		d.wrapper = start
		d.holdOn()
	}
}

// unwrap ends that hold: where the member does hold them all, what it holds takes its place.
func (d *argReader) unwrap() {
	if d.wrapper == 0 {
		return
	}
	if !d.call.broken {
		if args, ok := unwrapped(d.call.name, d.call.typ, "{"+string(d.held(d.wrapper))+"}"); ok {
			d.takeBack(d.wrapper)
			d.put(args[1 : len(args)-1])
			d.repaired("wrapped")
		}
	}
	d.wrapper = 0
	d.holdOff()
}

// wrapperAhead says whether a member with the key just read holds the arguments: an object, plain or in a string, that
// begins with a parameter of the tool and does not describe it.
func (d *argReader) wrapperAhead(t *schema.Type, key string) bool {
	n := d.Space(0)
	if !wraps(t, key) || d.At(n) != ':' {
		return false
	}
	start := d.Pos
	defer func() { d.Pos = start }()
	d.Pos += n + 1 + d.Space(n+1)
	if d.At(0) != '{' {
		return false
	}
	d.Pos += 1 + d.Space(1)
	out, a := d.capture(func() { d.key(false) })
	if a != matched || !t.Has(unquote(out)) {
		return false
	}
	n = d.Space(0)
	if d.At(n) != ':' {
		return false
	}
	return !d.describes(n + 1)
}

// describes says whether a description of a parameter stands at offset i: an object that begins with type or description.
func (d *argReader) describes(i int) bool {
	i += d.Space(i)
	if d.At(i) != '{' {
		return false
	}
	i += 1 + d.Space(i+1)
	return d.Has(i, `"type"`) || d.Has(i, `"description"`)
}
