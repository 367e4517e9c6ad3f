package responses

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
)

// parse reads a body as it comes from nobody in particular.
func parse(body string) (*request, error) {
	r := &request{kept: keeping{replies: &Replies{}}}
	_, err := r.read([]byte(body))
	return r, err
}

func TestWrongFieldsAreNamed(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                                    "input: must be a text or an array of items",
		`{"input":[]}`:                          "input: must hold at least one item",
		`{"input":3}`:                           "input: must be a text or an array of items, not a number",
		`{"input":["a"]}`:                       "input[0]: must be an object",
		`{"input":"a","messages":[]}`:           "messages: belongs to /v1/chat/completions",
		`{"input":"a","background":true}`:       "background: a reply lasts as long as its request",
		`{"input":"a","conversation":"conv_1"}`: "conversation: is kept by OpenAI's own service",
		`{"input":"a","prompt":{"id":"p"}}`:     "prompt: is kept by OpenAI's own service",
		`{"input":"a","top_logprobs":3}`:        "top_logprobs: probabilities",
		`{"input":"a","include":["message.output_text.logprobs"]}`:                                                        "include[0]: probabilities",
		`{"input":"a","truncation":"some"}`:                                                                               `truncation: must be one of ["auto" "disabled"], not "some"`,
		`{"input":"a","reasoning":{"effort":"huge"}}`:                                                                     "reasoning.effort: must be none, minimal",
		`{"input":"a","reasoning":{"summary":"long"}}`:                                                                    "reasoning.summary: must be one of",
		`{"input":"a","text":{"format":{"type":"json_schema"}}}`:                                                          "text.format.schema: must be a JSON Schema",
		`{"input":"a","text":{"format":{"type":"xml"}}}`:                                                                  "text.format.type: must be text, json_object or json_schema",
		`{"input":"a","tools":[{"type":"local_shell"}]}`:                                                                  `tools[0].type: is not served here: "local_shell"`,
		`{"input":"a","tools":[{"type":"mcp","server_url":"x"}]}`:                                                         `tools[0].type: is not served here: "mcp"`,
		`{"input":"a","tools":[{"type":"function"}]}`:                                                                     "tools[0].name: must not be empty",
		`{"input":"a","tools":[{"type":"namespace","tools":[]}]}`:                                                         "tools[0].name: must not be empty",
		`{"input":"a","tools":[{"type":"namespace","name":"n","tools":[{"type":"computer"}]}]}`:                           `tools[0].tools[0].type: is not served here`,
		`{"input":"a","tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"bnf"}}]}`:                 `tools[0].format.syntax: must be "lark" or "regex"`,
		`{"input":"a","tool_choice":"required"}`:                                                                          `tool_choice: is "required", but no tools`,
		`{"input":"a","tools":[{"type":"web_search"}],"tool_choice":{"type":"web_search"}}`:                               `tool_choice.type: must be "none", "auto", "required" or an object that names a tool, not "web_search"`,
		`{"input":"a","tools":[{"name":"f"}],"tool_choice":{"type":"function","name":"g"}}`:                               `tool_choice.name: no tool named "g" is offered`,
		`{"input":[{"role":"robot","content":"a"}]}`:                                                                      "input[0].role: must be system, developer, user or assistant",
		`{"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]}`:                                     "input[0].content[0].type: must be text or image_url",
		`{"input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]}`:                                    "input[0].content[0].image_url: must be a data URL",
		`{"input":[{"role":"user","content":"a"},{"type":"compaction","encrypted_content":"x"}]}`:                         `input[1].type: is not taken here: "compaction"`,
		`{"input":[{"type":"function_call","call_id":"c","arguments":"{}"}]}`:                                             "input[0].name: must not be empty",
		`{"input":[{"type":"function_call","name":"f","arguments":"nothing"}]}`:                                           "input[0].arguments: must hold a JSON object",
		`{"input":[{"type":"item_reference","id":"msg_X_0"}]}`:                                                            "Item with id 'msg_X_0' not found",
		`{"input":[{"type":5}]}`:                                                                                          "input[0].type: must be a string, not a number",
		`{"input":[{"type":"function_call","name":"f","call_id":5}]}`:                                                     "input[0].call_id: must be a string, not a number",
		`{"input":[{"type":"function_call","name":"f","call_id":"c","namespace":[]}]}`:                                    "input[0].namespace: must be a string, not an array",
		`{"input":[{"type":"custom_tool_call","name":5,"input":"x"}]}`:                                                    "input[0].name: must be a string, not a number",
		`{"input":[{"type":"function_call_output","call_id":{},"output":"x"}]}`:                                           "input[0].call_id: must be a string, not an object",
		`{"input":[{"type":"tool_search_output","call_id":true,"tools":[]}]}`:                                             "input[0].call_id: must be a string, not true or false",
		`{"input":[{"type":"item_reference","id":5}]}`:                                                                    "input[0].id: must be a string, not a number",
		`{"input":"a","metadata":5}`:                                                                                      "metadata: must be an object, not a number",
		`{"input":"a","max_output_tokens":0}`:                                                                             "max_output_tokens: must be at least 1, not 0",
		`{"input":"a","max_output_tokens":-1}`:                                                                            "max_output_tokens: must be at least 1, not -1",
		`{"input":"a","temperature":"hot"}`:                                                                               "temperature: must be a number, not a string",
		`{"input":"a","top_p":[]}`:                                                                                        "top_p: must be a number, not an array",
		`{"input":"a","top_k":"5"}`:                                                                                       "top_k: must be a whole number, not a string",
		`{"input":"a","seed":"5"}`:                                                                                        "seed: must be a whole number, not a string",
		`{"input":"a","stop":5}`:                                                                                          "stop: must be a string, not a number",
		`{"input":[{"role":"tool","content":"21"}]}`:                                                                      `input[0].role: must be system, developer, user or assistant, not "tool": what a tool answers is an item of type function_call_output`,
		`{"input":"a","user":[]}`:                                                                                         "user: must be a string, not an array",
		`{"input":"a","service_tier":1}`:                                                                                  "service_tier: must be a string, not a number",
		`{"input":"a","max_tool_calls":"x"}`:                                                                              "max_tool_calls: must be a whole number, not a string",
		`{"input":"a","tools":[{"name":"f","defer_loading":"x"}]}`:                                                        "tools[0].defer_loading: must be true or false, not a string",
		`{"input":"a","tools":[{"type":"custom","name":5}]}`:                                                              "tools[0].name: must be a string, not a number",
		`{"input":"a","tools":[{"type":"custom","name":"c","description":5}]}`:                                            "tools[0].description: must be a string, not a number",
		`{"input":"a","tools":[{"type":"custom","name":"c","format":"text"}]}`:                                            "tools[0].format: must be an object, not a string",
		`{"input":"a","tools":[{"type":"custom","name":"c","format":{"type":"bnf"}}]}`:                                    `tools[0].format.type: must be "text" or "grammar", not "bnf"`,
		`{"input":"a","tools":[{"type":"custom","name":"c","format":{"type":"grammar","definition":"a"}}]}`:               `tools[0].format.syntax: must be "lark" or "regex"`,
		`{"input":"a","tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"lark","definition":5}}]}`: "tools[0].format.definition: must be a string, not a number",
		`{"input":"a","tools":[{"type":"namespace","name":5,"tools":[]}]}`:                                                "tools[0].name: must be a string, not a number",
		`{"input":"a","tools":[{"type":"namespace","name":"n","description":5,"tools":[]}]}`:                              "tools[0].description: must be a string, not a number",
		`{"input":"a","tools":[{"type":"tool_search","execution":5}]}`:                                                    "tools[0].execution: must be a string, not a number",
		`{"input":"a","previous_response_id":"resp_X"}`:                                                                   "Previous response with id 'resp_X' not found",
	} {
		_, err := parse(body)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || !strings.HasPrefix(f.Message, want) {
			t.Errorf("%s: %v, want %s", body, err, want)
			continue
		}
		if path, _, named := strings.Cut(want, ":"); named && f.Param != path {
			t.Errorf("%s: param %q, want %q", body, f.Param, path)
		}
	}
}

