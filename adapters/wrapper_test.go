package adapters

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/chat"
)

// wrapperTools are what the wrappers of these tests may call.
func wrapperTools() []chat.Tool {
	tool := func(name, schema string) chat.Tool {
		return chat.Tool{Name: name, Schema: json.RawMessage(schema)}
	}
	return []chat.Tool{
		tool("get_time", `{"type":"object","properties":{"timezone":{"type":"string"}}}`),
		tool("convert_currency", `{"type":"object","properties":{"amount":{"type":"number"},"from":{"type":"string"},`+
			`"to":{"type":"string"}},"required":["amount","from","to"]}`),
		tool("create_ticket", `{"type":"object","properties":{"title":{"type":"string"},"body":{"type":"string"},`+
			`"labels":{"type":"array","items":{"type":"string"}},"assignee":{"type":"object"}},"required":["title"]}`),
		tool("search_web", `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
	}
}

// TestWrappersOfFamousMessages has messages of APIs and other programs, each the whole reply, that call get_time.
func TestWrappersOfFamousMessages(t *testing.T) {
	o := Options{Tools: wrapperTools()}
	for _, s := range readSections(t, "testdata/wrappers.txt") {
		f := Named(strings.Fields(s.Name)[0])
		calls := decodeCalls(t, f, []string{s.Text}, o)
		if len(calls) != 1 || calls[0].Name != "get_time" || strings.ReplaceAll(string(calls[0].Args), " ", "") != `{"timezone":"UTC"}` {
			t.Errorf("%s: %v", s.Name, calls)
		}
		checkDecode(t, f, s.Text, chat.Stop, o)
	}
}
