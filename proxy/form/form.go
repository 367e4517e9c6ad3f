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

// API is one way of asking a model over HTTP. It knows how a request is read and how its reply is
// opened. Errors before the first byte differ between APIs: an object for OpenAI's clients, a
// sentence for Ollama's.
type API struct {
	Name   string // in the log
	Prefix string // of the reply's id, as in the API's own service

	Read func(body []byte) (*Ask, error)
	Open func(h http.Header, a *Ask, out Out) (Reply, error)
	// answers with an error; nothing must have been written before
	Fail func(w http.ResponseWriter, err error)

	// Fields maps names of fields in chat completions (the first word of a path) to the paths of
	// the same fields in this API, where they differ.
	Fields map[string]string
}

// Renamed returns err with the path of its field in this API. Errors first name fields as in chat
// completions, because the code that asks the model knows no others. An error without a field, or
// whose field has the same path in this API, is returned unchanged. A tool or a message may have
// another position in this API, so the new path names only the list that contains it.
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

// Ask is a client's request, and the form in which it wants the reply. Every client form reads its
// requests into an Ask, so the engine knows no client.
type Ask struct {
	chat.Request
	Stream bool // the reply is wanted piece by piece, not whole
	Usage  bool // token counts are wanted at the end of a stream

	// one of Names: first the form that the client asks for, or empty; later the form that accepted
	// the request
	Form    string
	NoCalls bool // tool_choice "none": no calls, even if a form offers tools

	// the model's thoughts are not shown, but the client stores them for the next request
	// (SealThought)
	SealThoughts bool

	Notes   []Note // what the form did to the request, for a header, the log and the trace
	Choices int    // replies that the client wants; 0: one
}

// Nth returns the request for the reply number n of several, counted from 0. If the request has a
// seed, each gets a different one, because all replies would be the same otherwise.
func (a *Ask) Nth(n int) *chat.Request {
	if n == 0 || a.Seed == nil {
		return &a.Request
	}
	r := a.Request
	seed := *a.Seed + int64(n)
	r.Seed = &seed
	return &r
}

// Several is implemented by a Reply that can contain several replies to one request. Next begins
// another one, after the Finish event of the one before.
type Several interface{ Next() }

// Note is one change that a form made to a request and that the client should know of.
type Note struct {
	Word string // fit for the name of a header, for example "Left-Out"
	Text string
}

// Tell adds a note about something that was done to the request.
func (a *Ask) Tell(word, text string) { a.Notes = append(a.Notes, Note{word, text}) }

// The names of the forms that a header, a model's suffix or a setting can ask for.
const (
	OpenAI = "openai" // OpenAI's own form, whatever the client seems to be
	Shell  = "shell"  // commands in place of calls of this server's tools
	Void   = "void"   // Void's calls in text, if its prompt describes tools
	Cline  = "cline"  // the calls of Cline and Roo in text, likewise
)

// Names returns the names of the forms that can be asked for.
func Names() []string { return []string{OpenAI, Shell, Void, Cline} }

// NamedForm returns the form that a request names, in its header or else in the suffix of its model
// name ("qwen3@shell"), and the model name without that suffix. The form is "" if there is none. An
// unknown form in the header is an error. An unknown suffix is not, because a model name may
// contain an @ before a digest or a revision.
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

// SetAlone checks the client form that a request asks for on a path that has only one, and removes
// the form's suffix from the model name. It returns an error if the client asks for another form,
// because it would then wait for ever, for example for commands in the text. The name "openai"
// stands for the path's own form on every path.
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

// Form is a client form, which is a way of writing replies for some kind of client. One path of an
// API may have several forms.
type Form interface {
	// Open returns the Reply for a request in this form, or nil if the request is in another form.
	// It may change the request first: find tools in a prompt, offer more tools, or hold calls back
	// with Request.Hold. It returns an error if the request is wrong.
	Open(h http.Header, a *Ask, out Out) (Reply, error)
}

// First is a list of forms, that is, of ways in which clients make requests. A request is answered
// by the first form that accepts it, so a form that accepts everything must be last. A form may
// look at more than the headers: requests of the editor Void and of Cline are recognized only by
// their prompts.
type First []Form

// Open returns the reply of the first form that accepts the request, or the error of a form. It
// returns nil and nil if no form accepts it.
func (forms First) Open(h http.Header, a *Ask, out Out) (Reply, error) {
	for _, f := range forms {
		if reply, err := f.Open(h, a, out); reply != nil || err != nil {
			return reply, err
		}
	}
	return nil, nil
}

// Out is the place where a Reply is written, with the facts that the Reply needs to know.
type Out struct {
	Context context.Context // of the request, with the caller
	W       http.ResponseWriter
	ID      string        // of the reply, unique
	Created time.Time     // when the request arrived
	Stall   time.Duration // how long a client may read nothing; 0: for ever

	// Notes returns notes about what was done to the request so far, each as "word=text"; nil:
	// notes are not written.
	Notes func() []string

	// PromptTokens returns an estimate of the prompt's tokens before the model server has counted
	// them, or 0 if there is none yet. Nil: there never is one.
	PromptTokens func() int

	// Told is called with the finish reason that an OpenAI client gets; nil: nobody needs it.
	Told func(reason string)

	// the field, or both, for the model's thoughts in OpenAI's form; empty: ThoughtsBoth
	Thoughts string
}

// The fields that can contain a model's thoughts. OpenAI's own API has no field for them.
const (
	ThoughtsBoth    = "both"
	ThoughtsContent = "reasoning_content" // of DeepSeek, vLLM and llama-server
	ThoughtsPlain   = "reasoning"         // of Ollama and OpenRouter
)

// ThoughtFields returns the fields in which thoughts are written, at least one. The default is
// both, since each client reads only the one that it knows.
func (o *Out) ThoughtFields() []string {
	switch o.Thoughts {
	case ThoughtsContent, ThoughtsPlain:
		return []string{o.Thoughts}
	}
	return []string{ThoughtsContent, ThoughtsPlain}
}

// Finished tells the log the finish reason that the client gets, by a call of the function o.Told.
// If that is nil, it does nothing.
func (o *Out) Finished(reason string) {
	if o.Told != nil {
		o.Told(reason)
	}
}

// Reply writes the events of one reply in a client's form. Its methods must be called by one
// goroutine at a time. Events come in the order of chat.Event: text and reasoning, each call from
// its start to its end, then one Finish. An error before the first byte is returned by Close and
// becomes a status; a later error is written in the reply's own form.
type Reply interface {
	// Event takes the next event, which it need not write before Flush. It returns an error if the
	// client cannot be written to.
	Event(chat.Event) error
	// Flush writes what can be written, because no event will come for a while. It returns an error
	// if the client cannot be written to.
	Flush() error
	// Ping shows the client that the server is alive. Unless said is empty, it also shows what the
	// server is waiting for, as far as the form can express that.
	Ping(said string) error
	// Close ends the reply, with err, or successfully if err is nil. It must be called exactly
	// once. It returns an error that it has not written itself.
	Close(err error) error
}
