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
	// Native mode refuses it. Where Ollama's parser breaks off, the tap can only say so:
	// docs/internal/upstreams.md counts that.
	{"tap", func(s setup, sc script.Script) bool {
		return s.template != "" && demanding(sc) && (s.reads == sc.Family || s.reads == "")
	}},
	{"prompt", func(s setup, sc script.Script) bool { return s.name == "hermes" && sc.Anchor }},
}

// TestForcedStrategies names a strategy in the settings. The older server shows characters that are
// split over tokens damaged, so tap is not for it: what it gets right all the same is counted in
// docs/internal/upstreams.md.
func TestForcedStrategies(t *testing.T) {
	l := open(t)
	for _, server := range []*server{l.newest, l.former} {
		for _, f := range forced {
			if f.strategy == "tap" && server == l.former {
				continue
			}
			base := l.proxied(t, server, "--strategy", "*="+f.strategy)
			for _, s := range server.setups {
				scripts := slices.DeleteFunc(slices.Clone(l.scripts), func(sc script.Script) bool { return !f.asks(s, sc) })
				sum := l.score(s, scripts, func(sc script.Script) []string { return l.askStream(base, s, sc) })
				for _, fault := range sum.faults {
					t.Errorf("%s, %s: %s", server.name, f.strategy, fault)
				}
			}
		}
	}
}