// What asks for nothing, or only speaks of OpenAI's own service, is no error and reaches no server.
func TestFieldsOfTheServiceArePassedOver(t *testing.T) {
	r, err := parse(`{"input":"a","background":false,"conversation":null,"prompt":null,"top_logprobs":0,"include":["file_search_call.results"],"truncation":"auto","max_tool_calls":3,
		"metadata":{"a":"b"},"prompt_cache_key":"k","prompt_cache_retention":"24h","safety_identifier":"s","service_tier":"flex","user":"u","client_metadata":{},"stream_options":{"include_obfuscation":false},
		"context_management":[{"type":"compaction"}],"reasoning":null,"text":null,"tools":null,"tool_choice":null,"max_output_tokens":null,"instructions":null,"previous_response_id":null,"top_k":5,"mine":1}`)
	must.OK(t, err)
	if len(r.Extra) != 1 || string(r.Extra["mine"]) != "1" || string(r.Options["top_k"]) != "5" {
		t.Errorf("kept %s, options %s", r.Extra, r.Options)
	}
}

// Fields of chat completions and of Messages mean here what they mean there.
func TestFieldsOfOtherAPIsAreRead(t *testing.T) {
	r, err := parse(`{"input":"a","system":"s","instructions":null,"max_tokens":7,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}}`)
	if err != nil || r.MaxTokens != 7 || string(r.Format) != `{"type":"object"}` || r.Messages[0].Content != "s" || len(r.Extra) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := parse(`{"input":"a","response_format":{"type":"xml"}}`); err == nil || !strings.Contains(err.Error(), "response_format.type: must be") {
		t.Errorf("a format that is none: %v", err)
	}
}

