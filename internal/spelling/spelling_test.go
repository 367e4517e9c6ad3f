package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"date", "date", 0}, {"dat", "date", 1}, {"days", "day", 1},
		{"cuont", "count", 1}, {"from", "form", 1}, {"kitten", "sitting", 3}, {"abc", "ca", 3},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"listen", "log-level", "model", "models"}
	for word, want := range map[string][]string{
		"liste": {"listen"}, "modle": {"model", "models"}, "MODELS": {"models", "model"}, "x": nil, "": nil,
		strings.Repeat("model", 1000): nil, "level": {"log-level"},
	} {
		if got := Near(word, names, 3, nil); !slices.Equal(got, want) {
			t.Errorf("Near(%.20q) = %q, want %q", word, got, want)
		}
	}
}
