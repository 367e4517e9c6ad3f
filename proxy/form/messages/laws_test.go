package messages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/proxy/form"
)

// checker reads a stream as a strict client does, and collects what breaks a rule.
type checker struct {
	t       *testing.T
	begun   bool
	next    int    // index of the next block
	open    string // type of the open block; empty: none
	text    strings.Builder
	args    strings.Builder
	calls   []string // name and arguments of those that were stopped
	name    string
	left    bool // a call was left open, and another block begun
	reason  string
	stopped bool
	failed  bool
}

// data is any event of the API.
type data struct {
	Type    string `json:"type"`
	Index   *int   `json:"index"`
	Message *struct {
		Role  string `json:"role"`
		Usage *struct {
			Input  *int `json:"input_tokens"`
			Output *int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
	Block *struct {
		Type, Name, ID string
		Input          json.RawMessage
	} `json:"content_block"`
	Delta *struct {
		Type, Text, Thinking, Signature string
		JSON                            string `json:"partial_json"`
		Reason                          string `json:"stop_reason"`
	} `json:"delta"`
	Error *struct{ Type, Message string } `json:"error"`
}

// check holds a stream to the rules of the package comment.
func check(t *testing.T, body string) *checker {
	t.Helper()
	c := &checker{t: t}
	for event := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if strings.HasPrefix(event, ": ") && !strings.Contains(event, "\n") {
			continue
		}
		name, rest, ok := strings.Cut(event, "\n")
		text, ok2 := strings.CutPrefix(rest, "data: ")
		var d data
		if err := json.Unmarshal([]byte(text), &d); !ok || !ok2 || err != nil || name != "event: "+d.Type {
			t.Errorf("no event with its name and JSON: %q %v", event, err)
			continue
		}
		c.event(&d)
	}
	if !c.stopped && !c.failed {
		t.Errorf("the stream has no end")
	}
	return c
}

// want reports a rule that is broken.
func (c *checker) want(ok bool, rule string, d *data) {
	if c.t.Helper(); !ok {
		c.t.Errorf("%s: %+v", rule, d)
	}
}

// event takes one event.
func (c *checker) event(d *data) {
	c.want(!c.stopped && !c.failed, "nothing follows the end", d)
	c.want(c.begun || d.Type == "message_start", "message_start is first", d)
	switch d.Type {
	case "message_start":
		c.want(!c.begun && d.Message != nil && d.Message.Role == "assistant" && d.Message.Usage != nil && d.Message.Usage.Input != nil && d.Message.Usage.Output != nil, "one message_start, with usage", d)
		c.begun = true
	case "content_block_start":
		if c.open == "tool_use" { // of a reply that was cut, which its reason must say
			c.left, c.open = true, ""
			c.next++
		}
		c.want(c.open == "" && d.Index != nil && *d.Index == c.next && d.Block != nil, "blocks count up, one at a time", d)
		c.open, c.name = d.Block.Type, d.Block.Name
		c.args.Reset()
		if c.open == "tool_use" {
			c.want(d.Block.ID != "" && d.Block.Name != "" && string(d.Block.Input) == "{}", "a call has an id, a name and an empty input", d)
		}
	case "content_block_delta":
		c.want(d.Index != nil && *d.Index == c.next && d.Delta != nil, "deltas are of the open block", d)
		kinds := map[string]string{"text_delta": "text", "input_json_delta": "tool_use", "thinking_delta": "thinking", "signature_delta": "thinking"}
		c.want(kinds[d.Delta.Type] == c.open, "deltas have their block's type", d)
		c.text.WriteString(d.Delta.Text)
		c.args.WriteString(d.Delta.JSON)
	case "content_block_stop":
		c.want(c.open != "" && d.Index != nil && *d.Index == c.next, "an open block is stopped", d)
		if c.open == "tool_use" {
			c.want(json.Valid([]byte(c.args.String())) && strings.HasPrefix(c.args.String(), "{"), "a stopped call has an object", d)
			c.calls = append(c.calls, c.name+" "+c.args.String())
		}
		c.open = ""
		c.next++
	case "message_delta":
		c.want(c.reason == "" && d.Delta != nil && d.Delta.Reason != "", "one reason", d)
		c.reason = d.Delta.Reason
		c.want(c.open == "" || c.open == "tool_use" && c.reason == "max_tokens", "only a call that was cut stays open", d)
		c.want(!c.left || c.reason == "max_tokens", "only a cut leaves a call open", d)
		c.want(c.reason != "max_tokens" || len(c.calls) == 0, "a reply that was cut runs nothing", d)
	case "message_stop":
		c.want(c.reason != "", "the reason comes first", d)
		c.stopped = true
	case "error":
		c.want(d.Error != nil && d.Error.Type != "" && d.Error.Message != "", "an error has a type and a message", d)
		c.failed = true
	case "ping":
	default:
		c.want(false, "known events only", d)
	}
}

// scripted makes the steps of a reply out of a byte string: any order of pieces that the engine can
// give. Safe is the text in front of the first call that ends.
func scripted(plan string) (steps []any, text, safe string, calls []string) {
	open := ""
	for i, b := range []byte(plan) {
		if len(calls) == 0 {
			safe = text
		}
		switch b % 8 {
		case 0, 1:
			if open == "" {
				piece := fmt.Sprintf("é%d\n", i)
				steps, text = append(steps, chat.Event{Kind: chat.Text, Text: piece[:1]}, chat.Event{Kind: chat.Text, Text: piece[1:]}), text+piece
			}
		case 2:
			if open == "" {
				steps = append(steps, chat.Event{Kind: chat.Reasoning, Text: "hm"})
			}
		case 3:
			if open == "" {
				open = fmt.Sprintf("f%d", i)
				steps = append(steps, chat.Event{Kind: chat.CallStart, Text: open, ID: "call_" + open})
			}
		case 4:
			if open != "" {
				steps = append(steps, chat.Event{Kind: chat.CallArgs, Text: `{"a":`}, "flush", chat.Event{Kind: chat.CallArgs, Text: `"\u00e9"}`}, chat.Event{Kind: chat.CallEnd})
				calls, open = append(calls, open+` {"a":"\u00e9"}`), ""
			}
		case 5:
			if open != "" {
				steps = append(steps, chat.Event{Kind: chat.CallEnd})
				calls, open = append(calls, open+" {}"), ""
			}
		case 6:
			steps = append(steps, "flush")
		case 7:
			steps = append(steps, "beat")
		}
	}
	return steps, text, safe, calls
}

// FuzzEveryStreamIsStrict wants of any events that the stream keeps to the rules, that nothing of
// the text is lost, and that the calls which a client would run are those that ended: none where
// the reply was cut or an error follows, nor then what was written behind the first.
func FuzzEveryStreamIsStrict(f *testing.F) {
	for _, plan := range []string{"\x00", "\x03\x04\x00\x03\x05", "\x02\x06\x00\x03\x06", "\x07\x03\x04\x07", "\x00\x03\x04\x06\x03"} {
		for end := range byte(4) {
			f.Add(plan, end)
		}
	}
	f.Fuzz(func(t *testing.T, plan string, end byte) {
		steps, text, safe, calls := scripted(plan)
		switch end % 4 {
		case 0:
			steps = append(steps, chat.Event{Kind: chat.Finish, Text: chat.Stop})
		case 1:
			steps = append(steps, chat.Event{Kind: chat.Finish, Text: chat.Length})
		case 2:
			steps = append(steps, fault.New(fault.Unavailable, "gone"))
		}
		w := httptest.NewRecorder()
		a := &form.Ask{Stream: true}
		reply, err := open(http.Header{}, a, form.Out{W: w, ID: "msg_1"})
		must.OK(t, err)
		if err := run(reply, steps); err != nil {
			if w.Body.Len() > 0 {
				t.Errorf("%v behind the first byte", err)
			}
			return
		}
		body := w.Body.String()
		if !strings.Contains(body, "event: ") || strings.HasPrefix(body, ": ") && strings.Contains(body, "event: error") && !strings.Contains(body, "message_start") {
			return // an error behind nothing but comments
		}
		c := check(t, body)
		if c.failed && len(calls) > 0 {
			text = safe
		}
		if c.failed || c.reason == "max_tokens" {
			calls = nil
		}
		if c.text.String() != text || strings.Join(c.calls, "|") != strings.Join(calls, "|") {
			t.Errorf("text %q, want %q; calls %q, want %q", c.text.String(), text, c.calls, calls)
		}
		if t.Failed() {
			t.Log(body)
		}
	})
}

// FuzzRequestsAreReadOrRefused wants that a body is read, or refused with a fault that blames the
// client; a request that was read offers no tool that its conversation does not know, and never the
// placeholder.
func FuzzRequestsAreReadOrRefused(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"q"}]}`)
	f.Add(`{"system":[{"type":"text","text":"s"}],"tools":[{"name":"f","input_schema":{},"defer_loading":true},{"name":"DeferredToolPlaceholder"}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"f"},{"type":"image","source":{"type":"base64","data":"AQI"}}]}]}]}`)
	f.Add(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","name":"f","input":"{\"a\":"},{"type":"thinking","thinking":null}]},{"role":"system","content":[{"type":"text"}]}],"tool_choice":{"type":"tool","name":"f"},"thinking":{"type":"enabled","budget_tokens":-1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := read([]byte(body))
		if err != nil {
			if got := fault.From(err); got.Kind != fault.Invalid {
				t.Errorf("%v of kind %d", err, got.Kind)
			}
			return
		}
		if len(r.Messages) == 0 {
			t.Error("a request without messages was read")
		}
		for _, tool := range r.Tools {
			if tool.Name == placeholder || strings.TrimSpace(tool.Name) == "" {
				t.Errorf("the tool %q is offered", tool.Name)
			}
		}
	})
}
