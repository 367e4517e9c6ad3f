package trace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
)

// slot is a model server with one place for a conversation, that keeps the last prompt and tells
// what of it it found again. A token is a byte.
type slot struct {
	kept    string
	context int
}

// read returns the tokens of a prompt that were kept, and how long the model was loaded.
func (s *slot) read(prompt string, context int, reload bool) (cached int, load time.Duration) {
	if reload || context != s.context {
		s.kept, load = "", time.Second
	}
	for cached < min(len(prompt), len(s.kept)) && prompt[cached] == s.kept[cached] {
		cached++
	}
	s.kept, s.context = prompt, context
	return cached, load
}

// talk is a conversation of the test.
type talk struct {
	messages []chat.Message
	text     string // as it is rendered
}

// say adds a turn of some hundred bytes to a conversation.
func (c *talk) say(n int) {
	text := fmt.Sprintf("turn %d: %s", n, strings.Repeat("word ", 100))
	c.messages = append(c.messages, chat.Message{Role: chat.User, Content: text})
	c.text += text
}

// TestATurnThatIsReadAgainSaysWhy has conversations take turns at a server with one place, in
// whatever order, where models are loaded anew and histories are changed now and then, with prompts
// that are shown and with those that are not.
func TestATurnThatIsReadAgainSaysWhy(t *testing.T) {
	for _, shown := range []bool{true, false} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 39))
			log, server := New(4, false), &slot{context: 4096}
			talks, last, loaded := make([]talk, 3), -1, 4096
			for i := range 200 {
				n := r.IntN(len(talks))
				c := &talks[n]
				first := len(c.messages) == 0
				if first {
					c.text = strings.Repeat(fmt.Sprint("the system of ", n, " "), 400)
				}
				want, at := "", 0
				reload, context := r.IntN(9) == 0, loaded
				if r.IntN(9) == 0 {
					context = 4096 << r.IntN(3)
				}
				changed := shown && !first && r.IntN(6) == 0
				switch {
				case first:
				case context != loaded && shown:
					want = Resized
				case context != loaded || reload:
					want = Reloaded
				case changed:
					want = Changed
				case last != n:
					want = Another
				}
				c.say(i)
				text := c.text
				if changed { // the system text: the messages are those of the same conversation
					at = 100 + r.IntN(2000)
					text = text[:at] + "*" + text[at:]
					c.text = text
				}
				cached, load := server.read(text, context, reload)
				e := log.Begin(fmt.Sprint("id", i), "chat", "/v1/chat/completions", time.Now())
				e.Asked(&chat.Request{Model: "m", Messages: append([]chat.Message(nil), c.messages...)}, true)
				if shown {
					e.Prompted(text, context)
				}
				e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: len(text), Cached: cached}, Times: &chat.Times{Load: load}}})
				e.End(200, nil, 0, 0)
				log.Add(e)
				if e.Why != want || want == Changed && (e.At > at || e.At < at-blockSize) {
					t.Fatalf("seed %d, request %d: %+v, want %q at %d (%d of %d cached)", seed, i, e.Reread, want, at, cached, len(text))
				}
				last, loaded = n, context
			}
		}
	}
}

// TestAServerThatTellsNothingIsNotBlamed has a server that never says what it had kept: no turn of
// it is said to be read again.
func TestAServerThatTellsNothingIsNotBlamed(t *testing.T) {
	log, c := New(4, false), talk{text: "system"}
	for i := range 5 {
		c.say(i)
		e := log.Begin(fmt.Sprint("id", i), "chat", "/v1/chat/completions", time.Now())
		e.Asked(&chat.Request{Model: "m", Messages: c.messages}, true)
		e.Event(&chat.Event{Kind: chat.Finish, Text: chat.Stop, Meta: &chat.Meta{Usage: &chat.Counts{Prompt: len(c.text)}}})
		e.End(200, nil, 0, 0)
		if e.Reread != (Reread{}) || e.run.asked != nil {
			t.Errorf("turn %d: %+v", i, e.Reread)
		}
	}
}

// TestPromptsAreForgotten bounds what is remembered, whatever clients call their models.
func TestPromptsAreForgotten(t *testing.T) {
	p := newPrompts()
	for i := range 3 * mostPrompts {
		e := &Exchange{Question: Question{Model: fmt.Sprint(i), Turn: Turn{Conversation: fmt.Sprint(i), Number: 1}}, Tokens: Tokens{PromptTokens: 9}}
		p.of(e, p.sum("text"))
	}
	if len(p.talks) > mostPrompts || len(p.order) > mostPrompts || len(p.last) > mostPrompts {
		t.Errorf("%d conversations, %d in order, %d models", len(p.talks), len(p.order), len(p.last))
	}
}

// BenchmarkPromptSum measures what a prompt of an agent costs.
func BenchmarkPromptSum(b *testing.B) {
	p, text := newPrompts(), strings.Repeat("x", 50_000)
	b.ReportAllocs()
	for b.Loop() {
		p.sum(text)
	}
}
