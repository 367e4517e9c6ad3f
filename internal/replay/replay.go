// Package replay decodes again what a model wrote, without a model, and explains the result: the
// calls, whether they fit the schemas of their tools, and why a text that looks like a call is not
// one.
//
// The decoder itself records no reasons, since it must be fast. So this package also decodes the
// text under other conditions, for example with every name allowed or with less evidence required.
// If the result changes, that condition was the reason.
package replay

import (
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/valid"
	"toolnorm/internal/golden"
)

// Text is what a model wrote, with the parts of its request that are needed to read it.
type Text struct {
	Raw    string
	Cut    bool        // the server ended it because it reached the length limit
	Tools  []chat.Tool // the tools that were offered
	Prompt string      // the end of the prompt, as in adapters.Options.Prompt
	Which  adapters.Which
	Hold   int // as in adapters.Options.Hold

	Messages []chat.Message // the conversation before it, as in adapters.Options.Messages
}

// Reading is the result of decoding a text.
type Reading struct {
	Format    string   `json:"format"`
	Events    string   `json:"events"` // in the notation of the families' test cases
	Text      string   `json:"text"`
	Reasoning string   `json:"reasoning"`
	Calls     []Call   `json:"calls"`
	Repairs   []string `json:"repairs"` // their codes in docs/repairs.md
	// sentences that say what is wrong with a call, or why there is none
	Why []string `json:"why"`
}

// Call is a call, with the errors in its arguments.
type Call struct {
	Name     string   `json:"name"`
	Args     string   `json:"arguments"`
	Problems []string `json:"problems"`
}

// Read decodes a text with a format and explains the result. It returns the decoder's error; for a
// complete text such as this, the decoder has none.
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

// decode returns the reply that the text holds, and the events from which it was collected. The
// text is decoded in one piece, because any split into pieces gives the same events. It returns the
// decoder's error, if there is one.
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

// checkCall returns a call, together with sentences that say what is wrong with its arguments. The
// sentences are those that the model would be told, but name the arguments without the prefix
// "arguments.", because each sentence is shown beside its call. If the schema is invalid, any
// object fits, as in the engine.
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
