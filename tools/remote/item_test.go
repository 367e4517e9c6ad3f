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
