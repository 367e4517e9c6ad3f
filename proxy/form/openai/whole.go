package openai

import (
	"cmp"
	"encoding/json"

	"toolnorm/chat"
	"toolnorm/proxy/form"
)

// whole collects the events of a reply into one chat completion. It uses the same events as a
// stream, so both always agree.
type whole struct {
	form.Whole
	probs logprobs
	done  []choice    // all choices but the last
	spent chat.Counts // their token counts
	meta  *chat.Meta  // of the last reply that has ended
	err   error       // the error of a reply that ended badly
}

var _ form.Reply = (*whole)(nil)
var _ form.Several = (*whole)(nil)

// toolCall is a call in a whole reply.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// completion is OpenAI's whole reply. It has only OpenAI's members; all other information about the
// reply is in headers.
type completion struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

// choice is one of the replies in a chat completion.
type choice struct {
	Index   int `json:"index"`
	Message struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"` // null if there are calls and no text
		Reasoning string     `json:"reasoning_content,omitempty"`
		Thoughts  string     `json:"reasoning,omitempty"` // the same as Reasoning
		ToolCalls []toolCall `json:"tool_calls,omitempty"`
	} `json:"message"`
	Logprobs     json.RawMessage `json:"logprobs,omitempty"` // null or left out if there are none
	FinishReason string          `json:"finish_reason"`
}

// Event implements form.Reply. It adds an event to the reply, and returns nil.
func (w *whole) Event(e chat.Event) error {
	w.probs.Note(e.Meta)
	return w.Whole.Event(e)
}

// Close implements form.Reply. It writes the reply, or returns the error of a reply that failed.
// Nothing has been sent before, so every error becomes a status.
func (w *whole) Close(err error) error {
	if err = cmp.Or(w.err, w.Ended(err)); err != nil {
		return err
	}
	w.Next()
	c := completion{ID: w.Out.ID, Object: "chat.completion", Created: w.Out.Created.Unix(),
		Model: w.Model, Choices: w.done, Usage: appendCounts(nil, w.spent)}
	return w.write(&c)
}

// Next implements form.Several. It is called between two replies to the same request. It stores the
// reply that has ended, or its error, and begins another one. All replies have the same prompt, so
// the tokens of the prompt are counted only once.
func (w *whole) Next() {
	if w.err = cmp.Or(w.err, w.Ended(nil)); w.err != nil {
		return
	}
	c := choice{Index: len(w.done)}
	w.fill(&c)
	w.done, w.spent = append(w.done, c), w.spent.Another(w.Reply.Usage)
	w.meta, w.Reply = w.Reply.End.Meta, chat.Collector{}
}

// fill stores the reply in a choice. The content is a text, possibly empty. If there are calls and
// no text, it is null, as in OpenAI's replies.
func (w *whole) fill(c *choice) {
	c.Message.Role = "assistant"
	for _, field := range w.Out.ThoughtFields() {
		if field == form.ThoughtsPlain {
			c.Message.Thoughts = w.Reply.Reasoning.String()
		} else {
			c.Message.Reasoning = w.Reply.Reasoning.String()
		}
	}
	done := w.Reply.Complete()
	for _, call := range done {
		c.Message.ToolCalls = append(c.Message.ToolCalls, wholeCall(call))
	}
	if text := w.Reply.Text.String(); text != "" || len(done) == 0 {
		c.Message.Content = &text
	}
	if w.probs.Wanted {
		c.Logprobs = w.probs.appendValue(nil)
	}
	c.FinishReason = finishReason(w.Reply.End.Text,
		calls{begun: len(w.Reply.Calls), ended: len(done)})
	w.Out.Finished(c.FinishReason)
}

// wholeCall returns a call in OpenAI's form, in which the arguments are a string with JSON.
func wholeCall(c chat.Call) toolCall {
	t := toolCall{ID: c.ID, Type: "function"}
	t.Function.Name, t.Function.Arguments = c.Name, string(c.Args)
	return t
}

// write sends the reply, with headers that say how it was made. It returns an error if the reply
// cannot be marshaled or written.
func (w *whole) write(c *completion) error {
	text, err := chat.JSON(c)
	if err != nil {
		return err
	}
	form.TellHeaders(w.Out.W.Header(), w.meta)
	return form.WriteJSON(w.Out.W, 200, append(text, '\n'))
}
