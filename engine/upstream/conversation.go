package upstream

import (
	"context"
	"fmt"
	"net/http"
)

// ConversationHeader is the header by which a load balancer before several model servers sends all
// requests of a conversation to the same server, which has the prompt in its cache already. The
// value reveals nothing of the conversation's text.
const ConversationHeader = "Toolnorm-Conversation"

// rootPart is how many bytes of a text count for a key, besides its length. A key must cost only
// microseconds however long the texts are, and two conversations with the same key are merely
// spread a little less evenly.
const rootPart = 4 << 10

// Root computes the key of a conversation from the parts that a client repeats with every turn. It
// uses no random seed, so that every replica computes the same key. The zero value has no parts.
type Root struct{ sum uint64 }

// Add includes a part in the hash: its length and its beginning, or all of it if it is short. The
// hash is not cryptographic: a client that forges equal keys only makes the servers' caches less
// useful to itself.
func (r *Root) Add(part string) {
	r.sum = Mix(r.sum ^ uint64(len(part)))
	head := part[:min(len(part), rootPart)]
	for ; len(head) >= 8; head = head[8:] {
		word := uint64(head[0]) | uint64(head[1])<<8 | uint64(head[2])<<16 | uint64(head[3])<<24 |
			// one load
			uint64(head[4])<<32 | uint64(head[5])<<40 | uint64(head[6])<<48 | uint64(head[7])<<56
		r.sum = (r.sum ^ word) * 0x9e3779b97f4a7c15
		r.sum ^= r.sum >> 32
	}
	for i := range len(head) {
		r.sum = (r.sum ^ uint64(head[i])) * 0x9e3779b97f4a7c15
	}
}

// Sum returns the hash of all parts that were added, as a number.
func (r *Root) Sum() uint64 { return Mix(r.sum) }

// Key returns the hash of all parts that were added, as a text of 16 characters.
func (r *Root) Key() string { return fmt.Sprintf("%016x", r.Sum()) }

// Mix mixes a number with SplitMix64, so that similar numbers differ in all of their bits.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// conversation is the context key under which WithConversation stores the key of a conversation.
type conversation struct{}

// WithConversation returns a context with the key of a conversation. Requests to model servers that
// have this context send the key in a header.
func WithConversation(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, conversation{}, key)
}

// Conversation returns the conversation's key in ctx, which WithConversation has stored, or "" if
// ctx has none.
func Conversation(ctx context.Context) string {
	key, _ := ctx.Value(conversation{}).(string)
	return key
}

// setConversation writes the conversation's key in ctx into the header h, if ctx has one.
func setConversation(ctx context.Context, h http.Header) {
	if key := Conversation(ctx); key != "" {
		h[ConversationHeader] = []string{key}
	}
}
