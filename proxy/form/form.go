// Package form holds what all client forms share: a client form is a way in which a client asks a
// model and wants its reply.
//
// To add a form, make a folder beside openai, ollama, shell and xml. A form with a path of its own
// is an [API]: Read makes an [Ask] of a body, Open makes the [Reply] that writes events, and
// proxy.New gives it a route. A form that shares its path with another is a [Form], which looks at
// a request and accepts it or not; proxy.New adds it to the list of forms that are tried in turn.
//
//	form.go     the types: API, Form, Ask, Out, Reply
//	message.go  messages: roles, calls in the history, images
//	content.go  what a message says: texts, parts, images
//	tools.go    the tools that a client offers, and how much of a call waits
//	choice.go   tool_choice
//	options.go  fields that several forms have: stop, think, keep_alive, options
//	logprobs.go probabilities of tokens
//	whole.go    the base of whole replies, and the errors of replies that end badly
//	tell.go     how a reply came about: headers and comments
//	write.go    JSON and headers: escaping, cutting at whole characters
//	text.go     calls that are written into the text: paragraphs, fences, calls that a form cannot hold
package form

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// API is one way of asking a model over HTTP: how a request is read and how its reply is opened.
// Errors before the first byte differ by API: an object for OpenAI's clients, a sentence for
// Ollama's.
type API struct {
	Name   string // in the log
	Prefix string // of the reply's id, as the API's own service begins it

	Read func(body []byte) (*Ask, error)
	Open func(h http.Header, a *Ask, out Out) (Reply, error)
	// answers with an error, before anything was written
	Fail func(w http.ResponseWriter, err error)

	// Fields maps the names that chat completions have for fields (the first word of the path) to
	// the paths of the same fields in this API, where they differ.
	Fields map[string]string
}

// Renamed returns err with the path that its field has in this API. The code that asks the model
// knows only the fields of chat completions, and a tool or a message may have another position in
// this API, so the new path ends at the list that holds it.
func (a *API) Renamed(err error) error {
	f := fault.From(err)
	word, _, _ := strings.Cut(f.Param, "[")
	own := a.Fields[word]
	if own == "" {
		return err
	}
	c := *f
	c.Param = own
	if rest, ok := strings.CutPrefix(f.Message, f.Param+": "); ok {
		c.Message = own + ": " + rest
	}
	return &c
}

// Ask is what a client asks: the request, and the form in which it wants the reply.
// Every client form reads into it, so the engine knows no client.
type Ask struct {
	chat.Request
	Stream bool // piece by piece, else whole
	Usage  bool // count tokens at the end of a stream

	// one of Names: first the form that the client asks for, empty if it asks for none; later the
	// form that accepted the request
	Form    string
	NoCalls bool // tool_choice "none": no calls, even if a form offers tools

	// the model's thoughts are not shown, but the client keeps them for the next request
	// (SealThought)
	SealThoughts bool

	Notes   []Note // what the form did to the request: told in a header, the log and the trace
	Choices int    // replies that the client wants; 0: one
}

// Nth returns the request for one of several replies: with one seed all of them would be the same.
func (a *Ask) Nth(n int) *chat.Request {
	if n == 0 || a.Seed == nil {
		return &a.Request
	}
	r := a.Request
	seed := *a.Seed + int64(n)
	r.Seed = &seed
	return &r
}

// Several is a Reply that can hold several replies to one request. Next begins another reply, after
// the Finish event of the one before.
type Several interface{ Next() }

// Note describes one thing that a form did to a request and that the client should know.
type Note struct {
	Word string // fit for a header's name, as "Left-Out"
	Text string
}

// Tell notes one thing that was done to the request.
func (a *Ask) Tell(word, text string) { a.Notes = append(a.Notes, Note{word, text}) }

// The names of the forms that a header, a model's suffix or a setting can ask for.
const (
	OpenAI = "openai" // OpenAI's own form, whatever client seems to ask
	Shell  = "shell"  // commands in place of calls of the tools that are served here
	Void   = "void"   // Void's calls in text, where its prompt describes tools
	Cline  = "cline"  // Cline's and Roo's, likewise
)

// Names lists the forms that can be asked for.
func Names() []string { return []string{OpenAI, Shell, Void, Cline} }

