package golden

import (
	"fmt"
	"iter"
	"math/rand"

	"toolnorm/chat"
)

// Source returns a reply that arrives in the given pieces and then ends for the reason finish. Each
// piece is one event, as is each token of a server. With an empty finish the stream ends without a
// reason.
func Source(pieces []string, finish string) chat.Source {
	events := make(chat.Fixed, 0, len(pieces)+1)
	for _, p := range pieces {
		events = append(events, chat.Event{Kind: chat.Text, Text: p})
	}
	if finish != "" {
		events = append(events, chat.Event{Kind: chat.Finish, Text: finish})
	}
	return &events
}

// longText is the length in bytes from which a text is not split at every place. Splitting in two
// at every place takes quadratic time: for 3,000 bytes, 9 MB are read in each degree.
const longText = 3000

// Cuts yields ways to split a text that must all give the same events, each with a name. They are
// single bytes, two pieces at every n-th place starting with k (if the text is shorter than
// longText), and eight times random pieces. With n = 1, the two pieces are cut at all places. A
// test that decodes the text several times in different modes can pass the number of modes as n and
// another k for each mode, so that each place is tried once.
//
// Single bytes reveal code that decides too early, two pieces name the place, and random pieces
// reveal what depends on two splits. Splits may be inside characters, as between tokens. The random
// ones are the same each time (seed 1), so that a failure can be reproduced.
func Cuts(text string, k, n int) iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		if !yield("byte by byte", Bytes(text)) {
			return
		}
		for i := k % n; i < len(text) && len(text) < longText; i += n {
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

// Bytes returns each byte of a text as a text of its own. It splits characters of several bytes,
// because the tokens of a model can do so as well.
func Bytes(text string) []string {
	out := make([]string, len(text))
	for i := range len(text) {
		out[i] = text[i : i+1]
	}
	return out
}

// Random splits a text into pieces of one to nine bytes.
func Random(text string, r *rand.Rand) []string {
	var out []string
	for text != "" {
		n := min(1+r.Intn(9), len(text))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}
