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

// byTokens reports whether the reply's text is to be read from the tokens that the server sends,
// because the server parses the reply itself. A forced call, which is only JSON, does not need
// this: it has no tags, and no parser can abort it.
func byTokens(o *upstream.Order) bool {
	return o.Force == nil &&
		(o.Strategy == upstream.Tokens || o.Strategy == upstream.Prompt && o.Facts.NamesMarks)
}

// tokens has a server continue the rendered prompt in q, and returns the reply's text taken from
// its tokens. The server also parses the reply, because only then does it show control tokens. If
// its parser fails, the rest is requested as raw text, which continues the prompt and the reply so
// far. That costs little, because the server has both in its cache. qwen3-coder's parser broke off
// 17 of 42 test replies, nearly all of them when only the end of a call was missing. tokens returns
// an error if the server refuses the request.
func (b *Backend) tokens(ctx context.Context, o *upstream.Order, q *GenerateRequest, tail string) (
	chat.Source, error) {
	rest := func(said string, tokens int) (chat.Source, error) {
		r := *q
		r.Prompt += said
		r.Options = spent(q.Options, tokens)
		return b.Generate(ctx, o.Pulse, &r)
	}
	src, err := b.Tokens(ctx, o.Pulse, q)
	if f := fault.From(err); err != nil && f.Kind == fault.Unavailable && f.Cause == nil &&
		f.Curable {
		return rest("", 0) // the server's reading failed at the first token
	}
	if err != nil {
		return nil, err
	}
	return &tokens{Source: src, o: o, tail: tail, rest: rest}, nil
}

// spent returns the options for the rest of a reply that already has the given number of tokens,
// because the client's limit is for the whole reply. At least one token is requested, since 0 means
// no limit to the server. If the client sets no limit, the options are returned unchanged.
func spent(options map[string]json.RawMessage, tokens int) map[string]json.RawMessage {
	n, err := strconv.Atoi(string(options["num_predict"]))
	if err != nil || n <= 0 {
		return options
	}
	return upstream.WithOption(options, "num_predict", max(n-tokens, 1))
}

// tokens is a reply that the server parses itself, as far as it can. The server gives up at a text
// that its parser does not accept, usually near the end of a call. The text before that is known
// token by token, so nothing is lost.
//
// With Gemma 4, whose tags are control tokens, the first line arrives with this strategy, and the
// second as raw text:
//
//	<|channel>thought\n…<channel|><|tool_call>call:get_weather{days:3,city:<|"|>Lugano<|"|>}<tool_call|>
//	thought\n…call:get_weather{days:3,city:Lugano}
type tokens struct {
	chat.Source
	o    *upstream.Order
	tail string // end of the prompt; it may have an opening tag that the reply continues
	rest func(said string, tokens int) (chat.Source, error)

	// all text so far, which a continuation needs; the only place where a reply is kept
	said  strings.Builder
	begun int          // tokens before the rest, as soon as the rest is raw
	over  []chat.Event // the last events of a reply that is over
}

// Next implements chat.Source: it returns the next event, or the error of the server's stream. If
// the server's parser gave up after a complete call, the call is kept and the reply ends, because a
// model that went on could write the call again. If the parser gave up anywhere else, the model
// continues after what it has written.
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

// goOn returns the next event of a reply that the server has stopped parsing. If the text so far
// has a whole call, or if the model cannot continue it, the reply ends. Otherwise goOn requests raw
// text with which the model continues, and returns its first event. The text so far may lack the
// end of a call, such as </tool_call>, because the server did not show it; the model then writes it
// again. The error is that of the new stream.
func (s *tokens) goOn(end chat.Event) (chat.Event, error) {
	log := s.o.Log.Debug().Str("model", s.o.Model).Str("says", chat.MetaOf(end).Cause).Int("bytes",
		s.said.Len())
	if s.whole(end) {
		log.Msg("the server gave up its own reading of a call that is whole")
		return s.stop(end)
	}
	log.Msg("the server gave up its own reading: the model goes on in raw text")
	_ = s.Source.Close() // it has ended
	src, err := s.rest(s.said.String(), s.begun)
	if err != nil {
		return s.stop(end) // the text so far may be enough; otherwise the server's reason counts
	}
	s.Source = src
	return s.Next()
}

// stop ends the reply with estimated token counts, because a server that gives up sends none. It
// returns the event with the counts, and the next call of Next returns the end. The error is always
// nil.
func (s *tokens) stop(end chat.Event) (chat.Event, error) {
	s.over = []chat.Event{end}
	counts := &chat.Counts{Prompt: s.o.Estimate, Completion: s.begun, Estimated: true}
	return chat.Event{Kind: chat.Usage, Meta: &chat.Meta{Usage: counts}}, nil
}

// counted returns the event ev with counts for the whole reply. The counts in ev are those of the
// last part, which was requested as raw text. The earlier text was in the prompt of that request,
// and would be counted there a second time. Clients show these counts, and compact a conversation
// by them.
func (s *tokens) counted(ev chat.Event) chat.Event {
	meta, counts := chat.MetaOf(ev), *ev.Meta.Usage
	counts.Prompt, counts.Completion = max(counts.Prompt-s.begun, 0), counts.Completion+s.begun
	meta.Usage, ev.Meta = &counts, &meta
	return ev
}

// whole reports whether the text so far is a reply with calls that are all complete. It decodes the
// text once more, at most once for each reply. How much text a client wants held back (Hold) does
// not matter, since nothing is sent.
func (s *tokens) whole(end chat.Event) bool {
	said := chat.Fixed{{Kind: chat.Text, Text: s.said.String()}, end}
	how := s.o.Decoding
	how.Prompt, how.Hold, how.Control = s.tail, 0, nil // the text is decoded in one piece here
	var reply chat.Collector
	for ev := range s.o.Format.Decode(&said, how) {
		reply.Add(ev)
	}
	return len(reply.Complete()) > 0 && reply.End != nil && reply.End.Text == chat.Stop
}
