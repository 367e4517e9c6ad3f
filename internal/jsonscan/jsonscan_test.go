package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestObjectsAgreeWithTheStandardLibrary cuts each text at every place besides.
func TestObjectsAgreeWithTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":[]}`, `{"a":[{}],"b":{"c":[1,2,[3]]}}`, `{"a":-0.5e+10,"b":0,"c":1E5}`, `{"\"\\\/\b\f\n\r\t\u00e9":"é\"\u20AC"}`,
		`{"a":true,"b":false,"c":null}`, "{\"a\"\r\n\t:\t1 , \"b\" : [ 1 , 2 ] }",
		``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":"`, `{"a":"\`, `{"a":tru`, `{"a":1,`, `{"a":[1`, // cut
		`[]`, `1`, `"a"`, `null`, `x`, `{a:1}`, `{'a':1}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e}`, `{"a":-}`, `{"a":tRue}`, `{"a":True}`, `{"a":nan}`,
		`{"a":1,}`, `{"a":[1,]}`, `{,}`, `{"a"}`, `{"a":1 2}`, `{"a" 1}`, `{"a":}`, `{"a":1]`, `{"a":[1}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, "{\"a\":\"\n\"}", `{"a":1}}`, `{"a":1}{`, `{1:2}`,
	} {
		want := json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{")
		for cut := range len(text) + 1 {
			s := Scanner{Object: true}
			n := s.Add([]byte(text[:cut]))
			if n == cut {
				n += s.Add([]byte(text[cut:]))
			}
			if got := s.Complete() && strings.TrimSpace(text[n:]) == ""; got != want {
				t.Errorf("%q cut at %d: complete %v after %d bytes, want %v", text, cut, got, n, want)
			}
		}
	}
}

func TestScannerBoundsNesting(t *testing.T) {
	s := Scanner{Object: true}
	if s.Add([]byte(`{"a":` + strings.Repeat("[", MaxDepth))); !s.Wrong() {
		t.Errorf("%d containers deep are not wrong", MaxDepth+1)
	}
}

// TestValuesEnd has values that are no objects, each with what may stand behind it.
func TestValuesEnd(t *testing.T) {
	for _, value := range []string{`"a\"b"`, `12`, `-0.5e+3`, `0`, `true`, `null`, `[1,[2]]`, `{"a":[]}`} {
		for _, after := range []string{`,`, `}`, ` `, `]`} {
			var s Scanner
			n := 0
			for n < len(value) && s.Add([]byte{value[n]}) == 1 {
				n++
			}
			if more := s.Add([]byte(after)); n != len(value) || more != 0 || !s.Complete() {
				t.Errorf("%s%s: complete %v after %d and %d bytes", value, after, s.Complete(), n, more)
			}
		}
	}
	var s Scanner
	if s.Add([]byte(`"ab`)); !s.InString() {
		t.Error("a string that has begun is none")
	}
	if s.Add([]byte(`\`)); s.InString() {
		t.Error("half an escape is text")
	}
}

func FuzzObject(f *testing.F) {
	f.Add(`{"a":[1.5e3,"\u00e9",{"b":null}]}`, 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if strings.Count(text, "[")+strings.Count(text, "{") > MaxDepth {
			return
		}
		cut = min(max(cut, 0), len(text))
		s := Scanner{Object: true}
		n := s.Add([]byte(text[:cut]))
		if n == cut {
			n += s.Add([]byte(text[cut:]))
		}
		d := json.NewDecoder(strings.NewReader(text))
		var value map[string]json.RawMessage
		err := d.Decode(&value)
		want := err == nil && value != nil
		if got := s.Complete(); got != want {
			t.Errorf("%q: complete %v after %d bytes, encoding/json says %v", text, got, n, err)
		}
	})
}
