package family

import (
	"strings"
	"testing"

	"toolnorm/adapters"
)

func TestLearnFromReplies(t *testing.T) {
	const tools = `"tools": ["get_weather", "get_time"]`
	for _, tt := range []struct{ name, lines, want, asks, err string }{
		{"a known family", `{"raw": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", ` + tools + "}", "like    kimi-k2\n", "", ""},
		{"a mark and an object", `{"raw": "I look.\n<ask>{\"name\": \"get_time\", \"arguments\": {}}</ask>", ` + tools + "}", "call    <ask>{call}</ask>\n-- reply 1: raw --\n", "", ""},
		{"a name in front", `{"raw": "[USE]get_weather: {\"city\": \"Oslo\"}[END]", ` + tools + "}", "call    [USE]{name}: {json}[END]\n", "", ""},
		{"two ways", `{"raw": "<a>{\"name\": \"get_time\", \"arguments\": {}}</a>", ` + tools + "}\n" + `{"raw": "<b>{\"name\": \"get_time\", \"arguments\": {}}</b>", ` + tools + "}", "call    <a>{call}</a>\ncall    <b>{call}</b>\n", "more than one way", ""},
		{"an exchange", `{"wrote": [{"parts": [{"kind": "text", "text": "<ask>{\"name\": \"get_time\", "}, {"kind": "text", "text": "\"arguments\": {}}</ask>"}]}], ` + tools + "}", "call    <ask>{call}</ask>\n", "", ""},
		{"no call", `{"raw": "I would use get_time.", ` + tools + "}", "", "is this a call?", "no reply holds a call"},
		{"no JSON", "nonsense", "", "", "line 1"},
		{"nothing", "", "", "", "no replies"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			replies, err := Replies(strings.NewReader(tt.lines))
			var file string
			var asks []string
			if err == nil {
				file, asks, err = Learn("mine", adapters.Builtin(), replies)
			}
			switch {
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)), tt.err == "" && err != nil:
				t.Errorf("error %v, want %q", err, tt.err)
			case !strings.Contains(file, tt.want) || !strings.Contains(strings.Join(asks, "\n"), tt.asks):
				t.Errorf("learned\n%s\nasks %q", file, asks)
			case tt.asks == "" && len(asks) > 0:
				t.Errorf("asks %q", asks)
			}
		})
	}
}

// FuzzReplies reads lines and learns from them without a panic; what is learned can be parsed.
func FuzzReplies(f *testing.F) {
	f.Add(`{"raw": "<ask>{\"name\": \"get_time\", \"arguments\": {}}</ask>", "tools": ["get_time"]}`)
	f.Add(`{"wrote": [{"parts": [{"kind": "text", "text": "x get_time {}"}]}], "tools": [{"type": "function", "function": {"name": "get_time"}}]}`)
	f.Fuzz(func(t *testing.T, lines string) {
		replies, err := Replies(strings.NewReader(lines))
		if err != nil || len(replies) > 4 {
			return
		}
		if file, _, err := Learn("mine", adapters.Builtin(), replies); err == nil {
			if _, err := adapters.Parse([]byte(file)); err != nil {
				t.Errorf("%v\n%s", err, file)
			}
		}
	})
}
