package engine

import (
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// chattyModel calls forecast for everything, and picks a tool by what pick says of a message.
func chattyModel(t *testing.T, cfg Config, args string, pick func(message string) string) (*Engine, *int) {
	picks := 0
	e, f := guarding(t, cfg)
	f.then = func(ollama.GenerateRequest, int) string {
		if rendered := f.chats[len(f.chats)-1]; len(rendered.Tools) == 0 {
			return "Hello to you."
		}
		return "I see. " + tagged("forecast", args)
	}
	f.reply = func(string) string {
		picks++
		q := f.chats[len(f.chats)-1]
		return fmt.Sprintf(`{"tool":%q}`, pick(q.Messages[len(q.Messages)-1].Content))
	}
	return e, &picks
}

// TestACallThatNothingExplainsIsAskedAbout follows a model through several requests: what it says of its first needless call
// decides how it is asked from then on.
func TestACallThatNothingExplainsIsAskedAbout(t *testing.T) {
	polite := func(message string) string {
		if strings.HasPrefix(message, "Hello") {
			return noTool
		}
		return "forecast"
	}
	const call, words = "[forecast", "Hello to you."
	for name, row := range map[string]struct {
		args string
		pick func(string) string
		said []string // what the user says, one request after the other
		want []string // what each reply holds
		cost []int    // picks of each
	}{
		"needless":            {`{"city":"Oslo","days":2}`, polite, []string{"Hello!", "Hello again", "The weather, please"}, []string{words, words, call}, []int{2, 1, 1}},
		"needed":              {`{"city":"Oslo","days":2}`, polite, []string{"The weather, please", "And now?"}, []string{call, call}, []int{1, 1}},
		"explained":           {`{"city":"Oslo","days":2}`, polite, []string{"Hello, how is Oslo?"}, []string{call}, []int{0}},
		"picks none always":   {`{"city":"Oslo","days":2}`, func(string) string { return noTool }, []string{"Hello!", "Hello!"}, []string{call, call}, []int{2, 0}},
		"picks nonsense":      {`{"city":"Oslo","days":2}`, func(string) string { return "" }, []string{"Hello!"}, []string{call}, []int{1}},
		"a long call":         {`{"city":"` + strings.Repeat("Oslo ", 200) + `","days":2}`, polite, []string{"Hello!"}, []string{call}, []int{0}},
		"a long conversation": {`{"city":"Rome","days":2}`, polite, []string{"Hello! " + strings.Repeat("Oslo ", gateMost/5)}, []string{call}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			e, picks := chattyModel(t, Config{Gate: map[string]string{"*": GateAuto}}, row.args, row.pick)
			for i, said := range row.said {
				*picks = 0
				r := user(said)
				r.Tools = []chat.Tool{forecast}
				got := told(collect(t, e, r))
				if !strings.Contains(got, row.want[i]) || row.want[i] == words && strings.Contains(got, call) {
					t.Errorf("%q: got %s, want %s", said, got, row.want[i])
				}
				if *picks != row.cost[i] {
					t.Errorf("%q: %d picks, want %d", said, *picks, row.cost[i])
				}
			}
		})
	}
}
