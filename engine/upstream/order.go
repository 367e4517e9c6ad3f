package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/rs/zerolog"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// The strategies of getting at the text that a model writes. The engine chooses one, a kind of server carries it out.
const (
	Raw    = "raw"    // the server renders the prompt only, then continues it without reading what the model writes
	Tokens = "tokens" // the same prompt, for a server that reads what the model writes: only the tokens are taken, which hold the control tokens that raw text may lack
	Tap    = "tap"    // the server renders, and reads calls itself; what the model wrote is taken from its tokens
	Native = "native" // the server renders, and reads calls itself; what it misses is still decoded
	Prompt = "prompt" // the tools are described in the system text, for models that were never taught to call
)

// Order is what a model server is asked for one generation: everything that a kind of server may use, decided. It is made
// anew for each generation and not changed afterwards, so whoever carries it out needs no lock, and nothing of one attempt
// leaks into the next.
type Order struct {
	Name     string // of the model, as the client calls it
	Server   string // its name in the settings
	Model    string // as the server calls it
	Facts    Facts  // what Probe found out; zero for Probe itself
	Format   *adapters.Format
	Strategy string

	Rendered bool          // the server renders the prompt alone, and then continues it, as it does for raw and for what is forced
	Request  *chat.Request // as the model gets it. With strategy prompt its tools are in the system text and Request.Tools is empty
	Tools    []chat.Tool   // Request.Tools in the words that the server takes: see Facts.PlainSchemas
	Options  map[string]json.RawMessage
	Force    *Force // what the reply is held to; nil: nothing

	Need         int // tokens that the prompt and its reply may take, by estimate
	FixedContext int // that the client or the settings ask for; 0: none, so it is by Need
	MostContext  int // the longest that may be asked for by Need
	Estimate     int // tokens of the prompt at four bytes each, for replies that end before the server counts

	Decoding  adapters.Options // by which the reply is decoded
	NoGrammar bool             // the server is not asked to hold calls to their schemas

	Pulse *wait.Pulse
	Log   *zerolog.Logger
}

// Force is what a reply is held to: one call, as the JSON object {"name": …, "arguments": …}.
type Force struct {
	Schema json.RawMessage // of the object
	Name   string          // of its tool; empty when there are several
	Said   string          // what the model has written before, in its own form
}

// Facts are what is known of a model, as long as its digest stays the same. All of them were asked of the server; where it does not
// say, the zero value is what can be relied on.
type Facts struct {
	Window  int    // the longest context, in tokens: what the model was trained with, or what its server has it loaded with; 0: not known
	Context int    // that the model's own parameters ask for; 0: none
	Digest  string // empty: the server gives none

	Tools            bool     // its template can print tools
	Thinking         bool     // its thinking can be switched
	EffortLevels     []string // of thinking, in the server's words; empty: only on and off
	AlwaysThinks     bool     // whether it is told to or not
	NoVision         bool     // it is known to see no images
	HonorsToolChoice bool     // the server obeys tool_choice by itself
	StrictNames      bool     // the server refuses names of tools that OpenAI refuses

	Renders         bool     // the server gives the rendered prompt, so raw works
	PrintsGoStructs bool     // its template is known to print tools as Go prints them, so that only raw can repair the prompt
	PlainSchemas    bool     // the server fails at, or loses, all but the plain words of JSON Schema
	ControlMarks    []string // the marks of its family that are control tokens
	RawLacksMarks   bool     // raw text lacks those
	NamesMarks      bool     // but strategy tokens has them
	Taps            bool     // the server may show the tokens of calls that it withholds, so tap may work
	Strategies      []string // the one first that shows most of what the model wrote; nil: raw, tap, native, prompt
}

// WithOption returns a copy of options with one of them set.
func WithOption(options map[string]json.RawMessage, key string, n int) map[string]json.RawMessage {
	c := make(map[string]json.RawMessage, len(options)+1)
	maps.Copy(c, options)
	c[key], _ = json.Marshal(n) // a number always can be written
	return c
}

// Sampling returns what the client said of how to write, in the words that every kind of server uses.
func Sampling(r *chat.Request) map[string]any {
	o := map[string]any{}
	set(o, "seed", r.Seed)
	set(o, "temperature", r.Temperature)
	set(o, "top_p", r.TopP)
	set(o, "presence_penalty", r.PresencePenalty)
	set(o, "frequency_penalty", r.FrequencyPenalty)
	return o
}

// AddFields writes said into fields. What JSON cannot say is a number that is none.
func AddFields(fields map[string]json.RawMessage, said map[string]any) error {
	for k, v := range said {
		raw, err := json.Marshal(v)
		if err != nil {
			return &fault.Error{Kind: fault.Invalid, Param: k, Message: k + " is no number", Cause: err}
		}
		fields[k] = raw
	}
	return nil
}

// set puts *v into o unless v is nil: 0 is a value of its own.
func set[T any](o map[string]any, key string, v *T) {
	if v != nil {
		o[key] = *v
	}
}

// Arguments are a call's, as an object: some clients write an empty text for none.
func Arguments(c chat.Call) (json.RawMessage, error) {
	if len(bytes.TrimSpace(c.Args)) == 0 {
		return json.RawMessage("{}"), nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &members); err != nil {
		return nil, err
	}
	if members == nil {
		return nil, fmt.Errorf("%s is no object", c.Args)
	}
	return c.Args, nil
}
