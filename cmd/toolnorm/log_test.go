package main

import (
	"strings"
	"testing"
)

// TestTheLogForPeopleHasItsFieldsUnderEachOther writes what is no terminal, so there are no colours.
func TestTheLogForPeopleHasItsFieldsUnderEachOther(t *testing.T) {
	clean(t, "")
	out := new(log)
	m := NewMain(out, out)
	m.Config.LogFormat, m.Config.LogLevel = "text", "info"
	m.log = m.newLog()
	m.log.Info().Str("server", "ollama").Str("error", "").Strs("repairs", nil).Strs("notes", []string{}).Msg("up")
	m.log.Info().Str("server", "box").Msg("the model server is up")
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || strings.Index(lines[0], "server=") != strings.Index(lines[1], "server=") || strings.ContainsAny(out.String(), "[]\x1b") || strings.Contains(out.String(), "error=") {
		t.Errorf("%s", out)
	}
	m.level.set("warn")
	m.log.Info().Msg("dropped")
	m.log.Error().Msg("kept")
	if strings.Contains(out.String(), "dropped") || !strings.Contains(out.String(), "kept") {
		t.Errorf("at level warn: %s", out)
	}
}
