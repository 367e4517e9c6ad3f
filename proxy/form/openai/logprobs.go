package openai

import "toolnorm/proxy/form"

// logprobs writes the probabilities of a reply's tokens in OpenAI's form.
type logprobs struct{ form.Logprobs }

// appendValue appends the value of the member logprobs with the collected tokens, and then forgets
// these tokens. It appends null if there are none.
func (l *logprobs) appendValue(b []byte) []byte {
	if !l.Any() {
		return append(b, "null"...)
	}
	return append(l.Append(append(b, `{"content":`...)), `,"refusal":null}`...)
}

// appendMember appends the member logprobs if the client wants it. Otherwise it is absent, as in
// OpenAI's replies.
func (l *logprobs) appendMember(b []byte) []byte {
	if !l.Wanted {
		return b
	}
	return l.appendValue(append(b, `,"logprobs":`...))
}
