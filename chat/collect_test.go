package chat

import "testing"

func TestACallThatNeverEndsIsNotComplete(t *testing.T) {
	var c Collector
	for _, e := range []Event{
		{Kind: Text, Text: "a"},
		{Kind: CallStart, Text: "now"}, {Kind: CallEnd},
		{Kind: CallStart, Text: "f"}, {Kind: CallArgs, Text: `{"x":`},
		{Kind: Usage, Meta: &Meta{Usage: &Counts{Prompt: 3}}},
		{Kind: Finish, Text: Length},
	} {
		if done := c.Add(e); done != (e.Kind == CallEnd) {
			t.Errorf("%v: completed %v", e.Kind, done)
		}
	}
	if done := c.Complete(); len(done) != 1 || done[0].Name != "now" || string(done[0].Args) != "{}" {
		t.Errorf("complete: %+v", done)
	}
	if len(c.Calls) != 2 || !c.Open || string(c.Calls[1].Args) != `{"x":` {
		t.Errorf("open: %v of %+v", c.Open, c.Calls)
	}
	if c.Text.String() != "a" || c.Usage.Prompt != 3 || c.End == nil || c.End.Text != Length {
		t.Errorf("the rest: %+v", c.End)
	}
}
