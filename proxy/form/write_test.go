package form

import (
	"testing"
	"unicode/utf8"
)

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
