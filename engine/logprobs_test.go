package engine

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// TestProbabilitiesBesideTools asks for probabilities with tools offered: a text has those of its
// tokens at its end, behind a thought too, and a call has none.
func TestProbabilitiesBesideTools(t *testing.T) {
	for text, want := range map[string]string{
		"Hi there.":                      "Hi there.",
		"<think>\nHm.\n</think>\n\nYes.": "Yes.",
		`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": 2}}</tool_call>`: "",
	} {
		e, _ := guarding(t, Config{}, text)
		r := user("q")
		r.Tools = []chat.Tool{{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}}}`)}}
		r.Logprobs = true
		notes := ""
		_, _, end, err := collectWith(t, e, r, &chat.Observer{OnNote: func(word, _ string) { notes += word }})
		must.OK(t, err)
		var got strings.Builder
		for _, one := range chat.MetaOf(*end).Logprobs {
			got.WriteString(one.Text)
		}
		if got.String() != want || (want == "") != (notes == noteLogprobs) {
			t.Errorf("%q has the tokens %q, want %q; notes %q", text, got.String(), want, notes)
		}
	}
}
