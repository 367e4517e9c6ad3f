package streamcheck

import (
	"net/http"
	"strings"
	"testing"
)

// good is a stream that keeps every rule: text, a call in two pieces, a call without arguments,
// text, counts.
const good = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":null}]}

: keep-alive

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"bye"},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}

data: [DONE]

`

func TestCheckerFindsEachBrokenRule(t *testing.T) {
	header := http.Header{"Content-Type": {"text/event-stream"}}
	want := Expect{Usage: true, Tools: []string{"f", "g"}}
	if _, broken := Check(header, good, want); len(broken) > 0 {
		t.Fatalf("the good stream breaks %q", broken)
	}
	usageChunk := `"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
	rest := ",\"finish_reason\":null}]}\n\n"
	again := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`
	for _, tt := range []struct{ rule, old, new string }{
		{"S02", "data: [DONE]\n\n", ""},
		{"S02", "data: [DONE]\n\n", "data: [DONE]\n\ndata: [DONE]\n\n"},
		{"S03", ": keep-alive", "event: x"},
		{"S04", ": keep-alive", ": ping"},
		{"S05", `"object":"chat.completion.chunk"`, `"object":"chunk"`},
		{"S05", `"created":1,`, `"created":1,"x":1,`},
		{"S05", `"content":"bye"`, `"contents":"bye"`},
		{"S06", `"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[]`, `"id":"d","object":"chat.completion.chunk","created":1,"model":"m","choices":[]`},
		{"S07", `"created":1`, `"error":null,"created":1`},
		{"S08", `"role":"assistant",`, ``},
		{"S09", `"content":"bye"`, `"role":"assistant","content":"bye"`},
		{"S10", usageChunk, `"choices":[{"index":0,"delta":{"content":"z"},"finish_reason":null}]}`},
		{"S11", `"delta":{"tool_calls":[{"index":1`, `"delta":{"content":"x","tool_calls":[{"index":1`},
		{"S12", `"index":1,"id"`, `"index":2,"id"`},
		{"S12", `"index":1,"id"`, `"id"`},
		{"S13", "{\"content\":\"bye\"}" + rest, "{\"content\":\"bye\"}" + rest + again + "{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\" \"}}]}" + rest},
		{"S22", "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}", "{\"content\":\"between\"}" + rest + again + "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}"},
		{"S14", `"id":"a"`, `"id":7`},
		{"S14", `"id":"a"`, `"id":""`},
		{"S15", `"type":"function",`, ``},
		{"S16", `"name":"f",`, ``},
		{"S17", `"arguments":"{}"`, `"arguments":{}`},
		{"S17", `"arguments":":1}"`, `"arguments":null`},
		{"S18", `{"index":0,"function":{"arguments":":1}"}`, `{"index":0,"id":"a","function":{"arguments":":1}"}`},
		{"S19", `"delta":{},`, `"delta":{"content":"x"},`},
		{"S20", `"delta":{},"finish_reason":"tool_calls"`, `"delta":{}`},
		{"S21", `"finish_reason":"tool_calls"`, `"finish_reason":"stop"`},
		{"S23", `"id":"b"`, `"id":"a"`},
		{"S24", `"arguments":"{}"`, `"arguments":""`},
		{"S25", `"name":"g"`, `"name":"h"`},
		{"S26", `"total_tokens":3`, `"total_tokens":4`},
		{"S26", "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\"," + usageChunk + "\n\n", ""},
		{"S27", `"choices":[{"index":0,"delta":{"content":"bye"},"finish_reason":null}]`, `"choices":[]`},
		{"S28", `"finish_reason":"tool_calls"}]`, `"finish_reason":"tool_calls"}],"usage":{}`},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		if bad == good {
			t.Fatalf("%s: %q is not in the good stream", tt.rule, tt.old)
		}
		_, broken := Check(header, bad, want)
		if !strings.Contains(strings.Join(broken, "\n"), tt.rule) {
			t.Errorf("%s: %q for %q goes unseen; found %q", tt.rule, tt.new, tt.old, broken)
		}
	}
	if _, broken := Check(http.Header{}, good, want); !strings.Contains(strings.Join(broken, "\n"), "S01") {
		t.Error("S01: a missing content type goes unseen")
	}
}
