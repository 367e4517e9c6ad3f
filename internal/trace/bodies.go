package trace

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/clip"
)

// The bounds for the texts of an exchange, in bytes. Together they are 256 KiB.
const (
	maxRequest = 64 << 10 // of the request
	maxMessage = 16 << 10 // of one message in it
	maxPrompt  = 64 << 10 // of the rendered prompts
	maxSide    = 64 << 10 // of what the model wrote, and the same for what was sent
	partCost   = 96       // of a part, a message or a call, in addition to its text

	maxSaid = 32 // calls of one message in the history
)

// Bodies holds the texts of an exchange. A text that is too long is cut, with the number of missing
// bytes. What the model wrote is next to what was sent, because readers look for the difference.
type Bodies struct {
	Omitted  int       `json:"omitted_messages,omitempty"` // messages before those in Messages
	Messages []Message `json:"messages"`
	Tools    []string  `json:"tools,omitempty"` // the names of the offered tools
	// Schemas are the schemas of the tools, by name. One that exceeds the bounds is missing.
	Schemas map[string]json.RawMessage `json:"tool_schemas,omitempty"`
	// what the model server sent, before it was decoded
	Wrote []*Generation `json:"wrote"`
	Left  Side          `json:"left"` // what the client was sent
	// the decoded part of a call that was cut off by the end of the reply
	Cut string `json:"cut,omitempty"`

	begin      time.Time
	wroteRoom  int
	leftRoom   int
	promptRoom int
	prompt     string // the prompt of a generation that has not begun yet
	missing    int    // bytes that prompt lacks
	run        *running
}

// newBodies returns a record of an exchange's texts that is still empty. begin is when the exchange
// began.
func newBodies(begin time.Time, run *running) *Bodies {
	b := &Bodies{Messages: []Message{}, Wrote: []*Generation{}, begin: begin, run: run,
		wroteRoom: maxSide, leftRoom: maxSide, promptRoom: maxPrompt}
	b.Left = Side{Parts: []Part{}, room: &b.leftRoom}
	return b
}

// Message is a message of the request. Its pictures are only counted.
type Message struct {
	Role    string `json:"role"`
	Text    string `json:"text"`
	Calls   []Said `json:"calls,omitempty"`
	CallID  string `json:"call_id,omitempty"` // the id of the call that the message answers
	Images  int    `json:"images,omitempty"`
	Missing int    `json:"missing_bytes,omitempty"` // of the text, at its end
}

