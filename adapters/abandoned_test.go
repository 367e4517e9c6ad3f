package adapters_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// TestAReplyThatTheServerGaveUp has replies that end where a server's own parser failed. A call
// whose arguments are whole stands; what was cut inside of them does not.
func TestAReplyThatTheServerGaveUp(t *testing.T) {
	tools := []chat.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`)}}
	for _, row := range []struct{ format, text, want string }{
		{"hermes", `<tool_call>` + "\n" + `{"name": "f", "arguments": {"a": "x"}}` + "\n", `[call f][args {"a": "x"}][end][finish stop]`},
		{"hermes", `<tool_call>` + "\n" + `{"name": "f", "arguments": {"a": "x", }}` + "\n</tool_", `[call f][args {"a": "x"}][end][finish stop]`},
		{"hermes", `<tool_call>` + "\n" + `{"name": "f", "arguments": {"a": "x"`, `[finish abandoned]`},
		{"hermes", `<tool_call>` + "\n" + `{"name": "f", "arguments": {"a": "x`, `[finish abandoned]`},
		{"hermes", `<tool_call>` + "\n" + `{"name": "f", "arguments": {"a": "x"}}` + "\n</tool_call>\n<tool_call>\n" + `{"name": "f", "arg`, `[call f][args {"a": "x"}][end][finish length]`},
		{"hermes", "Well.", "Well.[finish abandoned]"},
		{"qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n", `[call f][args {"a":"x"}][end][finish stop]`},
		{"qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=b>\nleft o", `[finish abandoned]`},
		{"qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\nx", `[finish abandoned]`},
		{"qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</param", `[finish abandoned]`},
		{"glm4", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n", `[call f][args {"a":"x"}][end][finish stop]`},
		{"glm4", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x", `[finish abandoned]`},
		{"gemma4", `<|tool_call>call:f{a:<|"|>x<|"|>}`, `[call f][args {"a":"x"}][end][finish stop]`},
		{"gemma4", `<|tool_call>call:f{a:<|"|>x`, `[finish abandoned]`},
	} {
		src := &chat.Fixed{{Kind: chat.Text, Text: row.text}, {Kind: chat.Finish, Text: chat.Abandoned}}
		got := shown(row.format, src, adapters.Options{Tools: tools})
		if got != row.want {
			t.Errorf("%s: %q\ngot  %s\nwant %s", row.format, row.text, got, row.want)
		}
	}
}

// TestAReplyThatNobodyWaitsForEnds has replies that come in one piece, and a client that leaves at
// their beginning: reading ends with the context's error, and not at the end of the piece.
func TestAReplyThatNobodyWaitsForEnds(t *testing.T) {
	tools := []chat.Tool{{Name: "f"}}
	for name, text := range map[string]string{
		"calls":     strings.Repeat("<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n", 5000),
		"marks":     "Well.\n" + strings.Repeat("<tool_call>\n", 5000),
		"reasoning": "<think>\n" + strings.Repeat("<tool_call>\n{\"name\": \"g\"}\n", 5000),
	} {
		ctx, leave := context.WithCancel(t.Context())
		events, last := 0, error(nil)
		src := &leaving{leave, text}
		for _, err := range adapters.Named("hermes").Decode(src, adapters.Options{Tools: tools, Context: ctx}) {
			events, last = events+1, err
		}
		if !errors.Is(last, context.Canceled) || events > 10 {
			t.Errorf("%s: %d events, the last one %v", name, events, last)
		}
	}
}

// leaving is a source whose client leaves when its text is read.
type leaving struct {
	leave func()
	text  string
}

func (s *leaving) Next() (chat.Event, error) {
	s.leave()
	ev := chat.Event{Kind: chat.Text, Text: s.text}
	if s.text == "" {
		ev = chat.Event{Kind: chat.Finish, Text: chat.Stop}
	}
	s.text = ""
	return ev, nil
}

func (s *leaving) Close() error { return nil }
