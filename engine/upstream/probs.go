package upstream

import (
	"github.com/valyala/fastjson"

	"toolnorm/chat"
)

// Probs gathers the tokens of a reply, with their probabilities, until there is text that they belong to. The server
// may hold text back, so that tokens come first.
type Probs struct {
	Tokens []chat.Token
}

// Take gives the tokens that have gathered, nil when there are none. They are given out once.
func (p *Probs) Take() *chat.Meta {
	if len(p.Tokens) == 0 {
		return nil
	}
	m := &chat.Meta{Logprobs: p.Tokens}
	p.Tokens = nil
	return m
}

// Token reads one entry. Both wires write it alike:
//
//	{"token":" Paris","logprob":-0.02,"bytes":[32,80,97,114,105,115],"top_logprobs":[…]}
func Token(v *fastjson.Value) chat.Token {
	t := chat.Token{Text: string(v.GetStringBytes("token")), Logprob: v.GetFloat64("logprob")}
	for _, b := range v.GetArray("bytes") {
		t.Bytes = append(t.Bytes, byte(b.GetInt()))
	}
	for _, other := range v.GetArray("top_logprobs") {
		t.Top = append(t.Top, Token(other))
	}
	return t
}
