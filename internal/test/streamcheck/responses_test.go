package streamcheck

import (
	"net/http"
	"strings"
	"testing"
)

// eventsOf are the events of a good stream: a message and a call.
var eventsOf = []string{
	`response.created {"response":{"id":"resp_1","status":"in_progress","output":[]}}`,
	`response.in_progress {"response":{"id":"resp_1","status":"in_progress","output":[]}}`,
	`response.output_item.added {"output_index":0,"item":{"type":"message","id":"msg_1","status":"in_progress","content":[]}}`,
	`response.content_part.added {"output_index":0,"item_id":"msg_1","part":{"type":"output_text","text":""}}`,
	`response.output_text.delta {"output_index":0,"item_id":"msg_1","delta":"Hi"}`,
	`response.output_text.done {"output_index":0,"item_id":"msg_1","text":"Hi"}`,
	`response.content_part.done {"output_index":0,"item_id":"msg_1","part":{"type":"output_text","text":"Hi"}}`,
	`response.output_item.done {"output_index":0,"item":{"type":"message","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"Hi"}]}}`,
	`response.output_item.added {"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","status":"in_progress","arguments":""}}`,
	`response.function_call_arguments.delta {"output_index":1,"item_id":"fc_1","delta":"{}"}`,
	`response.function_call_arguments.done {"output_index":1,"item_id":"fc_1","arguments":"{}"}`,
	`response.output_item.done {"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","status":"completed","arguments":"{}"}}`,
	`response.completed {"response":{"id":"resp_1","status":"completed","output":[{"type":"message","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","status":"completed","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}`,
}

// streamOf writes events as they are sent.
func streamOf(events []string) string {
	var b strings.Builder
	for i, e := range events {
		kind, data, _ := strings.Cut(e, " ")
		b.WriteString("event: " + kind + "\ndata: {\"type\":\"" + kind + "\",\"sequence_number\":" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "," + data[1:] + "\n\n")
	}
	return strings.NewReplacer(`"sequence_number":0`, `"sequence_number":`).Replace(b.String())
}

var sent = http.Header{"Content-Type": {"text/event-stream"}}

func TestAGoodResponseIsPutTogether(t *testing.T) {
	got, broken := CheckResponses(sent, ": keep-alive\n\n"+streamOf(eventsOf))
	if len(broken) > 0 || got.Text != "Hi" || len(got.Calls) != 1 || got.Calls[0].Whole() != "{}" || got.Status != "completed" || got.Total != 3 || len(got.Comments) != 1 {
		t.Errorf("%+v breaks %q", got, broken)
	}
}

// TestEveryRuleOfResponsesIsChecked breaks the good stream, once for each rule.
func TestEveryRuleOfResponsesIsChecked(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"no name":          func(s string) string { return strings.Replace(s, "event: response.output_text.delta\n", "", 1) },
		"a number is left": func(s string) string { return strings.Replace(s, `"sequence_number":4`, `"sequence_number":5`, 1) },
		"no opening":       func(s string) string { return s[strings.Index(s, "event: response.in_progress"):] },
		"another line":     func(s string) string { return s + "id: 3\n" },
		"no end":           func(s string) string { return s[:strings.Index(s, "event: response.completed")] },
		"[DONE]":           func(s string) string { return s + "data: [DONE]\n\n" },
		"two ends":         func(s string) string { return s + s[strings.Index(s, "event: response.completed"):] },
		"another id":       func(s string) string { return strings.Replace(s, "resp_1", "resp_2", 1) },
		"deltas differ":    func(s string) string { return strings.Replace(s, `"delta":"Hi"`, `"delta":"Ho"`, 1) },
		"the part differs": func(s string) string { return strings.Replace(s, `"text":"Hi"}}`, `"text":"Ho"}}`, 1) },
		"the index":        func(s string) string { return strings.Replace(s, `"output_index":1`, `"output_index":0`, 1) },
		"the item's id":    func(s string) string { return strings.Replace(s, `"item_id":"fc_1"`, `"item_id":"fc_2"`, 1) },
		"no call id":       func(s string) string { return strings.ReplaceAll(s, `"call_id":"call_1"`, `"call_id":""`) },
		"no object":        func(s string) string { return strings.ReplaceAll(s, `"{}"`, `"[]"`) },
		"the output":       func(s string) string { return strings.Replace(s, `"output":[{`, `"output":[{"x":1,`, 1) },
		"the sum":          func(s string) string { return strings.Replace(s, `"total_tokens":3`, `"total_tokens":4`, 1) },
		"a call that failed": func(s string) string {
			return strings.Replace(strings.ReplaceAll(s, "response.completed", "response.failed"), `"id":"resp_1","status":"completed"`, `"id":"resp_1","error":{"code":"x"},"status":"failed"`, 1)
		},
	} {
		if _, broken := CheckResponses(sent, change(streamOf(eventsOf))); len(broken) == 0 {
			t.Errorf("%s: no rule is broken", name)
		}
	}
	if _, broken := CheckResponses(http.Header{}, streamOf(eventsOf)); len(broken) != 1 {
		t.Errorf("without a Content-Type: %q", broken)
	}
}
