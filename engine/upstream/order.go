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

// The strategies of getting at the text that a model writes. The engine chooses a strategy, and the
// server's backend carries it out.
const (
	// Raw has the server only render the prompt, and continue it without parsing what the model
	// writes.
	Raw = "raw"
	// Tokens is for a server that leaves control tokens out of raw text. The server gets the same
	// prompt and parses the reply itself, and the text is taken from the reply's tokens, which
	// include the control tokens.
	Tokens = "tokens"
	// Tap has the server render the prompt and parse calls, but what the model wrote is taken from
	// the reply's tokens.
	Tap = "tap"
	// Native has the server do the same as Tap, but takes the calls that the server parsed. Calls
	// that it misses are still decoded.
	Native = "native"
	// Prompt describes the tools in the system text, for models that were never taught to call.
	Prompt = "prompt"
)

// Order is the task of a model server for one generation. Everything that a backend may use is
// already decided in it. An Order is made anew for each generation and not changed afterwards, so
// the backend needs no lock, and nothing of one attempt leaks into the next.
type Order struct {
	// Name is the client's name for the model, Model is the server's, and Server is the server's
	// name in the settings.
	Name, Model, Server string
	// Facts are what Probe found out. They are zero for Probe itself.
	Facts Facts
	// Format is the family in whose format the model writes, and Decoding says how its text will be
	// decoded.
	Format   *adapters.Format
	Decoding adapters.Options
	// Strategy is one of the constants above. If Rendered is true, the server only renders the
	// prompt and then continues it, as for raw and for forced replies.
	Strategy string
	Rendered bool

	// Request is what the model is asked. With strategy prompt its tools are in the system text,
	// and Request.Tools is empty.
	Request *chat.Request
	// Tools are Request.Tools with the schema keywords that the server accepts (see
	// Facts.PlainSchemas).
	Tools []chat.Tool
	// Options are those of Request under Ollama's names. They include the chosen context.
	Options map[string]json.RawMessage
	// Force is the constraint of the reply. Nil: none.
	Force *Force
	// NoGrammar is true if the server must not be asked to constrain calls to their schemas.
	NoGrammar bool

	// Need is an estimate of how many tokens the prompt and its reply may take. MostContext is the
	// longest context that may be requested because of it.
	Need, MostContext int
	// FixedContext is the context length that the client or the settings ask for. 0: neither does,
	// so Need decides.
	FixedContext int
	// Estimate is the number of the prompt's tokens, counted as four bytes each, for replies that
	// end before the server counts.
	Estimate int

	// OnRendered is called with the rendered prompt, as in chat.Observer. Nil: it is not wanted.
	OnRendered func(text string, context int)

	// Pulse watches the waits for the server, and Log is the operator's log.
	Pulse *wait.Pulse
	Log   *zerolog.Logger
}

// Prompted passes text, the prompt that the model will read, to the request's observer OnRendered,
// if that is set. The parameter context is the context length.
func (o *Order) Prompted(text string, context int) {
	if o.OnRendered != nil {
		o.OnRendered(text, context)
	}
}

// Force is the constraint of a reply to one call, as the JSON object {"name": …, "arguments": …}.
// It covers the whole object and never the arguments alone. A schema that ended with the arguments
// would forbid the token `}}`, with which models end a call, and the model would go on inside the
// last number instead ("days": 1000000000000000).
type Force struct {
	Schema json.RawMessage // schema of the object
	Name   string          // name of its tool; empty if there are several
	Said   string          // what the model wrote before it, in the model's own format
}

// Facts are the known properties of a model. They are valid as long as its digest stays the same.
// All of them come from the server. If the server does not say something, the zero value is the
// safe assumption.
type Facts struct {
	// Digest changes when the model does. Empty: the server sends none.
	Digest string
	// Window is the longest context, in tokens. It is the one that the model was trained with, or
	// the one with which its server has it loaded. 0: not known.
	Window int
	// Context is the context length that the model's own parameters ask for. 0: none.
	Context int

	// Tools means that the model's template can print tools. Taps means that the server may send
	// the tokens of calls that it withholds, so that tap may work. Renders means that it returns
	// the rendered prompt, so that raw works.
	Tools, Taps, Renders bool
	// Strategies are in order of preference: the first shows most of what the model wrote. Nil:
	// raw, tap, native, prompt.
	Strategies []string
	// PlainSchemas means that the server fails on, or drops, all but the basic keywords of JSON
	// Schema.
	PlainSchemas bool
	// PrintsGoStructs means that the template prints tools as Go structs, which can be repaired
	// only in a rendered prompt.
	PrintsGoStructs bool

	// Thinking means that thinking can be switched, by the levels in EffortLevels (empty: only on
	// and off). It cannot be switched off if the model AlwaysThinks.
	Thinking, AlwaysThinks bool
	EffortLevels           []string
	// Reader is the name of the parser that the server itself uses for this model's calls. Empty:
	// it has none, or one for all models.
	Reader string
	// BeginsThinking means that a reply begins inside a thought, even after a prompt that has not
	// opened one.
	BeginsThinking bool
	// NoVision means that the model is known to see no images.
	NoVision bool
	// HonorsToolChoice means that the server implements tool_choice itself, and StrictNames that it
	// refuses the same names of tools as OpenAI.
	HonorsToolChoice, StrictNames bool

	// ControlMarks are the tags of the model's family that are control tokens in its vocabulary.
	// RawLacksMarks means that raw text does not have them, and NamesMarks that strategy tokens
	// still has them.
	ControlMarks              []string
	RawLacksMarks, NamesMarks bool
}

// tailLength is how many bytes of a prompt's end the decoder sees. This is enough for the tags with
// which a prompt may end, such as one that has opened the thinking ("<think>\n") or the header of a
// message.
const tailLength = 64

// Tail returns the end of a rendered prompt, which the decoder of the reply needs. It is a copy, so
// that the prompt itself, which may be megabytes, need not stay in memory.
func Tail(prompt string) string { return strings.Clone(prompt[max(len(prompt)-tailLength, 0):]) }

// Final returns err as a fault that another form of the request would not avoid. It is for requests
// of raw text, whose reply only toolnorm parses.
func Final(err error) error {
	f := *fault.From(err)
	f.Curable = false
	return &f
}

// WithOption returns a copy of options in which the option key is n. It is a copy because an Order
// is not changed.
func WithOption(options map[string]json.RawMessage, key string, n int) map[string]json.RawMessage {
	c := make(map[string]json.RawMessage, len(options)+1)
	maps.Copy(c, options)
	c[key], _ = json.Marshal(n) // a number can always be encoded
	return c
}

// Sampling returns the client's sampling options, under the names that every kind of server uses.
func Sampling(r *chat.Request) map[string]any {
	o := map[string]any{}
	set(o, "seed", r.Seed)
	set(o, "temperature", r.Temperature)
	set(o, "top_p", r.TopP)
	set(o, "presence_penalty", r.PresencePenalty)
	set(o, "frequency_penalty", r.FrequencyPenalty)
	return o
}

// AddFields encodes each of the values as JSON, and adds it to fields under the same name. Numbers
// that JSON cannot express (NaN) were refused when the request came.
func AddFields(fields map[string]json.RawMessage, values map[string]any) {
	for k, v := range values {
		fields[k], _ = json.Marshal(v)
	}
}

// set stores *v in the map o under the key. If v is nil, it stores nothing. It takes a pointer
// because 0 is a valid value.
func set[T any](o map[string]any, key string, v *T) {
	if v != nil {
		o[key] = *v
	}
}
