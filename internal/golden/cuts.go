package golden

import (
	"fmt"
	"io"
	"iter"
	"math/rand"

	"toolnorm/chat"
)

// source delivers a text in pieces, and how the reply ended.
// Each piece is one event, as each token of a server is.
type source struct {
	pieces []string
	finish string
}

var _ chat.Source = (*source)(nil)

// Source is a reply that arrives in those pieces and then ends for the reason finish.
// No piece is empty unless it is given so; an empty finish is a stream that ends without a reason.
func Source(pieces []string, finish string) chat.Source { return &source{pieces, finish} }

// Next gives the next piece.
func (s *source) Next() (e chat.Event, err error) {
	switch {
	case len(s.pieces) > 0:
		e = chat.Event{Kind: chat.Text, Text: s.pieces[0]}
		s.pieces = s.pieces[1:]
	case s.finish != "":
		e = chat.Event{Kind: chat.Finish, Text: s.finish}
		s.finish = ""
	default:
		err = io.EOF
	}
	return e, err
}

// Close has nothing to stop.
func (s *source) Close() error { return nil }

// longText is from how many bytes on a text is not cut at every place.
// Two pieces at every place is quadratic in the text: 3,000 bytes are 9 MB to read, in each degree.
const longText = 3000

// Cuts yields the ways in which a text has to give the same events, with a name for each: byte by byte, in two at every
// place (of texts below 3,000 bytes), and in eight random ways that are the same every time.
// Byte by byte finds code that decides before it has seen enough, two pieces name the place, random ones find what depends on
// two cuts at once. Cuts go through the middle of characters, as tokens do.
// They are the same each time (seed 1), so that a failure can be looked at again.
func Cuts(text string) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		if !yield("byte by byte", Bytes(text)) {
			return
		}
		for i := 0; i < len(text) && len(text) < longText; i++ {
			if !yield(fmt.Sprintf("cut at %d", i), []string{text[:i], text[i:]}) {
				return
			}
		}
		r := rand.New(rand.NewSource(1))
		for range 8 {
			if !yield("random cuts", Random(text, r)) {
				return
			}
		}
	}
}

// Bytes cuts a text into its bytes.
// Characters of several bytes come apart, as they do between tokens.
func Bytes(text string) []string {
	out := make([]string, len(text))
	for i := range len(text) {
		out[i] = text[i : i+1]
	}
	return out
}

// Random cuts a text into pieces of one to nine bytes.
func Random(text string, r *rand.Rand) []string {
	var out []string
	for text != "" {
		n := min(1+r.Intn(9), len(text))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}
