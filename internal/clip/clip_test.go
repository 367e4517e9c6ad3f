package clip

import "testing"

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text     string
		n        int
		to, dots string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "abc…"},
		{"한글", 6, "한글", "한글"},
		{"한글", 5, "한", "한…"},
		{"한글", 2, "", "…"},
	} {
		if got := To(c.text, c.n); got != c.to {
			t.Errorf("To(%q, %d) = %q, want %q", c.text, c.n, got, c.to)
		}
		if got := Dots(c.text, c.n); got != c.dots {
			t.Errorf("Dots(%q, %d) = %q, want %q", c.text, c.n, got, c.dots)
		}
	}
	if got := Runes("a한글b", 3) + Runes("한", 1) + Runes("a", 2) + Runes("a", 0); got != "a한글한a" {
		t.Errorf("Runes gives %q", got)
	}
}
