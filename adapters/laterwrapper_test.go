package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// quoted returns a text as a string of JSON.
func quotedJSON(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// message wraps a call in the answer of an API: choices, outputs, responses and candidates.
func (m wrapperMaker) message(c wanted) string {
	openAI := fmt.Sprintf(`{"id": "call_1", "type": "function", "function": {"name": %q, "arguments": %s}}`,
		c.name, m.one(quotedJSON(c.args), c.args))
	switch m.IntN(7) {
	case 0:
		return fmt.Sprintf(`{"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", `+
			`"content": null, "tool_calls": [%s]}, "finish_reason": "tool_calls"}]}`, openAI)
	case 1:
		return fmt.Sprintf(`{"choices": [{"message": {"tool_calls": [%s]}}]}`, openAI)
	case 2:
		return fmt.Sprintf(`{"response": {"tool_calls": [%s]}}`, openAI)
	case 3:
		return fmt.Sprintf(`{"output": [{"type": "function_call", "call_id": "c1", "name": %q, "arguments": %s}]}`,
			c.name, quotedJSON(c.args))
	case 4:
		return fmt.Sprintf(`{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": %q, "input": %s}], `+
			`"stop_reason": "tool_use"}`, c.name, c.args)
	case 5:
		return fmt.Sprintf(`{"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": %q, "args": %s}}]}}]}`,
			c.name, c.args)
	}
	return fmt.Sprintf(`{"response": {"name": %q, "arguments": %s}}`, c.name, c.args)
}

// keywords writes a call as Python does.
func (m wrapperMaker) keywords(c wanted) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(c.args), &fields)
	var all []string
	for _, k := range []string{"timezone", "amount", "from", "to", "title", "body", "labels", "query"} {
		if v, ok := fields[k]; ok {
			all = append(all, k+"="+string(v))
		}
	}
	return c.name + "(" + strings.Join(all, ", ") + ")"
}

// lines writes a call on lines of its own, without anything around them.
func (m wrapperMaker) lines(c wanted) string {
	head := m.one("tool", "Tool", "name", "function", "Function", "action", "Action", "tool_name")
	with := map[string]string{"Tool": "Input", "Function": "Arguments", "Action": "Action Input"}[head]
	keys, values := c.fields()
	if with != "" || keys == nil || strings.ContainsAny(c.args, `\&<{[`+"\n") {
		if with == "" {
			with = m.one("arguments", "args", "input", "parameters")
		}
		return head + ": " + c.name + "\n" + with + ": " + c.args
	}
	out := head + ": " + c.name + "\n" + m.one("arguments", "args", "parameters", "input") + ":\n"
	for i, k := range keys {
		out += "  " + k + ": " + values[i] + "\n"
	}
	return out
}

// later wraps a call in ways that were written down after those of wrap.
func (m wrapperMaker) later() (string, wanted) {
	c := m.call()
	switch m.IntN(4) {
	case 0:
		return m.lines(c), c
	case 1:
		call := quotedJSON(m.keywords(c))
		return m.one(call, `{"tool_call": `+call+`}`, `{"tool_calls": [`+call+`]}`, `["`+call[1:]+`]`,
			`{"thought": "I look.", "action": `+call+`}`), c
	}
	text := m.message(c)
	if m.IntN(3) == 0 {
		text = "```json\n" + text + "\n```"
	}
	return text, c
}

// doubtOf returns the tool that a reply is in doubt about; "": none.
func doubtOf(t *testing.T, f *Format, pieces []string, o Options) (tool string) {
	t.Helper()
	for e, err := range f.Decode(golden.Source(pieces, chat.Stop), o) {
		must.OK(t, err)
		if e.Meta != nil && e.Meta.Doubt != "" {
			tool = e.Meta.Doubt
		}
	}
	return tool
}

// laterDocument returns a document that is nearly one of the later wrappers.
func (m wrapperMaker) laterDocument() string {
	c := m.call()
	call, n := quotedJSON(m.keywords(c)), m.IntN(900)
	head, word := m.one("tool", "name", "Tool", "function"), m.one("fast", "draft 2", "see below")
	switch m.IntN(20) {
	case 0:
		return fmt.Sprintf("%s: %s\nversion: %d\n", head, c.name, n)
	case 1:
		return fmt.Sprintf("%s: %s\nenabled: true\nlimits:\n  perMinute: %d\n", head, c.name, n)
	case 2:
		return fmt.Sprintf("%s: %s\ndescription: %s\nparameters:\n  timezone: string\n  unit: text\n", head, c.name, word)
	case 3:
		return fmt.Sprintf("%s: %s\nInput: %s\nOutput: %s\n", head, c.name, c.args, word)
	case 4:
		return fmt.Sprintf("%s: %s\narguments: %s\nresult: %s", head, c.name, c.args, word)
	case 5:
		return fmt.Sprintf("%s: %s is the one that answers.\nInput: %s", head, c.name, c.args)
	case 6:
		return fmt.Sprintf(`{"choices": [{"tool": %q, "arguments": %s}, {"tool": "search_web", "arguments": {"query": "x"}}]}`, c.name, c.args)
	case 7:
		return fmt.Sprintf(`{"choices": ["get_time", %q], "default": %d}`, c.name, n)
	case 8:
		return fmt.Sprintf(`{"choices": [{"message": {"role": "assistant", "content": %s}}]}`, quotedJSON("I use "+c.name+"."))
	case 9:
		return fmt.Sprintf(`{"name": %q, "response": {"timezone": "UTC"}, "code": %d}`, c.name, n)
	case 10:
		return fmt.Sprintf(`{"request": %s, "response": {"name": %q, "arguments": %s}, "status": %d}`, call, c.name, c.args, n)
	case 11:
		return fmt.Sprintf(`{"usage": %s, "lines": %d}`, call, n)
	case 12:
		return fmt.Sprintf(`{"examples": [%s]}`, call)
	case 13:
		return fmt.Sprintf(`{"code": "import clock\nprint(%s)"}`, strings.Trim(call, `"`))
	case 14:
		return fmt.Sprintf(`{"title": %s, "body": %q}`, call, word)
	case 15:
		return fmt.Sprintf(`{"output": {"tool": %q, "arguments": %s, "ms": %d}}`, c.name, c.args, n)
	case 16:
		return fmt.Sprintf(`{"output": [{"tool": %q, "text": %q}]}`, c.name, word)
	case 17:
		return fmt.Sprintf(`{"log": [%s, %s]}`, call, call)
	case 18:
		return fmt.Sprintf(`{"response": {"tools": [{"name": %q, "parameters": {"type": "object", "properties": {}}}]}}`, c.name)
	}
	return fmt.Sprintf(`{"candidates": [%s, "search_web(query=\"y\")"], "best": %d}`, call, n%2)
}
