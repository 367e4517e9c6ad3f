package openai

import "toolnorm/proxy/form"

// logprobs is what is known of a reply's tokens, as OpenAI writes it.
type logprobs struct{ form.Logprobs }

// appendValue appends the member's value, and forgets what it has told.
func (l *logprobs) appendValue(b []byte) []byte {
	if !l.Any() {
		return append(b, "null"...)
	}
	return append(l.Append(append(b, `{"content":`...)), `,"refusal":null}`...)
}

// appendMember appends the member, if it is wanted.
// Unasked it is absent, as in OpenAI's replies.
func (l *logprobs) appendMember(b []byte) []byte {
	if !l.Wanted {
		return b
	}
	return l.appendValue(append(b, `,"logprobs":`...))
}