func TestToolsThatComeToOneNameAreToldApart(t *testing.T) {
	r, err := parse(`{"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","namespace":"a","name":"b__c","arguments":""}],"tools":[{"name":"a__b__c"},
		{"type":"namespace","name":"a","tools":[{"name":"b__c"}]},{"type":"namespace","name":"a__b","tools":[{"name":"c"}]},{"type":"namespace","name":"a__b__","tools":[{"name":"d"}]},{"name":"a__b__c"}]}`)
	must.OK(t, err)
	r.OfferOnce()
	var names []string
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "a__b__c a__b__c_2 a__b__c_3 a__b__d" {
		t.Errorf("the model is offered %s", got)
	}
	if call := r.Messages[1].Calls[0]; call.Name != "a__b__c_2" {
		t.Errorf("the call in the history is of %s", call.Name)
	}
	if own := r.tools.of("a__b__c_3"); own != (tool{function, "a__b", "c"}) {
		t.Errorf("a__b__c_3 is %+v", own)
	}
}

// A turn of the model is one message, whatever number of items it came in.
func TestItemsOfATurnAreOneMessage(t *testing.T) {
	r, err := parse(`{"input":[
		{"role":"assistant","content":"one"},{"role":"assistant","content":"two"},
		{"type":"reasoning","summary":[{"type":"summary_text","text":"h"},{"type":"summary_text","text":"m"}]},
		{"role":"assistant","content":[{"type":"output_text","text":"three"}]},
		{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
		{"role":"assistant","content":"behind"},
		{"type":"reasoning","content":[{"type":"reasoning_text","text":"next"}]},
		{"type":"function_call_output","call_id":"c","output":"done"}]}`)
	must.OK(t, err)
	var got []string
	for _, m := range r.Messages {
		got = append(got, string(m.Role)+":"+m.Reasoning+":"+m.Content)
	}
	if s := strings.Join(got, "|"); s != "assistant::one|assistant::two|assistant:h\n\nm:three\n\nbehind|assistant:next:|tool::done" {
		t.Errorf("got %q", s)
	}
	if len(r.Messages[2].Calls) != 1 {
		t.Errorf("the call is in %+v", r.Messages)
	}
}

