package engine

import (
	"errors"
	"iter"
	"regexp"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// given yields events, then an error if there is one.
func given(err error, events ...chat.Event) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(chat.Event{}, err)
		}
	}
}

// short writes events in one line: text as it is, other kinds as [kind].
func short(in iter.Seq2[chat.Event, error]) string {
	var b strings.Builder
	for e, err := range in {
		switch {
		case err != nil:
			b.WriteString("[" + err.Error() + "]")
		case e.Kind == chat.Text:
			b.WriteString(e.Text)
		default:
			b.WriteString("[" + e.Kind.String() + "]")
		}
	}
	return b.String()
}

// TestStops cuts each text in every two places and byte by byte; the result must not depend on
// that.
func TestStops(t *testing.T) {
	for _, row := range []struct {
		stops      []string
		text, want string
	}{
		{[]string{"END"}, "one END two", "one [usage][finish]"},
		{[]string{"END"}, "one EN two", "one EN two[finish]"},
		{[]string{"END"}, "one EN", "one EN[finish]"},
		{[]string{"aab"}, "aaab", "a[usage][finish]"},
		{[]string{"\n\n"}, "a\nb\n\nc", "a\nb[usage][finish]"},
		{[]string{"xyz", "yz"}, "wxyz", "w[usage][finish]"},
		{[]string{"abcd", "bc"}, "abcx", "a[usage][finish]"},
		{[]string{"abcd", "bc"}, "abcd", "a[usage][finish]"},
		{[]string{"。"}, "日本。語", "日本[usage][finish]"},
		{[]string{"", "b"}, "abc", "a[usage][finish]"},
		{[]string{"abc"}, "abc", "[usage][finish]"},
	} {
		var cuts [][]string
		for i := range len(row.text) + 1 {
			for j := i; j <= len(row.text); j++ {
				cuts = append(cuts, []string{row.text[:i], row.text[i:j], row.text[j:]})
			}
		}
		cuts = append(cuts, strings.Split(row.text, ""))
		for _, parts := range cuts {
			var events []chat.Event
			for _, p := range parts {
				events = append(events, chat.Event{Kind: chat.Text, Text: p})
			}
			events = append(events, chat.Event{Kind: chat.Finish})
			if got := short(stopAtStops(stopping(row.stops...), chat.Counts{}, given(nil, events...))); got != row.want {
				t.Errorf("stops %q, text %q: %q, want %q", row.stops, parts, got, row.want)
			}
		}
	}
}

// stopping is a request with tools and stop sequences.
func stopping(stops ...string) *chat.Request {
	return &chat.Request{Stop: stops, Tools: []chat.Tool{weather}}
}

func TestStopsDoNotReachAcrossOtherEvents(t *testing.T) {
	text := func(s string) chat.Event { return chat.Event{Kind: chat.Text, Text: s} }
	in := given(errors.New("broken"), text("E"), chat.Event{Kind: chat.CallStart}, text("ND E"))
	if got := short(stopAtStops(stopping("END"), chat.Counts{}, in)); got != "E[call]ND E[broken]" {
		t.Errorf("got %q", got)
	}
}

func TestTheEndNamesTheSequenceThatStopped(t *testing.T) {
	r := &chat.Request{Stop: []string{"xyz", "yz"}, TellStop: true}
	for e := range stopAtStops(r, chat.Counts{}, given(nil, chat.Event{Kind: chat.Text, Text: "wx"}, chat.Event{Kind: chat.Text, Text: "yz!"})) {
		if e.Kind == chat.Finish && (e.Meta == nil || e.Meta.Stopped != "xyz") {
			t.Errorf("stopped by %+v", e.Meta)
		}
	}
}

