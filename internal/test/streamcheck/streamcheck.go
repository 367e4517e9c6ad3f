// Package streamcheck checks a chat completion stream, by its bytes, against the rules S01 to S28,
// which real clients need.
//
// Each rule has a client that fails without it. For example, Goose ends its tool loop at a chunk
// with empty choices (S27), Zed delivers calls only after finish_reason "tool_calls" (S21), and
// Void appends a repeated name to the first one (S18). The test breaks each rule in a good stream,
// to make sure that each is checked.
package streamcheck

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reply is a reply, assembled from its stream as a client would do it.
type Reply struct {
	Text, Reasoning string
	Calls           []Call
	Finish          string
	Usage           *Usage
	Error           *Error
	Comments        []string
	Chunks          int // the number of chunks with a choice
	ArgChunks       int // the number of fragments with arguments
}

// Call is a call, assembled from its fragments.
type Call struct{ ID, Name, Args string }

// Usage holds token counts. A nil field was missing in the stream; rule S26 requires all three.
type Usage struct {
	Prompt     *int `json:"prompt_tokens"`
	Completion *int `json:"completion_tokens"`
	Total      *int `json:"total_tokens"`
}

// Error is an error event, which ends a stream.
type Error struct {
	Message *string          `json:"message"`
	Type    *string          `json:"type"`
	Param   *json.RawMessage `json:"param"`
	Code    *json.RawMessage `json:"code"`
}

// Expect says what a request contained, as far as the rules for the answer's stream depend on it.
type Expect struct {
	Usage bool     // whether the request asks for a usage chunk
	Tools []string // the names of the offered tools
}

// checker reads a stream and collects the violations of rules. It continues after a violation, so
// that one run shows them all.
type checker struct {
	want Expect
	Reply
	broken             []string
	id, model          string
	created            float64
	first, done, ended bool
	openCall           bool
	finished           int // calls whose arguments are an object
}

// Check reads a whole stream and returns the assembled reply, and a line for each violation of a
// rule.
func Check(h http.Header, body string, want Expect) (Reply, []string) {
	c := &checker{want: want, first: true}
	if ct := h.Get("Content-Type"); ct != "text/event-stream" {
		c.breaks("S01", "Content-Type %q", ct)
	}
	if !utf8.ValidString(body) {
		c.breaks("S05", "the stream is not UTF-8")
	}
	for line := range strings.SplitSeq(body, "\n") {
		c.line(line)
	}
	c.end(body)
	return c.Reply, c.broken
}

// breaks records a violation of the rule with this name.
func (c *checker) breaks(rule, format string, args ...any) {
	c.broken = append(c.broken, rule+": "+fmt.Sprintf(format, args...))
}

// line checks one line of the stream. A comment must not begin with ": ping", because the client
// Continue ends its stream there.
func (c *checker) line(line string) {
	switch {
	case line == "":
	case strings.HasPrefix(line, ":"):
		if strings.HasPrefix(line, ": ping") {
			c.breaks("S04", "comment %q", line)
		}
		c.Comments = append(c.Comments, line)
	case c.done:
		c.breaks("S02", "%q behind [DONE]", line)
	case line == "data: [DONE]":
		c.done = true
	case strings.HasPrefix(line, "data: "):
		c.data(line[len("data: "):])
	default:
		c.breaks("S03", "line %q", line)
	}
}

// chunkKeys are the keys that a chunk may have. The key "error" is not among them: even if it is
// null, Vercel's AI SDK ends the reply (S07).
var chunkKeys = []string{"id", "object", "created", "model", "choices", "usage",
	"system_fingerprint", "service_tier"}

// data checks the data of one event, and records each violation of a rule. No event may follow an
// error, because openai-node, Vercel's AI SDK and LangChain.js throw it as soon as they read it.
func (c *checker) data(data string) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &m); err != nil {
		c.breaks("S05", "%v in %s", err, data)
		return
	}
	if c.Error != nil {
		c.breaks("error", "%s behind an error", data)
	}
	if e, ok := m["error"]; ok {
		c.errorEvent(m, e)
		return
	}
	for k := range m {
		if !slices.Contains(chunkKeys, k) {
			c.breaks("S05", "unknown key %q", k)
		}
	}
	c.constant(m)
	var choices []map[string]json.RawMessage
	if json.Unmarshal(m["choices"], &choices) != nil || choices == nil {
		c.breaks("S05", "choices %s", m["choices"])
	}
	if len(choices) == 0 {
		c.usageChunk(m["usage"])
		return
	}
	if u := m["usage"]; u != nil && string(u) != "null" {
		c.breaks("S28", "usage %s on a chunk with a choice", u)
	}
	if len(choices) > 1 {
		c.breaks("S05", "%d choices", len(choices))
	}
	c.choice(choices[0])
}

