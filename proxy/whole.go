package proxy

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// whole collects a stream of events into one chat completion.
type whole struct {
	out        Out
	model      string
	mayBeEmpty bool // the client's stop sequences may leave nothing

	reply chat.Collector
	probs logprobs
}

var _ Reply = (*whole)(nil)

// toolCall is a call in a whole reply.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// completion is OpenAI's whole reply.
type completion struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices [1]choice       `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

// choice is the one reply in a completion.
type choice struct {
	Index   int `json:"index"`
	Message struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"` // null beside calls when there is no text
		Reasoning string     `json:"reasoning_content,omitempty"`
		Thoughts  string     `json:"reasoning,omitempty"` // the same
		ToolCalls []toolCall `json:"tool_calls,omitempty"`
	} `json:"message"`
	Logprobs     json.RawMessage `json:"logprobs,omitempty"` // null or left out when there are none
	FinishReason string          `json:"finish_reason"`
}

// Event collects one event. A call that is never finished is left out: nothing half is shown.
func (w *whole) Event(e chat.Event) error {
	w.reply.Add(e)
	w.probs.note(e.Meta)
	return nil
}

// Flush does nothing: a whole reply has no pieces.
func (w *whole) Flush() error { return nil }

// Ping does nothing: the status is not known before the end.
func (w *whole) Ping() error { return nil }

// Close writes the reply, or returns err for the caller to answer.
func (w *whole) Close(err error) error {
	if err == nil && w.reply.End == nil {
		err = errUnfinished()
	}
	if err != nil {
		return err
	}
	c := completion{ID: w.out.ID, Object: "chat.completion", Created: w.out.Created.Unix(), Model: w.model, Usage: appendCounts(nil, w.reply.Usage)}
	w.fill(&c.Choices[0])
	m := &c.Choices[0].Message
	if w.reply.Text.Len()+w.reply.Reasoning.Len()+len(m.ToolCalls) == 0 && !w.mayBeEmpty && w.reply.End.Text != chat.Length {
		return errEmpty()
	}
	return w.write(&c)
}

// fill says what the model said.
func (w *whole) fill(c *choice) {
	c.Message.Role = "assistant"
	for _, field := range w.out.thoughts() {
		if field == ThoughtsPlain {
			c.Message.Thoughts = w.reply.Reasoning.String()
		} else {
			c.Message.Reasoning = w.reply.Reasoning.String()
		}
	}
	done := w.reply.Complete()
	for _, call := range done {
		c.Message.ToolCalls = append(c.Message.ToolCalls, wholeCall(call))
	}
	if text := w.reply.Text.String(); text != "" || len(done) == 0 {
		c.Message.Content = &text
	}
	if w.probs.wanted {
		c.Logprobs = w.probs.appendValue(nil)
	}
	c.FinishReason = finishReason(w.reply.End.Text, calls{begun: len(w.reply.Calls), ended: len(done)})
	w.out.told(c.FinishReason)
}

func wholeCall(c chat.Call) toolCall {
	t := toolCall{ID: c.ID, Type: "function"}
	t.Function.Name, t.Function.Arguments = c.Name, string(c.Args)
	return t
}

// maxCutHeader bounds what a header tells of a cut call, in bytes: clients take a few KiB of headers.
const maxCutHeader = 512

// write sends the reply, with what is known of its making in the header.
func (w *whole) write(c *completion) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return err
	}
	h := w.out.W.Header()
	if m := w.reply.End.Meta; m != nil {
		setSafe(h, "Toolnorm-Format", m.Format)
		setSafe(h, "Toolnorm-Strategy", m.Strategy)
		setSafe(h, "Toolnorm-Repairs", strings.Join(m.Repairs, ","))
		if m.Cut != "" {
			setSafe(h, "Toolnorm-Cut", strconv.QuoteToASCII(m.Cut[:min(len(m.Cut), maxCutHeader)]))
		}
	}
	return writeJSON(w.out.W, 200, b.Bytes())
}
