package engine

import (
	"crypto/rand"
	"iter"

	"toolnorm/chat"
)

// idLetters are what an id of ours is made of; 24 of them hold 142 bits.
const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// numbered gives every call of a reply its number and an id that is new in the conversation: the model's own if it
// will do, else a random one.
func numbered(in iter.Seq2[chat.Event, error], history []chat.Message) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		used := map[string]bool{}
		for _, m := range history {
			for _, c := range m.Calls {
				used[c.ID] = true
			}
		}
		calls := 0
		for ev, err := range in {
			switch ev.Kind {
			case chat.CallStart:
				if !goodID(ev.ID) || used[ev.ID] {
					ev.ID = newID()
				}
				used[ev.ID] = true
				ev.Index = calls
				calls++
			case chat.CallArgs, chat.CallEnd:
				ev.Index = calls - 1
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// goodID reports whether every client takes the id.
func goodID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return 1 <= len(id) && len(id) <= 40
}

// newID is "call_" and 24 random letters and digits.
func newID() string {
	id := make([]byte, 0, 29)
	id = append(id, "call_"...)
	for len(id) < cap(id) {
		var b [32]byte
		rand.Read(b[:])
		for _, c := range b {
			if c &= 63; int(c) < len(idLetters) && len(id) < cap(id) {
				id = append(id, idLetters[c])
			}
		}
	}
	return string(id)
}
