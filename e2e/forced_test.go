package e2e

import (
	"slices"
	"testing"

	"toolnorm/e2e/script"
)

// forced are strategies that are not left to toolnorm's choice, with what they are asked for.
var forced = []struct {
	strategy string
	asks     func(setup, script.Script) bool
}{
	// Native mode refuses it. Where Ollama's parser breaks off, the tap can only say so: docs/upstreams.md counts that.
	{"tap", func(s setup, sc script.Script) bool {
		return s.template != "" && demanding(sc) && (s.reads == sc.Family || s.reads == "")
	}},
	{"prompt", func(s setup, sc script.Script) bool { return s.name == "hermes" && sc.Anchor }},
}

// TestForcedStrategies names a strategy in the settings, and that one must answer. At the tap of the older server characters
// that are split over tokens come damaged, and must come out whole.
func TestForcedStrategies(t *testing.T) {
	l := open(t)
	for _, server := range []*server{l.newest, l.former} {
		for _, f := range forced {
			base := l.proxied(t, server, "--strategy", "*="+f.strategy)
			for _, s := range server.setups {
				scripts := slices.DeleteFunc(slices.Clone(l.scripts), func(sc script.Script) bool { return !f.asks(s, sc) })
				sum := l.score(s, scripts, func(sc script.Script) []string { return l.askStream(base, s, sc) })
				for _, fault := range sum.faults {
					t.Errorf("%s, %s: %s", server.name, f.strategy, fault)
				}
				if got := l.strategy(t, base, s); len(scripts) > 0 && got != f.strategy {
					t.Errorf("%s, %s: %s answered, want %s", server.name, s.name, got, f.strategy)
				}
			}
		}
	}
}

// strategy is the one by which a set-up answers.
func (l *lane) strategy(t *testing.T, base string, s setup) string {
	t.Helper()
	resp := post(t, t.Context(), base, l.ask(s.model(), l.named(t, "plain"), false))
	resp.Body.Close()
	return resp.Header.Get("Toolnorm-Strategy")
}
