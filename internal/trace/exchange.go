package trace

import (
	"strings"
	"time"
	"unicode/utf8"

	"toolnorm/chat"
)

const (
	maxName  = 256 // bytes of a name, an id or a sentence that is kept
	maxCalls = 64  // calls that are listed
)

// Exchange is one request and its reply. Its methods are for the goroutine that answers, until the
// exchange is added. Who looks on meanwhile does so by a Watch. Its JSON is what /debug/exchanges
// gives, field by field, so names and units are a promise.
type Exchange struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"` // when the request came
	Question

	Way
	Status  int      `json:"status"` // 499: the client went away
	Error   string   `json:"error,omitempty"`
	Finish  string   `json:"finish,omitempty"` // as the client is told; empty: the reply broke off
	Cause   string   `json:"cause,omitempty"`  // of the finish, when the reason alone does not tell
	Calls   []Call   `json:"calls"`
	More    int      `json:"more_calls,omitempty"` // that are not listed
	Repairs []string `json:"repairs"`              // reason codes
	Notes   []string `json:"notes,omitempty"`      // what was done to the request, or by the server to it
	Cut     bool     `json:"cut,omitempty"`        // the end of the reply cut a call, which was left out

	Tokens
	Reread
	Times
	Bodies *Bodies `json:"bodies,omitempty"` // nil: not kept

	run *running
}

// Question says what was asked.
type Question struct {
	Form   string `json:"form"` // as in the log
	Path   string `json:"path"`
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  int    `json:"tools"` // how many were offered
	Turn
}

// Turn says which conversation a request goes on with: its messages begin with those of the one
// before.
type Turn struct {
	Conversation string `json:"conversation,omitempty"` // the id of the first request; empty: nothing was said
	Number       int    `json:"turn,omitempty"`         // from 1 on; a request that was repeated has the number of the first
}

// Way says how the model was read.
type Way struct {
	Format   string   `json:"format,omitempty"`
	Strategy string   `json:"strategy,omitempty"` // that answered
	Tried    []string `json:"tried,omitempty"`    // every strategy in turn, when the first one did not do
}

// Tokens counts the tokens of an exchange.
type Tokens struct {
	PromptTokens     int  `json:"prompt_tokens"`
	CachedTokens     int  `json:"cached_tokens,omitempty"` // of the prompt, that the server had processed before
	CompletionTokens int  `json:"completion_tokens"`
	Estimated        bool `json:"tokens_estimated,omitempty"` // the reply was ended before the server counted
}

// Times are how long the parts of an exchange took.
type Times struct {
	First Millis `json:"first_ms"` // until the first event; 0: none came
	Total Millis `json:"total_ms"`
	Load  Millis `json:"load_ms,omitempty"`       // that the server took to load the model, as it says
	Read  Millis `json:"prompt_ms,omitempty"`     // to read the prompt
	Wrote Millis `json:"completion_ms,omitempty"` // to write the reply
}

// Call is a call that left.
// Arguments are not among it: they are what was said, and kept only with bodies.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Open bool   `json:"open,omitempty"` // it never ended
}

// Millis is a span of time in milliseconds, to a tenth of one.
// JSON has no duration, and a page shows milliseconds anyway.
type Millis float64

// millis returns d in milliseconds.
func millis(d time.Duration) Millis { return Millis(d/(100*time.Microsecond)) / 10 }

// Asked notes what the request is.
func (e *Exchange) Asked(r *chat.Request, stream bool) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	e.Model, e.Stream, e.Tools = clip(r.Model, maxName), stream, len(r.Tools)
	e.Turn = e.run.talks.of(e.ID, r.Messages)
	e.run.asked = r
	if e.Bodies != nil {
		e.Bodies.asked(r)
	}
}

// Chosen notes how the reply will be read. See chat.Request.
// It comes once for each strategy that is tried, the last of which answers.
func (e *Exchange) Chosen(format, strategy string) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if e.Tried = append(e.Tried, strategy); len(e.Tried) > maxCalls {
		e.Tried = e.Tried[1:]
	}
	e.Format, e.Strategy = format, strategy
}

// Noted notes what was done to the request. See chat.Request.
// A client chooses some of these words (names of tools), so their number and length have bounds.
func (e *Exchange) Noted(word, text string) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	if len(e.Notes) < maxCalls {
		e.Notes = append(e.Notes, clip(strings.ToLower(word)+": "+text, 4*maxName))
	}
}

// Event notes what leaves.
// Indexes count the calls of the reply, and those beyond maxCalls are only counted.
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
		e.Calls = append(e.Calls, Call{ID: clip(ev.ID, maxName), Name: clip(ev.Text, maxName), Open: true})
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

// meta notes what a reply says about itself.
func (e *Exchange) meta(m *chat.Meta) {
	if m.Format != "" {
		e.Format, e.Strategy = m.Format, m.Strategy
	}
	if m.Usage != nil {
		e.Tokens = Tokens{m.Usage.Prompt, m.Usage.Cached, m.Usage.Completion, m.Usage.Estimated}
	}
	if m.Times != nil {
		e.Load, e.Read, e.Wrote = millis(m.Times.Load), millis(m.Times.Prompt), millis(m.Times.Completion)
	}
	if m.Cause != "" {
		e.Cause = clip(m.Cause, maxName)
	}
	e.Repairs = append(e.Repairs, m.Repairs...)
	if m.Cut != "" {
		e.Cut = true
		if e.Bodies != nil {
			e.Bodies.Cut = m.Cut
		}
	}
}

// Told notes the reason that the client was told for the end, which is not always the reply's own:
// the engine ends a reply with calls by "stop", and OpenAI's form says "tool_calls". A reply that
// broke off has no end, and keeps none.
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
	if parts := e.Bodies.Left.Parts; len(parts) > 0 && parts[len(parts)-1].Kind == chat.Finish.String() {
		parts[len(parts)-1].Text = reason
	}
}

// End notes how the exchange ended: with which status, for what reason if it failed, and after what
// time; first is that of the first event.
func (e *Exchange) End(status int, err error, first, total time.Duration) {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	e.Status, e.First, e.Total = status, millis(first), millis(total)
	if err != nil {
		e.Error = clip(err.Error(), 4*maxName)
	}
	e.reread()
	if len(e.Tried) < 2 {
		e.Tried = nil
	}
	if e.Bodies != nil {
		e.Bodies.seal()
	}
}

// clip returns a copy of the beginning of s, so that nothing of a large request stays in memory by
// it.
func clip(s string, most int) string {
	if len(s) <= most {
		return strings.Clone(s)
	}
	return strings.Clone(s[:whole(s, most)]) + "…"
}

// whole returns the largest n <= most at which no character of s is cut.
func whole(s string, most int) int {
	for n := most; n > most-utf8.UTFMax && n > 0; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return most
}