// errorEvent checks an error event, which must have exactly the four keys of an error; param and
// code may be null.
func (c *checker) errorEvent(m map[string]json.RawMessage, e json.RawMessage) {
	c.Error = &Error{}
	if len(m) != 1 {
		c.breaks("S07", "an error beside other keys")
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(e, &keys)
	if json.Unmarshal(e, c.Error) != nil || len(keys) != 4 || c.Error.Message == nil ||
		c.Error.Type == nil || keys["param"] == nil || keys["code"] == nil {
		c.breaks("error", "not the four keys: %s", e)
	}
}

// constant checks id, model, object and created, which must be present in every chunk (rule S05).
// Except for object, they must not change (rule S06).
func (c *checker) constant(m map[string]json.RawMessage) {
	var id, model, object string
	var created float64
	for _, err := range []error{json.Unmarshal(m["id"], &id), json.Unmarshal(m["model"], &model),
		json.Unmarshal(m["object"], &object), json.Unmarshal(m["created"], &created)} {
		if err != nil {
			c.breaks("S05", "id, model, object or created: %v", err)
		}
	}
	if object != "chat.completion.chunk" || id == "" || created == 0 {
		c.breaks("S05", "object %q, id %q, created %v", object, id, created)
	}
	if c.id == "" {
		c.id, c.model, c.created = id, model, created
	}
	if c.id != id || c.model != model || c.created != created {
		c.breaks("S06", "id, model or created changed: %q %q %v", id, model, created)
	}
}

// usageChunk checks the chunk without choices. It may only come once, after the finish, and if the
// request asks for it.
func (c *checker) usageChunk(u json.RawMessage) {
	switch {
	case !c.want.Usage:
		c.breaks("S27", "empty choices although usage was not asked")
	case !c.ended || c.Usage != nil:
		c.breaks("S27", "empty choices before the end or twice")
	}
	c.Usage = &Usage{}
	if json.Unmarshal(u, c.Usage) != nil || c.Usage.Prompt == nil || c.Usage.Completion == nil ||
		c.Usage.Total == nil {
		c.breaks("S26", "usage %s", u)
	} else if *c.Usage.Total != *c.Usage.Prompt+*c.Usage.Completion {
		c.breaks("S26", "the total is not the sum: %s", u)
	}
}

// choice checks a choice. It must have the member finish_reason, null until the end, because the AI
// SDK requires that.
func (c *checker) choice(m map[string]json.RawMessage) {
	c.Chunks++
	if c.ended {
		c.breaks("S10", "a choice behind the one that finished")
	}
	if string(m["index"]) != "0" {
		c.breaks("S05", "choice index %s", m["index"])
	}
	for k := range m {
		if !slices.Contains([]string{"index", "delta", "finish_reason", "logprobs"}, k) {
			c.breaks("S05", "unknown key %q in a choice", k)
		}
	}
	var delta map[string]json.RawMessage
	if json.Unmarshal(m["delta"], &delta) != nil || delta == nil {
		c.breaks("S05", "delta %s", m["delta"])
	}
	fin, ok := m["finish_reason"]
	switch {
	case !ok:
		c.breaks("S20", "no finish_reason")
	case string(fin) != "null":
		c.ended = true
		if len(delta) != 0 {
			c.breaks("S19", "the last delta is %s", m["delta"])
		}
		if json.Unmarshal(fin, &c.Finish) != nil {
			c.breaks("S20", "finish_reason %s", fin)
		}
		return
	}
	c.delta(delta)
}

// delta checks a delta. The first one must have the role, as openai-node and LangChain.js require.
// Text and calls must not be in one delta, because Continue then hides the call.
func (c *checker) delta(d map[string]json.RawMessage) {
	var role string
	_ = json.Unmarshal(d["role"], &role)
	if _, said := d["role"]; said != c.first || (c.first && role != "assistant") {
		c.breaks(map[bool]string{true: "S08", false: "S09"}[c.first], "role %q", role)
	}
	c.first = false
	for k := range d {
		if !slices.Contains([]string{"role", "content", "tool_calls", "reasoning_content",
			"reasoning", "refusal"}, k) {
			c.breaks("S05", "unknown key %q in a delta", k)
		}
	}
	text := c.str(d["content"])
	c.Reasoning += c.str(d["reasoning_content"])
	if again, both := d["reasoning"]; both && d["reasoning_content"] != nil &&
		string(again) != string(d["reasoning_content"]) {
		c.breaks("S05", "reasoning is not reasoning_content")
	}
	calls, has := d["tool_calls"]
	if has && text != "" {
		c.breaks("S11", "content beside tool_calls")
	}
	if text != "" || d["reasoning_content"] != nil {
		c.closeCall()
	}
	c.Text += text
	if has {
		c.fragments(calls)
	}
}

// str returns the string in raw, or "" for null. It reports any other value.
func (c *checker) str(raw json.RawMessage) (s string) {
	if raw != nil && json.Unmarshal(raw, &s) != nil {
		c.breaks("S05", "%s is no string", raw)
	}
	return s
}

// end checks the stream as a whole, after its last line. An empty reply is a violation, because it
// is an error for Void and makes Qwen Code retry.
func (c *checker) end(body string) {
	c.closeCall()
	if c.Error != nil {
		if c.done || c.ended {
			c.breaks("error", "an error beside a good end")
		}
		return
	}
	if !strings.HasSuffix(body, "data: [DONE]\n\n") || !c.done {
		c.breaks("S02", "[DONE] is not the end")
	}
	if !c.ended {
		c.breaks("S20", "no chunk finished")
	}
	want := "stop"
	if c.finished > 0 {
		want = "tool_calls"
	}
	if c.Finish != want && c.Finish != "length" {
		c.breaks("S21", "finish_reason %q with %d calls", c.Finish, c.finished)
	}
	if c.want.Usage && c.Usage == nil {
		c.breaks("S26", "no usage")
	}
	if c.Text == "" && c.Reasoning == "" && len(c.Calls) == 0 && c.Finish != "length" {
		c.breaks("empty", "nothing at all was said")
	}
}
