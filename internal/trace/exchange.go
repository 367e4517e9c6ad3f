package trace

import (
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/clip"
)

const (
	maxName  = 256 // bytes of a name, an id or a sentence that is kept
	maxCalls = 64  // calls that are listed
)

// Exchange is one request and its reply. Until the exchange is added to a log, its methods must
// only be called by the goroutine that answers; others follow it with a Watch. /debug/exchanges
// returns its JSON, so names and units must not change.
type Exchange struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"` // when the request came
	// the replica that answered, if there are several
	Replica string `json:"replica,omitempty"`
	Question

	Way
	Status int    `json:"status"` // 499: the client went away
	Error  string `json:"error,omitempty"`
	// the reason that the client was sent; empty: the reply broke off
	Finish string `json:"finish,omitempty"`
	// explains the finish, if the reason is not clear enough
	Cause   string   `json:"cause,omitempty"`
	Calls   []Call   `json:"calls"`
	More    int      `json:"more_calls,omitempty"` // calls that are not listed
	Repairs []string `json:"repairs"`              // codes of the repairs
	// changes to the request, by this program or the server
	Notes []string `json:"notes,omitempty"`
	// whether a call was left out because the end of the reply cut it off
	Cut bool `json:"cut,omitempty"`

	Tokens
	Reread
	Times
	Bodies *Bodies `json:"bodies,omitempty"` // nil: not recorded

	run *running
}

// Question describes the request of an exchange.
type Question struct {
	Form   string `json:"form"` // the client API, as in the log
	Path   string `json:"path"`
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  int    `json:"tools"` // the number of offered tools
	Turn
}

// Turn is the place of a request in a conversation. In a conversation, the messages of each request
// begin with those of the request before.
type Turn struct {
	// the id of the first request; empty: the request has no messages
	Conversation string `json:"conversation,omitempty"`
	// counts from 1; a repeated request has the same number as before
	Number int `json:"turn,omitempty"`
}

// Way says how the model's reply was decoded: in which format the model writes calls, such as
// "hermes", and by which strategy its text was obtained, such as "raw".
type Way struct {
	Format   string `json:"format,omitempty"`
	Strategy string `json:"strategy,omitempty"` // the strategy that gave the reply
	// all strategies in order, if more than one was tried
	Tried []string `json:"tried,omitempty"`
}

// Tokens counts the tokens of an exchange.
type Tokens struct {
	PromptTokens int `json:"prompt_tokens"`
	// tokens of the prompt that the server had processed before
	CachedTokens     int `json:"cached_tokens,omitempty"`
	CompletionTokens int `json:"completion_tokens"`
	// true if the reply ended before the server reported its count
	Estimated bool `json:"tokens_estimated,omitempty"`
}

// Times holds how long the parts of an exchange took.
type Times struct {
	First Millis `json:"first_ms"` // until the first event; 0: there was none
	Total Millis `json:"total_ms"`
	// the time that the server took to load the model, as it reports
	Load  Millis `json:"load_ms,omitempty"`
	Read  Millis `json:"prompt_ms,omitempty"`     // the time to process the prompt
	Wrote Millis `json:"completion_ms,omitempty"` // the time to write the reply
}

// Call is a call that was sent to the client. Its arguments are only in Bodies.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Open bool   `json:"open,omitempty"` // whether it was never completed
}

// Millis is a duration in milliseconds, rounded down to a tenth. JSON has no durations, and a page
// shows milliseconds anyway.
type Millis float64

// millis returns d in milliseconds.
func millis(d time.Duration) Millis { return Millis(d/(100*time.Microsecond)) / 10 }

// Asked records the request, and whether its reply is streamed.
func (e *Exchange) Asked(r *chat.Request, stream bool) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	e.Model, e.Stream, e.Tools = copied(r.Model, maxName), stream, len(r.Tools)
	e.Turn = e.run.talks.of(e.ID, r.Messages)
	e.run.asked = r
	if e.Bodies != nil {
		e.Bodies.asked(r)
	}
}

