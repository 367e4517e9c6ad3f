package form

import (
	"fmt"
	"strconv"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/proxy/field"
)

// Logprobs collects the probabilities of a reply's tokens until they can be written. An entry is
// {"token":…,"logprob":…,"bytes":[…],"top_logprobs":[…]}, in OpenAI's API and in Ollama's.
type Logprobs struct {
	Wanted  bool
	entries []byte // joined by commas
}

// Note adds the tokens of an event's Meta, if the client wants them.
func (l *Logprobs) Note(m *chat.Meta) {
	if !l.Wanted || m == nil {
		return
	}
	for _, t := range m.Logprobs {
		if len(l.entries) > 0 {
			l.entries = append(l.entries, ',')
		}
		l.entries = append(appendToken(l.entries, t), `,"top_logprobs":[`...)
		for i, other := range t.Top {
			if i > 0 {
				l.entries = append(l.entries, ',')
			}
			l.entries = append(appendToken(l.entries, other), '}')
		}
		l.entries = append(l.entries, "]}"...)
	}
}

// Any reports whether there are tokens that were not written yet.
func (l *Logprobs) Any() bool { return len(l.entries) > 0 }

// Append appends the collected tokens to b, as an array, and forgets them. In a stream a token may
// be written earlier than its text, if the text is held back.
func (l *Logprobs) Append(b []byte) []byte {
	b = append(append(append(b, '['), l.entries...), ']')
	l.entries = l.entries[:0]
	return b
}

// maxTop is the most alternative tokens that both APIs show for each token.
const maxTop = 20

// TopLogprobs returns a function that reads the field that says how many of the likeliest tokens
// are wanted, and stores that number in the variable to which the parameter points.
func TopLogprobs(to *int) func(*fastjson.Value) error {
	return field.Between(to, 0, maxTop, fmt.Sprintf("must be between 0 and %d", maxTop))
}

// appendToken appends the JSON entry of one token, without the closing brace. The entry has the
// token's bytes as well as its text, because a token may begin or end inside a character. The bytes
// are null if the server does not send them.
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
