package upstream

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

// maxFill is how deep a schema is filled.
const maxFill = 8

// fill writes the arguments of a call as one JSON object: what is required, and what the message holds.
func fill(f Function, message string) json.RawMessage {
	schema, err := fastjson.ParseBytes(f.Parameters)
	if err != nil {
		return json.RawMessage("{}")
	}
	return find(message).object(nil, schema, 0)
}

// object appends the members of an object schema.
func (f *finds) object(dst []byte, schema *fastjson.Value, depth int) []byte {
	required := map[string]bool{}
	for _, n := range schema.GetArray("required") {
		required[string(n.GetStringBytes())] = true
	}
	dst = append(dst, '{')
	first := true
	schema.GetObject("properties").Visit(func(key []byte, s *fastjson.Value) {
		name := string(key)
		value := f.value(name, s, required[name], depth+1)
		if value == nil {
			return
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, quote(name)...), ':'), value...)
	})
	return append(dst, '}')
}

// value is a member's value, nil when it may be left out and the message holds nothing for it.
func (f *finds) value(name string, s *fastjson.Value, required bool, depth int) []byte {
	if depth > maxFill {
		return []byte("null")
	}
	if of := append(slices.Clone(s.GetArray("anyOf")), s.GetArray("oneOf")...); len(of) > 0 {
		return f.value(name, of[0], required, depth+1)
	}
	if fixed := s.Get("const"); fixed != nil {
		return fixed.MarshalTo(nil)
	}
	if allowed := s.GetArray("enum"); len(allowed) > 0 {
		return f.choice(allowed, required)
	}
	switch kind := typeOf(s); kind {
	case "integer", "number":
		return f.number(kind, s, required)
	case "string":
		return f.text(name, s, required)
	case "array":
		return f.array(name, s, required, depth)
	case "object":
		if !required {
			return nil
		}
		return f.object(nil, s, depth)
	case "boolean":
		if !required {
			return nil
		}
		return []byte("true")
	}
	return f.text(name, s, required) // Void says no types
}

// typeOf is a schema's first type that is not null.
func typeOf(s *fastjson.Value) string {
	if one := s.GetStringBytes("type"); one != nil {
		return string(one)
	}
	for _, t := range s.GetArray("type") {
		if name := string(t.GetStringBytes()); name != "null" {
			return name
		}
	}
	return ""
}

// choice is the first allowed value that the message names, else the first one if there must be one.
func (f *finds) choice(allowed []*fastjson.Value, required bool) []byte {
	message := strings.ToLower(f.message)
	for _, v := range allowed {
		if s := strings.ToLower(string(v.GetStringBytes())); s != "" && strings.Contains(message, s) {
			return v.MarshalTo(nil)
		}
	}
	if !required {
		return nil
	}
	return allowed[0].MarshalTo(nil)
}

// number is the message's next number of that kind.
func (f *finds) number(kind string, s *fastjson.Value, required bool) []byte {
	for i, n := range f.numbers {
		if kind == "number" || !strings.Contains(n, ".") {
			f.numbers = slices.Delete(f.numbers, i, i+1)
			return []byte(trimZeros(n))
		}
	}
	switch {
	case !required:
		return nil
	case s.Get("minimum") != nil:
		return s.Get("minimum").MarshalTo(nil)
	}
	return []byte("1")
}

// trimZeros makes 007 a JSON number.
func trimZeros(n string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(n, "-"); ok {
		sign, n = "-", rest
	}
	for len(n) > 1 && n[0] == '0' && n[1] != '.' {
		n = n[1:]
	}
	return sign + n
}

// array is a list of one element, if there must be one; a list of strings holds all that is quoted.
func (f *finds) array(name string, s *fastjson.Value, required bool, depth int) []byte {
	items := s.Get("items")
	dst := []byte{'['}
	for typeOf(items) == "string" && len(f.quoted) > 0 {
		dst = append(append(dst, f.text(name, items, true)...), ',')
	}
	if len(dst) > 1 {
		return append(dst[:len(dst)-1], ']')
	}
	if !required {
		return nil
	}
	return append(append(dst, f.value(name, items, true, depth+1)...), ']')
}

// text is a string for a member of that name.
func (f *finds) text(name string, s *fastjson.Value, required bool) []byte {
	lower := strings.ToLower(name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(lower, p) })
	}
	date := has("date", "day") || string(s.GetStringBytes("format")) == "date"
	long := slices.Contains([]string{"content", "text", "body", "code"}, lower)
	from := []*[]string{&f.quoted, &f.names, &f.ids}
	switch {
	case date:
		from = []*[]string{&f.dates}
	case has("path", "file", "dir", "url"):
		from = []*[]string{&f.paths, &f.quoted}
	case lower == "id", strings.HasSuffix(lower, "_id"), strings.HasSuffix(name, "Id"), strings.HasSuffix(name, "ID"):
		from = []*[]string{&f.ids, &f.quoted, &f.numbers}
	case long:
		from = []*[]string{&f.quoted}
	}
	for _, list := range from {
		if len(*list) > 0 {
			found := (*list)[0]
			*list = (*list)[1:]
			return quote(found)
		}
	}
	switch {
	case long:
		return quote(prose())
	case !required:
		return nil
	case date:
		return quote("2026-01-01")
	case has("query", "question", "prompt", "message", "search", "task"):
		return quote(strings.TrimSpace(f.message[max(0, len(f.message)-200):]))
	}
	return quote("example " + name)
}

// prose is about a kilobyte of sentences, so that an argument can be seen to stream.
func prose() string {
	var b strings.Builder
	for n := 1; b.Len() < 1024; n++ {
		b.WriteString("This is line ")
		b.WriteString(strconv.Itoa(n))
		b.WriteString(" of a longer text: it says \"nothing\" much, but it says it piece by piece.\n")
	}
	return b.String()
}

// quote is s as a JSON string.
func quote(s string) []byte {
	q, _ := json.Marshal(s)
	return q
}
