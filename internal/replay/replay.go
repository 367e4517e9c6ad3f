// Package replay reads once more what a model wrote, without any model, and says what became of it:
// the calls, whether they fit their tools' schemas, and in sentences why a text that looks like a
// call is none.
//
// The decoder itself keeps no reasons, since it must be fast and its answer is the text. Here the
// same text is read in other ways (every name allowed, less evidence asked for), and what changes
// then was the reason.
package replay

import (
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/valid"
	"toolnorm/internal/golden"
)

// Text is what a model wrote, and what must be known of its request.
type Text struct {
	Raw    string
	Cut    bool        // the server ended it for its length
	Tools  []chat.Tool // that were offered
	Prompt string      // its end, as adapters.Options.Prompt
	Which  adapters.Which
	Hold   int // as adapters.Options.Hold

	Messages []chat.Message // what was said in front of it, as adapters.Options.Messages
}

// Reading is what the decoder makes of it.
type Reading struct {
	Format    string   `json:"format"`
	Events    string   `json:"events"` // as the cases of families write them
	Text      string   `json:"text"`
	Reasoning string   `json:"reasoning"`
	Calls     []Call   `json:"calls"`
	Repairs   []string `json:"repairs"` // codes of docs/repairs.md
	// sentences: what is wrong with a call, or why there is none
	Why []string `json:"why"`
}

// Call is one call, with what is wrong with its arguments.
type Call struct {
	Name     string   `json:"name"`
	Args     string   `json:"arguments"`
	Problems []string `json:"problems"`
}

// Read reads a text by a format. The error is that of the decoder, which has none for a text that
// is there whole.
func Read(f *adapters.Format, t Text) (*Reading, error) {
	r := &Reading{Format: f.Name, Calls: []Call{}, Repairs: []string{}, Why: []string{}}
	reply, events, err := decode(f, t)
	if err != nil {
		return nil, err
	}
	if r.Events, err = golden.Transcript(eventsOf(events)); err != nil {
		return nil, err
	}
	r.Text, r.Reasoning = reply.Text.String(), reply.Reasoning.String()
	if reply.End != nil && reply.End.Meta != nil {
		r.Repairs = append(r.Repairs, reply.End.Meta.Repairs...)
	}
	for _, c := range reply.Calls {
		r.Calls = append(r.Calls, checkCall(c, t.Tools))
	}
	r.explain(f, t, reply)
	return r, nil
}

// decode reads a text, and keeps its events: they are put together once and written out once. The
// text comes in one piece. The pieces in which it came do not matter: any split gives the same
// events.
func decode(f *adapters.Format, t Text) (reply *chat.Collector, events []chat.Event, err error) {
	finish := chat.Stop
	if t.Cut {
		finish = chat.Length
	}
	reply = &chat.Collector{}
	for e, err := range f.Decode(golden.Source([]string{t.Raw}, finish),
		adapters.Options{Tools: t.Tools, Prompt: t.Prompt, Which: t.Which, Hold: t.Hold,
			Messages: t.Messages}) {
		if err != nil {
			return nil, nil, err
		}
		reply.Add(e)
		events = append(events, e)
	}
	return reply, events, nil
}

// eventsOf returns an iterator over the events of a list.
func eventsOf(events []chat.Event) func(yield func(chat.Event, error) bool) {
	return func(yield func(chat.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// checkCall returns a call with what is wrong with it, in the words in which the model would be
// told. A schema that cannot be used takes any object, as in the engine. "arguments." before each
// place is left out: here the call is beside its sentence.
func checkCall(c chat.Call, offered []chat.Tool) Call {
	out := Call{Name: c.Name, Args: string(c.Args), Problems: []string{}}
	for _, tool := range offered {
		if tool.Name != c.Name {
			continue
		}
		var schemas valid.Cache
		if v, err := schemas.Tool(tool); err == nil {
			for _, p := range v.Check(c.Args) {
				out.Problems = append(out.Problems, strings.TrimPrefix(p.Text, "arguments."))
			}
		}
	}
	return out
}
