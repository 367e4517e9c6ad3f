package family

import (
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
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

// TestLearnAnyConstantText has forms in which a name and JSON stand in some constant text, two
// replies each, with and without words in front. What is learned reads other calls in that form,
// and leaves none of its marks as text.
func TestLearnAnyConstantText(t *testing.T) {
	for _, form := range []string{
		"[[CALL NAME]]\n{J}\n[[/CALL]]", "<act name=\"NAME\">{J}</act>", "TOOL: NAME\nINPUT: {J}\nEND", "@@NAME {J}@@", "#CALL NAME({J})#END",
		"{{tool:NAME}} {J}", "$$ NAME | {J} $$", "CALL NAME WITH {J}", "⟦NAME⟧{J}⟦/⟧", "~~NAME~~\n{J}\n~~end~~", "::NAME::{J}::",
	} {
		made := func(front, name, args string) string {
			return front + strings.Replace(strings.Replace(form, "{J}", args, 1), "NAME", name, 1)
		}
		var replies []Reply
		tools := []chat.Tool{{Name: "get_weather"}, {Name: "get_time"}}
		for _, raw := range []string{made("", "get_weather", `{"city": "Oslo"}`), made("I look it up.\n", "get_time", `{"zone": "UTC"}`)} {
			replies = append(replies, Reply{raw, tools})
		}
		file, asks, err := Learn("mine", adapters.Builtin(), replies)
		if err != nil || len(asks) > 0 {
			t.Errorf("%q: %v, asks %q\n%s", form, err, asks, file)
			continue
		}
		f, err := adapters.Builtin().Parse([]byte(file))
		must.OK(t, err)
		var got chat.Collector
		for e, err := range f.Decode(golden.Source([]string{made("Let me see.\n", "get_weather", `{"city": "Riga", "days": 3}`)}, chat.Stop), adapters.Options{Tools: tools, Alone: true, Which: adapters.Strict}) {
			must.OK(t, err)
			got.Add(e)
		}
		if len(got.Calls) != 1 || string(got.Calls[0].Args) != `{"city": "Riga", "days": 3}` || strings.TrimSpace(got.Text.String()) != "Let me see." {
			t.Errorf("%q: %s %q\n%s", form, got.Calls, got.Text.String(), file)
		}
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
			if _, err := adapters.Builtin().Parse([]byte(file)); err != nil {
				t.Errorf("%v\n%s", err, file)
			}
		}
	})
}
