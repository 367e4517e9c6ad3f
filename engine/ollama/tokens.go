package ollama

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// byTokens reports whether the order's text is taken from the tokens of a reply that the server
// parses itself. A reply that must be JSON has no marks, so raw text is enough for it, and no
// parser can abort it.
func byTokens(o *upstream.Order) bool {
	return o.Force == nil && (o.Strategy == upstream.Tokens || o.Strategy == upstream.Prompt && o.Facts.NamesMarks)
}

// tokens has the rendered prompt continued by a server that reads the reply itself, of which only
// the tokens are taken. Where that reading fails, the rest comes as raw text: the prompt with what
// was said is a continuation, which the server's prefix cache already holds. Seen with scripts:
// qwen3-coder's parser breaks 17 of 42 replies off, nearly all after the whole body of the call.
func (b *Backend) tokens(ctx context.Context, o *upstream.Order, q *GenerateRequest, tail string) (chat.Source, error) {
	rest := func(said string, tokens int) (chat.Source, error) {
		r := *q
		r.Prompt += said
		r.Options = spent(q.Options, tokens)
		return b.Generate(ctx, o.Pulse, &r)
	}
	src, err := b.Tokens(ctx, o.Pulse, q)
	if f := fault.From(err); err != nil && f.Kind == fault.Unavailable && f.Cause == nil && f.Curable {
		return rest("", 0) // it failed at the first token
	}
	if err != nil {
		return nil, err
	}
	return &tokens{Source: src, o: o, tail: tail, rest: rest}, nil
}

// spent returns the options for the rest of a reply that has so many tokens already: the client's
// limit is for the whole reply. One token at least is asked for, since 0 means no limit to the
// server. Without a limit of the client's there is nothing to reduce.
func spent(options map[string]json.RawMessage, tokens int) map[string]json.RawMessage {
	n, err := strconv.Atoi(string(options["num_predict"]))
	if err != nil || n <= 0 {
		return options
	}
	return upstream.WithOption(options, "num_predict", max(n-tokens, 1))
}

// tokens is a reply of which the server reads the beginning itself, and perhaps all. It gives up at
// a text that its parser does not take, near the end of a call mostly; what was said until then is
// known token by token, so nothing of it is lost.
//
// What arrives of Gemma 4 with this strategy and with raw text, where the marks are control tokens:
//
//	<|channel>thought\n…<channel|><|tool_call>call:get_weather{days:3,city:<|"|>Lugano<|"|>}<tool_call|>
//	thought\n…call:get_weather{days:3,city:Lugano}
type tokens struct {
	chat.Source
	o    *upstream.Order
	tail string // of the prompt: it may end with a mark that the reply begins inside of
	rest func(said string, tokens int) (chat.Source, error)

	said  strings.Builder // all text so far, which a continuation needs; the one place where a reply is kept
	begun int             // tokens of the server's own reading, once the rest is raw
	over  []chat.Event    // what is left of a reply that is over
}

// Next passes the next event on. If the server's parser gave up, a complete call is kept and ends
// the reply; else the model continues after what it has written. Continuing after a complete call
// could make the model write it again.
func (s *tokens) Next() (chat.Event, error) {
	if len(s.over) > 0 {
		ev := s.over[0]
		s.over = s.over[1:]
		return ev, nil
	}
	ev, err := s.Source.Next()
	switch {
	case err != nil:
	case ev.Kind == chat.Text:
		s.said.WriteString(ev.Text)
	case ev.Kind == chat.Usage && ev.Meta.Usage.Estimated:
		s.begun = ev.Meta.Usage.Completion
		return s.Next()
	case ev.Kind == chat.Usage && s.begun > 0:
		return s.counted(ev), nil
	case ev.Kind == chat.Finish && ev.Text == chat.Abandoned:
		return s.goOn(ev)
	}
	return ev, err
}

// goOn continues a reply that the server has given up. Its closing token was not shown, so the
// model writes that once more.
func (s *tokens) goOn(end chat.Event) (chat.Event, error) {
	log := s.o.Log.Debug().Str("model", s.o.Model).Str("says", chat.MetaOf(end).Cause).Int("bytes", s.said.Len())
	if s.whole(end) {
		log.Msg("the server gave up its own reading of a call that is whole")
		return s.stop(end)
	}
	log.Msg("the server gave up its own reading: the model goes on in raw text")
	_ = s.Source.Close() // it has ended
	src, err := s.rest(s.said.String(), s.begun)
	if err != nil {
		return s.stop(end) // what stands may be enough; else it is the server's reason that counts
	}
	s.Source = src
	return s.Next()
}

// stop ends the reply with what it cost, as far as that is known: a server that gives up sends no
// counts.
func (s *tokens) stop(end chat.Event) (chat.Event, error) {
	s.over = []chat.Event{end}
	counts := &chat.Counts{Prompt: s.o.Estimate, Completion: s.begun, Estimated: true}
	return chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: counts}}, nil
}

// counted returns the counts of the raw rest as those of the whole reply: what was said before was
// a part of its prompt, and would be counted there a second time. Clients show these counts, and
// compact a conversation by them.
func (s *tokens) counted(ev chat.Event) chat.Event {
	meta, counts := chat.MetaOf(ev), *ev.Meta.Usage
	counts.Prompt, counts.Completion = max(counts.Prompt-s.begun, 0), counts.Completion+s.begun
	meta.Usage, ev.Meta = &counts, &meta
	return ev
}

// whole reports whether what was said is a reply with calls of which none is cut. The text is
// decoded once more for it, which happens once a reply at most; how long a call is held does not
// matter, since nothing of it is sent.
func (s *tokens) whole(end chat.Event) bool {
	said := chat.Fixed{{Kind: chat.Text, Text: s.said.String()}, end}
	how := s.o.Decoding
	how.Prompt, how.Hold, how.Control = s.tail, 0, nil // the text is one piece here
	var reply chat.Collector
	for ev := range s.o.Format.Decode(&said, how) {
		reply.Add(ev)
	}
	return len(reply.Complete()) > 0 && reply.End != nil && reply.End.Text == chat.Stop
}
