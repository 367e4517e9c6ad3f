package trace

import (
	"hash/maphash"
	"strings"
	"sync"

	"toolnorm/chat"
)

// The reasons why a model's server processed a turn's prompt again although it had processed most
// of it for the turn before.
const (
	Reloaded = "reloaded" // the model was loaded in between
	Resized  = "context"  // the model was loaded for another length of the context
	Changed  = "changed"  // the prompt differs from byte Reread.At on
	Another  = "another"  // the model has answered another conversation in between
	Dropped  = "dropped"  // none of these: the server has discarded the prompt
)

// Reread says why the model server processed a request's prompt again, although it had processed
// most of it for the request before. It also says from which byte on the prompt differs, if that is
// the reason. The zero value means that the prompt was not processed again.
type Reread struct {
	// one of the reasons above, or empty
	Why string `json:"reread,omitempty"`
	// with Changed: the first byte of the prompt that differs, rounded down to a block
	At int `json:"reread_at,omitempty"`
}

const (
	reused = 0.97 // the share of the previous prompt that a cache hit must cover
	// milliseconds; a server that reports less has only looked for the model
	loadTime    = 500
	blockSize   = 256 // bytes of a prompt that share one hash
	mostPrompts = 512 // the most conversations whose last prompt is remembered
)

// prompt describes the prompt of one request without its text: it has a hash of each block of
// bytes. The hashes show where two prompts begin to differ.
type prompt struct {
	sums    []uint64 // the hash of each complete block
	bytes   int
	tokens  int
	context int // the context length that the model was loaded for; 0: unknown
	// the conversation
	of string
}

// prompts remembers the last prompt of each conversation and of each model.
type prompts struct {
	seed maphash.Seed

	mu    sync.Mutex
	talks map[string]*prompt // by conversation
	order []string           // the keys of talks; once it is full, the oldest is at next
	next  int
	last  map[string]*prompt // by model
	tells map[string]bool    // models whose server reports how much of a prompt it had cached
}

// newPrompts returns a memory of prompts that knows none yet.
func newPrompts() *prompts {
	return &prompts{seed: maphash.MakeSeed(), talks: map[string]*prompt{},
		last: map[string]*prompt{}, tells: map[string]bool{}}
}

// sum returns a description of a prompt: its length, and the hash of each complete block of it.
func (p *prompts) sum(text string) *prompt {
	one := &prompt{bytes: len(text), sums: make([]uint64, 0, len(text)/blockSize)}
	for ; len(text) >= blockSize; text = text[blockSize:] {
		one.sums = append(one.sums, maphash.String(p.seed, text[:blockSize]))
	}
	return one
}

// textOf returns the texts in a request that a model reads. They are used in place of the prompt if
// the server does not reveal the prompt.
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

// same returns how many bytes the prompts p and other have in common at their beginning, rounded
// down to a block. If other begins with all complete blocks of p, it returns the length of p.
func (p *prompt) same(other *prompt) int {
	n := 0
	for n < min(len(p.sums), len(other.sums)) && p.sums[n] == other.sums[n] {
		n++
	}
	if n == len(p.sums) {
		return p.bytes
	}
	return n * blockSize
}

// of returns why the model server had to process the prompt of the exchange e again, although it
// had processed most of it for the request before. The parameter now describes that prompt. It is
// stored for the comparison with the next one.
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

// remember stores the prompt now as the last one of e's conversation and of e's model. If there are
// too many conversations, it forgets the prompt of the oldest. p.mu must be held.
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

// Prompted records the prompt that the model reads, and the context length for which it is loaded.
// The first prompt of an exchange is that of the request itself; later ones are of requests that
// repair the reply. See chat.Observer.
func (e *Exchange) Prompted(text string, context int) {
	if e.run.prompt == nil {
		e.run.prompt = e.run.prompts.sum(text)
		e.run.prompt.context = context
	}
	if e.Bodies != nil {
		e.Bodies.Prompted(text)
	}
}

// reread finds out why the model server had to process the prompt again, and stores that in
// e.Reread. It does nothing if too little is known of the request. e.run.mu must be held.
func (e *Exchange) reread() {
	asked, now := e.run.asked, e.run.prompt
	// the exchange is stored for long, but the request must not be
	e.run.asked, e.run.prompt = nil, nil
	if asked == nil || e.Conversation == "" || e.Estimated || e.PromptTokens == 0 {
		return
	}
	if now == nil {
		now = e.run.prompts.sum(textOf(asked))
	}
	e.Reread = e.run.prompts.of(e, now)
}
