package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// ask wraps fields into a request that is otherwise right.
func ask(fields string) string {
	return `{"model":"m","messages":[{"role":"user","content":"q"}]` + fields + `}`
}

// talk wraps messages into a request.
func talk(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }

func TestMessagesAreReadInEveryForm(t *testing.T) {
	weather := func(args string) []chat.Call {
		return []chat.Call{{ID: "c1", Name: "w", Args: json.RawMessage(args)}}
	}
	called := func(args string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"w","arguments":` + args + `}}]}`
	}
	for _, tt := range []struct {
		in   string
		want chat.Message
	}{
		{`{"role":"user","content":"é\n\ud83d\ude42"}`, chat.Message{Role: chat.User, Content: "é\n🙂"}},
		{`{"role":"developer","content":"d"}`, chat.Message{Role: chat.System, Content: "d"}},
		{`{"role":"user","content":[{"type":"text","text":"a"},"b",{"type":"input_text","text":"c"}]}`, chat.Message{Role: chat.User, Content: "a\nb\nc"}},
		{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQI="}}]}`, chat.Message{Role: chat.User, Content: "a", Images: [][]byte{{1, 2}}}},
		{`{"role":"user","content":[{"type":"image_url","image_url":"data:;base64,AQI"}]}`, chat.Message{Role: chat.User, Images: [][]byte{{1, 2}}}},
		{`{"images":["AQI="],"role":"user","content":[{"type":"image","source":{"type":"base64","data":"Aw=="}}]}`, chat.Message{Role: chat.User, Images: [][]byte{{3}, {1, 2}}}},
		{`{"role":"tool","content":[{"type":"image","data":"AQI=","mimeType":"image/png"}],"tool_name":"w","name":null}`, chat.Message{Role: chat.ToolRole, Name: "w", Images: [][]byte{{1, 2}}}},
		{`{"role":"assistant","thinking":"hm","content":"a"}`, chat.Message{Role: chat.Assistant, Reasoning: "hm", Content: "a"}},
		{`{"role":"user","content":[{"type":"text","content":"a"},{"type":"text"}]}`, chat.Message{Role: chat.User, Content: "a\n"}},
		{`{"role":"user","content":null}`, chat.Message{Role: chat.User}},
		{`{"role":"user","parts":[{"text":"a"},{"type":"text","text":"b"}]}`, chat.Message{Role: chat.User, Content: "a\nb"}},
		{`{"role":"user","text":"a","content":null}`, chat.Message{Role: chat.User, Content: "a"}},
		{`{"role":"user","text":"b","content":"a","parts":[{"type":"text","text":"a"}]}`, chat.Message{Role: chat.User, Content: "a"}},
		{`{"role":"tool","parts":{"temp":21}}`, chat.Message{Role: chat.ToolRole, Content: `{"temp":21}`}},
		{`{"role":"assistant","content":"","refusal":"no"}`, chat.Message{Role: chat.Assistant, Content: "no"}},
		{`{"role":"assistant","reasoning_content":"hm","content":"a","audio":null}`, chat.Message{Role: chat.Assistant, Reasoning: "hm", Content: "a"}},
		{called(`"{\"b\":1.50, \"a\":12345678901234567890}"`), chat.Message{Role: chat.Assistant, Calls: weather(`{"b":1.50, "a":12345678901234567890}`)}},
		{called(`{"b": 1.50,"a":"\u0041"}`), chat.Message{Role: chat.Assistant, Calls: weather(`{"b":1.50,"a":"\u0041"}`)}},
		{called(`""`), chat.Message{Role: chat.Assistant, Calls: weather(`{}`)}},
		{called(`null`), chat.Message{Role: chat.Assistant, Calls: weather(`{}`)}},
		{called(`"{\"city\":\"Pa"`), chat.Message{Role: chat.Assistant, Calls: weather(`{"city":"Pa"}`)}},
		{called(`"{city: 'Paris', days: 3,}"`), chat.Message{Role: chat.Assistant, Calls: weather(`{"city": "Paris", "days": 3}`)}},
		{called(`"\"{\\\"city\\\":\\\"Paris\\\"}\""`), chat.Message{Role: chat.Assistant, Calls: weather(`{"city":"Paris"}`)}},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"reasoning","text":"so"},{"type":"text","text":"a"}]}`, chat.Message{Role: chat.Assistant, Reasoning: "hm\nso", Content: "a"}},
		{`{"role":"assistant","content":[],"tool_calls":[]}`, chat.Message{Role: chat.Assistant}},
		{`{"role":"user","content":{"type":"text","text":"a"}}`, chat.Message{Role: chat.User, Content: "a"}},
		{`{"content":{"temp":21.0},"role":"tool","tool_call_id":"c1"}`, chat.Message{Role: chat.ToolRole, CallID: "c1", Content: `{"temp":21.0}`}},
		{`{"role":"tool","content":[{"type":"text","text":"a"},{"type":"resource","uri":"file:///x"}]}`, chat.Message{Role: chat.ToolRole, Content: `[{"type":"text","text":"a"},{"type":"resource","uri":"file:///x"}]`}},
		{`{"role":"tool","content":[{"type":"text","text":"\u001b[1m \u007f"},{"type":"resource"}]}`, chat.Message{Role: chat.ToolRole, Content: `[{"type":"text","text":"\u001b[1m ` + "\x7f" + `"},{"type":"resource"}]`}},
		{`{"role":"tool","content":[1,2]}`, chat.Message{Role: chat.ToolRole, Content: `[1,2]`}},
		{`{"role":"tool","content":false}`, chat.Message{Role: chat.ToolRole, Content: `false`}},
		{`{"role":"tool","content":null}`, chat.Message{Role: chat.ToolRole}},
		{`{"role":"assistant","function_call":{"name":"w","arguments":"{}"}}`, chat.Message{Role: chat.Assistant, Calls: []chat.Call{{Name: "w", Args: json.RawMessage(`{}`)}}}},
		{`{"role":"tool","tool_call_id":"c1","name":"w","content":[{"type":"text","text":"21"}]}`, chat.Message{Role: chat.ToolRole, CallID: "c1", Name: "w", Content: "21"}},
		{`{"role":"function","name":"w","content":"21"}`, chat.Message{Role: chat.ToolRole, Name: "w", Content: "21"}},
	} {
		a, err := readChat([]byte(talk(tt.in)))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		} else if !reflect.DeepEqual(a.Messages, []chat.Message{tt.want}) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tt.in, a.Messages[0], tt.want)
		}
	}
}

func TestFieldsAreReadInEveryForm(t *testing.T) {
	f, n, yes, no := 0.5, int64(7), true, false
	for _, tt := range []struct {
		in   string
		want form.Ask
	}{
		{`,"stream":true,"stream_options":{"include_usage":true}`, form.Ask{Stream: true, Usage: true}},
		{`,"stream":null,"stream_options":null,"tools":null,"stop":null,"n":1`, form.Ask{}},
		{`,"temperature":0.5,"top_p":0.5,"seed":7,"presence_penalty":0.5,"frequency_penalty":0.5`,
			form.Ask{Request: chat.Request{Sampling: chat.Sampling{Temperature: &f, TopP: &f, Seed: &n, PresencePenalty: &f, FrequencyPenalty: &f}}}},
		{`,"max_tokens":10`, form.Ask{Request: chat.Request{MaxTokens: 10}}},
		{`,"max_tokens":10,"max_completion_tokens":20.0`, form.Ask{Request: chat.Request{MaxTokens: 20}}},
		{`,"max_tokens":null,"max_completion_tokens":5`, form.Ask{Request: chat.Request{MaxTokens: 5}}},
		{`,"options":{"stop":["x"],"num_predict":-1,"mine":"y","top_k":null},"min_p":0.1`, form.Ask{Request: chat.Request{Stop: []string{"x"}, Options: map[string]json.RawMessage{"num_predict": json.RawMessage(`-1`), "mine": json.RawMessage(`"y"`), "min_p": json.RawMessage(`0.1`)}}}},
		{`,"stop":"x"`, form.Ask{Request: chat.Request{Stop: []string{"x"}}}},
		{`,"stop":["x","","y"]`, form.Ask{Request: chat.Request{Stop: []string{"x", "y"}}}},
		{`,"think":false`, form.Ask{Request: chat.Request{Think: &no}}},
		{`,"reasoning_effort":"low"`, form.Ask{Request: chat.Request{Think: &yes, Effort: "low"}}},
		{`,"reasoning":{"effort":"high","summary":"auto"}`, form.Ask{Request: chat.Request{Think: &yes, Effort: "high"}}},
		{`,"think":"max"`, form.Ask{Request: chat.Request{Think: &yes, Effort: "max"}}},
		{`,"reasoning_effort":"none"`, form.Ask{Request: chat.Request{Think: &no}}},
		{`,"response_format":{"type":"text"},"logit_bias":{},"modalities":["text"],"audio":null,"service_tier":"auto"`, form.Ask{Request: chat.Request{Extra: map[string]json.RawMessage{"logit_bias": json.RawMessage(`{}`), "modalities": json.RawMessage(`["text"]`), "audio": json.RawMessage(`null`), "service_tier": json.RawMessage(`"auto"`)}}}},
		{`,"response_format":{"type":"json_object"}`, form.Ask{Request: chat.Request{Format: json.RawMessage(`"json"`)}}},
		{`,"response_format":{"type":"json_object","schema":{"type":"object"}}`, form.Ask{Request: chat.Request{Format: json.RawMessage(`{"type":"object"}`)}}},
		{`,"response_format":{"type":"json_schema","json_schema":null,"schema":{"type":"object"}}`, form.Ask{Request: chat.Request{Format: json.RawMessage(`{"type":"object"}`)}}},
		{`,"chat_template_kwargs":{"enable_thinking":false,"x":1}`, form.Ask{Request: chat.Request{Think: &no, Extra: map[string]json.RawMessage{"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false,"x":1}`)}}}},
		{`,"thinking":{"type":"enabled"},"chat_template_kwargs":{"x":1},"enable_thinking":null`, form.Ask{Request: chat.Request{Think: &yes, Extra: map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"enabled"}`), "chat_template_kwargs": json.RawMessage(`{"x":1}`), "enable_thinking": json.RawMessage(`null`)}}}},
		{`,"think":true,"enable_thinking":false`, form.Ask{Request: chat.Request{Think: &yes, Extra: map[string]json.RawMessage{"enable_thinking": json.RawMessage(`false`)}}}},
		{`,"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type": "object","x":"A\n"}}}`, form.Ask{Request: chat.Request{Format: json.RawMessage(`{"type":"object","x":"A\n"}`)}}},
		{`,"logprobs":true,"top_logprobs":3`, form.Ask{Request: chat.Request{Logprobs: true, TopLogprobs: 3}}},
		{`,"logprobs":false,"top_logprobs":0`, form.Ask{}},
		{`,"keep_alive":-1`, form.Ask{Request: chat.Request{Keep: json.RawMessage(`-1`)}}},
		{`,"options":{"mirostat":1},"num_ctx":4096`, form.Ask{Request: chat.Request{Options: map[string]json.RawMessage{"mirostat": json.RawMessage(`1`), "num_ctx": json.RawMessage(`4096`)}}}},
		{`,"keep_alive":"5m","metadata":{"a": [1.0, "\u00e9\n"]}`, form.Ask{Request: chat.Request{Keep: json.RawMessage(`"5m"`), Extra: map[string]json.RawMessage{"metadata": json.RawMessage(`{"a":[1.0,"\u00e9\n"]}`)}}}},
		{`,"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type": "object"}}},{"name":"g"}],"tool_choice":"auto"`,
			form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "f", Description: "d", Strict: true, Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "g"}}}}},
		{`,"tools":[{"type":"function","function":{"name":"g"},"description":"d","parameters":{"a":1}},{"function":{"name":"h","parameters":{"b":1}},"parameters":{"c":1}}]`,
			form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g", Description: "d", Schema: json.RawMessage(`{"a":1}`)}, {Name: "h", Schema: json.RawMessage(`{"b":1}`)}}}}},
		{`,"format":{"type":"object"}`, form.Ask{Request: chat.Request{Format: json.RawMessage(`{"type":"object"}`)}}},
		{`,"format":""`, form.Ask{}},
		{`,"tool_choice":"none","tools":[{"name":"g"}]`, form.Ask{NoCalls: true, Request: chat.Request{Allowed: []string{}}}},
		{`,"tools":[{"name":"g"}],"tool_choice":"required","parallel_tool_calls":false`, form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g"}}, Required: true, Single: true}}},
		{`,"tools":[{"function":null,"name":"g"}],"tool_choice":{"type":"function","function":null,"name":"g"}`, form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g"}}, Required: true, Allowed: []string{"g"}}}},
		{`,"tools":[{"name":"g"}],"tool_choice":{"type":"function","function":{"name":"g"}}`, form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g"}}, Required: true, Allowed: []string{"g"}}}},
		{`,"tools":[{"name":"g","input_schema":{"a":1}},{"name":"h","inputSchema":{"b":1},"parameters":null}],"tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true}`,
			form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g", Schema: json.RawMessage(`{"a":1}`)}, {Name: "h", Schema: json.RawMessage(`{"b":1}`)}}, Required: true, Single: true, Allowed: []string{"g"}}}},
		{`,"tools":[{"name":"g"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]},"parallel_tool_calls":true`, form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g"}}, Allowed: []string{"g"}}}},
		{`,"tools":[{"name":"g"}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`, form.Ask{Request: chat.Request{Tools: []chat.Tool{{Name: "g"}}, Required: true, Allowed: []string{"g"}}}},
	} {
		tt.want.Model, tt.want.Messages = "m", []chat.Message{{Role: chat.User, Content: "q"}}
		a, err := readChat([]byte(ask(tt.in)))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		} else if !reflect.DeepEqual(a, &tt.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tt.in, *a, tt.want)
		}
	}
}

