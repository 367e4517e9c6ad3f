// Package chat has the one form of conversations in this program: requests of clients, and replies
// of models, event by event.
//
// Every upstream decodes to [Event] and every client form encodes from it; nothing is translated
// pairwise.
//
//	chat.go        Model, Request, Message, Event: which all packages use
//	source.go      where events come from: Source, Fixed, Watch
//	observe.go     observers of how a reply is produced
//	collect.go     Collector: the reply as a whole, put together from its events
//	tools.go       tools as OpenAI's API writes them
//	text.go        continuing texts, and embeddings
//	asked.go       the part of a message that the user wrote
//	same.go        when two calls are the same
//	reason.go      the names of repairs
//	json.go, values.go, strings.go, surrogates.go   JSON as clients and models write it: counting values, keeping strings, halves of characters
package chat

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Model answers a request with events. If a caller stops ranging over them early, the request to
// the model is closed. An [Observer] in ctx is told how the reply is produced.
//
// The order is: Reasoning, Text and calls as the model wrote them, then at most one Usage, then
// exactly one Finish. An error ends the sequence, and no Finish follows it.
type Model interface {
	Stream(ctx context.Context, r *Request) iter.Seq2[Event, error]
}

// Source yields events on demand. Next returns io.EOF after the last one. A Source that ends
// without a Finish event must return another error, because a reply without an end is not a reply.
// Close stops the upstream at once and may be called more than once.
type Source interface {
	Next() (Event, error)
	Close() error
}

// Kind is the kind of an Event.
type Kind uint8

// The kinds of event.
const (
	None      Kind = iota // the kind of the zero Event, which says nothing
	Text                  // Event.Text is a fragment of the visible reply
	Reasoning             // Event.Text is a fragment of the model's thinking
	// CallStart begins a call. Event.Text is the tool's name, and Event.ID its id if the model
	// wrote one.
	CallStart
	// CallArgs has a fragment of the arguments in Event.Text. The concatenated fragments are strict
	// JSON.
	CallArgs
	CallEnd // the call is complete and its arguments are one JSON object
	Usage   // Event.Meta.Usage counts the tokens
	Finish  // Event.Text is the reason: one of the Finish constants
)

// String returns the name of the kind that the golden files use.
func (k Kind) String() string {
	return [...]string{"none", "text", "reasoning", "call", "args", "end", "usage", "finish"}[k]
}

// Reasons of a Finish event. Whether a stopped reply contains calls ("tool_calls") is decided by
// the encoder.
const (
	Stop   = "stop"   // the model ended on its own, or at a stop sequence
	Length = "length" // the reply was cut: token limit, context full, or endless repetition

	// RepeatAbort is the Meta.Cause of a Length that means that the server stopped a model which
	// wrote the same token over and over.
	RepeatAbort = "repeat-abort"

	// Abandoned is a reason that only a Source uses. It means that the server stopped passing on
	// the reply, because its parser failed. Meta.Cause is the server's message. A call whose
	// arguments are then complete is not lost.
	Abandoned = "abandoned"
)

// Event is one step of a reply. Its strings are immutable, so they may be stored.
type Event struct {
	Kind  Kind
	Index int    // of the call, counted 0, 1, 2 … in order of appearance; 0 for other kinds
	ID    string // CallStart: the id on the wire, verbatim; empty if the model wrote none
	Text  string // see the kinds
	Meta  *Meta  // what else is known, at the end and with probabilities; nil otherwise
}

// Meta is information about a reply, most of which comes at its end.
type Meta struct {
	Cause    string   // Finish: why, if the reason alone does not say it ("repeat-abort")
	Usage    *Counts  // tokens; nil if the upstream did not count them
	Times    *Times   // where the time went; nil if the upstream does not say
	Format   string   // the model family whose format was read
	Strategy string   // how the raw text was obtained: raw, tap, native, …
	Repairs  []string // what the decoder had to repair, one name for each defect, each once
	// Cut (Finish) is the text of a call that was not sent because the reply ended in the middle of
	// it. It has at most MaxCut bytes.
	Cut string
	// Stopped (Finish) is the stop sequence that ended the reply, if Request.TellStop asks for it.
	Stopped string
	// Doubt (Text) is the name of the tool that this text calls, if it is a call that can be read
	// in several ways.
	Doubt string
	// Logprobs (Text and Finish, if the request asks for them) are the tokens of this text, or of
	// earlier text that has none.
	Logprobs []Token
}

// MetaOf returns a copy of an event's Meta that may be changed, because events share theirs. If the
// event has none, the copy is empty.
func MetaOf(ev Event) Meta {
	if ev.Meta == nil {
		return Meta{}
	}
	return *ev.Meta
}

// MaxCut bounds Meta.Cut, in bytes.
const MaxCut = 4 << 10

// Token is a piece of text of the model's vocabulary, with its probability.
type Token struct {
	Text    string
	Logprob float64 // natural logarithm of the probability
	// Bytes are the bytes of Text, which need not be whole characters. It is nil if the server does
	// not say.
	Bytes []byte
	Top   []Token // the likeliest tokens in its place, if the request asks for them
}