// The tokens of such a reply are estimated: clients bill by them, and shorten conversations by
// their number.
func TestAReplyThatASequenceEndedHasItsTokensCounted(t *testing.T) {
	r := &chat.Request{Messages: []chat.Message{{Role: chat.User, Content: strings.Repeat("word ", 80)}}, Stop: []string{"END"}, TellStop: true}
	var counts *chat.Counts
	for e := range stopAtStops(r, chat.Counts{Prompt: 5, Completion: 1}, given(nil, chat.Event{Kind: chat.Reasoning, Text: strings.Repeat("t", 20)}, chat.Event{Kind: chat.Text, Text: strings.Repeat("w", 17) + "END and more"})) {
		if e.Kind == chat.Usage {
			counts = e.Meta.Usage
		}
	}
	if counts == nil || counts.Prompt < 100 || counts.Completion != 14 || !counts.Estimated {
		t.Errorf("counted %+v: the thought, the text and the sequence are 49 bytes, and a token was spent before", counts)
	}
}

func TestStopsHoldOnlyWhatMayBecomeOne(t *testing.T) {
	var pieces []string
	in := given(nil, chat.Event{Kind: chat.Text, Text: "a E"}, chat.Event{Kind: chat.Text, Text: "N"}, chat.Event{Kind: chat.Text, Text: "X b"})
	for e := range stopAtStops(stopping("END"), chat.Counts{}, in) {
		pieces = append(pieces, e.Text)
	}
	if got := strings.Join(pieces, "|"); got != "a |ENX b" {
		t.Errorf("pieces %q", got)
	}
}

func TestCallIDs(t *testing.T) {
	call := func(id string) chat.Event { return chat.Event{Kind: chat.CallStart, ID: id, Index: 9} }
	history := []chat.Message{{Role: chat.Assistant, Calls: []chat.Call{{ID: "old"}}}}
	ids := []string{"functions.f:0", "abc-1_X", "old", "", "abc-1_X", strings.Repeat("x", 41), strings.Repeat("y", 40)}
	var events []chat.Event
	for _, id := range ids {
		events = append(events, call(id), chat.Event{Kind: chat.CallArgs, Index: 9}, chat.Event{Kind: chat.CallEnd, Index: 9})
	}
	ours := regexp.MustCompile(`^call_[0-9A-Za-z]{24}$`)
	kept := []bool{false, true, false, false, false, false, true}
	seen, n := map[string]bool{}, 0
	for e := range numberCalls(&chat.Request{Messages: history}, given(nil, events...)) {
		if e.Index != n/3 {
			t.Errorf("event %d has index %d", n, e.Index)
		}
		if n++; e.Kind != chat.CallStart {
			continue
		}
		if kept[e.Index] != (e.ID == ids[e.Index]) || !kept[e.Index] && !ours.MatchString(e.ID) {
			t.Errorf("call %d with id %q got %q", e.Index, ids[e.Index], e.ID)
		}
		if seen[e.ID] {
			t.Errorf("id %q came twice", e.ID)
		}
		seen[e.ID] = true
	}
}

func TestEveryReplyEnds(t *testing.T) {
	end := chat.Event{Kind: chat.Finish, Text: chat.Length, Meta: &chat.Meta{Cause: "repeat-abort", Repairs: []string{"x"}}}
	text := chat.Event{Kind: chat.Text, Text: "a"}
	for _, row := range []struct {
		name string
		in   iter.Seq2[chat.Event, error]
		want string
	}{
		{"a finish", given(nil, text, end), "a[finish]"},
		{"nothing but a finish", given(nil, end), "[finish]"},
		{"events behind it", given(errors.New("late"), text, end, text), "a[finish]"},
		{"an error", given(errors.New("broken"), text), "a[broken]"},
		{"no end", given(nil, text), "a[the model server ended its reply in the middle]"},
	} {
		if got := short(finish(t.Context(), adapters.Named("hermes"), Raw, row.in)); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	for e := range finish(t.Context(), adapters.Named("hermes"), Raw, given(nil, end)) {
		if e.Meta.Format != "hermes" || e.Meta.Strategy != Raw || e.Meta.Cause != "repeat-abort" || len(e.Meta.Repairs) != 1 {
			t.Errorf("Finish says %+v", e.Meta)
		}
	}
	if end.Meta.Format != "" {
		t.Error("the decoder's Meta was written to")
	}
}
