package agent

import (
	_ "embed"
	"io"
	"iter"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// prompt is the contract, in the words of the specification. A test compares the two, because users
// may have tuned their models to these words.
//
//go:embed contract.txt
var prompt string

// contract describes tools to a model in its system prompt, and reads calls from the model's text.
// Models without tool calling, and servers that take no tools, need nothing else. It was made for
// Gemma 3.
type contract struct {
	tools  *toolset
	format *adapters.Format
	system string         // empty: there are no tools
	said   []chat.Message // messages before the reply
}

// newContract returns a contract for the tools of ts: it describes them to the model in a prompt,
// and reads the model's calls. The prompt asks for the format "agent", so the calls are read in
// that format whichever format the model otherwise writes.
func newContract(ts *toolset) *contract {
	return &contract{tools: ts, format: adapters.Named("agent")}
}

// described sets the system prompt, in which the tools take at most budget tokens, and returns c.
// Without tools there is no prompt, and the caller's messages are sent as they are.
func (c *contract) described(budget int) *contract {
	if !c.tools.empty() {
		c.system = strings.Replace(prompt, "{tools}", c.tools.describe(budget), 1)
	}
	return c
}

// resultMark begins the text of a tool's result: "[Tool Result: tts.generate_speech]\nSuccess: …".
// A model that writes it has begun to make results up, so it is a stop sequence of each request.
const resultMark = "[Tool Result: "

// ask returns the request for the next step. It appends the description of the tools to the
// caller's own system prompt, and writes calls and results as text. The beginning never changes in
// a run, so the server's prompt cache is used in every step.
func (c *contract) ask(base chat.Request, turns []chat.Message) *chat.Request {
	base.Messages, c.said = c.written(turns), turns
	// Without tools this is a plain request: nothing is added to it.
	if c.system == "" {
		return &base
	}
	// Both become one system message: many templates take only one, and only at the beginning.
	if len(base.Messages) > 0 && base.Messages[0].Role == chat.System {
		base.Messages[0].Content = strings.TrimRight(base.Messages[0].Content, "\n") + "\n\n" +
			c.system
	} else {
		base.Messages = append([]chat.Message{{Role: chat.System, Content: c.system}},
			base.Messages...)
	}
	// The stop sequence begins with a line break, as results do, because an answer may quote the
	// rest in a sentence.
	base.Stop = append(base.Stop[:len(base.Stop):len(base.Stop)], "\n"+resultMark)
	return &base
}

// written returns the conversation with calls and results written as text. Consecutive results
// become one turn, since many templates, such as Gemma's, demand that user and assistant alternate.
func (c *contract) written(turns []chat.Message) []chat.Message {
	out := make([]chat.Message, 0, len(turns))
	for _, m := range turns {
		switch {
		case m.Role == chat.ToolRole:
			text := resultMark + m.Name + "]\n" + m.Content
			if last := len(out) - 1; last >= 0 && out[last].Role == chat.User &&
				strings.HasPrefix(out[last].Content, resultMark) {
				out[last].Content += "\n\n" + text
				continue
			}
			m = chat.Message{Role: chat.User, Content: text}
		case len(m.Calls) > 0:
			text := strings.TrimSpace(string(c.format.Append([]byte(m.Content), m.Calls...)))
			m = chat.Message{Role: chat.Assistant, Content: text, Reasoning: m.Reasoning}
		}
		out = append(out, m)
	}
	return out
}

// read returns the events of a reply, with the calls that it finds in the reply's text. A call that
// uses another name of a tool gets the tool's own name. A call that the model may not have meant,
// such as an example in an answer, remains text, because to run it would be the worst failure.
func (c *contract) read(in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error] {
	if c.tools.empty() {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		for e, err := range c.format.Decode(newPulled(in),
			adapters.Options{Tools: c.tools.offered(), Also: c.tools.also, Hold: adapters.HoldCall,
				Messages: c.said}) {
			if own, ok := c.tools.also[e.Text]; ok && e.Kind == chat.CallStart {
				e.Text = own // a call that the server has read, which happens when a tool is forced
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// look returns the calls in a reply in which the decoder has found none, or nil if there are none.
// These are calls in words, such as "Action: add" (see package worded), and calls of unknown tools,
// since a model that has misread a name must be told so.
func (c *contract) look(text, end string) []chat.Call {
	reader := c.tools.reader(nil)
	reader.Messages = c.said
	calls, _ := reader.Calls(text, end)
	return calls
}

// pulled is a Source of the events of an iterator. The decoder pulls events, while a model's stream
// pushes them, so iter.Pull2 converts one into the other.
type pulled struct {
	next func() (chat.Event, error, bool)
	stop func()
}

// newPulled returns a Source of the events of in. The model starts only with the first call of
// Next.
func newPulled(in iter.Seq2[chat.Event, error]) *pulled {
	next, stop := iter.Pull2(in)
	return &pulled{next, stop}
}

// Next returns the next event, or the iterator's error. At the end it returns io.EOF.
func (p *pulled) Next() (chat.Event, error) {
	e, err, ok := p.next()
	if !ok {
		return chat.Event{}, io.EOF
	}
	return e, err
}

// Close stops the iterator, and always returns nil. Without Close the model would go on writing
// although no client reads it.
func (p *pulled) Close() error {
	p.stop()
	return nil
}
