package shell

import (
	"fmt"
	"slices"
	"testing"

	"toolnorm/chat"
	"toolnorm/tools"
)

// many are a thousand tools, of which one reads the weather.
func many() (all []tools.Tool) {
	for i := range 1000 {
		all = append(all, tools.Tool{Name: fmt.Sprintf("report_%d", i), Description: fmt.Sprintf("Prints the sales report of branch %d, with all its columns and totals.", i)})
	}
	all[700] = tools.Tool{Name: "get_weather", Description: "Tells the weather of a city."}
	return all
}

func TestOfManyToolsThoseAreOfferedThatTheConversationAsksFor(t *testing.T) {
	all := many()
	said := func(texts ...string) (out []chat.Message) {
		for i, text := range texts {
			m := chat.Message{Role: chat.User, Content: text}
			if i%2 == 1 {
				m.Role = chat.Assistant
			}
			out = append(out, m)
		}
		return out
	}
	called := said("sum it up", "")
	called[1].Calls = []chat.Call{{Name: "report_999"}}
	for _, tt := range []struct {
		messages []chat.Message
		want     string
	}{
		{said("How is the weather in Seoul?"), "get_weather"},
		{said("How is the weather in Seoul?", "Fine.", "And the sales report of branch 12?"), "get_weather"},
		{said("Run report_412."), "report_412"},
		{called, "report_999"},
	} {
		got := (&Config{Budget: 500}).pickTools(t.Context(), all, tt.messages)
		size := 0
		for _, one := range got {
			size += len(one.Name) + len(one.Description) + len(one.Schema)
		}
		has := func(one tools.Tool) bool { return one.Name == tt.want }
		if !slices.ContainsFunc(got, has) || size > 500*bytesPerToken || len(got) < 10 {
			t.Errorf("%v: %d tools of %d bytes, with %s: %v", tt.messages[len(tt.messages)-1].Content, len(got), size, tt.want, slices.ContainsFunc(got, has))
		}
		if again := (&Config{Budget: 500}).pickTools(t.Context(), all, tt.messages); !slices.EqualFunc(got, again, func(a, b tools.Tool) bool { return a.Name == b.Name }) {
			t.Error("the same conversation is offered other tools")
		}
	}
	if got := (&Config{Budget: 500}).pickTools(t.Context(), all[:5], nil); len(got) != 5 {
		t.Errorf("of few tools %d are offered", len(got))
	}
	if got := (&Config{Budget: 0}).pickTools(t.Context(), all, nil); len(got) != len(all) {
		t.Errorf("without a budget %d are offered", len(got))
	}
}

func BenchmarkWanted(b *testing.B) {
	all := many()
	messages := []chat.Message{{Role: chat.User, Content: "How is the weather in Seoul?"}}
	for b.Loop() {
		(&Config{Budget: 4000}).pickTools(b.Context(), all, messages)
	}
}
