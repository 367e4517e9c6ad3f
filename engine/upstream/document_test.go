package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAStringIsFoundInADocument has documents that are read by their quotes, and those that are parsed; what is found is the same.
func TestAStringIsFoundInADocument(t *testing.T) {
	for doc, want := range map[string]string{
		`{"model":"m","done":false,"_debug_info":{"rendered_template":"\u003c|a|\u003e\n\"b\"\\"}}` + "\n": "<|a|>\n\"b\"\\",
		`{"_debug_info":{"rendered_template":""}}`:                                                         "",
		`{"_debug_info":{"rendered_template":"é\ud83d\ude42\ud83d\u2028"}}`:                                "é🙂\ufffd\u2028",
		`{"_debug_info":{"rendered_template":"a","image_count":1},"done":true}`:                            "a",
		`{"_debug_info": {"rendered_template": "a"}}`:                                                      "a",
		`{"x":{"_debug_info":{"rendered_template":"no"}},"_debug_info":{"rendered_template":"a"}}`:         "a",
		`{"x":"\"_debug_info\":{\"rendered_template\":\"no\"}}","_debug_info":{"rendered_template":"a"}}`:  "a",
		`{"message":{"content":"no prompt"},"done":true}`:                                                  "",
		`{"_debug_info":{"rendered_template":"a`:                                                           "error",
		`{"_debug_info":{"rendered_template":"a"}`:                                                         "error",
		`{"_debug_info":{"rendered_template":"a"}}}`:                                                       "error",
	} {
		var all Documents
		got, err := all.Read(strings.NewReader(doc), MaxRender, 0, "_debug_info", "rendered_template")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q (%v), want %q", doc, got, err, want)
		}
	}
}

// FuzzUnquoted holds Unquoted against encoding/json: what it takes it decodes alike, and it takes all that has no escapes beyond
// ASCII.
func FuzzUnquoted(f *testing.F) {
	for _, s := range []string{"", "a", `\n\"\\`, "a\\u003cb", `\u00e9`, `\x`, "a\"b", strings.Repeat(`\"`, 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		source, _ := json.Marshal(s)
		for _, text := range []string{string(source[1:]), s} {
			got, behind, ok := Unquoted(nil, []byte(text))
			if !ok || !utf8.ValidString(text) { // encoding/json makes U+FFFD of bytes that are no UTF-8
				continue
			}
			var want string
			quoted := `"` + text[:len(text)-len(behind)]
			if json.Unmarshal([]byte(quoted), &want) == nil && want != string(got) {
				t.Errorf("Unquoted(%s) = %q, want %q", quoted, got, want)
			}
		}
	})
}

// BenchmarkDocument reads a rendered prompt of 200 KiB that is full of marks.
func BenchmarkDocument(b *testing.B) {
	text, _ := json.Marshal(strings.Repeat("<|im_start|>user\nThe river runs past the old mill.<|im_end|>\n", 3400))
	doc := fmt.Sprintf(`{"model":"m","done":false,"_debug_info":{"rendered_template":%s}}`, text)
	var all Documents
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := all.Read(strings.NewReader(doc), MaxRender, 0, "_debug_info", "rendered_template"); err != nil {
			b.Fatal(err)
		}
	}
}