// What a reply repeats of its request is UTF-8, whatever the request was.
func TestWhatIsRepeatedIsUTF8(t *testing.T) {
	r, err := parse("{\"input\":[{\"role\":\"user\",\"content\":\"a\xff\"}],\"metadata\":{\"k\":\"\xfe\"},\"instructions\":\"\xc3\"}")
	must.OK(t, err)
	for got, want := range map[string]string{
		string(r.kept.items[0]):        "{\"role\":\"user\",\"content\":\"a\uFFFD\"}",
		string(r.echo["metadata"]):     "{\"k\":\"\uFFFD\"}",
		string(r.echo["instructions"]): "\"\uFFFD\"",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The texts of a turn are joined once. Each item copied all of the turn so far, so 2,000 thoughts
// of a kilobyte took 2 GB, and a request of 4 MB held a core for a minute.
func TestLongTurnsAreJoinedOnce(t *testing.T) {
	const n = 2000
	text := strings.Repeat("a", 1000)
	for _, item := range []string{`{"type":"reasoning","summary":[{"text":"` + text + `"}]}`, `{"role":"assistant","content":"` + text + `"}`} {
		body := `{"input":[{"role":"assistant","content":""},{"type":"function_call","name":"f","call_id":"c"}` + strings.Repeat(","+item, n) + `]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := parse(body)
		runtime.ReadMemStats(&after)
		must.OK(t, err)
		last := r.Messages[len(r.Messages)-1]
		if got, want := len(last.Content+last.Reasoning), n*(len(text)+2)-2; got != want {
			t.Errorf("the turn has %d bytes, want %d", got, want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 40*uint64(len(body)) {
			t.Errorf("%d bytes took %d bytes to read", len(body), took)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		`{"input":"a"}`,
		`{"instructions":"i","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AQI="}]}],"stream":true}`,
		`{"input":[{"type":"function_call","call_id":"c","name":"f","namespace":"n","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}],"tools":[{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"f","parameters":{}}]}]}`,
		`{"input":[{"type":"reasoning","encrypted_content":"tnr1.YQ"},{"type":"custom_tool_call","name":"p","input":"x"},{"type":"tool_search_output","tools":[{"name":"t"}]},{"type":"item_reference","id":"msg_A_0"},{"id":"x"}],"tools":[{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"start: \"a\"+ B?\nB: /b/\n%ignore \" \""}},{"type":"tool_search","execution":"client"},{"type":"web_search"},{"name":"l","defer_loading":true}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"custom","name":"p"}]}}`,
		`{"input":"a","text":{"format":{"type":"json_schema","schema":{}}},"reasoning":{"effort":"high","summary":"auto"},"include":["reasoning.encrypted_content"],"parallel_tool_calls":false,"store":false,"previous_response_id":"resp_1","max_output_tokens":5.0}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := parse(body)
		if err != nil {
			if kind := fault.From(err).Kind; kind != fault.Invalid {
				t.Errorf("%q: %v is of kind %d", body, err, kind)
			}
			return
		}
		if len(r.Messages) == 0 {
			t.Errorf("%q: nothing is asked", body)
		}
		seen := map[string]bool{}
		for _, tool := range r.Tools {
			if tool.Name == "" || seen[tool.Name] {
				t.Errorf("%q: the tool %q is offered twice, or has no name", body, tool.Name)
			}
			seen[tool.Name] = true
		}
		for _, m := range r.Messages {
			if len(m.Calls) > 0 && m.Role != chat.Assistant {
				t.Errorf("%q: %+v", body, m)
			}
		}
	})
}
