package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"toolnorm/engine/ollama"
)

// maxFill is how deep a schema is filled.
const maxFill = 8

// maxValues is how many values are tried for one call: a schema that refers to itself in every alternative has more than can
// be counted.
const maxValues = 1 << 12

// fill writes the arguments of a call as one JSON object: what is required, and what the message holds.
func fill(f ollama.Function, message string) json.RawMessage {
	schema, err := fastjson.ParseBytes(f.Parameters)
	if err != nil {
		return json.RawMessage("{}")
	}
	return find(message).object(placed(schema, schema), 0)
}

// object is one with the members that are required or that the message holds something for. Those that are required have
// the first choice of what the message holds.
func (f *finds) object(p place, depth int) []byte {
	all := p.members()
	values := make([][]byte, len(all))
	n := 0
	for _, required := range []bool{true, false} {
		for i, m := range all {
			if m.required == required {
				values[i] = f.value(m.name, m.place, required, depth+1)
				n += count(values[i] != nil)
			}
		}
	}
	least := p.count("minProperties", 0)
	for i, m := range all {
		if values[i] == nil && n < least {
			values[i] = f.value(m.name, m.place, true, depth+1)
			n++
		}
	}
	dst := []byte{'{'}
	add := func(name string, value []byte) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, quote(name)...), ':'), value...)
	}
	for i, m := range all {
		if values[i] != nil {
			add(m.name, values[i])
		}
	}
	for ; n < min(least, maxParts); n++ { // those that have no names yet
		name := fmt.Sprintf("key%d", n+1)
		add(name, f.value(name, p.inside("additionalProperties"), true, depth+1))
	}
	return append(dst, '}')
}

// value is a member's value, nil when it may be left out and the message holds nothing for it.
func (f *finds) value(name string, p place, required bool, depth int) []byte {
	if f.values++; depth > maxFill || f.values > maxValues {
		return []byte("null")
	}
	if fixed := p.get("const"); fixed != nil {
		return fixed.MarshalTo(nil)
	}
	if allowed := p.get("enum").GetArray(); len(allowed) > 0 {
		return f.choice(allowed, required)
	}
	if options := p.alternatives(); len(options) > 0 {
		return f.alternative(name, options, required, depth)
	}
	kinds := p.kinds()
	for _, kind := range kinds {
		if v := f.ofKind(name, kind, p, false, depth); v != nil {
			return v
		}
	}
	if !required {
		return nil
	}
	return f.ofKind(name, kinds[0], p, true, depth)
}

// alternative is a value of the first alternative that the message holds something for, else of the first that is not null
// if there must be one.
func (f *finds) alternative(name string, options []place, required bool, depth int) []byte {
	for _, one := range options {
		if v := f.value(name, one, false, depth+1); v != nil && one.get("const") == nil {
			return v
		}
	}
	if !required {
		return nil
	}
	return f.value(name, options[0], true, depth+1)
}

// ofKind is a value of one type.
func (f *finds) ofKind(name, kind string, p place, required bool, depth int) []byte {
	switch kind {
	case "integer", "number":
		return f.number(name, kind, p, required)
	case "array":
		return f.array(name, p, required, depth)
	case "object":
		if required {
			return f.object(p, depth)
		}
		return nil
	case "boolean":
		if required {
			return []byte("true")
		}
		return nil
	case "null":
		if required {
			return []byte("null")
		}
		return nil
	}
	return f.text(name, p, required)
}

// example is the value that the schema itself proposes, of the given type; nil when it proposes none.
func (p place) example(kind fastjson.Type) *fastjson.Value {
	for _, v := range append([]*fastjson.Value{p.get("default")}, p.get("examples").GetArray()...) {
		if v != nil && v.Type() == kind {
			return v
		}
	}
	return nil
}

// choice is the first allowed value that the message names, else the first one if there must be one.
func (f *finds) choice(allowed []*fastjson.Value, required bool) []byte {
	message := spaced(f.message)
	for _, holds := range []func(string, string) bool{holdsWord, strings.Contains} {
		for _, v := range allowed {
			s := spaced(string(v.GetStringBytes()))
			if v.Type() == fastjson.TypeNumber && slices.Contains(f.numbers, v.String()) || len(s) > 2 && holds(message, s) || s != "" && holdsWord(message, s) {
				return v.MarshalTo(nil)
			}
		}
	}
	if !required {
		return nil
	}
	return allowed[0].MarshalTo(nil)
}

// spaced is s in lower case with blanks for what joins words in names.
func spaced(s string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(s))
}

// array is a list of as few elements as there must be; of texts, and of numbers if there must be a list, as many as the
// message holds.
func (f *finds) array(name string, p place, required bool, depth int) []byte {
	least, most := p.count("minItems", 0), min(p.count("maxItems", maxParts), maxParts)
	items := p.inside("items")
	var list [][]byte
	for i := range p.get("prefixItems").GetArray() {
		if !required {
			return nil
		}
		list = append(list, f.value(name, p.inside("prefixItems", strconv.Itoa(i)), true, depth+1))
	}
	least = min(max(least, len(list)), maxParts)
	most = max(most, least)
	unique := p.get("uniqueItems").GetBool()
	for len(list) < most && len(p.get("prefixItems").GetArray()) == 0 {
		before := len(f.quoted) + len(f.numbers)
		kind := items.kinds()[0]
		if kind == "string" && len(f.quoted) == 0 || kind != "string" && (!required || len(f.numbers) == 0) {
			break
		}
		v := f.value(name, items, false, depth+1)
		if v == nil || before == len(f.quoted)+len(f.numbers) {
			break
		}
		list = appendOther(list, v, unique)
	}
	if len(list) == 0 && !required {
		return nil
	}
	if least == 0 && most > 0 && p.get("prefixItems") == nil {
		least = 1
	}
	for n := 0; len(list) < least && n < 2*maxParts; n++ {
		list = appendOther(list, f.another(name, items, n, unique, depth), unique)
	}
	return append(append([]byte{'['}, slices.Concat(withCommas(list)...)...), ']')
}

// another is the value of the n-th element that the message holds nothing for.
func (f *finds) another(name string, items place, n int, unique bool, depth int) []byte {
	if !unique || n == 0 {
		return f.value(name, items, true, depth+1)
	}
	if allowed := items.get("enum").GetArray(); len(allowed) > 0 {
		return allowed[n%len(allowed)].MarshalTo(nil)
	}
	if k := items.kinds()[0]; k == "integer" || k == "number" {
		return written(items.bounds(k).nearest(float64(n + 1)))
	}
	return f.value(fmt.Sprintf("%s %d", name, n+1), items, true, depth+1)
}

// appendOther appends v, where all must be different only if it is not there yet.
func appendOther(list [][]byte, v []byte, unique bool) [][]byte {
	if unique && slices.ContainsFunc(list, func(have []byte) bool { return string(have) == string(v) }) {
		return list
	}
	return append(list, v)
}

// withCommas puts commas between the elements.
func withCommas(list [][]byte) (out [][]byte) {
	for i, v := range list {
		if i > 0 {
			out = append(out, []byte{','})
		}
		out = append(out, v)
	}
	return out
}

// quote is s as a JSON string.
func quote(s string) []byte {
	q, _ := json.Marshal(s)
	return q
}
