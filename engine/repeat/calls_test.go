package repeat

import (
	"encoding/json"
	"testing"

	"toolnorm/chat"
)

func calling(name, args string) chat.Call { return chat.Call{Name: name, Args: json.RawMessage(args)} }

// TestCallsAreTheSameHoweverTheyAreSpelled has spellings of one value, and values that differ.
func TestCallsAreTheSameHoweverTheyAreSpelled(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2]}`, `{ "b" : [2], "a" : 1 }`, true},
		{``, `{}`, true},
		{` `, ``, true},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{`{"a":"\u0041"}`, `{"a":"A"}`, true},
		{`{"a":`, `{"a":`, true},
		{`{"a":`, `{"b":`, false},
	} {
		if got := Same([]chat.Call{calling("f", row.a)}, []chat.Call{calling("f", row.b)}); got != row.want {
			t.Errorf("%s and %s: %v", row.a, row.b, got)
		}
	}
	if Same([]chat.Call{calling("f", `{}`)}, []chat.Call{calling("g", `{}`)}) || Same([]chat.Call{calling("f", `{}`)}, nil) {
		t.Error("calls of other tools are the same")
	}
}

// TestARoundIsFound counts how many calls of a sequence are let through.
func TestARoundIsFound(t *testing.T) {
	for calls, want := range map[string]int{"aaaaaa": 3, "abababab": 6, "abcabcabcabc": 9, "aabbaabb": 8, "abcdeabcdeabcdeabcdeabcde": 25} {
		c := Calls{Most: 3}
		n := 0
		for _, name := range calls {
			if c.Add(calling(string(name), `{}`)) {
				break
			}
			n++
		}
		if n != want {
			t.Errorf("%s: %d calls, want %d", calls, n, want)
		}
	}
}
