package adapters_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// TestASourceThatFailsClosesNoCall breaks replies off: by an error, and by an end that nobody
// announced. A call that has left stays open, one that was held or not committed does not leave,
// and the failure is told.
func TestASourceThatFailsClosesNoCall(t *testing.T) {
	tools := []chat.Tool{{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}}}`)}}
	broke := errors.New("connection reset")
	const open = "<tool_call>\n" + `{"name": "f", "arguments": {`
	for _, row := range []struct {
		format, text string
		hold         int
		want         string
	}{
		{"hermes", "Well. ", adapters.HoldNone, "Well. "},
		{"hermes", "Look.\n<tool_call>\n" + `{"name": "f`, adapters.HoldNone, "Look."},
		{"hermes", open + `"a": "rm -rf /tmp`, adapters.HoldNone, `[call f][args {"a": "rm -rf /tmp]`},
		{"hermes", open + `"a": "rm -rf /tmp`, adapters.HoldShort, ""},
		{"hermes", open + `"a": "rm -rf /tmp`, adapters.HoldCall, ""},
		{"hermes", open + `"a": "x", "n": 1`, adapters.HoldNone, `[call f][args {"a": "x"]`},
		{"hermes", open + `"a": "x"`, adapters.HoldNone, `[call f][args {"a": "x]`},
		{"hermes", open + `"a": "x"}}`, adapters.HoldNone, `[call f][args {"a": "x"}]`},
		{"hermes", open + `"a": "x"}}`, adapters.HoldShort, ""},
		{"hermes", open + `"a": "x"}}` + "\n</tool_call>", adapters.HoldShort, `[call f][args {"a": "x"}][end]`},
		{"hermes", open + `"a": "` + strings.Repeat("y", 600), adapters.HoldShort, `[call f][args {"a": "` + strings.Repeat("y", 600) + `]`},
		{"qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\nx", adapters.HoldNone, `[call f][args {"a":"x]`},
		{"qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n", adapters.HoldShort, ""},
		{"gemma4", `<|tool_call>call:f{a:<|"|>x`, adapters.HoldShort, ""},
		{"llama3", `{"name": "f", "parameters": {"a": "x"`, adapters.HoldShort, ""},
		{"lfm2", `<|tool_call_start|>[f(a="x"`, adapters.HoldShort, ""},
		{"harmony", `<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":"x`, adapters.HoldShort, ""},
		{"generic", "I call it now:\n" + `{"name": "f", "arguments": {"a": "x"}}`, adapters.HoldShort, "I call it now:\n" + `{"name": "f", "arguments": {"a": "x"}}`},
	} {
		for _, end := range []error{broke, io.EOF} {
			want := row.want + "[" + map[error]string{broke: broke.Error(), io.EOF: "unexpected EOF"}[end] + "]"
			for _, pieces := range [][]string{{row.text}, strings.Split(row.text, "")} {
				src := &breaking{err: end}
				for _, p := range pieces {
					src.Fixed = append(src.Fixed, chat.Event{Kind: chat.Text, Text: p})
				}
				if got := shown(row.format, src, adapters.Options{Tools: tools, Hold: row.hold}); got != want {
					t.Errorf("%s, hold %d, %d pieces, %v: %q\ngot  %s\nwant %s", row.format, row.hold, len(pieces), end, row.text, got, want)
				}
			}
		}
	}
}

// shown returns the events of a reply as text, and the error that ends it.
func shown(format string, src chat.Source, o adapters.Options) string {
	var b strings.Builder
	in := false // arguments
	for e, err := range adapters.Named(format).Decode(src, o) {
		if in && (err != nil || e.Kind != chat.CallArgs) {
			b.WriteString("]")
		}
		switch {
		case err != nil:
			b.WriteString("[" + err.Error() + "]")
		case e.Kind == chat.Text:
			b.WriteString(e.Text)
		case e.Kind == chat.CallArgs && in:
			b.WriteString(e.Text)
		case e.Kind == chat.CallArgs:
			b.WriteString("[args " + e.Text)
		case e.Text == "":
			b.WriteString("[" + e.Kind.String() + "]")
		default:
			b.WriteString("[" + e.Kind.String() + " " + e.Text + "]")
		}
		in = err == nil && e.Kind == chat.CallArgs
	}
	return b.String()
}

// breaking is a source that fails behind its events.
type breaking struct {
	chat.Fixed
	err error
}

func (s *breaking) Next() (chat.Event, error) {
	if len(s.Fixed) == 0 {
		return chat.Event{}, s.err
	}
	return s.Fixed.Next()
}