// Chosen records how the reply will be decoded: the format in which the model writes calls, and the
// strategy by which its text is obtained. It is called for each strategy that is tried, and the
// last one gives the reply.
func (e *Exchange) Chosen(format, strategy string) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if e.Tried = append(e.Tried, strategy); len(e.Tried) > maxCalls {
		e.Tried = e.Tried[1:]
	}
	e.Format, e.Strategy = format, strategy
}

// Noted records a note about a change to the request: a word for the kind of change, such as
// "Trimmed", and a sentence. The sentence may contain words that the client chose, such as names of
// tools, so the number and the length of such records are bounded.
func (e *Exchange) Noted(word, text string) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if len(e.Notes) < maxCalls {
		e.Notes = append(e.Notes, copied(strings.ToLower(word)+": "+text, 4*maxName))
	}
}

// Event records an event that is sent to the client. Calls after the first maxCalls are only
// counted.
func (e *Exchange) Event(ev *chat.Event) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if e.Bodies != nil {
		e.Bodies.Left.add(ev, time.Since(e.Time))
	}
	switch ev.Kind {
	case chat.CallStart:
		if len(e.Calls) == maxCalls {
			e.More++
			return
		}
		e.Calls = append(e.Calls, Call{ID: copied(ev.ID, maxName), Name: copied(ev.Text, maxName),
			Open: true})
	case chat.CallEnd:
		if ev.Index < len(e.Calls) {
			e.Calls[ev.Index].Open = false
		}
	case chat.Finish:
		e.Finish = ev.Text
	}
	if ev.Meta != nil {
		e.meta(ev.Meta)
	}
}

// meta records how a reply came about: its format, tokens, times and repairs, as far as m has them.
func (e *Exchange) meta(m *chat.Meta) {
	if m.Format != "" {
		e.Format, e.Strategy = m.Format, m.Strategy
	}
	if m.Usage != nil {
		e.Tokens = Tokens{m.Usage.Prompt, m.Usage.Cached, m.Usage.Completion, m.Usage.Estimated}
	}
	if m.Times != nil {
		e.Load, e.Read, e.Wrote = millis(m.Times.Load), millis(m.Times.Prompt),
			millis(m.Times.Completion)
	}
	if m.Cause != "" {
		e.Cause = copied(m.Cause, maxName)
	}
	e.Repairs = append(e.Repairs, m.Repairs...)
	if m.Cut != "" {
		e.Cut = true
		if e.Bodies != nil {
			e.Bodies.Cut = m.Cut
		}
	}
}

// Told records the finish reason that the client was sent. It may differ from the reply's own: for
// example, the engine ends a reply with calls by "stop", for which the reason in OpenAI's API is
// "tool_calls". For a reply that broke off it does nothing.
func (e *Exchange) Told(reason string) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if reason == "" || e.Finish == "" {
		return
	}
	e.Finish = reason
	if e.Bodies == nil {
		return
	}
	if parts := e.Bodies.Left.Parts; len(parts) > 0 &&
		parts[len(parts)-1].Kind == chat.Finish.String() {
		parts[len(parts)-1].Text = reason
	}
}

// End records how the exchange ended: the status, the error if it failed, the time until the first
// event, and the total time.
func (e *Exchange) End(status int, err error, first, total time.Duration) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	e.Status, e.First, e.Total = status, millis(first), millis(total)
	if err != nil {
		e.Error = copied(err.Error(), 4*maxName)
	}
	e.reread()
	if len(e.Tried) < 2 {
		e.Tried = nil
	}
	if e.Bodies != nil {
		e.Bodies.seal()
	}
}

// copied returns a copy of s. If s is longer than the number of bytes in the parameter most, dots
// replace the rest. A substring would keep the large request in memory from which it comes.
func copied(s string, most int) string { return strings.Clone(clip.Dots(s, most)) }