// Counts are token counts of one reply.
type Counts struct {
	Prompt, Completion int
	// Cached counts the tokens of the prompt that the server had already processed. It is also 0 if
	// the server does not say.
	Cached int
	// Estimated means that four bytes were counted as a token, because the reply was ended before
	// the upstream counted.
	Estimated bool
}

// FromCache returns c with the given number of cached prompt tokens. An impossible number is
// ignored.
func (c Counts) FromCache(tokens int) Counts {
	if tokens > 0 && tokens <= c.Prompt {
		c.Cached = tokens
	}
	return c
}

// Plus returns the sum of c and d.
func (c Counts) Plus(d Counts) Counts {
	return Counts{c.Prompt + d.Prompt, c.Completion + d.Completion, c.Cached + d.Cached,
		c.Estimated || d.Estimated}
}

// Another returns the counts of c plus those of one more reply to the same prompt. The prompt
// counts only once, as in the first reply.
func (c Counts) Another(d Counts) Counts {
	sum := c.Plus(d)
	sum.Prompt, sum.Cached = c.Prompt, c.Cached
	if c.Prompt == 0 {
		sum.Prompt, sum.Cached = d.Prompt, d.Cached
	}
	return sum
}

// Times are the times that the upstream took for one reply. A time is 0 if the upstream does not
// say.
type Times struct {
	// Load is the time for loading the model, Prompt for reading the prompt, and Completion for
	// writing the reply.
	Load, Prompt, Completion time.Duration
}

// Role is the author of a message.
type Role string

// The roles. A developer message is a System message here.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of a conversation.
type Message struct {
	Role      Role
	Content   string
	Reasoning string   // Assistant: its reasoning
	Calls     []Call   // Assistant: its calls
	CallID    string   // ToolRole: the call that is answered
	Name      string   // ToolRole: the tool that answered, if the client says so
	Images    [][]byte // User: pictures, decoded
}

// Call is a finished tool call.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage // one JSON object, in the model's spelling
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; empty means any object
	Strict      bool            // the client wants arguments that fit the schema exactly

	// Found is true for a tool whose definition is in a message of the conversation, because a tool
	// search returned it. If the model can call such a tool, its prompts do not list it. So their
	// beginning does not change, and the server's cache remains valid.
	Found bool
}

// Request is a client's request, in whichever form it came. The zero value of each option means
// "the client did not say".
type Request struct {
	Model    string
	Messages []Message
	Tools    []Tool
	// Continue is a text to continue instead of answering Messages. Messages and Tools are then
	// empty. If it is nil, Messages are answered.
	Continue  *Continuation
	MaxTokens int      // of the reply; 0 if the client sets no limit
	Stop      []string // text sequences that end the reply
	// TellStop asks for the stop sequence that ended the reply, in Meta.Stopped. Servers do not
	// report it, so the engine matches the sequences.
	TellStop bool
	Sampling

	// Format is the JSON Schema of the answer, or "json" in quotes for any JSON object. It is nil
	// for free text. With Tools it is the schema of an answer without calls.
	Format json.RawMessage
	// Logprobs asks for each token with its probability, in Meta.Logprobs. It cannot be used
	// together with Tools.
	Logprobs    bool
	TopLogprobs int // how many of the likeliest tokens to give beside each, 0 to 20

	Required bool     // the reply must be a call; not together with Continue
	Allowed  []string // the tools that may be called; nil for all that are offered
	Single   bool     // at most one call in a reply

	// Hold is how many bytes of a call's arguments are held back before the call is sent, see
	// adapters.Options.Hold. 0 means the engine's setting.
	Hold  int
	Think *bool // thinking on or off; nil for the model's default
	// Effort says how much to think if Think is on: minimal, low, medium, high, xhigh or max, for
	// models that know levels. It is empty if the client did not say.
	Effort string
	// Keep is how long the server keeps the model loaded, in Ollama's notation: seconds, or "5m".
	// If it is nil, the server chooses.
	Keep    json.RawMessage
	Options map[string]json.RawMessage // options of the model server, passed on unchanged
	Extra   map[string]json.RawMessage // unknown fields of the request
}

// Sampling says how the next token is drawn. The server chooses values that are nil.
type Sampling struct {
	Seed                                                 *int64
	Temperature, TopP, PresencePenalty, FrequencyPenalty *float64
}

// Counter counts the tokens of a request, without asking the model for a reply.
type Counter interface {
	CountTokens(ctx context.Context, r *Request) (int, error)
}

// Info describes a model that can be asked.
type Info struct {
	ID      string
	Created int64  // Unix seconds; 0 if unknown
	Owner   string // "ollama", "toolnorm", …
	Hidden  bool   // it can be asked by its name, but must not be listed
}

// Catalog lists the models that can be asked, including hidden ones. A part that cannot be reached
// is left out and is not an error.
type Catalog interface {
	Models(ctx context.Context) ([]Info, error)
	// Real returns the model that a name means by an alias or a pattern of aliases, otherwise the
	// name itself. The model need not exist.
	Real(name string) string
}
