package openai

import "toolnorm/proxy/form"

// logprobs writes the probabilities of a reply's tokens as OpenAI does.
type logprobs struct{ form.Logprobs }

// appendValue appends the member's value, and forgets the tokens that it has written.
func (l *logprobs) appendValue(b []byte) []byte {
	if !l.Any() {
		return append(b, "null"...)
	}
	return append(l.Append(append(b, `{"content":`...)), `,"refusal":null}`...)
}

// appendMember appends the member if the client wants it; otherwise it is absent, as in OpenAI's
// replies.
func (l *logprobs) appendMember(b []byte) []byte {
	if !l.Wanted {
		return b
	}
	return l.appendValue(append(b, `,"logprobs":`...))
}
