package adapters

import (
	"encoding/json"
	"testing"

	"toolnorm/chat"
)

// TestCallsArePrintedAsTheFamilyWritesThem prints two calls behind a text.
func TestCallsArePrintedAsTheFamilyWritesThem(t *testing.T) {
	calls := []chat.Call{
		{Name: "search", Args: json.RawMessage(`{"query":"it's \"so\"\n","tags":[true,null]}`)},
		{Name: "get_time", Args: json.RawMessage(`{}`)},
	}
	for _, c := range []struct{ format, want string }{
		{"gemma3", "Hm.\n```tool_code\nsearch(query=\"it's \\\"so\\\"\\n\", tags=[True, None])\nget_time()\n```"},
		{"gigachat3.5", "Hm.<｜GCML｜tool_calls><｜GCML｜invoke name=\"search\"><｜GCML｜parameter name=\"query\" string=\"true\">it's \"so\"\n</｜GCML｜parameter>" +
			"<｜GCML｜parameter name=\"tags\" string=\"false\">[true, null]</｜GCML｜parameter></｜GCML｜invoke><｜GCML｜invoke name=\"get_time\"></｜GCML｜invoke></｜GCML｜tool_calls>"},
		{"iquest-q1", "Hm.<iquest_tool_call>search<arg_key>query</arg_key><arg_value>it's \"so\"\n</arg_value><arg_key>tags</arg_key><arg_value>[true, null]</arg_value></iquest_tool_call>" +
			"<iquest_tool_call>get_time</iquest_tool_call>"},
		{"mimo-v2", "Hm.<tool_call><function=search><parameter=query>it's \"so\"\n</parameter><parameter=tags>[true, null]</parameter></function></tool_call>" +
			"<tool_call><function=get_time></function></tool_call>"},
		{"minimax-m1", "Hm.\n<tool_calls>\n{\"name\": \"search\", \"arguments\": {\"query\": \"it's \\\"so\\\"\\n\", \"tags\": [true, null]}}\n{\"name\": \"get_time\", \"arguments\": {}}\n</tool_calls>"},
		{"sarashina", `Hm.<|tool_calls|>[{'name': 'search', 'arguments': {'query': 'it\'s "so"\n', 'tags': [True, None]}}, {'name': 'get_time', 'arguments': {}}]`},
		{"solar-open", `Hm.<|tool_calls|><|tool_call:begin|>call000000<|tool_call:name|>search<|tool_call:args|>{"query": "it's \"so\"\n", "tags": [true, null]}<|tool_call:end|>` +
			`<|tool_call:begin|>call000001<|tool_call:name|>get_time<|tool_call:args|>{}<|tool_call:end|><|calls|>`},
	} {
		if got := string(Named(c.format).Append([]byte("Hm."), calls...)); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.format, got, c.want)
		}
	}
}
