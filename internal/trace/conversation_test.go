package trace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"toolnorm/chat"
)

// TestARequestThatGoesOnIsOfTheSameConversation has many conversations go on in any order, with
// system messages that change, calls and repeated requests: each keeps its id, and its turns are
// counted.
func TestARequestThatGoesOnIsOfTheSameConversation(t *testing.T) {
	for _, seed := range []uint64{1, 9, 4711} {
		r, c := rand.New(rand.NewPCG(seed, 0)), newConversations()
		all, turns, first := make([][]chat.Message, 8), make([]int, 8), make([]string, 8)
		for i := range 500 {
			n := r.IntN(len(all))
			again := turns[n] > 0 && r.IntN(5) == 0
			if !again {
				if turns[n] > 0 {
					call := chat.Call{Name: "f", Args: []byte(fmt.Sprint(r.IntN(3)))}
					all[n] = append(all[n], chat.Message{Role: chat.Assistant, Calls: []chat.Call{call}}, chat.Message{Role: chat.ToolRole, CallID: "c", Content: "done"})
				}
				all[n] = append(all[n], chat.Message{Role: chat.User, Content: fmt.Sprint("question ", n, turns[n])})
				turns[n]++
			}
			asked := append([]chat.Message{{Role: chat.System, Content: fmt.Sprint("it is ", i)}}, all[n]...)
			id := fmt.Sprint("id", i)
			got := c.of(id, asked)
			if first[n] == "" {
				first[n] = id
			}
			if want := (Turn{first[n], turns[n]}); got != want {
				t.Fatalf("seed %d: request %d is %+v, want %+v", seed, i, got, want)
			}
		}
	}
}

func TestConversationsAreForgotten(t *testing.T) {
	c := newConversations()
	user := func(s string) []chat.Message { return []chat.Message{{Role: chat.User, Content: s}} }
	for i := range 2*mostSaid + 1 {
		c.of("id", user(fmt.Sprint(i)))
	}
	if len(c.known) != mostSaid || len(c.order) != mostSaid {
		t.Errorf("%d requests are remembered in %d places, want %d", len(c.known), len(c.order), mostSaid)
	}
	if got := c.of("new", user("0")); got.Conversation != "new" {
		t.Errorf("the oldest request is remembered: %+v", got)
	}
	if got := c.of("new", nil); got != (Turn{}) {
		t.Errorf("nothing was said, and it is %+v", got)
	}
	// Where one text ends and the next begins is part of what was said.
	c.of("a", []chat.Message{{Role: chat.User, Content: "ab"}})
	if got := c.of("b", []chat.Message{{Role: chat.User, Content: "a", CallID: "b"}}); got.Conversation != "b" {
		t.Errorf("other messages are the same conversation: %+v", got)
	}
}
