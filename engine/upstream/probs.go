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
