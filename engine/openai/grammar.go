package openai

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
	"toolnorm/internal/kept"
)

// maxGrammars is how many grammars a server's memory holds. Each is some 10 KB, and takes a
// millisecond to write, which a conversation with the same tools in every turn need not pay for
// each.
const maxGrammars = 32

// grammars are those that a server was sent last, and what became of them. The zero value is empty.
// A refusal is remembered with the grammar, so it is forgotten when maxGrammars others have come,
// and then tried once more.
type grammars struct {
	kept.Cache[*held]
	mu sync.Mutex // guards what was refused
}

// held is a grammar for the calls of a format to some tools. Its text does not change; refused
// does, under the lock of grammars.
type held struct {
	adapters.Grammar
	refused []string // the models with which the server did not take it
}

// grammar returns what holds the order's calls to a form, or nil for nothing. It holds text that is
// ours to read, when tools are offered and neither the settings, nor the client, nor the server are
// against it. Of a model that no family claims it is not known how it writes, so nothing holds it
// to a form: a good call in another form would be bent into one that it was never taught. A
// client's own grammar or schema goes before ours.
func (b *Backend) grammar(o *upstream.Order, fields map[string]json.RawMessage) *held {
	tools := o.Decoding.Tools
	if o.NoGrammar || o.Format.Name == "generic" || o.Strategy != upstream.Raw || o.Force != nil || len(tools) == 0 || fields["grammar"] != nil || fields["json_schema"] != nil {
		return nil
	}
	h := b.grammars.find(o.Format, tools, o.Request.Single, func(h *held) {
		o.Log.Debug().Str("model", o.Model).Str("format", o.Format.Name).Int("bytes", len(h.Text)).Str("open", fmt.Sprint(h.Dropped)).Msg("grammar written")
	})
	b.grammars.mu.Lock()
	defer b.grammars.mu.Unlock()
	if h.Text == "" || slices.Contains(h.refused, o.Model+"\n"+o.Facts.Digest) {
		return nil
	}
	return h
}

// find returns the grammar of those tools. It writes the grammar when it is new, and then calls
// made with it. The family's declaration is part of the key: a user's own file may change it under
// the same name. A tool's description is not: no grammar has it.
func (g *grammars) find(f *adapters.Format, tools []chat.Tool, single bool, made func(*held)) *held {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode([]any{f.Name, f.Declaration(), single}) // a hash takes everything
	for _, t := range tools {
		_, _ = io.WriteString(sum, t.Name+"\x00"+string(t.Schema)+"\x00")
	}
	return g.Get(sum.Sum(nil), func(string) *held {
		h := &held{Grammar: f.Grammar(tools, single)}
		made(h)
		return h
	})
}

// refuse remembers that the server did not take the grammar with the order's model. Other grammars
// are sent all the same: one strange schema should not cost the other tools their guarantee.
func (g *grammars) refuse(h *held, o *upstream.Order, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.refused = append(h.refused, o.Model+"\n"+o.Facts.Digest)
	o.Log.Warn().Str("model", o.Model).Str("format", o.Format.Name).Err(why).Msg("the server does not take the grammar of these tools, it writes without one")
}

// watch refuses the grammar for the next replies when this one breaks off at it: the model has a
// token that holds the end of the mark and something that the grammar does not have behind it. The
// reply itself stays the error that it is, since its text has left. llama-server says "Unexpected
// empty grammar stack after accepting piece".
func (g *grammars) watch(h *held, o *upstream.Order) chat.Hook {
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		if err != nil && err != io.EOF && strings.Contains(err.Error(), "grammar") {
			g.refuse(h, o, err)
		}
		return ev, nil
	}
}

// The kinds of trigger of a llama-server.
const (
	triggerWord    = 1
	triggerPattern = 2
)

// trigger is where a grammar begins, in llama-server's words.
//
// As in {"type":1,"value":"<tool_call>"}.
type trigger struct {
	Type  int    `json:"type"`
	Value string `json:"value"`
}

// fields adds the grammar to a continuation's fields: it begins at a call's opening mark, and text
// before that is free (grammar_lazy). The marks that it gives are to be preserved: only so a server
// takes one for a token of its own, and a trigger that is a word counts when that token comes. A
// pattern is for marks that may be words about the mark, at the start of a line only.
func (h *held) fields(fields map[string]json.RawMessage) (marks []string) {
	var all []trigger
	for _, t := range h.Trigger {
		if t.Word != "" {
			all, marks = append(all, trigger{triggerWord, t.Word}), append(marks, t.Word)
		} else {
			all = append(all, trigger{triggerPattern, t.Pattern})
		}
	}
	fields["grammar"], _ = json.Marshal(h.Text)
	fields["grammar_lazy"] = json.RawMessage("true")
	fields["grammar_triggers"], _ = json.Marshal(all)
	return marks
}

// held begins a reply that is held to the grammar. A server that refuses is asked again without: a
// grammar makes calls better, and is never what a reply may fail for. Only when that reply comes
// was it the grammar that was refused. A fault with a code (too long, no such model) says what it
// is about, and nothing is asked again.
func (b *Backend) held(o *upstream.Order, h *held, ask func(*held) (chat.Source, error)) (chat.Source, error) {
	src, err := ask(h)
	if h == nil {
		return src, err
	}
	if err == nil {
		return chat.Watch(src, b.grammars.watch(h, o)), nil
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid && f.Kind != fault.Unavailable || f.Code != "" {
		return nil, err
	}
	src, again := ask(nil)
	if again == nil {
		b.grammars.refuse(h, o, err)
	}
	return src, again
}

// continuation returns the body of llama-server's /completion: a rendered prompt with the beginning
// of the call that is forced, else held to the grammar unless that is nil. Every known family's
// marks are preserved, about 2 KB a request: any of them is read, and without their names a server
// leaves out those that are control tokens. The server parses nothing of the reply, so what comes
// is what the model wrote.
func continuation(o *upstream.Order, prompt string, fields map[string]json.RawMessage, h *held) map[string]any {
	preserved, fields := o.Format.Tokens(), continuing(fields)
	switch {
	case o.Force != nil:
		prompt += o.Format.Lead(prompt, o.Force.Said, o.Force.Name)
		fields["json_schema"] = o.Force.Schema
	case h != nil:
		preserved = append(slices.Clip(preserved), h.fields(fields)...)
	}
	o.Prompted(prompt, 0)
	return with(fields, map[string]any{"model": o.Model, "prompt": prompt, "stream": true, "preserved_tokens": preserved})
}
