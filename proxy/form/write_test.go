package form

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// stdQuoted is encoding/json's spelling of s.
func stdQuoted(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
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
	})
}

func FuzzWholeRunesCutsOnlyUnfinishedCharacters(f *testing.F) {
	f.Add("abc")
	f.Add("가\xea\xb0")
	f.Add("\xf0\x9f\x99")
	f.Add("\x80\x80\x80\x80")
	f.Fuzz(func(t *testing.T, s string) {
		n := wholeRunes(s)
		if len(s)-n > 3 {
			t.Fatalf("wholeRunes(%q) = %d: holds back more than three bytes", s, n)
		}
		if rest := s[n:]; rest != "" && (!utf8.RuneStart(rest[0]) || utf8.FullRuneInString(rest)) {
			t.Errorf("wholeRunes(%q) = %d: %q is no begun character", s, n, rest)
		}
		if utf8.ValidString(s) && n != len(s) {
			t.Errorf("wholeRunes(%q) = %d, want all %d", s, n, len(s))
		}
	})
}
