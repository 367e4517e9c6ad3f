// Package streamcheck holds a chat completion stream to the rules that clients were seen to need,
// S01 to S28, by the bytes that went over the wire.
//
// Every rule has a client behind it that fails without it, for example: Goose ends its tool loop at
// a chunk with empty choices (S27), Zed delivers calls only behind finish_reason "tool_calls"
// (S21), Void glues a repeated name to the first (S18). The test breaks the rules one by one in a
// good stream, so that none can stop being checked.
package streamcheck

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reply is a stream put together again, as a client would.
type Reply struct {
	Text, Reasoning string
	Calls           []Call
	Finish          string
	Usage           *Usage
	Error           *Error
	Comments        []string
	Chunks          int // with a choice
	ArgChunks       int // of them, with arguments
}

// Call is a call with its fragments joined.
type Call struct{ ID, Name, Args string }

// Usage counts tokens; nil fields were missing.
// Pointers tell a missing count from 0; S26 wants all three.
type Usage struct {
	Prompt     *int `json:"prompt_tokens"`
	Completion *int `json:"completion_tokens"`
	Total      *int `json:"total_tokens"`
}

// Error is an error event in place of a good end.
type Error struct {
	Message *string          `json:"message"`
	Type    *string          `json:"type"`
	Param   *json.RawMessage `json:"param"`
	Code    *json.RawMessage `json:"code"`
}

// Expect is what the rules must know of the request.
type Expect struct {
	Usage bool     // a usage chunk was asked for
	Tools []string // names of the tools offered
}

// checker walks a stream and collects what breaks a rule.
// It goes on after a rule is broken, so that one run shows all that is wrong with a stream.
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

// Check reads a whole stream and returns it put together, with a line for every broken rule.
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

func (c *checker) breaks(rule, format string, args ...any) {
	c.broken = append(c.broken, rule+": "+fmt.Sprintf(format, args...))
}

// line sorts one line. ": ping" ends the line loop of Continue, so comments need another word, as
// ": keep-alive".
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

// chunkKeys are the keys of a chunk. "error", even null, ends a reply for Vercel's AI SDK (S07).
var chunkKeys = []string{"id", "object", "created", "model", "choices", "usage",
	"system_fingerprint", "service_tier"}

// data checks one event. None may follow an error, which openai-node, Vercel's AI SDK and
// LangChain.js raise at once.
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

// errorEvent checks an error after the first byte: one event with four keys, two of them nullable.
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

// constant checks S05 and S06 for the fields around the choice.
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

// usageChunk checks the only chunk without choices: it comes once, if asked for, after the finish.
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

// choice checks a choice. finish_reason must be there, null until the end, for the AI SDK.
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

// delta checks what is new. openai-node and LangChain.js need the role in the first one; Continue
// hides a call that stands beside content.
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

// str reads a string or null.
func (c *checker) str(raw json.RawMessage) (s string) {
	if raw != nil && json.Unmarshal(raw, &s) != nil {
		c.breaks("S05", "%s is no string", raw)
	}
	return s
}

// end checks the whole stream. An empty reply is an error for Void, a retry loop for Qwen Code.
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
