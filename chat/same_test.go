package chat

import (
	"encoding/json"
	"testing"
)

func calling(name, args string) Call { return Call{Name: name, Args: json.RawMessage(args)} }

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
		if got := SameCalls([]Call{calling("f", row.a)}, []Call{calling("f", row.b)}); got != row.want {
			t.Errorf("%s and %s: %v", row.a, row.b, got)
		}
	}
	if SameCalls([]Call{calling("f", `{}`)}, []Call{calling("g", `{}`)}) || SameCalls([]Call{calling("f", `{}`)}, nil) {
		t.Error("calls of other tools are the same")
	}
}