func TestASystemTextBesideTheMessagesIsRead(t *testing.T) {
	for in, want := range map[string]string{
		`,"system":"s"`: "s", `,"instructions":[{"type":"text","text":"s"}]`: "s", `,"system":null,"instructions":""`: "",
	} {
		a, err := readChat([]byte(ask(in + `,"max_output_tokens":7`)))
		if err != nil || a.MaxTokens != 7 || len(a.Extra) > 0 {
			t.Fatalf("%s: %+v, %v", in, a, err)
		}
		if first := a.Messages[0]; want != "" && (first.Role != chat.System || first.Content != want) || len(a.Messages) != len(want)+1 {
			t.Errorf("%s: %+v", in, a.Messages)
		}
	}
}

func TestToolChoiceMustNameAnOfferedTool(t *testing.T) {
	for choice, ok := range map[string]bool{
		`"required"`: true, `"any"`: true, `{"type":"any"}`: true, `{"type":"auto"}`: true, `{"type":"tool","name":"g"}`: false,
		`{"type":"function","function":{"name":"f"}}`: true,
		`{"type":"function","name":"f"}`:              true,
		`{"type":"function","function":{"name":"g"}}`: false,
		`{"type":"function"}`:                         false,
		`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`: true,
		`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`: false,
		`"sometimes"`: false, `3`: false, `{"type":"x"}`: false,
	} {
		_, err := readChat([]byte(ask(`,"tools":[{"name":"f"}],"tool_choice":` + choice)))
		if (err == nil) != ok {
			t.Errorf("tool_choice %s: %v, want ok = %v", choice, err, ok)
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	for _, tt := range []struct{ in, param, say string }{
		{``, "", "empty"},
		{`{"model":`, "", "at byte 9"},
		{`[]`, "", "must be a JSON object, not an array"},
		{`{"model":"m"}`, "messages", "at least one message"},
		{talk(``), "messages", "at least one message"},
		{`{"model":3,"messages":[]}`, "model", "must be a string, not a number"},
		{`{"messages":"x"}`, "messages", "must be an array, not a string"},
		{ask(`,"temperature":1e999`), "temperature", "not 1e999"},
		{ask(`,"temperature":"1"`), "temperature", "must be a number, not a string"},
		{talk(`{"role":"user","content":"a"},3`), "messages[1]", "must be an object"},
		{talk(`{"role":"robot","content":"a"}`), "messages[0].role", `not "robot"`},
		{talk(`{"content":"a"}`), "messages[0].role", `not ""`},
		{talk(`{"role":"user","content":3}`), "messages[0].content", "not a number"},
		{talk(`{"role":"user","content":[{"type":"video"}]}`), "messages[0].content[0].type", `not "video"`},
		{talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x/a.png"}}]}`), "messages[0].content[0].image_url.url", "not fetched"},
		{talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!!"}}]}`), "messages[0].content[0].image_url.url", "base64"},
		{talk(`{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}`), "messages[0].tool_calls[0].function.name", "must not be empty"},
		{talk(`{"role":"assistant","tool_calls":[{"id":"a"}]}`), "messages[0].tool_calls[0].function", "is missing"},
		{talk(`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":[1]}}]}`), "messages[0].tool_calls[0].function.arguments", "not an array"},
		{talk(`{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"Paris"}}]}`), "messages[1].tool_calls[1].function.arguments", `"Paris" holds none`},
		{talk(`{"role":"assistant","tool_calls":[{"function":{"name":"g","arguments":"[1]"}}]}`), "messages[0].tool_calls[0].function.arguments", `"[1]" holds none`},
		{talk(`{"role":"user","tool_calls":[{"function":{"name":"f"}}]}`), "messages[0].tool_calls", "only an assistant"},
		{ask(`,"temperature":"hot"`), "temperature", "must be a number"},
		{ask(`,"seed":1.5`), "seed", "must be a whole number, not 1.5"},
		{ask(`,"stop":[1]`), "stop[0]", "must be a string"},
		{ask(`,"stop":5`), "stop", "must be a string"},
		{ask(`,"max_tokens":0`), "max_tokens", "must be at least 1, not 0"},
		{ask(`,"max_completion_tokens":-1`), "max_completion_tokens", "must be at least 1, not -1"},
		{ask(`,"max_tokens":"9"`), "max_tokens", "must be a whole number, not a string"},
		{ask(`,"top_p":true`), "top_p", "must be a number"},
		{ask(`,"top_k":"40"`), "top_k", "must be a whole number, not a string"},
		{ask(`,"top_k":1.5`), "top_k", "must be a whole number, not 1.5"},
		{ask(`,"min_p":[]`), "min_p", "must be a number, not an array"},
		{ask(`,"repeat_penalty":"1.1"`), "repeat_penalty", "must be a number"},
		{ask(`,"num_ctx":{}`), "num_ctx", "must be a whole number"},
		{ask(`,"options":{"temperature":"hot"}`), "options.temperature", "must be a number"},
		{ask(`,"options":{"use_mmap":1}`), "options.use_mmap", "must be true or false"},
		{ask(`,"options":{"stop":{}}`), "options.stop", "must be a string"},
		{ask(`,"options":[]`), "options", "must be an object"},
		{ask(`,"stream":"yes"`), "stream", "must be true or false"},
		{ask(`,"n":9`), "n", "between 1 and 8"},
		{ask(`,"functions":[]`), "functions", "send tools"},
		{ask(`,"tools":[{"type":"web_search"}]`), "tools[0].type", `must be "function"`},
		{ask(`,"tools":[{"type":"function","function":{}}]`), "tools[0].function.name", "must not be empty"},
		{ask(`,"tools":[{"name":"f","parameters":"{}"}]`), "tools[0].parameters", "not a string"},
		{ask(`,"tool_choice":"required"`), "tool_choice", "no tools are offered"},
		{ask(`,"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice.function.name", `no tool named "g"`},
		{ask(`,"reasoning_effort":"lots"`), "reasoning_effort", `not "lots"`},
		{ask(`,"reasoning":{"effort":3}`), "reasoning.effort", "must be a string"},
		{ask(`,"audio":{"voice":"x"}`), "audio", "not served"},
		{ask(`,"modalities":["text","audio"]`), "modalities", "only text"},
		{ask(`,"prediction":{"type":"content"}`), "prediction", "not served"},
		{ask(`,"web_search_options":{}`), "web_search_options", "not served"},
		{ask(`,"logit_bias":{"5":-100}`), "logit_bias", "not taken"},
		{ask(`,"keep_alive":"soon"`), "keep_alive", "number of seconds"},
		{ask(`,"keep_alive":true`), "keep_alive", "not true or false"},
		{ask(`,"response_format":"json"`), "response_format", "must be an object"},
		{ask(`,"response_format":{"type":"json_object","schema":[]}`), "response_format.schema", "not an array"},
		{ask(`,"response_format":{"type":"xml"}`), "response_format.type", `not "xml"`},
		{ask(`,"response_format":{"type":"json_schema"}`), "response_format.json_schema.schema", "not missing"},
		{ask(`,"top_logprobs":2`), "top_logprobs", "needs logprobs"},
		{ask(`,"logprobs":true,"top_logprobs":21`), "top_logprobs", "between 0 and 20"},
		{strings.Repeat("[", 400) + strings.Repeat("]", 400), "", "levels deep"},
	} {
		_, err := readChat([]byte(tt.in))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Param != tt.param || !strings.Contains(f.Message, tt.say) {
			t.Errorf("%.120s: %v, want a fault at %q that says %q", tt.in, err, tt.param, tt.say)
		}
	}
}

func TestManyTinyValuesAreRefused(t *testing.T) {
	body := ask(`,"x":[` + strings.Repeat("0,", field.MaxValues) + `0]`)
	if _, err := readChat([]byte(body)); err == nil || !strings.Contains(err.Error(), "values") {
		t.Errorf("error %v, want one about too many values", err)
	}
	body = ask(`,"tools":[{"type":"function","function":{"name":"heavy","parameters":{"enum":[` + strings.Repeat("0,", field.MaxValues) + `0]}}}]`)
	var f *fault.Error
	if _, err := readChat([]byte(body)); !errors.As(err, &f) || f.Param != "tools[0].function.parameters" || f.Code != "schema_too_large" || !strings.Contains(f.Message, `"heavy"`) {
		t.Errorf("a tool with too many values: %v", err)
	}
	body = talk(`{"role":"user","content":"` + strings.Repeat(`,\",`, field.MaxValues) + `"}`)
	if _, err := readChat([]byte(body)); err != nil {
		t.Errorf("commas inside a string: %v", err)
	}
}

// TestWhatGrowsIsBounded has what takes several times its own length in memory: a mebibyte of it is
// read, and more is refused.
func TestWhatGrowsIsBounded(t *testing.T) {
	const most = 1 << 20
	said := func(text string) string { return talk(`{"role":"user","content":"` + text + `"}`) }
	called := func(args string) string {
		return talk(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"` + args + `"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`)
	}
	for name, row := range map[string]struct{ body, say string }{
		"some bytes that are no UTF-8": {said(strings.Repeat("\xff", most)), ""},
		"more of them":                 {said(strings.Repeat("a\xff", most+1)), "must be text in UTF-8"},
		"broken arguments":             {called(`{a:'` + strings.Repeat("a", most)), ""},
		"longer ones":                  {called(`{a:'` + strings.Repeat("a", 4*most)), "is not repaired"},
		"longer ones that are whole":   {called(`{\"a\":\"` + strings.Repeat("a", 4*most) + `\"}`), ""},
		"long stop sequences":          {ask(`,"stop":["` + strings.Repeat("a", 60_000) + `","b"]`), ""},
		"longer ones to stop at":       {ask(`,"stop":["` + strings.Repeat("a", 60_000) + `","` + strings.Repeat("b", 6000) + `"]`), "stop[1]: may have 65536 bytes at most"},
	} {
		_, err := readChat([]byte(row.body))
		if err == nil && row.say != "" || err != nil && (row.say == "" || !strings.Contains(err.Error(), row.say)) {
			t.Errorf("%s: %.200v, want %q", name, err, row.say)
		}
	}

}

func FuzzRequestIsReadOrRefused(f *testing.F) {
	f.Add([]byte(ask(`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"f"}},"stop":["a"],"options":{"a":1},"think":"high","x":"\u0000"`)))
	f.Add([]byte(talk(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:;base64,AA"}}]},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"a":"\\\n"}}}]},{"role":"tool","content":null}`)))
	f.Add([]byte("{\"messages\":[{\"role\":\"user\"}],\"x\":\"\x01\\n\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := readChat(body)
		if err != nil {
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Message == "" {
				t.Fatalf("error %v is no fault of the request", err)
			}
			return
		}
		for _, raw := range rawParts(a) {
			if !json.Valid(raw) {
				t.Errorf("%q was kept as JSON, and is none", raw)
			}
		}
	})
}

// rawParts are the parts of a request that are passed on as JSON.
func rawParts(a *form.Ask) (raws []json.RawMessage) {
	for _, m := range []map[string]json.RawMessage{a.Extra, a.Options} {
		for _, raw := range m {
			raws = append(raws, raw)
		}
	}
	for _, t := range a.Tools {
		if t.Schema != nil {
			raws = append(raws, t.Schema)
		}
	}
	for _, m := range a.Messages {
		for _, c := range m.Calls {
			raws = append(raws, c.Args)
		}
	}
	return raws
}

func BenchmarkRequestOf200KiB(b *testing.B) {
	var tools, turns []string
	for i := range 60 {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":"f%d","description":%q,"parameters":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}}}`, i, strings.Repeat("words ", 40)))
	}
	for range 100 {
		turns = append(turns, fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("a line of \"text\" as long as most lines of code are, or nearly so\n", 28)))
	}
	body := []byte(`{"model":"m","tools":[` + strings.Join(tools, ",") + `],"messages":[` + strings.Join(turns, ",") + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readChat(body); err != nil {
			b.Fatal(err)
		}
	}
}
