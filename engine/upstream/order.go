package upstream

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// The strategies of getting at the text that a model writes. The engine chooses one, a kind of
// server carries it out.
const (
	// Raw has the server render the prompt only, and continue it without reading what the model
	// writes.
	Raw = "raw"
	// Tokens is for a server that leaves control tokens out of raw text: it gets the same prompt
	// and reads what the model writes, and only the tokens are taken, which hold them.
	Tokens = "tokens"
	// Tap has the server render, and read calls itself; what the model wrote is taken from its
	// tokens.
	Tap = "tap"
	// Native is the same, but the server's own calls are taken. What it misses is still decoded.
	Native = "native"
	// Prompt describes the tools in the system text, for models that were never taught to call.
	Prompt = "prompt"
)

// Order is what a model server is asked for one generation: everything that a kind of server may
// use, decided. It is made anew for each generation and not changed afterwards, so whoever carries
// it out needs no lock, and nothing of one attempt leaks into the next.
type Order struct {
	// Name is the model's as the client calls it, Model as its server does, and Server that one's
	// name in the settings.
	Name, Model, Server string
	// Facts are what Probe found out. They are zero for Probe itself.
	Facts Facts
	// Format is the family in whose form the model writes, Decoding how its text will be decoded.
	Format   *adapters.Format
	Decoding adapters.Options
	// Strategy is one of the above. Rendered says that the server renders the prompt alone and then
	// continues it, as for raw and for what is forced.
	Strategy string
	Rendered bool

	// Request is what the model is asked. With strategy prompt its tools are in the system text,
	// and Request.Tools is empty.
	Request *chat.Request
	// Tools are Request.Tools in words that the server takes (see Facts.PlainSchemas).
	Tools []chat.Tool
	// Options are those of Request in Ollama's words. A context that was chosen is among them.
	Options map[string]json.RawMessage
	// Force is what the reply is held to. Nil: nothing.
	Force *Force
	// NoGrammar is set when the server is not to be asked to hold calls to their schemas.
	NoGrammar bool

	// Need is how many tokens the prompt and its reply may take, by estimate. MostContext is the
	// longest context that may be asked for because of it.
	Need, MostContext int
	// FixedContext is the context that the client or the settings ask for. 0: none, so it is by
	// Need.
	FixedContext int
	// Estimate is the prompt's tokens at four bytes each, for replies that end before the server
	// counts.
	Estimate int

	// OnRendered is given the rendered prompt, as chat.Observer's. Nil: nobody wants it.
	OnRendered func(text string, context int)

	// Pulse is waited with, and Log is the operator's.
	Pulse *wait.Pulse
	Log   *zerolog.Logger
}

// Prompted reports the prompt that the model will read to the request's observer, if there is one.
func (o *Order) Prompted(text string, context int) {
	if o.OnRendered != nil {
		o.OnRendered(text, context)
	}
}

// Force is what a reply is held to: one call, as the JSON object {"name": …, "arguments": …}. It is
// the whole call object and never the arguments alone: a schema that ends before the model's
// natural text does forbids the token that it wants, and it goes on inside the last number instead
// ("days": 1000000000000000).
type Force struct {
	Schema json.RawMessage // of the object
	Name   string          // of its tool; empty when there are several
	Said   string          // what the model has written before, in its own form
}

// Facts are what is known of a model, as long as its digest stays the same. All of them were asked
// of the server; where it does not say, the zero value is what can be relied on.
type Facts struct {
	// Digest is another one when the model is. Empty: the server gives none.
	Digest string
	// Window is the longest context, in tokens: what the model was trained with, or what its server
	// has it loaded with. 0: not known.
	Window int
	// Context is what the model's own parameters ask for. 0: nothing.
	Context int

	// Tools says that the model's template can print tools, Taps that the server may show the
	// tokens of calls that it withholds, so that tap may work, and Renders that it gives the
	// rendered prompt, so that raw works.
	Tools, Taps, Renders bool
	// Strategies have the one first that shows most of what the model wrote. Nil: raw, tap, native,
	// prompt.
	Strategies []string
	// PlainSchemas says that the server fails at, or loses, all but the plain words of JSON Schema.
	PlainSchemas bool
	// PrintsGoStructs says that the template prints tools as Go prints a struct, which only in a
	// rendered prompt can be repaired.
	PrintsGoStructs bool

	// Thinking can be switched, by the server's own words in EffortLevels (empty: only on and off),
	// unless the model AlwaysThinks.
	Thinking, AlwaysThinks bool
	EffortLevels           []string
	// Reader is a name of the models whose calls the server itself reads as it reads this one's.
	// Empty: it has no reader, or one for all models.
	Reader string
	// BeginsThinking says that a reply begins inside a thought, also behind a prompt that has
	// opened none.
	BeginsThinking bool
	// NoVision says that the model is known to see no images.
	NoVision bool
	// HonorsToolChoice says that the server sees to tool_choice by itself, StrictNames that it
	// refuses names of tools that OpenAI refuses.
	HonorsToolChoice, StrictNames bool

	// ControlMarks are the marks of the model's family that are control tokens in its vocabulary.
	// RawLacksMarks says that raw text is without them, NamesMarks that strategy tokens has them
	// all the same.
	ControlMarks              []string
	RawLacksMarks, NamesMarks bool
}

// tailLength is how much of a prompt's end the decoder sees, in bytes: enough for the marks that a
// prompt may end in, as one that has opened the thinking ("<think>\n") or the header of a message.
const tailLength = 64

// Tail returns the end of a rendered prompt, for the decoder. It is a copy: the prompt itself may
// be megabytes, and is not needed any more.
func Tail(prompt string) string { return strings.Clone(prompt[max(len(prompt)-tailLength, 0):]) }

// Final returns err as one that no other strategy can cure: where raw text was asked for, there is
// no other reading of the reply than ours.
func Final(err error) error {
	f := *fault.From(err)
	f.Curable = false
	return &f
}

// WithOption returns a copy of options with one of them set. An Order is not changed, so its
// options are not either.
func WithOption(options map[string]json.RawMessage, key string, n int) map[string]json.RawMessage {
	c := make(map[string]json.RawMessage, len(options)+1)
	maps.Copy(c, options)
	c[key], _ = json.Marshal(n) // a number always can be written
	return c
}

// Sampling returns what the client said of how to write, in the words that every kind of server
// uses.
func Sampling(r *chat.Request) map[string]any {
	o := map[string]any{}
	set(o, "seed", r.Seed)
	set(o, "temperature", r.Temperature)
	set(o, "top_p", r.TopP)
	set(o, "presence_penalty", r.PresencePenalty)
	set(o, "frequency_penalty", r.FrequencyPenalty)
	return o
}

// AddFields writes said into fields. Numbers that JSON cannot say (NaN) were refused when the
// request came.
func AddFields(fields map[string]json.RawMessage, said map[string]any) {
	for k, v := range said {
		fields[k], _ = json.Marshal(v)
	}
}

// set puts *v into o unless v is nil: 0 is a value of its own.
func set[T any](o map[string]any, key string, v *T) {
	if v != nil {
		o[key] = *v
	}
}
