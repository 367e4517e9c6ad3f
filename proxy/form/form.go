// Package form holds what all client forms share: a client form is a way in which a client asks a
// model and wants its reply.
//
// To add one, make a folder beside openai, ollama, shell and xml. A form with a path of its own is
// an [API]: Read makes an [Ask] of a body, Open makes the [Reply] that writes events; proxy.New
// gives it a route. A form that shares its path with another is a [Form], which looks at a request
// and takes it or not; proxy.New puts it into the list that is asked in turn.
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
	Fail func(w http.ResponseWriter, err error) // answers with an error, before anything was written

	// Fields are the paths of fields that chat completions call otherwise, by the first word of the
	// path there.
	Fields map[string]string
}

// Renamed returns err with the path of the field as this API has it. The part that asks the model
// knows only the fields of chat completions, and a tool or a message may have another position
// here: so the path ends at the list that holds it.
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

	Form    string // one of Names: that which is asked for, empty when none is; then that which took the request
	NoCalls bool   // tool_choice "none": no calls, whoever offers tools

	SealThoughts bool // what the model thought is not shown, and kept by the client for the next request (SealThought)

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

// Several is a Reply that can hold several replies to one request. Next begins another one, behind
// the Finish of the one before.
type Several interface{ Next() }

// Note is one thing that a form did to a request, which its client should hear of.
type Note struct {
	Word string // fit for a header's name, as "Left-Out"
	Text string
}

// Tell notes one thing that was done to the request.
func (a *Ask) Tell(word, text string) { a.Notes = append(a.Notes, Note{word, text}) }

// The names of the forms that a header, a model's suffix or a setting can ask for.
const (
	OpenAI = "openai" // as it is, whoever seems to ask
	Shell  = "shell"  // commands in place of calls of the tools that are served here
	Void   = "void"   // Void's calls in text, where its prompt describes tools
	Cline  = "cline"  // Cline's and Roo's, likewise
)

// Names lists the forms that can be asked for.
func Names() []string { return []string{OpenAI, Shell, Void, Cline} }

// Asked returns the form that a request names: in its header, else in the suffix of its model
// ("qwen3@shell"). The model comes back without that suffix. An unknown name is only an error in a
// header, since models may hold an @ of their own: a digest, or a revision.
func Asked(h http.Header, named string) (asked, model string, err error) {
	model = named
	if at := strings.LastIndexByte(named, '@'); at >= 0 && slices.Contains(Names(), named[at+1:]) {
		model, asked = named[:at], named[at+1:]
	}
	if name := h.Get("Toolnorm-Client-Form"); name != "" {
		asked = strings.ToLower(name)
	}
	if asked != "" && !slices.Contains(Names(), asked) {
		return "", "", fault.New(fault.Invalid, "there is no client form %q; there are %s", asked, strings.Join(Names(), ", "))
	}
	return asked, model, nil
}

// SetAlone refuses a form that is asked for where a path has one alone: a client that reads
// commands out of a text would wait for ever for one. The path's own form may be asked for
// everywhere, by the name of chat completions' own.
func (a *Ask) SetAlone(h http.Header) error {
	asked, model, err := Asked(h, a.Model)
	if err != nil {
		return err
	}
	if asked != "" && asked != OpenAI {
		return fault.New(fault.Invalid, "the client form %q is for /v1/chat/completions: ask there, or leave it out", asked)
	}
	a.Model = model
	return nil
}

// Form is a client form among several on one path.
type Form interface {
	// Open makes the Reply of a request in this form, or nil when the request is in another one. It
	// may rewrite the request first: find tools in a prompt, offer more of them, or hold calls back
	// with Request.Hold.
	Open(h http.Header, a *Ask, out Out) (Reply, error)
}

// First is the form that the first of several takes: the special ones stand in front of those that
// take everything. Which one takes a request may depend on more than the header: Void and Cline are
// known by their prompts alone.
type First []Form

// Open opens the reply in the first form that takes the request.
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

	// Notes gives what was done to the request so far, as "word=text" each; nil: nothing is told.
	Notes func() []string

	// PromptTokens gives about how many tokens the prompt has, before the model server counts them;
	// 0 as long as nobody knows. Nil: it is not known at all.
	PromptTokens func() int

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
// later it is told in the reply's own form.
type Reply interface {
	// Event takes the next event. It need not write before Flush.
	Event(chat.Event) error
	// Flush writes what can be written: nothing more will come for a while.
	Flush() error
	// Ping shows the client that the server is alive, and what is waited for if that is said, as
	// far as the form has a way to do so.
	Ping(said string) error
	// Close ends the reply: with err, or well when err is nil. It must be called exactly once.
	Close(err error) error
}
