package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// stdQuoted is encoding/json's spelling of s.
func stdQuoted(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	must.OK(t, enc.Encode(s))
	return strings.TrimSuffix(b.String(), "\n")
}

func FuzzEscapeAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<a>&", "가나다 日本 🙂", "\u2028\u2029\ufffd", "a\xffb\xe2\x82", "\xf0\x9f\x99"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(AppendQuoted(nil, s)), stdQuoted(t, s); got != want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", s, got, want)
		}
		var whole, short string
		spelled := AppendShortQuoted(nil, s)
		if json.Unmarshal(spelled, &short) != nil || json.Unmarshal(AppendQuoted(nil, s), &whole) != nil || short != whole {
			t.Errorf("AppendShortQuoted(%q) = %s", s, spelled)
		} else if bytes.Count(spelled, []byte("\u2028")) != strings.Count(s, "\u2028") {
			t.Errorf("AppendShortQuoted(%q) = %s, which escapes a separator", s, spelled)
		}
	})
}

// TestEachByteIsEscapedAnywhere has every byte at each place of the eight that are looked at
// together, and beside each other.
func TestEachByteIsEscapedAnywhere(t *testing.T) {
	for c := range 256 {
		for at := range 17 {
			for _, beside := range []string{"", "\x00", "\"", "\x7f", "\x80", "z"} {
				s := strings.Repeat("a", at) + string([]byte{byte(c)}) + beside + strings.Repeat("b", 16-at)
				if got, want := string(AppendQuoted(nil, s)), stdQuoted(t, s); got != want {
					t.Fatalf("AppendQuoted(%q) = %s, want %s", s, got, want)
				}
			}
		}
	}
}
