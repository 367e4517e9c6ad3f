package chat

import (
	"reflect"
	"strings"
	"testing"
)

func TestToolsAreReadInEveryForm(t *testing.T) {
	want := []Tool{{Name: "f", Description: "does", Schema: []byte(`{"type":"object"}`), Strict: true}, {Name: "g"}}
	bare := `{"name":"f","description":"does","parameters":{"type":"object"},"strict":true}`
	for _, src := range []string{
		`[{"type":"function","function":` + bare + `},{"type":"function","function":{"name":"g"}}]`,
		`[` + bare + `,{"name":"g"}]`,
		` {"model":"x","tools":[` + bare + `,{"type":"function","name":"g"}]}`,
	} {
		if got, err := ParseTools([]byte(src)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseTools(%s) = %+v, %v, want %+v", src, got, err, want)
		}
	}
	for _, src := range []string{`[]`, `null`, `{"tools":null}`} {
		if got, err := ParseTools([]byte(src)); err != nil || len(got) != 0 {
			t.Errorf("ParseTools(%s) = %+v, %v, want none", src, got, err)
		}
	}
}

func TestWrongToolsAreNamed(t *testing.T) {
	for src, want := range map[string]string{
		``:                               "must be a list of tools",
		`"x"`:                            "must be a list of tools",
		`{"name":"f"}`:                   `no member "tools"`,
		`{"tools":{}}`:                   "must be a list of tools",
		`[{"name":"f"},{"function":{}}]`: "tool 1: has no name",
		`["f"]`:                          "tool 0: ",
		`[{"name":1}]`:                   "tool 0: ",
	} {
		if _, err := ParseTools([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseTools(%q): error %v, want one with %q", src, err, want)
		}
	}
}
