package openai

import (
	"strconv"

	"toolnorm/chat"
)

// logprobs gathers what is known of a reply's tokens until it can be written.
// An entry is {"token":…,"logprob":…,"bytes":[…],"top_logprobs":[…]}. A stream forgets those that it has
// written in a chunk.
type logprobs struct {
	wanted bool
	tokens []byte // OpenAI's entries, joined by commas
}

// note takes an event's tokens.
// Only requests without tools get here with wanted set: see settleLogprobs.
func (l *logprobs) note(m *chat.Meta) {
	if !l.wanted || m == nil {
		return
	}
	for _, t := range m.Logprobs {
		if len(l.tokens) > 0 {
			l.tokens = append(l.tokens, ',')
		}
		l.tokens = append(appendToken(l.tokens, t), `,"top_logprobs":[`...)
		for i, other := range t.Top {
			if i > 0 {
				l.tokens = append(l.tokens, ',')
			}
			l.tokens = append(appendToken(l.tokens, other), '}')
		}
		l.tokens = append(l.tokens, "]}"...)
	}
}

// appendValue appends the member's value, and forgets what it has told.
// Text that is held back in a stream may leave its tokens in the chunk before: together they are all of them.
func (l *logprobs) appendValue(b []byte) []byte {
	if len(l.tokens) == 0 {
		return append(b, "null"...)
	}
	b = append(append(b, `{"content":[`...), l.tokens...)
	l.tokens = l.tokens[:0]
	return append(b, `],"refusal":null}`...)
}

// appendMember appends the member, if it is wanted.
// Unasked it is absent, as in OpenAI's replies.
func (l *logprobs) appendMember(b []byte) []byte {
	if !l.wanted {
		return b
	}
	return l.appendValue(append(b, `,"logprobs":`...))
}

// appendToken appends one entry, its object left open.
// A token may begin or end inside a character, which its text cannot show; its bytes can, and are null where
// the server does not tell them.
func appendToken(b []byte, t chat.Token) []byte {
	b = chat.AppendQuoted(append(b, `{"token":`...), t.Text)
	b = strconv.AppendFloat(append(b, `,"logprob":`...), t.Logprob, 'g', -1, 64)
	b = append(b, `,"bytes":`...)
	if t.Bytes == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, c := range t.Bytes {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(c), 10)
	}
	return append(b, ']')
}
