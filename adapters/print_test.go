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
		{"apertus", `Hm.<|tools_prefix|>[{"search": {"query": "it's \"so\"\n", "tags": [true, null]}}, {"get_time": {}}]<|tools_suffix|>`},
		{"command-a", "Hm.<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"search\", \"parameters\": {\"query\": \"it's \\\"so\\\"\\n\", \"tags\": [true, null]}},\n" +
			"    {\"tool_call_id\": \"1\", \"tool_name\": \"get_time\", \"parameters\": {}}\n]<|END_ACTION|>"},
		{"command-r", "Hm.\nAction:\n```json\n[\n    {\n        \"tool_name\": \"search\",\n        \"parameters\": {\n            \"query\": \"it's \\\"so\\\"\\n\",\n            \"tags\": [\n" +
			"                true,\n                null\n            ]\n        }\n    },\n    {\n        \"tool_name\": \"get_time\",\n        \"parameters\": {}\n    }\n]```"},
		{"functionary-v3.1", "Hm.<function=search>{\"query\": \"it's \\\"so\\\"\\n\", \"tags\": [true, null]}</function><function=get_time>{}</function>"},
		{"functionary-v3.2", "Hm.>>>search\n{\"query\": \"it's \\\"so\\\"\\n\", \"tags\": [true, null]}>>>get_time\n{}"},
		{"hunyuan-v3", "Hm.<tool_calls:opensource>\n<tool_call:opensource>search<tool_sep:opensource>\n<arg_key:opensource>query</arg_key:opensource>\n<arg_value:opensource>it's \"so\"\n</arg_value:opensource>\n" +
			"<arg_key:opensource>tags</arg_key:opensource>\n<arg_value:opensource>[true, null]</arg_value:opensource>\n</tool_call:opensource>\n" +
			"<tool_call:opensource>get_time<tool_sep:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>"},
		{"kimi-k3", "Hm.<|open|>tools<|sep|><|open|>call tool=\"search\" index=\"1\"<|sep|><|open|>argument key=\"query\" type=\"string\"<|sep|>it's \"so\"\n<|close|>argument<|sep|>" +
			"<|open|>argument key=\"tags\" type=\"array\"<|sep|>[true, null]<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool=\"get_time\" index=\"2\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"},
		{"minicpm5", "Hm.\n<function name=\"search\"><param name=\"query\"><![CDATA[it's \"so\"\n]]></param><param name=\"tags\">[True, None]</param></function>\n<function name=\"get_time\"></function>"},
		{"minimax-m3", "Hm.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"search\">]<]minimax[>[<query>it's \"so\"\n]<]minimax[>[</query>]<]minimax[>[<tags>]<]minimax[>[<item>true]<]minimax[>[</item>" +
			"]<]minimax[>[<item>]<]minimax[>[</item>]<]minimax[>[</tags>]<]minimax[>[</invoke>\n]<]minimax[>[<invoke name=\"get_time\">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"},
		{"poolside", "Hm.\n<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>it's \"so\"\n</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>[true, null]</arg_value>\n</tool_call>\n<tool_call>get_time\n</tool_call>\n"},
		{"anthropic", "Hm.\n\n<function_calls>\n<invoke name=\"search\">\n<parameter name=\"query\">it's \"so\"\n</parameter>\n<parameter name=\"tags\">[true, null]</parameter>\n</invoke>\n" +
			"<invoke name=\"get_time\">\n</invoke>\n</function_calls>"},
		{"beam", "Hm.<|start|>assistant to=search<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"query\">\nit's \"so\"\n\n</rfl:parameter>" +
			"<rfl:parameter name=\"tags\">\n[true, null]\n</rfl:parameter><|end|><|start|>assistant to=get_time<|channel|>analysis <|constrain|>xml<|message|><|call|>"},
		{"glimmer", "Hm.<|start|>assistant to=search<|message|><atem:function_calls>\n<atem:invoke name=\"search\">\n<atem:parameter name=\"query\">it's \"so\"\n</atem:parameter>\n" +
			"<atem:parameter name=\"tags\">[true, null]</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=get_time<|message|>" +
			"<atem:function_calls>\n<atem:invoke name=\"get_time\">\n</atem:invoke>\n</atem:function_calls><|eot|>"},
		{"harmony", `Hm.<|start|>assistant to=functions.search<|channel|>commentary json<|message|>{"query": "it's \"so\"\n", "tags": [true, null]}<|end|>` +
			`<|start|>assistant to=functions.get_time<|channel|>commentary json<|message|>{}<|call|>`},
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

// TestAFirstMessageContinuesThePrompt prints without the role, which stands in the prompt.
func TestAFirstMessageContinuesThePrompt(t *testing.T) {
	call := chat.Call{Name: "search", Args: json.RawMessage(`{"query":"x","limit":2}`)}
	want := " to=search<|channel|>analysis <|constrain|>xml<|message|><rfl:parameter name=\"query\">\nx\n</rfl:parameter><rfl:parameter name=\"limit\">\n2\n</rfl:parameter><|call|>"
	if got := string(Named("beam").Append(nil, call)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
