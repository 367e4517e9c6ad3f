package adapters_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// TestAReplyThatTheServerGaveUp has replies that end where a server's own parser failed. A call whose arguments are whole
// stands; what was cut inside of them does not.
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
		var b strings.Builder
		src := &events{{Kind: chat.Text, Text: row.text}, {Kind: chat.Finish, Text: chat.Abandoned}}
		for e, err := range adapters.Named(row.format).Decode(src, adapters.Options{Tools: tools}) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Kind == chat.Text:
				b.WriteString(e.Text)
			case e.Text == "":
				b.WriteString("[" + e.Kind.String() + "]")
			default:
				b.WriteString("[" + e.Kind.String() + " " + e.Text + "]")
			}
		}
		if b.String() != row.want {
			t.Errorf("%s: %q\ngot  %s\nwant %s", row.format, row.text, b.String(), row.want)
		}
	}
}

// events is a source of events that are there already.
type events []chat.Event

func (s *events) Next() (chat.Event, error) {
	if len(*s) == 0 {
		return chat.Event{}, io.EOF
	}
	e := (*s)[0]
	*s = (*s)[1:]
	return e, nil
}

func (s *events) Close() error { return nil }
