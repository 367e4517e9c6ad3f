package remote

import (
	"encoding/json"
	"testing"
)

// TestAnOddItemIsLeftOutOfAList has items of servers' lists, which clients read as a whole.
func TestAnOddItemIsLeftOutOfAList(t *testing.T) {
	for _, tt := range []struct{ method, item, want string }{
		{"resources/list", `{"uri":"f:///a","name":"a","size":3,"annotations":{"audience":["user"],"priority":0.5},"x":1}`, `{"uri":"f:///a","name":"a","size":3,"annotations":{"audience":["user"],"priority":0.5},"x":1}`},
		{"resources/list", `{"uri":"f:///a"}`, `{"uri":"f:///a","name":"f:///a"}`},
		{"resources/list", `{"uri":"f:///a","name":7,"title":null,"description":[],"mimeType":5,"size":"big","annotations":"x","_meta":[],"icons":[{}]}`, `{"uri":"f:///a","name":"f:///a"}`},
		{"resources/list", `{"uri":"f:///a","name":"a","annotations":{"priority":"high"}}`, `{"uri":"f:///a","name":"a"}`},
		{"resources/list", `{"name":"a"}`, ``},
		{"resources/list", `{"uri":5,"name":"a"}`, ``},
		{"resources/list", `"f:///a"`, ``},
		{"resources/list", `null`, ``},
		{"resources/templates/list", `{"uriTemplate":"f:///{x}"}`, `{"uriTemplate":"f:///{x}","name":"f:///{x}"}`},
		{"resources/templates/list", `{"name":"x"}`, ``},
		{"prompts/list", `{"name":"p","arguments":[{"name":"x","required":true,"description":"d"}]}`, `{"name":"p","arguments":[{"name":"x","required":true,"description":"d"}]}`},
		{"prompts/list", `{"name":"p","arguments":["x",{"name":"y","required":"yes","description":7},{"name":7}]}`, `{"name":"p","arguments":[{"name":"y"}]}`},
		{"prompts/list", `{"name":"p","arguments":null}`, `{"name":"p"}`},
		{"prompts/list", `{"name":"p","arguments":{"x":1}}`, `{"name":"p"}`},
		{"prompts/list", `{"arguments":[]}`, ``},
		{"tasks/list", `{"taskId":null}`, `{"taskId":null}`},
	} {
		got, ok := plainItem(tt.method, json.RawMessage(tt.item))
		if string(got) != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %s became %s, %v; want %s", tt.method, tt.item, got, ok, tt.want)
		}
	}
}

// TestWhatAServerGivesCanBeRead has answers of servers to requests for one prompt or resource.
func TestWhatAServerGivesCanBeRead(t *testing.T) {
	for _, tt := range []struct{ method, answer, want string }{
		{"resources/read", `{"contents":[{"uri":"f:///a","mimeType":"text/plain","text":"x","n":1.50},{"uri":"f:///b","blob":"AQI="}],"_meta":{"a":1}}`, `{"_meta":{"a":1},"contents":[{"uri":"f:///a","mimeType":"text/plain","text":"x","n":1.50},{"uri":"f:///b","blob":"AQI="}]}`},
		{"resources/read", `{"contents":[]}`, `{"contents":[]}`},
		{"resources/read", `{}`, `{"contents":[]}`},
		{"resources/read", `null`, `{"contents":[]}`},
		{"resources/read", `{"contents":{"text":"x","mimeType":null}}`, `{"contents":[{"text":"x","uri":"f:///a"}]}`},
		{"resources/read", `{"contents":["x",null,{"uri":7,"text":{"n":1}}]}`, `{"contents":[{"text":"x","uri":"f:///a"},{"uri":"f:///a","text":"{\"n\":1}"}]}`},
		{"resources/read", `{"contents":[{"uri":"f:///a","blob":"data:image/png;base64,AQI","mimeType":5}]}`, `{"contents":[{"uri":"f:///a","blob":"AQI="}]}`},
		{"resources/read", `{"contents":[{"uri":"f:///a","blob":"no base64!"}]}`, `{"contents":[{"uri":"f:///a","text":"{\"uri\":\"f:///a\",\"blob\":\"no base64!\"}"}]}`},
		{"resources/read", `{"contents":[{"type":"resource","resource":{"uri":"f:///b","text":"x"}}]}`, `{"contents":[{"uri":"f:///b","text":"x"}]}`},
		{"resources/read", `"x"`, `{"contents":[{"text":"x","uri":"f:///a"}]}`},
		{"resources/read", `{"text":"x"}`, `{"contents":[{"text":"x","uri":"f:///a"}]}`},
		{"resources/read", `{"resultType":"input_required","inputRequests":{}}`, `{"resultType":"input_required","inputRequests":{}}`},
		{"prompts/get", `{"description":"d","messages":[{"role":"assistant","content":{"type":"text","text":"x"}}]}`, `{"description":"d","messages":[{"role":"assistant","content":{"type":"text","text":"x"}}]}`},
		{"prompts/get", `{"description":null,"messages":[{"role":"system","content":"x"},{"content":[{"type":"text","text":"y"},{"type":"image","data":"AQI"}]}]}`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}},{"role":"user","content":{"type":"text","text":"y"}},{"role":"user","content":{"type":"image","data":"AQI=","mimeType":"application/octet-stream"}}]}`},
		{"prompts/get", `{"messages":"x"}`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`},
		{"prompts/get", `{"messages":{"role":"user","text":"x"}}`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`},
		{"prompts/get", `[{"type":"text","text":"x"}]`, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`},
		{"prompts/get", `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":""}}},{"role":"user","content":{"type":"resource_link","uri":"a:b"}}]}`, `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":""}}},{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"a:b"}}]}`},
		{"completion/complete", `"x"`, `"x"`},
	} {
		if got := plainAnswer(tt.method, json.RawMessage(`{"uri":"f:///a"}`), json.RawMessage(tt.answer)); string(got) != tt.want {
			t.Errorf("%s: %s became\n%s, want\n%s", tt.method, tt.answer, got, tt.want)
		}
	}
}
