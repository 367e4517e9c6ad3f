package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSchemasAreMadeWellformed(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x"],"default":null}},"required":["a"],"x":[1]}`:     "",
		`{ "type" : "object" , "big": 12345678901234567890 }`:                                                                      "",
		`{"type":"object","properties":[]}`:                                                                                        `{"type":"object","properties":{}}`,
		`{"type":"object","properties":null,"required":null,"items":null}`:                                                         `{"type":"object"}`,
		`{"properties":{"a":{}},"required":"a"}`:                                                                                   `{"properties":{"a":{}},"required":["a"]}`,
		`{"properties":{"a":{}},"required":"b"}`:                                                                                   `{"properties":{"a":{}}}`,
		`{"properties":{"a":{}},"required":["a",7,null]}`:                                                                          `{"properties":{"a":{}},"required":["a"]}`,
		`{"properties":{"a":{}},"required":{}}`:                                                                                    `{"properties":{"a":{}}}`,
		`{"properties":{"a":{"type":"string","required":true},"b":{"required":false}}}`:                                            `{"properties":{"a":{"type":"string"},"b":{}},"required":["a"]}`,
		`{"type":"OBJECT","properties":{"a":{"type":"INTEGER"},"b":"str","c":true,"d":{"type":"any"},"e":{"type":"file"},"f":[]}}`: `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{},"d":{},"e":{},"f":{}}}`,
		`{"properties":{"a":{"enum":"x","description":7,"minimum":"3","maxLength":"long","pattern":1}}}`:                           `{"properties":{"a":{"enum":["x"],"minimum":3}}}`,
		`{"additionalProperties":"false","anyOf":{"type":"object"},"allOf":[],"not":{"type":"int"}}`:                               `{"additionalProperties":false,"anyOf":[{"type":"object"}],"not":{"type":"integer"}}`,
		`{"required":["a"],"required":["b"]}`:                                                                                      `{"required":["b"]}`,
		`{"items":[{"type":"string"}],"type":["array","array"]}`:                                                                   `{"items":[{"type":"string"}],"type":["array"]}`,
		`{"minimum":0,"exclusiveMinimum":true,"maximum":"9","exclusiveMaximum":false}`:                                             `{"exclusiveMinimum":0,"maximum":9}`,
		`{"exclusiveMinimum":true,"exclusiveMaximum":true,"maximum":9}`:                                                            `{"exclusiveMaximum":9}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","items":{"minimum":0,"exclusiveMinimum":true}}`:                      "",
	} {
		got, err := Wellformed(json.RawMessage(in))
		if want == "" {
			want = in
		}
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", in, got, err, want)
		}
		if again, err := Wellformed(got); err != nil || string(again) != string(got) {
			t.Errorf("%s is repaired twice: %s, %v", in, again, err)
		}
	}
	for in, want := range map[string]string{
		`{"properties":[{"name":"a"}]}`: "properties",
		`{"$defs":["a"]}`:               "$defs",
		`{"properties":{"a":7}}`:        "where a schema should be",
		`{"$ref":7}`:                    "$ref",
		`{`:                             "no JSON",
		strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200): "nested",
	} {
		if _, err := Wellformed(json.RawMessage(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", in, err, want)
		}
	}
}

// FuzzWellformed holds that what comes back is JSON, and is well-formed.
func FuzzWellformed(f *testing.F) {
	for _, s := range []string{`{"properties":[],"required":"a"}`, `{"type":["int",7],"enum":{"0":1}}`, `{"a":{"required":true},"properties":{"a":{"required":true}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := Wellformed(json.RawMessage(text))
		if err != nil {
			return
		}
		twice, err := Wellformed(once)
		if !json.Valid(once) || err != nil || string(twice) != string(once) {
			t.Errorf("%q is %q, then %q, %v", text, once, twice, err)
		}
	})
}
