package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRepliesAreKeptForTheirOwnerAndNotForLong(t *testing.T) {
	now := time.Now()
	s := &Replies{now: func() time.Time { return now }}
	item := json.RawMessage(`{"type":"message","id":"msg_A_0","role":"assistant","content":"a"}`)
	s.keep(&keptReply{id: "resp_A", owner: "me", object: json.RawMessage(`{}`), items: []json.RawMessage{[]byte(`{"id":"msg_A_0"}`), item}, output: 1})
	if got, ok := s.item("msg_A_0", "me"); !ok || string(got) != string(item) {
		t.Errorf("the item is %s, %v; an item of the input is none of the reply's", got, ok)
	}
	if _, ok := s.find("resp_A", "another"); ok || s.remove("resp_A", "another") {
		t.Error("another found the reply")
	}
	now = now.Add(keepFor)
	if _, ok := s.find("resp_A", "me"); ok {
		t.Error("the reply outlived its time")
	}
	s.keep(&keptReply{id: "resp_B", owner: "me"})
	if len(s.byID) != 1 || s.order.Len() != 1 {
		t.Errorf("%d replies are kept, want the new one", len(s.byID))
	}
	if !s.remove("resp_B", "me") || s.remove("resp_B", "me") || s.bytes != 0 {
		t.Errorf("removed, and %d bytes are left", s.bytes)
	}
}

func TestTheOldestRepliesAreDropped(t *testing.T) {
	s := &Replies{}
	for i := range mostKept + 5 {
		s.keep(&keptReply{id: fmt.Sprint("resp_", i)})
	}
	if _, ok := s.find("resp_4", ""); ok || len(s.byID) != mostKept {
		t.Errorf("%d replies are kept", len(s.byID))
	}
	large := json.RawMessage(strings.Repeat("x", mostBytes/2+1))
	s.keep(&keptReply{id: "resp_x", items: []json.RawMessage{large}})
	s.keep(&keptReply{id: "resp_y", items: []json.RawMessage{large}})
	if _, ok := s.find("resp_y", ""); !ok || len(s.byID) != 1 || s.bytes > mostBytes {
		t.Errorf("%d replies of %d bytes are kept", len(s.byID), s.bytes)
	}
}

// One caller's crowd of replies takes nothing from another, whatever it is large by.
func TestEachCallerHasAShare(t *testing.T) {
	for name, size := range map[string]int{"many": 10, "large": 100_000} {
		var s Replies
		s.keep(&keptReply{id: "resp_ann", owner: "ann", object: json.RawMessage(strings.Repeat("x", 1000))})
		for i := range 1500 {
			s.keep(&keptReply{id: fmt.Sprint("resp_bob", i), owner: "bob", object: json.RawMessage(strings.Repeat("x", size))})
		}
		if _, ok := s.find("resp_ann", "ann"); !ok {
			t.Errorf("%s: ann's reply is gone", name)
		}
		if _, ok := s.find("resp_bob1499", "bob"); !ok {
			t.Errorf("%s: bob's last reply is gone", name)
		}
		if s.order.Len() > mostKept || s.bytes > mostBytes || s.shares["bob"].replies != s.order.Len()-1 {
			t.Errorf("%s: %d replies, %d bytes, %v", name, s.order.Len(), s.bytes, s.shares)
		}
	}
}
