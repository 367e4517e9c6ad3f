package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// TestAStringIsFoundInADocument has documents that are read by their quotes, and those that are
// parsed; what is found is the same.
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
		for _, r := range []io.Reader{strings.NewReader(doc), iotest.OneByteReader(strings.NewReader(doc))} {
			got, err := all.Read(r, MaxRender, 0, "_debug_info", "rendered_template")
			if err != nil {
				got = "error"
			}
			if got != want {
				t.Errorf("%s: %q (%v), want %q", doc, got, err, want)
			}
		}
	}
}

// TestALongStringIsReadInPieces shifts a string by a byte at a time, so that a piece of it ends
// inside each escape; one of them is half a surrogate pair, behind which the document is parsed.
func TestALongStringIsReadInPieces(t *testing.T) {
	for i := range 20 {
		text := strings.Repeat("x", i) + strings.Repeat("<\u2028\"\\é", front/8)
		for _, tail := range []string{"", "🙂"} {
			quoted, _ := json.Marshal(text + "-")
			quoted = bytes.Replace(quoted, []byte("-"), []byte(tail), 1)
			if tail != "" {
				quoted = bytes.Replace(quoted, []byte(tail), []byte(`\ud83d\ude42`), 1)
			}
			doc := slices.Concat([]byte(`{"prompt":`), quoted, []byte("}"))
			var all Documents
			if got, err := all.Read(bytes.NewReader(doc), MaxRender, 9, "prompt"); err != nil || got != text+tail {
				t.Errorf("%d, %q: %d bytes (%v), want %d", i, tail, len(got), err, len(text+tail))
			}
		}
	}
}

// TestABrokenDocumentIsTheConnectionsError wants the reader's own error, wherever it comes.
func TestABrokenDocumentIsTheConnectionsError(t *testing.T) {
	broken := errors.New("broken")
	for _, doc := range []string{``, `{"prompt":"`, `{"prompt":"` + strings.Repeat("a", 2*front), `{"prompt":"a"`} {
		var all Documents
		if got, err := all.Read(io.MultiReader(strings.NewReader(doc), iotest.ErrReader(broken)), MaxRender, 0, "prompt"); err != broken {
			t.Errorf("%.20s: %.20q, %v", doc, got, err)
		}
	}
}

// FuzzUnquoted holds Unquoted against encoding/json: what it takes it decodes alike.
func FuzzUnquoted(f *testing.F) {
	for _, s := range []string{"", "a", `\n\"\\`, "a\\u003cb", `\u00e9`, `\x`, "a\"b", strings.Repeat(`\"`, 9)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		source, _ := json.Marshal(s)
		for _, text := range []string{string(source[1:]), s} {
			got, behind, ok := AppendUnquoted(nil, []byte(text))
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
	prompt := strings.Repeat("<|im_start|>user\nThe river runs past the old mill.<|im_end|>\n", 3400)
	text, _ := json.Marshal(prompt)
	doc := fmt.Sprintf(`{"model":"m","done":false,"_debug_info":{"rendered_template":%s}}`, text)
	var all Documents
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := all.Read(strings.NewReader(doc), MaxRender, int64(len(prompt)), "_debug_info", "rendered_template"); err != nil {
			b.Fatal(err)
		}
	}
}
