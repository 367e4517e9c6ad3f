package prose

import (
	"strings"
	"testing"
)

// BenchmarkAsks looks up the words of a question of the largest size that is read, 64 KiB.
func BenchmarkAsks(b *testing.B) {
	text := strings.Repeat("Please have a look at the report and tell me what was said. ", 1<<16/60)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Asks(text, Tool{Name: "get_time", Args: `{"timezone": "UTC"}`})
	}
}

// BenchmarkAnnounces weighs the surroundings of a call.
func BenchmarkAnnounces(b *testing.B) {
	around := Surroundings{
		Front:    "They were happy last week, I think. Let me have a look at the weather for you:",
		Question: "What is the weather in Oslo?",
		Tool:     Tool{"get_weather", "The weather in a city", `{"city": "Oslo"}`, []string{"Oslo"}},
	}
	for b.Loop() {
		around.Announces()
	}
}
