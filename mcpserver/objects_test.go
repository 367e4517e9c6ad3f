package mcpserver

import (
	"encoding/json"
	"testing"

	"toolnorm/engine/valid"
	"toolnorm/tools"
)

// TestObjectsFitTheSchemaForOlderClients holds results in older clients' form to the schema that
// they are shown.
func TestObjectsFitTheSchemaForOlderClients(t *testing.T) {
	const row = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
	var check valid.Cache
	for schema, results := range map[string][]string{
		row:                                    {`{"a":1}`},
		`{"type":"array","items":` + row + `}`: {`[]`, `[{"a":1}]`},
		`{"type":["integer","null"]}`:          {`1`, `null`},
		`{}`:                                   {`1`, `{"b":2}`, `null`},
		`{"type":["object","null"]}`:           {`{"a":1}`, `null`},
		`{"anyOf":[` + row + `,{"type":"array","items":` + row + `}]}`:                                                                   {`{"a":1}`, `[{"a":1},{"a":2}]`},
		`{"$defs":{"row":` + row + `},"anyOf":[{"type":"object","$ref":"#/$defs/row"},{"type":"array","items":{"$ref":"#/$defs/row"}}]}`: {`{"a":1}`, `[{"a":1}]`},
	} {
		fits, err := check.Get(objectOutput(json.RawMessage(schema)))
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		for _, result := range results {
			r := objectOf(tools.Result{Structured: json.RawMessage(result), Raw: json.RawMessage(`{"structuredContent":` + result + `}`)})
			var raw struct{ StructuredContent json.RawMessage }
			if err := json.Unmarshal(r.Raw, &raw); err != nil || string(raw.StructuredContent) != string(r.Structured) {
				t.Errorf("%s: %s beside %s", result, r.Structured, r.Raw)
			}
			if wrong := fits.Check(r.Structured); wrong != nil {
				t.Errorf("%s in %s, of %s: %s", r.Structured, objectOutput(json.RawMessage(schema)), schema, valid.Sentences(wrong))
			}
		}
	}
}
