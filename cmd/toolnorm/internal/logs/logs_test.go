package logs

import (
	"strings"
	"testing"
)

func TestTheLogForPeopleHasItsFieldsUnderEachOther(t *testing.T) {
	out, level := new(strings.Builder), new(Level)
	log := ForPeople(out, level, false)
	log.Info().Str("server", "ollama").Str("error", "").Strs("repairs", nil).Strs("notes", []string{}).Msg("up")
	log.Info().Str("server", "box").Msg("the model server is up")
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || strings.Index(lines[0], "server=") != strings.Index(lines[1], "server=") || strings.ContainsAny(out.String(), "[]\x1b") || strings.Contains(out.String(), "error=") {
		t.Errorf("%s", out.String())
	}
	level.Set("warn")
	log.Info().Msg("dropped")
	log.Error().Msg("kept")
	if strings.Contains(out.String(), "dropped") || !strings.Contains(out.String(), "kept") {
		t.Errorf("at level warn: %s", out.String())
	}
}

// TestARequestIsOneSentence holds the line of a request in the log for people.
func TestARequestIsOneSentence(t *testing.T) {
	out, level := new(strings.Builder), new(Level)
	log := ForPeople(out, level, false)
	log.Info().Str("id", "chatcmpl-1").Str("model", "demo/hermes").Bool("stream", true).Str("format", "hermes").Str("strategy", "raw").Int("calls", 2).Strs("repairs", []string{"quotes"}).
		Int("prompt_tokens", 20).Int("completion_tokens", 31).Dur("ttft_ms", 110006634).Dur("total_ms", 2385077136).Int("status", 200).Int64("bytes", 401).Msg("chat")
	for _, want := range []string{"chat  demo/hermes  200  2.4 s (first 110 ms)  20+31 tokens  2 calls  hermes/raw", "id=chatcmpl-1", "quotes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "bytes=") {
		t.Errorf("%s", out.String())
	}
}