// NamedForm returns the form that a request names: in its header, else in the suffix of its model
// ("qwen3@shell"). The model comes back without that suffix. An unknown name is only an error in a
// header, since models may hold an @ of their own: a digest, or a revision.
func NamedForm(h http.Header, named string) (asked, model string, err error) {
	model = named
	if at := strings.LastIndexByte(named, '@'); at >= 0 && slices.Contains(Names(), named[at+1:]) {
		model, asked = named[:at], named[at+1:]
	}
	if name := h.Get("Toolnorm-Client-Form"); name != "" {
		asked = strings.ToLower(name)
	}
	if asked != "" && !slices.Contains(Names(), asked) {
		return "", "", fault.New(fault.Invalid, "there is no client form %q; there are %s", asked,
			strings.Join(Names(), ", "))
	}
	return asked, model, nil
}

// SetAlone is for paths that have only one form. It returns an error if the client asks for
// another: a client that reads commands out of a text would wait for one for ever. The path's own
// form can be asked for by the name "openai" on every path.
func (a *Ask) SetAlone(h http.Header) error {
	asked, model, err := NamedForm(h, a.Model)
	if err != nil {
		return err
	}
	if asked != "" && asked != OpenAI {
		return fault.New(fault.Invalid,
			"the client form %q is for /v1/chat/completions: ask there, or leave it out", asked)
	}
	a.Model = model
	return nil
}

// Form is one of several client forms on one path.
type Form interface {
	// Open makes the Reply of a request in this form, or nil when the request is in another one. It
	// may rewrite the request first: find tools in a prompt, offer more of them, or hold calls back
	// with Request.Hold.
	Open(h http.Header, a *Ask, out Out) (Reply, error)
}

// First is a list of forms, of which the first that accepts a request answers it. Special forms
// come before those that accept everything. The choice may depend on more than the header: Void and
// Cline are recognised by their prompts alone.
type First []Form

// Open opens the reply in the first form that accepts the request.
func (forms First) Open(h http.Header, a *Ask, out Out) (Reply, error) {
	for _, f := range forms {
		if reply, err := f.Open(h, a, out); reply != nil || err != nil {
			return reply, err
		}
	}
	return nil, nil
}

// Out is where a Reply goes.
type Out struct {
	Context context.Context // of the request, which knows who asks
	W       http.ResponseWriter
	ID      string        // of the reply, unique
	Created time.Time     // when the request came
	Stall   time.Duration // after which a client that takes nothing is given up; 0: never

	// Notes returns what was done to the request so far, each note as "word=text"; nil: notes are
	// not written.
	Notes func() []string

	// PromptTokens returns an estimate of the prompt's tokens, before the model server counts them;
	// 0 as long as there is no estimate. Nil: there never is one.
	PromptTokens func() int

	// Told is called with the finish reason that an OpenAI client gets; nil: it is not needed.
	Told func(reason string)

	// the field, or both, in which OpenAI's clients get what the model thought; empty: ThoughtsBoth
	Thoughts string
}

// The fields that can hold a model's thoughts. OpenAI's own API has no field for them.
const (
	ThoughtsBoth    = "both"
	ThoughtsContent = "reasoning_content" // DeepSeek's, vLLM's and llama-server's
	ThoughtsPlain   = "reasoning"         // Ollama's and OpenRouter's
)

// ThoughtFields lists the fields in which thoughts are written, at least one. Both are the default,
// since each client reads only the one it knows.
func (o *Out) ThoughtFields() []string {
	switch o.Thoughts {
	case ThoughtsContent, ThoughtsPlain:
		return []string{o.Thoughts}
	}
	return []string{ThoughtsContent, ThoughtsPlain}
}

// Finished passes the reason for the end to Told, if that is set: the log shows what the client was
// told.
func (o *Out) Finished(reason string) {
	if o.Told != nil {
		o.Told(reason)
	}
}

// Reply writes the events of one reply in a client's form. Its methods are called by one goroutine
// at a time. Events come in the order of chat.Event: text and reasoning, each call from its start
// to its end, one Finish. An error before the first byte is returned by Close and becomes a status;
// a later error is written in the reply's own form.
type Reply interface {
	// Event takes the next event. It need not write before Flush.
	Event(chat.Event) error
	// Flush writes what can be written: nothing more will come for a while.
	Flush() error
	// Ping shows the client that the server is alive and, unless said is empty, what it is waiting
	// for, as far as the form can express that.
	Ping(said string) error
	// Close ends the reply: with the error, or successfully if err is nil. It must be called
	// exactly once.
	Close(err error) error
}
