// Package adapters turns what a model wrote into events, and calls back into what the model would have written.
package adapters

import (
	"iter"

	"toolnorm/chat"
)

// Degrees of holding, for Options.Hold: how many bytes of a call's arguments wait before the call leaves.
const (
	HoldShort = 0       // the default: calls of up to 512 bytes leave whole, longer ones stream from there on
	HoldNone  = -1      // every call streams from its commit point
	HoldCall  = 1 << 62 // every call waits until it is complete
)

// Options are what a Format must know of the request to read its reply.
type Options struct {
	Tools  []chat.Tool // the tools offered; with none, only reasoning is separated from text
	Prompt string      // the end of the rendered prompt (64 bytes do): tells whether the reply begins inside reasoning
	Hold   int         // see the constants
	Alone  bool        // read this format only; else the marks of every known format are live, this one's first
}

// Format is one model family's way of writing.
type Format struct {
	Name string
}

// For returns the format of a model by its name, the generic one when no family claims it.
func For(model string) *Format { return &Format{Name: "generic"} }

// Named returns the format with that name, or nil.
func Named(name string) *Format { return &Format{Name: name} }

// All returns every known format, sorted by name.
func All() []*Format { return []*Format{{Name: "generic"}} }

// Decode reads a reply. Text from the source is decoded; every other event passes through as a barrier.
func (f *Format) Decode(in chat.Source, o Options) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		defer in.Close()
		for {
			e, err := in.Next()
			if err != nil {
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Append writes calls as the family's models write them.
func (f *Format) Append(dst []byte, calls ...chat.Call) []byte { return dst }

// Prompt is the text that teaches a model the tools and this form of calling them.
func (f *Format) Prompt(tools []chat.Tool) string { return "" }
