package jsontree

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestTheDepthIsBounded(t *testing.T) {
	for _, row := range []struct {
		text string
		deep bool
	}{
		{`[[1]]`, false}, {`[[[1]]]`, true}, {`{"a":{"b":[]}}`, true}, {strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), true}, {`[[[`, false}, {``, false},
	} {
		if v, deep := Parse([]byte(row.text), 2); deep != row.deep || deep && v != nil {
			t.Errorf("%.20s: %v, %v", row.text, v, deep)
		}
	}
}

func TestOfTwoMembersTheLastCounts(t *testing.T) {
	v, _ := Parse([]byte(`{"a":1,"b":{"c":2.50},"a":3}`), 9)
	if a, c, none := v.Get("a").Raw, v.Get("b").Get("c").Raw, v.Get("x").Get("y"); a != "3" || c != "2.50" || none != Absent {
		t.Errorf("%s, %s, %v", a, c, none)
	}
}

// FuzzParse holds the tree against encoding/json, and each value's place against the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{` { "a" : [1, -2.5e3 , {"b\u0041":"x\"\\"}], "a": null, "":[] } `, `"\ud800x"`, "\"\xff\"", `true`, `[`, `{"a":01}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, deep := Parse([]byte(text), 100)
		if valid := json.Valid([]byte(text)); v == nil && valid && !deep || v != nil && !valid {
			t.Fatalf("%q: %v", text, v)
		}
		var want any
		if v == nil || json.Unmarshal([]byte(text), &want) != nil { // 1e999 is no float
			return
		}
		if got := plain(t, text, v); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", text, got, want)
		}
	})
}

// plain is a value as encoding/json has it.
func plain(t *testing.T, text string, v *Value) (out any) {
	if !strings.HasPrefix(text[v.Start:], v.Raw) {
		t.Fatalf("%q: %q does not stand at %d", text, v.Raw, v.Start)
	}
	switch v.Raw[0] {
	case '{':
		all := map[string]any{}
		for _, m := range v.Members {
			if text[m.Key] != '"' {
				t.Fatalf("%q: no key begins at %d", text, m.Key)
			}
			all[m.Name] = plain(t, text, m.Value)
		}
		return all
	case '[':
		all := []any{}
		for _, item := range v.Items {
			all = append(all, plain(t, text, item))
		}
		return all
	case '"':
		return v.Text
	}
	must.OK(t, json.Unmarshal([]byte(v.Raw), &out))
	return out
}
