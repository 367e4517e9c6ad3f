package proxy

import (
	"net/http"
	"time"

	"toolnorm/chat"
)

// Dialect is one form in which a client wants its reply. The server asks its dialects in turn; the last takes all.
type Dialect interface {
	// Open makes the Reply of a request in this dialect, or nil when the request is in another one. It may rewrite the
	// request first: take a suffix off the model's name, find tools in a prompt, or hold calls back with Request.Hold.
	Open(h http.Header, a *Ask, out Out) (Reply, error)
}

// Out is where a Reply goes.
type Out struct {
	W       http.ResponseWriter
	ID      string        // of the reply, unique
	Created time.Time     // when the request came
	Stall   time.Duration // after which a client that takes nothing is given up; 0: never

	// Notes gives what was done to the request so far, as "word=text" each; nil: nothing is told.
	Notes func() []string

	// Told is told the reason that an OpenAI client is given for the reply's end; nil: nobody asks.
	Told func(reason string)

	Thoughts string // the field, or both, in which OpenAI's clients get what the model thought; empty: ThoughtsBoth
}

// The fields of what a model thought, which OpenAI's API has none for.
const (
	ThoughtsBoth    = "both"
	ThoughtsContent = "reasoning_content" // DeepSeek's, vLLM's and llama-server's
	ThoughtsPlain   = "reasoning"         // Ollama's and OpenRouter's
)

// thoughts are the fields in which thoughts are written.
func (o *Out) thoughts() []string {
	switch o.Thoughts {
	case ThoughtsContent, ThoughtsPlain:
		return []string{o.Thoughts}
	}
	return []string{ThoughtsContent, ThoughtsPlain}
}

// told tells the reason, if somebody asks.
func (o *Out) told(reason string) {
	if o.Told != nil {
		o.Told(reason)
	}
}

// Reply writes the events of one reply in a client's form. Its methods are called by one goroutine at a time.
type Reply interface {
	// Event takes the next event. It need not write before Flush.
	Event(chat.Event) error
	// Flush writes what can be written: nothing more will come for a while.
	Flush() error
	// Ping shows the client that the server is alive, if the form has a way to say so.
	Ping() error
	// Close ends the reply: with err, or well when err is nil. It must be called exactly once.
	Close(err error) error
}
