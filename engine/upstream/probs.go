package upstream

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// probs gathers the tokens of a reply, with their probabilities, until there is text that they belong to. The server
// may hold text back, so that tokens come first.
type probs struct {
	tokens []chat.Token
}

// record takes the tokens of the record v, whose message is m, and gives those that are known to the text that was queued
// for it. The tokens of thinking are nobody's.
func (p *probs) record(s *stream, v, m *fastjson.Value) {
	text := len(m.GetStringBytes("content")) > 0
	if text || len(m.GetStringBytes("thinking")) == 0 {
		for _, t := range v.GetArray("logprobs") {
			p.tokens = append(p.tokens, token(t))
		}
	}
	if text {
		s.queue[len(s.queue)-1].Meta = p.take()
	}
}

// take gives the tokens that have gathered, nil when there are none.
func (p *probs) take() *chat.Meta {
	if len(p.tokens) == 0 {
		return nil
	}
	m := &chat.Meta{Logprobs: p.tokens}
	p.tokens = nil
	return m
}

// token reads one entry.
func token(v *fastjson.Value) chat.Token {
	t := chat.Token{Text: string(v.GetStringBytes("token")), Logprob: v.GetFloat64("logprob")}
	for _, b := range v.GetArray("bytes") {
		t.Bytes = append(t.Bytes, byte(b.GetInt()))
	}
	for _, other := range v.GetArray("top_logprobs") {
		t.Top = append(t.Top, token(other))
	}
	return t
}
