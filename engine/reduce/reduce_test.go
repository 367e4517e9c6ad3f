package reduce

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
)

// TestSchemas has the keywords that make one server or another refuse a whole request, and those
// that it drops.
func TestSchemas(t *testing.T) {
	for _, row := range []struct{ name, schema, want string }{
		{"none", ``, `{"type":"object","properties":{}}`},
		{"empty", `{}`, `{"type":"object","properties":{}}`},
		{"true", `true`, `{"type":"object","properties":{}}`},
		{"broken", `{"type":`, `{"type":"object","properties":{}}`},
		{"empty lists", `{"properties":{"a":{"enum":[],"type":[],"anyOf":[],"required":[]}},"required":[]}`, `{"type":"object","properties":{"a":{}}}`},
		{"order", `{"properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["a","z"]}`, `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["a","z"]}`},
		{"root anyOf", `{"anyOf":[{"required":["a"]}],"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"pattern and format", `{"properties":{"d":{"type":"string","format":"date","description":"A day."}}}`, `{"type":"object","properties":{"d":{"description":"A day. (format: date)","type":"string"}}}`},
		{"unknown type", `{"properties":{"a":{"type":"int"},"b":{"type":["file","null","string"]}}}`, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"description":"(type: [\"file\",\"null\",\"string\"])","type":["null","string"]}}}`},
		{"boolean subschemas", `{"properties":{"a":true,"b":{"type":"array","items":false}}}`, `{"type":"object","properties":{"a":{"description":"(any value)"},"b":{"type":"array"}}}`},
		{"const", `{"properties":{"a":{"const":"x"}}}`, `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}`},
		{"enum digits", `{"properties":{"a":{"enum":[1.50,12345678901234567890]}}}`, `{"type":"object","properties":{"a":{"enum":[1.50,12345678901234567890]}}}`},
		{"oneOf", `{"properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		{"nested", `{"properties":{"a":{"properties":{"b":{"items":{"type":"integer","minimum":1}}},"required":["b"]}}}`, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"description":"(minimum: 1)","type":"integer"}}},"required":["b"]}}}`},
		{"reference", `{"$defs":{"P":{"type":"object","properties":{"x":{"type":"number"}}}},"properties":{"p":{"$ref":"#/$defs/P","description":"A point"}}}`, `{"type":"object","properties":{"p":{"description":"A point","type":"object","properties":{"x":{"type":"number"}}}}}`},
		{"root reference", `{"$defs":{"P":{"properties":{"x":{"type":"number"}},"required":["x"]}},"$ref":"#/$defs/P"}`, `{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}`},
		{"reference in an allOf", `{"definitions":{"E":{"enum":["a"]}},"properties":{"p":{"allOf":[{"$ref":"#/definitions/E"}],"description":"d"}}}`, `{"type":"object","properties":{"p":{"description":"d","type":"string","enum":["a"]}}}`},
		{"reference to itself", `{"$defs":{"N":{"properties":{"next":{"$ref":"#/$defs/N"}}}},"properties":{"n":{"$ref":"#/$defs/N"}}}`, `{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"description":"(any value)"}}}}}`},
		{"reference to nowhere", `{"properties":{"n":{"$ref":"#/$defs/N"},"m":{"$ref":"https://example.org/s"}}}`, `{"type":"object","properties":{"n":{"description":"(any value)"},"m":{"description":"(any value)"}}}`},
		{"references in a ring", `{"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}},"properties":{"a":{"$ref":"#/$defs/A"}}}`, `{"type":"object","properties":{"a":{"description":"(any value)"}}}`},
		{"names in any script", `{"properties":{"日\"付":{"type":"string","description":"<b> & é"}}}`, `{"type":"object","properties":{"日\"付":{"description":"\u003cb\u003e \u0026 é","type":"string"}}}`},
	} {
		got := parametersOf(json.RawMessage(row.schema))
		if string(got) != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		var p api.ToolFunctionParameters
		if err := json.Unmarshal(got, &p); err != nil {
			t.Errorf("%s: Ollama cannot read it: %v", row.name, err)
		}
	}
}

// parametersOf returns the reduced schema alone.
func parametersOf(schema json.RawMessage) json.RawMessage {
	_, parameters := new(Cache).Tool(chat.Tool{Schema: schema})
	return parameters
}

// TestSchemasAreBounded grows a schema by references that each name two others.
func TestSchemasAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		b.WriteString(`"d` + strconv.Itoa(i) + `":{"properties":{"l":{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"},"r":{"$ref":"#/$defs/d` + strconv.Itoa(i+1) + `"}}},`)
	}
	b.WriteString(`"d40":{}}}`)
	if n := len(parametersOf(json.RawMessage(b.String()))); n > 2*maxSchemaSize {
		t.Errorf("%d bytes from %d", n, b.Len())
	}
}

// FuzzSchema wants from any bytes a schema that Ollama's own types can read.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"^a$"}},"required":["a"]}`))
	f.Add([]byte(`{"$defs":{"N":{"properties":{"next":{"$ref":"#/$defs/N"}}}},"properties":{"n":{"$ref":"#/$defs/N"},"o":{"allOf":[{"enum":[1,null]}]}}}`))
	f.Add([]byte(`{"properties":{"a":{"anyOf":[true,{"type":["int","string"]}],"items":[{}]}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		got := parametersOf(schema)
		if !json.Valid(got) {
			t.Fatalf("reduce(%q) = %q is no JSON", schema, got)
		}
		var p api.ToolFunctionParameters
		if err := json.Unmarshal(got, &p); err != nil {
			t.Fatalf("reduce(%q) = %s: %v", schema, got, err)
		}
	})
}
