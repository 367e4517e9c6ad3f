package trace

import (
	"hash/maphash"
	"strings"
	"sync"

	"toolnorm/chat"
)

// Why a turn's prompt was read again by the model's server, though it had read most of it for the
// turn before.
const (
	Reloaded = "reloaded" // the model was loaded in between
	Resized  = "context"  // the model was loaded for another length of the context
	Changed  = "changed"  // the history is another one, from byte Reread.At on
	Another  = "another"  // the model has answered another conversation in between
	Dropped  = "dropped"  // none of these: the server has let go of it
)

// Reread says why a turn's prompt was read again, and from where on. The zero value is a turn that
// found all but a rest.
type Reread struct {
	Why string `json:"reread,omitempty"`
	// with Changed: the byte of the prompt behind which the difference begins, to a block
	At int `json:"reread_at,omitempty"`
}

const (
	reused = 0.97 // of the last prompt, found by a turn that was not read again
	// ms from which on a server has loaded the model; else it has only looked for it
	loadTime    = 500
	blockSize   = 256 // bytes of a prompt that have one sum
	mostPrompts = 512 // conversations whose last prompt is known
)

// prompt is what is known of a turn's prompt: sums of its text, which say where two differ and
// nothing of what was said.
type prompt struct {
	sums    []uint64 // of each whole block
	bytes   int
	tokens  int
	context int // that the model was loaded for; 0: not known
	of      string
}

// prompts knows the last prompt of each conversation, and each model's last one.
type prompts struct {
	seed maphash.Seed

	mu    sync.Mutex
	talks map[string]*prompt // by conversation
	order []string           // the keys of talks, the oldest at next once it is full
	next  int
	last  map[string]*prompt // by model
	tells map[string]bool    // models whose server says what it had kept
}

// newPrompts returns the memory of a log.
func newPrompts() *prompts {
	return &prompts{seed: maphash.MakeSeed(), talks: map[string]*prompt{},
		last: map[string]*prompt{}, tells: map[string]bool{}}
}

// sum returns what is known of a prompt.
func (p *prompts) sum(text string) *prompt {
	one := &prompt{bytes: len(text), sums: make([]uint64, 0, len(text)/blockSize)}
	for ; len(text) >= blockSize; text = text[blockSize:] {
		one.sums = append(one.sums, maphash.String(p.seed, text[:blockSize]))
	}
	return one
}

// textOf returns what a model is told by a request, for servers that show no prompt.
func textOf(r *chat.Request) string {
	var texts []string
	for _, t := range r.Tools {
		texts = append(texts, t.Name, t.Description, string(t.Schema))
	}
	for _, m := range r.Messages {
		texts = append(texts, string(m.Role), m.Content, m.CallID)
		for _, c := range m.Calls {
			texts = append(texts, c.Name, string(c.Args))
		}
	}
	return strings.Join(texts, "\n")
}

// same returns how many bytes two prompts have in common, to a block; all of them where one goes on
// with the other.
func (one *prompt) same(other *prompt) int {
	n := 0
	for n < min(len(one.sums), len(other.sums)) && one.sums[n] == other.sums[n] {
		n++
	}
	if n == len(one.sums) {
		return one.bytes
	}
	return n * blockSize
}

// of returns why a turn's prompt was read again, and remembers the prompt as the conversation's and
// the model's last one.
func (p *prompts) of(e *Exchange, now *prompt) Reread {
	p.mu.Lock()
	defer p.mu.Unlock()
	now.tokens, now.of = e.PromptTokens, e.Conversation
	before, last := p.talks[e.Conversation], p.last[e.Model]
	p.tells[e.Model] = p.tells[e.Model] || e.CachedTokens > 0
	p.remember(e, now)
	if before == nil || before.tokens == 0 || e.Number < 2 ||
		float64(e.CachedTokens) >= reused*float64(before.tokens) {
		return Reread{}
	}
	at := before.same(now)
	switch {
	case e.Load >= loadTime && last != nil && last.context != now.context && last.context > 0 &&
		now.context > 0:
		return Reread{Why: Resized}
	case e.Load >= loadTime:
		return Reread{Why: Reloaded}
	case !p.tells[e.Model]:
		return Reread{}
	case float64(at) < reused*float64(before.bytes):
		return Reread{Changed, at}
	case last != nil && last.of != e.Conversation:
		return Reread{Why: Another}
	}
	return Reread{Why: Dropped}
}

// remember keeps a prompt, in place of the oldest conversation's where there are too many. p.mu is
// held.
func (p *prompts) remember(e *Exchange, now *prompt) {
	if _, ok := p.talks[e.Conversation]; !ok {
		if len(p.order) < mostPrompts {
			p.order = append(p.order, e.Conversation)
		} else {
			delete(p.talks, p.order[p.next])
			p.order[p.next] = e.Conversation
			p.next = (p.next + 1) % mostPrompts
		}
	}
	p.talks[e.Conversation] = now
	if _, ok := p.last[e.Model]; !ok && len(p.last) == mostPrompts { // names are clients' words
		clear(p.last)
		clear(p.tells)
	}
	p.last[e.Model] = now
}

// Prompted notes the prompt that the model reads, and the context that it is loaded for. See
// chat.Observer. The first one of an exchange is the turn's: what repairs a reply comes behind it.
func (e *Exchange) Prompted(text string, context int) {
	if e.run.prompt == nil {
		e.run.prompt = e.run.prompts.sum(text)
		e.run.prompt.context = context
	}
	if e.Bodies != nil {
		e.Bodies.Prompted(text)
	}
}

// reread notes why the prompt was read again. e.run.mu is held.
func (e *Exchange) reread() {
	asked, now := e.run.asked, e.run.prompt
	// the exchange is kept for long, and the request shall not be
	e.run.asked, e.run.prompt = nil, nil
	if asked == nil || e.Conversation == "" || e.Estimated || e.PromptTokens == 0 {
		return
	}
	if now == nil {
		now = e.run.prompts.sum(textOf(asked))
	}
	e.Reread = e.run.prompts.of(e, now)
}
