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

// maxGrammars is how many grammars are kept for a server. Each has some 10 KB and takes a
// millisecond to write, and a conversation with the same tools should not need that in every turn.
const maxGrammars = 32

// grammars has the grammars that were last sent to a server, and whether the server refused them.
// The zero value is empty. A refusal is stored with its grammar, and is forgotten with it, when
// maxGrammars other grammars have been sent. The grammar is then tried once more.
type grammars struct {
	kept.Cache[*held]
	mu sync.Mutex // guards what was refused
}

// held is a stored grammar, which constrains calls of some tools in the format of a model family.
// The field refused lists the models for which the server did not accept the grammar, and is
// guarded by the lock of grammars. The grammar itself does not change.
type held struct {
	adapters.Grammar
	refused []string // the models for which the server refused it
}

// grammar returns the grammar that constrains the order's calls, or nil if there is none. There is
// one if this program reads the reply's text and tools are offered, unless the settings, the client
// or the server exclude it. A model of an unknown model family is not constrained, because the
// grammar would force it from its own form into one that it was never taught. A client's own
// grammar or schema takes precedence.
func (b *Backend) grammar(o *upstream.Order, fields map[string]json.RawMessage) *held {
	tools := o.Decoding.Tools
	if o.NoGrammar || o.Format.Name == "generic" || o.Strategy != upstream.Raw || o.Force != nil ||
		len(tools) == 0 || fields["grammar"] != nil || fields["json_schema"] != nil {
		return nil
	}
	h := b.grammars.find(o.Format, tools, o.Request.Single, func(h *held) {
		o.Log.Debug().Str("model", o.Model).Str("format", o.Format.Name).Int("bytes",
			len(h.Text)).Str("open", fmt.Sprint(h.Dropped)).Msg("grammar written")
	})
	b.grammars.mu.Lock()
	defer b.grammars.mu.Unlock()
	if h.Text == "" || slices.Contains(h.refused, o.Model+"\n"+o.Facts.Digest) {
		return nil
	}
	return h
}

// find returns the grammar of the given tools. A grammar that is not stored yet is written and
// passed to the function made. Grammars are stored under the declaration of the model family, which
// a user's own file may change without changing the name, and under the names and schemas of the
// tools.
func (g *grammars) find(f *adapters.Format, tools []chat.Tool, single bool,
	made func(*held)) *held {
	sum := sha256.New()
	// a hash takes everything
	_ = json.NewEncoder(sum).Encode([]any{f.Name, f.Declaration(), single})
	for _, t := range tools {
		_, _ = io.WriteString(sum, t.Name+"\x00"+string(t.Schema)+"\x00")
	}
	return g.Get(sum.Sum(nil), func(string) *held {
		h := &held{Grammar: f.Grammar(tools, single)}
		made(h)
		return h
	})
}

// refuse records that the server did not accept the grammar with the order's model. Other grammars
// are still sent, because one strange schema should not cost the other tools their guarantee.
func (g *grammars) refuse(h *held, o *upstream.Order, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.refused = append(h.refused, o.Model+"\n"+o.Facts.Digest)
	o.Log.Warn().Str("model", o.Model).Str("format", o.Format.Name).Err(why).Msg(
		"the server does not take the grammar of these tools, it writes without one")
}

// watch returns a hook that records a grammar as refused if the reply breaks off because of it.
// Later replies are then not constrained by that grammar. A reply breaks off if the model has a
// token that contains the end of a tag and text that the grammar does not allow after it. The reply
// itself still ends with the error, since its text was sent. llama-server says "Unexpected empty
// grammar stack after accepting piece".
func (g *grammars) watch(h *held, o *upstream.Order) chat.Hook {
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		if err != nil && err != io.EOF && strings.Contains(err.Error(), "grammar") {
			g.refuse(h, o, err)
		}
		return ev, nil
	}
}

// The types of a llama-server's trigger.
const (
	triggerWord    = 1
	triggerPattern = 2
)

// trigger is the point at which a grammar begins to apply, in llama-server's form, as in
// {"type":1,"value":"<tool_call>"}.
type trigger struct {
	Type  int    `json:"type"`
	Value string `json:"value"`
}

// fields adds the grammar to the fields of a request for a continuation. The grammar applies from
// the tag on that opens a call, and text before that is free (grammar_lazy). Where prose may
// mention the tag, a pattern matches it only at the start of a line. The other tags are returned,
// because the server must preserve them: only then is such a tag a single token for the server.
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

// held begins a reply that is constrained by the grammar, and returns its source. If the server
// refuses, held asks again without the grammar, because a grammar makes calls better, but must
// never make a reply fail. If that request succeeds, the grammar was the reason for the refusal. An
// error with a code (too long, no such model) has another reason, so it is returned at once.
func (b *Backend) held(o *upstream.Order, h *held, ask func(*held) (chat.Source, error)) (
	chat.Source, error) {
	src, err := ask(h)
	if h == nil {
		return src, err
	}
	if err == nil {
		return chat.Watch(src, b.grammars.watch(h, o)), nil
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid && f.Kind != fault.Unavailable ||
		f.Code != "" {
		return nil, err
	}
	src, again := ask(nil)
	if again == nil {
		b.grammars.refuse(h, o, err)
	}
	return src, again
}

// continuation returns the body of a request to llama-server's /completion, which continues a
// rendered prompt and does not parse the reply. The prompt ends with the beginning of the forced
// call, if there is one. Otherwise the grammar is added, unless h is nil. The tags of all known
// model families are listed as preserved (about 2 KB), because the server leaves out other control
// tokens, and any of these tags may occur.
func continuation(o *upstream.Order, prompt string, fields map[string]json.RawMessage,
	h *held) map[string]any {
	preserved, fields := o.Format.Tokens(), continuing(fields)
	switch {
	case o.Force != nil:
		prompt += o.Format.Lead(prompt, o.Force.Said, o.Force.Name)
		fields["json_schema"] = o.Force.Schema
	case h != nil:
		preserved = append(slices.Clip(preserved), h.fields(fields)...)
	}
	o.Prompted(prompt, 0)
	return with(fields, map[string]any{"model": o.Model, "prompt": prompt, "stream": true,
		"preserved_tokens": preserved})
}
