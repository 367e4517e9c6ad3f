package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/reduce"
)

// TestEveryKeywordReachesTheModel has one probe a keyword: what the server is sent of a property,
// and so what the model reads. "-" is a keyword that says nothing to a model, or that the reduced
// schema has itself.
func TestEveryKeywordReachesTheModel(t *testing.T) {
	const head, tail = `{"type":"object","properties":{"a":`, `}}`
	for _, row := range []struct{ keyword, sent string }{
		{`"type":"string"`, `{"type":"string"}`},
		{`"type":["string","null"]`, `{"type":["string","null"]}`},
		{`"type":"STRING"`, `{"type":"string"}`},
		{`"type":"float"`, `{"type":"number"}`},
		{`"type":"file"`, `{"description":"(type: file)"}`},
		{`"description":"d"`, `{"description":"d"}`},
		{`"title":"A"`, `{}`},
		{`"enum":["x",null,1.50]`, `{"enum":["x",null,1.50]}`},
		{`"const":"x"`, `{"type":"string","enum":["x"]}`},
		{`"const":7`, `{"enum":[7]}`},
		{`"default":5`, `{"description":"(default: 5)"}`},
		{`"examples":["x"]`, `{"description":"(examples: [\"x\"])"}`},
		{`"nullable":true`, `{"description":"(nullable: true)"}`},
		{`"deprecated":true`, `{"description":"(deprecated: true)"}`},
		{`"readOnly":true`, `{"description":"(readOnly: true)"}`},
		{`"minimum":1`, `{"description":"(minimum: 1)"}`},
		{`"maximum":7.50`, `{"description":"(maximum: 7.50)"}`},
		{`"exclusiveMinimum":0`, `{"description":"(exclusiveMinimum: 0)"}`},
		{`"exclusiveMaximum":9`, `{"description":"(exclusiveMaximum: 9)"}`},
		{`"multipleOf":5`, `{"description":"(multipleOf: 5)"}`},
		{`"minLength":2`, `{"description":"(minLength: 2)"}`},
		{`"maxLength":8`, `{"description":"(maxLength: 8)"}`},
		{`"pattern":"[a-z]+"`, `{"description":"(pattern: [a-z]+)"}`},
		{`"format":"date"`, `{"description":"(format: date)"}`},
		{`"contentEncoding":"base64"`, `{"description":"(contentEncoding: base64)"}`},
		{`"contentMediaType":"image/png"`, `{"description":"(contentMediaType: image/png)"}`},
		{`"items":{"type":"integer","minimum":1}`, `{"type":"array","items":{"description":"(minimum: 1)","type":"integer"}}`},
		{`"items":true`, `{"type":"array"}`},
		{`"items":[{"type":"string"},{"type":"integer"}]`, `{"description":"(items: [{\"type\":\"string\"},{\"type\":\"integer\"}])","type":"array"}`},
		{`"prefixItems":[{"type":"string"}]`, `{"description":"(prefixItems: [{\"type\":\"string\"}])"}`},
		{`"contains":{"const":1}`, `{"description":"(contains: {\"const\":1})"}`},
		{`"minItems":1`, `{"description":"(minItems: 1)"}`},
		{`"maxItems":3`, `{"description":"(maxItems: 3)"}`},
		{`"uniqueItems":true`, `{"description":"(uniqueItems: true)"}`},
		{`"properties":{"b":{"type":"string"}},"required":["b"]`, `{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`},
		{`"properties":{"b":true}`, `{"type":"object","properties":{"b":{"description":"(any value)"}}}`},
		{`"additionalProperties":false`, `{}`},
		{`"additionalProperties":{}`, `{}`},
		{`"additionalProperties":{"type":"integer"}`, `{"description":"(additionalProperties: {\"type\":\"integer\"})"}`},
		{`"patternProperties":{"^x":{"type":"integer"}}`, `{"description":"(patternProperties: {\"^x\":{\"type\":\"integer\"}})"}`},
		{`"propertyNames":{"maxLength":3}`, `{"description":"(propertyNames: {\"maxLength\":3})"}`},
		{`"minProperties":1`, `{"description":"(minProperties: 1)"}`},
		{`"maxProperties":2`, `{"description":"(maxProperties: 2)"}`},
		{`"dependentRequired":{"b":["c"]}`, `{"description":"(dependentRequired: {\"b\":[\"c\"]})"}`},
		{`"anyOf":[{"type":"string"},{"format":"date"}]`, `{"anyOf":[{"type":"string"},{"description":"(format: date)"}]}`},
		{`"oneOf":[{"type":"string"},{"type":"null"}]`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
		{`"allOf":[{"type":"string"},{"minLength":2}]`, `{"description":"(minLength: 2)","type":"string"}`},
		{`"allOf":[{"properties":{"b":{},"c":{}},"required":["b"]},{"properties":{"c":{},"d":{}},"required":["d","b"]}]`, `{"type":"object","properties":{"b":{},"c":{},"d":{}},"required":["b","d"]}`},
		{`"not":{"const":"x"}`, `{"description":"(not: {\"const\":\"x\"})"}`},
		{`"if":{"const":1},"then":{"const":1}`, `{"description":"(if: {\"const\":1}, then: {\"const\":1})"}`},
		{`"$ref":"#/$defs/a~1b"`, `{"type":"integer"}`},
		{`"$ref":"#/$defs/a%7E1b"`, `{"type":"integer"}`},
		{`"$ref":"#"`, `{"description":"(any value)"}`},
		{`"$ref":"https://example.org/s"`, `{"description":"(any value)"}`},
		{`"$id":"x","$schema":"y","$anchor":"z","$comment":"c","x-order":1`, `{}`},
		{`"pattern":"` + strings.Repeat("é", 150) + `"`, `{"description":"(pattern: ` + strings.Repeat("é", 100) + `…)"}`},
	} {
		got := string(parametersOf(json.RawMessage(`{"$defs":{"a/b":{"type":"integer"}},"properties":{"a":{` + row.keyword + `}}}`)))
		if want := head + row.sent + tail; got != want {
			t.Errorf("%s:\n%s, want\n%s", row.keyword, got, want)
		}
	}
}

// TestTheRootIsInTheToolsDescription has what a schema says of all arguments together.
func TestTheRootIsInTheToolsDescription(t *testing.T) {
	for _, row := range []struct{ description, schema, purpose, sent string }{
		{"Does.", ``, "Does.", `{"type":"object","properties":{}}`},
		{"Does.", `{"type":"object","description":"Arguments.","properties":{"a":{}},"additionalProperties":false,"title":"X"}`, "Does.", `{"type":"object","properties":{"a":{}}}`},
		{"", `{"description":"Arguments."}`, "Arguments.", `{"type":"object","properties":{}}`},
		{"Does.", `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `Does. (anyOf: [{"required":["a"]},{"required":["b"]}])`, `{"type":"object","properties":{"a":{},"b":{}}}`},
		{"Does.", `{"properties":{"a":{}},"minProperties":1}`, `Does. (minProperties: 1)`, `{"type":"object","properties":{"a":{}}}`},
		{"Does.", `{"oneOf":[{"properties":{"kind":{"const":"x"},"a":{}},"required":["kind"]},{"$ref":"#/$defs/Y"}],"$defs":{"Y":{"properties":{"kind":{"const":"y"},"b":{}}}}}`,
			`Does. (oneOf: [{"properties":{"kind":{"const":"x"},"a":{}},"required":["kind"]},{"$ref":"#/$defs/Y"}])`,
			`{"type":"object","properties":{"kind":{"anyOf":[{"type":"string","enum":["x"]},{"type":"string","enum":["y"]}]},"a":{},"b":{}}}`},
		{"Does.", `{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}`, "Does.", `{"type":"object","properties":{"a":{},"b":{}},"required":["a"]}`},
	} {
		if got, _ := new(reduce.Cache).Tool(chat.Tool{Description: row.description, Schema: json.RawMessage(row.schema)}); got != row.purpose {
			t.Errorf("%s: the purpose is %q, want %q", row.schema, got, row.purpose)
		}
		if got := string(parametersOf(json.RawMessage(row.schema))); got != row.sent {
			t.Errorf("%s: sent is %s, want %s", row.schema, got, row.sent)
		}
	}
}

// parametersOf returns the reduced schema alone.
func parametersOf(schema json.RawMessage) json.RawMessage {
	_, parameters := new(reduce.Cache).Tool(chat.Tool{Schema: schema})
	return parameters
}