// Said is a tool call in an earlier message of the conversation.
type Said struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"arguments"`
}

// Generation is what a model wrote in answer to one request to its server. A reply has more than
// one generation if the first strategy failed or a part of the reply was written anew.
type Generation struct {
	// the strategy, or the step that repeats a call
	Name string `json:"generation"`
	// the prompt as the server rendered it; empty: the server does not reveal it
	Prompt        string `json:"prompt,omitempty"`
	PromptMissing int    `json:"prompt_missing_bytes,omitempty"` // of the prompt, at its end
	Side
}

// Side is the record of what the model wrote, or of what was sent to the client, as a list of
// parts. Consecutive events of one kind form one part.
type Side struct {
	Parts   []Part `json:"parts"`
	Missing int    `json:"missing_bytes,omitempty"` // bytes after the parts

	room *int            // how many more bytes are recorded
	text strings.Builder // of the last part
	last chat.Kind
}

// Part is a stretch of a recorded reply whose events are all of one kind, for example text or the
// arguments of one call. The events are joined.
type Part struct {
	Kind   string `json:"kind"` // the name of its chat.Kind
	Index  int    `json:"index,omitempty"`
	ID     string `json:"id,omitempty"`
	Text   string `json:"text,omitempty"`
	Cause  string `json:"cause,omitempty"`
	Pieces int    `json:"pieces"` // how many pieces it came in
	At     Millis `json:"at_ms"`  // when the first piece came, measured from the request
}

// asked records the tools and as many of the last messages of a request as fit the bounds. The last
// ones explain most about the reply. Tools take at most half of the space, and their names come
// before their schemas.
func (b *Bodies) asked(r *chat.Request) {
	room := maxRequest
	for _, t := range r.Tools {
		name := copied(t.Name, maxName)
		if room -= len(name) + partCost; room < maxRequest*3/4 {
			break
		}
		b.Tools = append(b.Tools, name)
	}
	for _, t := range r.Tools[:len(b.Tools)] {
		if n := len(t.Schema) + len(t.Name) + partCost; len(t.Schema) > 0 && json.Valid(t.Schema) &&
			room-n >= maxRequest/2 {
			if b.Schemas == nil {
				b.Schemas = map[string]json.RawMessage{}
			}
			b.Schemas[strings.Clone(t.Name)] = slices.Clone(t.Schema)
			room -= n
		}
	}
	messages := r.Messages
	if c := r.Continue; c != nil {
		messages = []chat.Message{{Role: "prompt", Content: c.Prompt},
			{Role: "suffix", Content: c.Suffix}}
	}
	for b.Omitted = len(messages); b.Omitted > 0; b.Omitted-- {
		m := message(messages[b.Omitted-1], min(room, maxMessage))
		if room -= m.size(); room < 0 {
			break
		}
		b.Messages = append(b.Messages, m)
	}
	slices.Reverse(b.Messages)
}

// message returns a message for the record. The text and the arguments of its calls together are
// cut to the number of bytes in the parameter most. Both are copied, because a substring of a large
// request would keep the whole request in memory.
func message(m chat.Message, most int) Message {
	text := m.Content
	if m.Reasoning != "" {
		text = m.Reasoning + "\n\n" + text
	}
	kept := copied(text, most)
	c := Message{Role: string(m.Role), Text: kept, CallID: copied(m.CallID, maxName),
		Images: len(m.Images)}
	if len(text) > most {
		c.Missing = len(text) - len(clip.To(text, most))
	}
	for _, call := range m.Calls[:min(len(m.Calls), maxSaid)] {
		most = max(most-len(kept), 0)
		kept = copied(string(call.Args[:min(len(call.Args), most+1)]), most)
		c.Calls = append(c.Calls, Said{copied(call.ID, maxName), copied(call.Name, maxName), kept})
	}
	return c
}

// size returns how many bytes a message takes of the limit on recorded texts. Each of its parts
// takes some bytes in addition to its text, since otherwise empty parts could fill the memory.
func (m *Message) size() int {
	n := partCost + len(m.Text) + len(m.CallID)
	for _, c := range m.Calls {
		n += partCost + len(c.ID) + len(c.Name) + len(c.Args)
	}
	return n
}

// Prompted records the prompt of the next request to the model server, before it is sent. If the
// server refuses, the prompt of the next attempt replaces it. See chat.Observer.
func (b *Bodies) Prompted(text string) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	b.prompt = copied(text, b.promptRoom)
	b.missing = max(len(text)-b.promptRoom, 0)
}

// Heard starts the record of another answer of the model, and returns the function that records its
// events. A reply can be made of several answers, because a part of it may be written anew. So an
// answer may begin before an earlier one ends.
func (b *Bodies) Heard(generation string) func(chat.Event) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	g := &Generation{Name: generation, Prompt: b.prompt, PromptMissing: b.missing,
		Side: Side{Parts: []Part{}, room: &b.wroteRoom}}
	b.promptRoom -= min(len(b.prompt), b.promptRoom)
	b.prompt, b.missing = "", 0
	b.Wrote = append(b.Wrote, g)
	return func(ev chat.Event) {
		b.run.mu.Lock()
		defer b.run.mu.Unlock()
		g.add(&ev, time.Since(b.begin))
	}
}

// add records an event, at the given time after the request. An event that continues the last part
// is joined to it, since a reply of a thousand tokens would otherwise have a thousand parts. Each
// part counts its events, which shows how the reply was streamed.
func (s *Side) add(ev *chat.Event, at time.Duration) {
	if ev.Kind == chat.Usage {
		return
	}
	joins := ev.Kind == chat.Text || ev.Kind == chat.Reasoning || ev.Kind == chat.CallArgs
	if n := len(s.Parts); joins && n > 0 && s.last == ev.Kind && s.Parts[n-1].Index == ev.Index {
		s.Parts[n-1].Pieces++
		s.write(ev.Text)
		return
	}
	if ev.Kind != chat.Finish && *s.room < partCost {
		s.Missing += len(ev.Text)
		*s.room = 0
		return
	}
	s.seal()
	s.last = ev.Kind
	p := Part{Kind: ev.Kind.String(), Index: ev.Index, ID: copied(ev.ID, maxName), Pieces: 1,
		At: millis(at)}
	if ev.Meta != nil {
		p.Cause = copied(ev.Meta.Cause, maxName)
	}
	s.Parts = append(s.Parts, p)
	*s.room -= partCost
	if ev.Kind == chat.Finish {
		s.Parts[len(s.Parts)-1].Text = ev.Text
		s.last = chat.None
		return
	}
	s.write(ev.Text)
}

// write adds as much of the given text to the last part as fits. The rest is only counted, so that
// the end of the record is not taken for the end of the reply.
func (s *Side) write(text string) {
	if len(text) <= *s.room {
		s.text.WriteString(text)
		*s.room -= len(text)
		return
	}
	fits := clip.To(text, max(*s.room, 0))
	s.text.WriteString(fits)
	s.Missing += len(text) - len(fits)
	*s.room = 0
}

// seal ends the text of the last part, so that it can be read as a string.
func (s *Side) seal() {
	if n := len(s.Parts); n > 0 && s.text.Len() > 0 {
		s.Parts[n-1].Text = s.text.String()
		s.text = strings.Builder{}
	}
}

// seal ends the recording of texts, both those of the model's answers and those that were sent to
// the client. After that they can be read as strings.
func (b *Bodies) seal() {
	for _, g := range b.Wrote {
		g.seal()
	}
	b.Left.seal()
}
