package openai

import (
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// TestNativeCalls is how servers spell their own calls, and what each spelling comes to.
func TestNativeCalls(t *testing.T) {
	const paris = "call 0 id=a \"get_weather\"\nargs 0 \"{\\\"city\\\":\\\"Paris\\\"}\"\nend 0\n"
	const two = paris + "call 1 id=b \"get_weather\"\nargs 1 \"{\\\"city\\\":\\\"Rome\\\"}\"\nend 1\n"
	noID := func(s string) string { return strings.NewReplacer("id=a ", "", "id=b ", "").Replace(s) }
	for _, row := range []struct {
		name   string
		reason string
		events []string
		want   string
	}{
		{"as OpenAI does", "tool_calls", []string{
			calls(`{"index":0,"id":"a","type":"function","function":{"name":"get_weather","arguments":""}}`),
			calls(`{"index":0,"function":{"arguments":"{\"city\""}}`), calls(`{"index":0,"function":{"arguments":":\"Paris\"}"}}`),
			calls(`{"index":1,"id":"b","type":"function","function":{"name":"get_weather","arguments":""}}`), calls(`{"index":1,"function":{"arguments":"{\"city\":\"Rome\"}"}}`),
		}, two},
		{"whole calls in one delta", "tool_calls", []string{
			calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}},{"index":1,"id":"b","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}`),
		}, two},
		{"one index, new ids", "tool_calls", []string{
			calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"function":{"arguments":"\"Paris\"}"}}`),
			calls(`{"index":0,"id":"b","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"function":{"arguments":"\"Rome\"}"}}`),
		}, two},
		{"one index, another name, no ids", "tool_calls", []string{
			calls(`{"index":0,"function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"index":0,"function":{"name":"ping","arguments":"{}"}}`),
		}, noID(paris) + "call 1 \"ping\"\nargs 1 \"{}\"\nend 1\n"},
		{"one index, the same name, no ids", "tool_calls", []string{
			calls(`{"index":0,"function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"index":0,"function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}`),
		}, noID(two)},
		{"one index, the same name in front, no ids", "tool_calls", []string{
			calls(`{"index":0,"function":{"name":"get_weather"}}`), calls(`{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}`),
			calls(`{"index":0,"function":{"name":"get_weather"}}`), calls(`{"index":0,"function":{"arguments":"{\"city\":\"Rome\"}"}}`),
		}, noID(two)},
		{"no index", "tool_calls", []string{
			calls(`{"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"function":{"arguments":"\"Paris\"}"}}`),
			calls(`{"id":"b","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"function":{"arguments":"\"Rome\"}"}}`),
		}, two},
		{"no index, no ids", "tool_calls", []string{
			calls(`{"function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}`),
		}, noID(two)},
		{"indexes that begin with 1", "tool_calls", []string{
			calls(`{"index":1,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"index":2,"id":"b","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}`),
		}, two},
		{"fragments of two calls mixed", "tool_calls", []string{
			calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":1,"id":"b","function":{"name":"get_weather","arguments":"{\"city\":"}}`),
			calls(`{"index":0,"function":{"arguments":"\"Paris\"}"}}`), calls(`{"index":1,"function":{"arguments":"\"Rome\"}"}}`),
		}, two},
		{"mixed under one index, told apart by ids", "tool_calls", []string{
			calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"id":"b","function":{"name":"get_weather","arguments":"{\"city\":"}}`),
			calls(`{"index":0,"id":"a","function":{"arguments":"\"Paris\"}"}}`), calls(`{"index":0,"id":"b","function":{"arguments":"\"Rome\"}"}}`),
		}, two},
		{"id a number", "tool_calls", []string{calls(`{"index":0,"id":7,"function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`)}, strings.Replace(paris, "id=a", "id=7", 1)},
		{"id empty or null", "tool_calls", []string{calls(`{"index":0,"id":"","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"id":null,"function":{"arguments":"\"Paris\"}"}}`)}, noID(paris)},
		{"id repeated", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"\"Paris\"}"}}`)}, paris},
		{"a new id in every fragment", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"id":"x","function":{"arguments":"\"Paris\"}"}}`)}, paris},
		{"name only in the second fragment", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"arguments":""}}`), calls(`{"index":0,"function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`)}, paris},
		{"name behind the arguments", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"index":0,"function":{"name":"get_weather"}}`)}, paris},
		{"name in every fragment", "tool_calls", []string{
			calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"\"Paris\"}"}}`),
			calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":""}}`),
		}, paris},
		{"name in two halves", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_"}}`), calls(`{"index":0,"function":{"name":"weather"}}`), calls(`{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}`)}, paris},
		{"name in another spelling", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"functions.Get_Weather","arguments":"{\"city\":\"Paris\"}"}}`)}, paris},
		{"name of no tool", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"nothing","arguments":"{\"city\":\"Paris\"}"}}`)}, strings.Replace(paris, "get_weather", "nothing", 1)},
		{"arguments null first", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":null}}`), calls(`{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}`)}, paris},
		{"arguments an object", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":{"city":"Paris"}}}`)}, paris},
		{"arguments a string in a string", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"\"{\\\"city\\\":\\\"Paris\\\"}\""}}`)}, paris},
		{"arguments left out", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"ping"}}`)}, "call 0 id=a \"ping\"\nargs 0 \"{}\"\nend 0\n"},
		{"no arguments, then another call", "tool_calls", []string{calls(`{"index":0,"id":"b","function":{"name":"ping","arguments":""}}`), calls(`{"index":1,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`)},
			"call 0 id=b \"ping\"\nargs 0 \"{}\"\nend 0\n" + strings.ReplaceAll(paris, " 0", " 1")},
		{"arguments in Python's spelling", "stop", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{'city':'Paris',"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`)}, paris},
		{"arguments that miss their closer", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\""}}`)}, paris},
		{"a closer too many", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"index":0,"function":{"arguments":"}"}}`)}, paris},
		{"digits, order, white space", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{ \"days\": 12345678901234567890, \"city\" :\"\\u00e9\",\"x\":1.50}"}}`)},
			"call 0 id=a \"get_weather\"\nargs 0 \"{ \\\"days\\\": 12345678901234567890, \\\"city\\\" :\\\"\\\\u00e9\\\",\\\"x\\\":1.50}\"\nend 0\n"},
		{"text between fragments", "tool_calls", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`), delta(`"content":"so","tool_calls":[{"index":0,"function":{"arguments":"\"Paris\"}"}}]`)}, paris + "text 0 \"so\"\n"},
		{"cut by the limit while held", "length", []string{delta(`"content":"so"`), calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Par"}}`)}, "text 0 \"so\"\n"},
		{"cut by the limit behind a whole call", "length", []string{calls(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`), calls(`{"index":1,"id":"b","function":{"name":"ping"}}`)}, paris},
		{"an entry without anything", "stop", []string{calls(`{"index":0}`), calls(`null`)}, ""},
	} {
		want := row.want + "finish 0 \"" + map[bool]string{true: "length", false: "stop"}[row.reason == "length"] + "\" cause=\n"
		if got := askOpenAI(t, fakeOpenAI(t, sse(append(row.events, end(row.reason), "[DONE]")...)), 0); got != want {
			t.Errorf("%s: events:\n%swant:\n%s", row.name, got, want)
		}
	}
}

func TestNativeCallsThatAreNone(t *testing.T) {
	for _, row := range []struct{ name, fragments, want string }{
		{"a list", `{"index":0,"function":{"name":"get_weather","arguments":"[1,2]"}}`, "error 502 upstream_error: the model server sent a call of \"get_weather\" whose arguments are no JSON object\n"},
		{"prose", `{"index":0,"function":{"name":"get_weather","arguments":"in Paris"}}`, "error 502 upstream_error: the model server sent a call of \"get_weather\" whose arguments are no JSON object\n"},
		{"no name", `{"index":0,"function":{"arguments":"{\"city\":"}}`, "error 502 upstream_error: the model server sent a call without a name\n"},
	} {
		if got := askOpenAI(t, fakeOpenAI(t, sse(calls(row.fragments), end("tool_calls"))), 0); got != row.want {
			t.Errorf("%s: events:\n%swant:\n%s", row.name, got, row.want)
		}
	}
}

// TestLongCallsLeaveAsTheyCome has arguments that are longer than what waits.
func TestLongCallsLeaveAsTheyCome(t *testing.T) {
	long := strings.Repeat("x", 40)
	fragments := []fragment{{index: 0, id: "a", name: "get_weather", args: `{"city":"`}, {index: 0, args: long}, {index: 0, args: long}, {index: 0, args: `"`}}
	feed := func(n *nativeCalls) (out []chat.Event) {
		for _, f := range fragments {
			out = n.fragment(out, f)
		}
		return out
	}
	for _, row := range []struct {
		hold, leave int
		broken      bool
	}{{adapters.HoldNone, 5, false}, {50, 3, false}, {adapters.HoldShort, 0, false}, {adapters.HoldCall, 0, false}, {50, 3, true}} {
		n := &nativeCalls{hold: row.hold, tools: offer}
		out := feed(n)
		if len(out) != row.leave {
			t.Errorf("hold %d: %d events have left: %v, want %d", row.hold, len(out), out, row.leave)
		}
		rest := fragment{index: 0, args: `}`}
		if row.broken {
			rest.args = `,}`
		}
		out = n.fragment(out, rest)
		out, err := n.end(out, false)
		var args strings.Builder
		for _, e := range out[1:] {
			args.WriteString(e.Text)
		}
		if want := `{"city":"` + long + long + `"}`; args.String() != want || err != nil || out[len(out)-1].Kind != chat.CallEnd {
			t.Errorf("hold %d, broken %v: arguments %s, error %v, want %s", row.hold, row.broken, args.String(), err, want)
		}
		if row.broken && len(n.repairs) == 0 {
			t.Error("what was mended is not told")
		}
	}
}

func TestACutCallStaysOpen(t *testing.T) {
	n := &nativeCalls{hold: adapters.HoldNone}
	out := n.fragment(nil, fragment{index: 0, name: "ping", args: `{"a":`})
	out = n.fragment(out, fragment{index: 1, name: "ping", args: `{}`})
	out = n.add(out, chat.Event{Kind: chat.Text, Text: "so"})
	out, err := n.end(out, true)
	if len(out) != 3 || out[0].Kind != chat.CallStart || out[1].Text != `{"a":` || out[2].Text != "so" || err != nil {
		t.Errorf("events %v, error %v, want an open call and the text", out, err)
	}
}
