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

// Schemas maps the names of heavy schemas to functions that return one. The argument n is the
// number of repeated parts, for example of properties. Each schema is meant to make the time of
// some step grow faster than n. In "laughs", n definitions with two references each stand for 2^n
// schemas. The patterns are short, but large after compilation. "shared enum" has n values that are
// used in n/4 places.
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

// object returns the schema of an object with the given further members.
func object(members string) json.RawMessage {
	return json.RawMessage(`{"type":"object",` + members + `}`)
}

// list returns the item n times with commas between, where %d in it is replaced with 0 to n-1.
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

// laughs returns a schema with a chain of n definitions, each of which refers to the next one by %d
// or %[1]d in the text item. The last definition is the optional argument last, or a string. The
// name comes from the "billion laughs" attack with XML entities.
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

// Allocated returns how many bytes are allocated while the function work runs, by all goroutines.
// Unlike times, bytes hardly depend on the machine and its load, so a test can compare n with 2n.
func Allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
