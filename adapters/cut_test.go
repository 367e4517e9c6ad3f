package adapters

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// TestWhatACutLeavesOutIsKept cuts replies by their length, whole and byte by byte.
func TestWhatACutLeavesOutIsKept(t *testing.T) {
	tools := testTools(t)
	for _, row := range []struct{ raw, want string }{
		{"No call.", ""},
		{"Look.\n<tool_call>", "<tool_call>"},
		{"<tool_call>\n{\"name\": \"get_wea", "<tool_call>\n{\"name\": \"get_wea"},
		{"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par", "get_weather {\"city\": \"Par"},
		{"<tool_call>\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"na", "<tool_call>\n{\"na"},
		{`<tool_call>{"note": "` + strings.Repeat("a", 10<<10), `<tool_call>{"note": "` + strings.Repeat("a", chat.MaxCut-len(`<tool_call>{"note": "`))},
	} {
		for _, pieces := range [][]string{{row.raw}, strings.Split(row.raw, "")} {
			got := "no Finish"
			for e, err := range Named("hermes").Decode(golden.Source(pieces, chat.Length), Options{Tools: tools, Hold: HoldCall}) {
				must.OK(t, err)
				if e.Kind == chat.Finish {
					got = e.Meta.Cut
				}
			}
			if got != row.want {
				t.Errorf("%.80q in %d pieces: %.80q, want %.80q", row.raw, len(pieces), got, row.want)
			}
		}
	}
}

// TestACutInACloserIsNoText reads replies that end inside a closer, a value, or a mark that is a
// word: half a closer closes what stands in front of it, half a value never runs, and a word that
// nothing follows is text of a model that has ended.
func TestACutInACloserIsNoText(t *testing.T) {
	const paris = "call 0 get_weather {\"city\":\"Paris\"}\n"
	glm := "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>content</arg_key>\n<arg_value>x </tool_call> in GLM.\n<tool_call> opens"
	object := "<tool_call>\n{\"name\": \"run_command\", \"arguments\": {\"command\": \"x = {\"k\": \"v\", \"w\": 2}\"}}\n"
	for _, row := range []struct{ family, raw, length, stop string }{
		{"minimax-m2", "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</invoke>\n</minimax:to", paris, paris},
		{"minimax-m2", "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</inv", paris, paris},
		{"qwen3-coder", "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</fu", paris, paris},
		{"qwen3-coder", "<tool_call>\n<function=get_weather>\n<parameter=city>\nPar", "", ""},
		{"glm4", "<tool_call>search\n<arg_key>query<arg_value>Oslo</arg_value>\n<", "", ""},
		{"glm4", "<tool_call>get_time\n</tool_c", "", ""},
		{"glm4", glm, "", "-"},
		{"hermes", object + "</tool_ca", "", "-"},
		// correct up to the end, inside of a string that holds brackets or marks
		{"hermes", "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"limit\": 3, \"query\": \"[TOOL_CALLS] and", "", ""},
		{"mistral", "[TOOL_CALLS]search[ARGS]{\"limit\": 3, \"query\": \"x := map[string]", "", ""},
		{"mistral", "[TOOL_CALLS]search[ARGS]{\"query\": \"return {\\\"a\\\": a}", "", ""},
		{"functiongemma", "<start_function_call>call:search{query:<escape>{'a': True, 'b': None}<escape>,l", "", ""},
		{"dots", "<dots_function_call>\n<invoke name=\"make_order\">\n<parameter name=\"id\">1</parameter>\n<parameter name=\"tags\">[\"<a>\\n</a></", "", ""},
		{"plamo3", "I look it up.<|plamo:begi", "text \"I look it up.\"\n", "text \"I look it up.<|plamo:begi\"\n"},
		{"glm4", "<tool_call>get_time<arg_", "", "-"},
		{"hermes", "<think>\nHm.\n</thi", "reasoning \"Hm.\"\n", "reasoning \"Hm.\\n</thi\"\n"},
		{"command-r", "Action:", "", "text \"Action:\"\n"},
		{"react", "Action:", "", "text \"Action:\"\n"},
	} {
		for finish, want := range map[string]string{chat.Length: row.length, chat.Stop: row.stop} {
			if want == "-" {
				continue
			}
			got, err := transcript(Named(row.family), []string{row.raw}, finish, Options{Tools: testTools(t), Hold: HoldCall})
			if at := strings.LastIndex(got, "finish "); err != nil || got[:at] != want {
				t.Errorf("%s, %s: %q\ngot  %s\nwant %s, %v", row.family, finish, row.raw, got, want, err)
			}
		}
	}
}

// TestHalfAMarkIsNoText cuts replies inside each mark of each family but words and fences: nothing
// of it is shown.
func TestHalfAMarkIsNoText(t *testing.T) {
	o := Options{Tools: testTools(t), Hold: HoldCall}
	for _, f := range All() {
		for _, marks := range f.live().Marks {
			for _, m := range marks {
				if !m.Own || m.IsWord() || m.Key[0] == '`' {
					continue
				}
				for n := minHalf; n < len(m.Key); n++ {
					raw := "I look it up." + m.Key[:n]
					got, err := transcript(f, []string{raw}, chat.Length, o)
					if want := "text \"I look it up.\"\n"; err != nil || got[:strings.LastIndex(got, "finish ")] != want {
						t.Errorf("%s: %q\ngot  %s, %v", f.Name, raw, got, err)
					}
				}
			}
		}
	}
}
