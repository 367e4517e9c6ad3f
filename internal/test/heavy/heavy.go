// Package heavy makes JSON Schemas that are expensive to read, for tests, and measures how the work
// on them grows.
package heavy

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// Schemas are the kinds of heavy schema, each by its size: the number of what it has many of. Each
// kind was meant to make some part of the work grow faster than the schema: "laughs" of two
// references each make n definitions stand for 2^n schemas; the patterns are short but large once
// compiled; "shared enum" is n values in n/4 places.
var Schemas = map[string]func(n int) json.RawMessage{
	"allOf": func(n int) json.RawMessage { return object(`"allOf":[` + list(n, `{}`) + `]`) },
	"anyOf": func(n int) json.RawMessage { return object(`"anyOf":[` + list(n, `{}`) + `]`) },
	"joined": func(n int) json.RawMessage {
		return object(`"allOf":[` +
			list(n, `{"type":"object","properties":{"a%d":{"type":"string"}},"required":["a%d"]}`) +
			`]`)
	},
	"variants": func(n int) json.RawMessage {
		return object(`"anyOf":[` + list(n, `{"properties":{"a":{"const":%d}}}`) + `]`)
	},
	"enum": func(n int) json.RawMessage {
		return object(`"properties":{"a":{"enum":[` + list(n, `%d`) + `]}}`)
	},
	"properties": func(n int) json.RawMessage {
		return object(`"properties":{` + list(n, `"p%d":{"type":"string"}`) + `}`)
	},
	"required": func(n int) json.RawMessage {
		return object(`"properties":{` + list(n, `"p%d":{"type":"string"}`) + `},"required":[` +
			list(n, `"p%d"`) + `]`)
	},
	"long pattern": func(n int) json.RawMessage {
		return object(`"properties":{"a":{"pattern":"` + strings.Repeat("(a|b)?", n) + `"}}`)
	},
	"many patterns": func(n int) json.RawMessage {
		return object(`"properties":{` +
			list(n, `"p%d":{"type":"string","pattern":"(\\p{L}|\\p{N}){1,900}"}`) + `}`)
	},
	"patterns of names": func(n int) json.RawMessage {
		return object(`"patternProperties":{` + list(n, `"^%d(\\p{L}|\\p{N}){1,900}":{}`) + `}`)
	},
	"folded classes": func(n int) json.RawMessage {
		return object(`"properties":{` +
			list(n, `"p%d":{"type":"string","pattern":"(?i)[Ā-\uffff][Ā-\uffff]"}`) + `}`)
	},
	"laughs of properties": func(n int) json.RawMessage {
		return laughs(n,
			`{"type":"object","properties":{"x":{"$ref":"#/$defs/d%[1]d"},"y":{"$ref":"#/$defs/d%[1]d"}}}`)
	},
	"laughs of anyOf": func(n int) json.RawMessage {
		return laughs(n, `{"anyOf":[{"$ref":"#/$defs/d%[1]d"},{"$ref":"#/$defs/d%[1]d"}]}`)
	},
	"laughs of allOf": func(n int) json.RawMessage {
		return laughs(n, `{"allOf":[{"$ref":"#/$defs/d%[1]d"},{"$ref":"#/$defs/d%[1]d"}]}`)
	},
	"laughs of items": func(n int) json.RawMessage {
		return laughs(n, `{"type":"array","minItems":20,"items":{"$ref":"#/$defs/d%d"}}`)
	},
	"shared enum": func(n int) json.RawMessage {
		return object(`"$defs":{"e":{"enum":[` + list(n, `"v%d"`) + `]}},"properties":{` +
			list(n/4, `"p%d":{"anyOf":[{"$ref":"#/$defs/e"},{"type":"null"}]}`) + `}`)
	},
	"nots": func(n int) json.RawMessage { // and at their end a pattern that Go cannot read
		return laughs(n, `{"not":{"$ref":"#/$defs/d%d"}}`, `{"pattern":"(?=x)"}`)
	},
	"deep": func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"type":"object","properties":{"a":`, n) + `{}` +
			strings.Repeat(`}}`, n))
	},
	"deep unions": func(n int) json.RawMessage {
		return object(`"properties":{"a":` + strings.Repeat(`{"anyOf":[{"type":"null"},`, n) +
			`{}` + strings.Repeat(`]}`, n) + `}`)
	},
}

// object returns a schema with those members.
func object(members string) json.RawMessage {
	return json.RawMessage(`{"type":"object",` + members + `}`)
}

// list returns n times the same item, with its number.
func list(n int, item string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(item, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// laughs returns a schema with n definitions of which each names the next one; the last one is a
// string, or what is given. They are named after the "billion laughs" of XML entities. In item, %d
// or %[1]d is the next one's number.
func laughs(n int, item string, last ...string) json.RawMessage {
	end := `{"type":"string"}`
	if len(last) > 0 {
		end = last[0]
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d":%s,`, i, fmt.Sprintf(item, i+1))
	}
	return object(fmt.Sprintf(`"$defs":{%s"d%d":%s},"properties":{"a":{"$ref":"#/$defs/d0"}}`,
		b.String(), n, end))
}

// Allocated returns how many bytes work allocates: a measure of it that does not depend on the
// machine. Times swing with whatever else the machine does; bytes do not, so a test can compare n
// with 2n. It counts all goroutines.
func Allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
