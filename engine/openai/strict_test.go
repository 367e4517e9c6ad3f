package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestStrictAgreesWithTheStandardLibrary cuts each text at every place besides.
func TestStrictAgreesWithTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":[]}`, `{"a":[{}],"b":{"c":[1,2,[3]]}}`, `{"a":-0.5e+10,"b":0,"c":1E5}`, `{"\"\\\/\b\f\n\r\t\u00e9":"é\"\u20AC"}`,
		`{"a":true,"b":false,"c":null}`, "{\"a\"\r\n\t:\t1 , \"b\" : [ 1 , 2 ] }",
		``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":"`, `{"a":"\`, `{"a":tru`, `{"a":1,`, `{"a":[1`, // cut
		`[]`, `1`, `"a"`, `null`, `x`, `{a:1}`, `{'a':1}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e}`, `{"a":-}`, `{"a":tRue}`, `{"a":True}`, `{"a":nan}`,
		`{"a":1,}`, `{"a":[1,]}`, `{,}`, `{"a"}`, `{"a":1 2}`, `{"a" 1}`, `{"a":}`, `{"a":1]`, `{"a":[1}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, "{\"a\":\"\n\"}", `{"a":1}}`, `{"a":1}{`, `{1:2}`,
	} {
		want := json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{")
		for cut := range len(text) + 1 {
			var s strict
			n := s.add(text[:cut])
			if n == cut {
				n += s.add(text[cut:])
			}
			if got := s.state == complete && strings.TrimSpace(text[n:]) == ""; got != want {
				t.Errorf("%q cut at %d: complete %v after %d bytes, want %v", text, cut, got, n, want)
			}
		}
	}
}

func TestStrictBoundsNesting(t *testing.T) {
	var s strict
	if s.add(`{"a":` + strings.Repeat("[", maxNesting)); s.state != wrong {
		t.Errorf("%d containers deep is state %d, want wrong", maxNesting+1, s.state)
	}
}

func FuzzStrict(f *testing.F) {
	f.Add(`{"a":[1.5e3,"\u00e9",{"b":null}]}`, 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if strings.Count(text, "[")+strings.Count(text, "{") > maxNesting {
			return
		}
		cut = min(max(cut, 0), len(text))
		var s strict
		n := s.add(text[:cut])
		if n == cut {
			n += s.add(text[cut:])
		}
		d := json.NewDecoder(strings.NewReader(text))
		var value map[string]json.RawMessage
		err := d.Decode(&value)
		want := err == nil && value != nil
		if got := s.state == complete; got != want {
			t.Errorf("%q: complete %v after %d bytes, encoding/json says %v", text, got, n, err)
		}
	})
}
