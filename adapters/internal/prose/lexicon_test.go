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

// BenchmarkWeigh weighs a sentence in front of a call.
func BenchmarkWeigh(b *testing.B) {
	for b.Loop() {
		Weigh("They were happy last week, I think. Let me have a look at the weather for you:",
			Tool{"get_weather", "The weather in a city", `{"city": "Oslo"}`})
	}
}
