package golden

import (
	"fmt"
	"iter"
	"math/rand"

	"toolnorm/chat"
)

// Source returns a reply that arrives in those pieces and then ends for the reason finish. Each
// piece is one event, as each token of a server is. An empty finish is a stream that ends without a
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

// longText is from how many bytes on a text is not cut at every place.
// Two pieces at every place is quadratic in the text: 3,000 bytes are 9 MB to read, in each degree.
const longText = 3000

// Cuts yields the ways in which a text has to give the same events, with a name for each: byte by
// byte, in two at every n-th place from place k on (of texts below 3,000 bytes), and in eight
// random ways. A test that reads a text in n ways gives each of them a k, so
// that together they cut it everywhere; n is 1 for all places.
//
// Byte by byte finds code that decides before it has seen enough, two pieces name the place, random
// ones find what depends on two cuts at once. Cuts go through the middle of characters, as tokens
// do. They are the same each time (seed 1), so that a failure can be looked at again.
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
