package adapters

import (
	"strings"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
)

// Parts of the decoder, each with the few others that it needs. What they do together is held by
// the cases; here stands what each can be asked for.

// textOf returns a buffer of a whole text.
func textOf(text string) *scan.Buffer {
	b := scan.Whole(text)
	return &b
}

// marksOf returns the marks of a family in front of a text.
func marksOf(family, text string) *marks {
	f := Named(family)
	return &marks{Buffer: textOf(text), in: new(input), f: f.Family, index: f.lone()}
}

// collected returns a page in front of a text, and what leaves it.
func collected(text *scan.Buffer) (*page, *strings.Builder) {
	var left strings.Builder
	out := &outlet{in: new(input), yield: func(e chat.Event, _ error) bool {
		left.WriteString(e.Text)
		return true
	}}
	return &page{Buffer: text, in: out.in, out: out, textState: textState{state: chat.Text}}, &left
}

func TestMarksStandWhole(t *testing.T) {
	for text, want := range map[string]string{
		"<tool_call>{}":  "<tool_call>",
		"</tool_call>":   "</tool_call>",
		"<tool_cal":      "",
		"<tools>":        "",
		"a<tool_call>{}": "",
	} {
		got := ""
		if m := marksOf("hermes", text).firstMark(0, func(*declaration.Mark) bool { return true }); m != nil {
			got = m.Key
		}
		if got != want {
			t.Errorf("%q begins with the mark %q, want %q", text, got, want)
		}
	}
}

func TestMarksTellWhetherTheModelHasEnded(t *testing.T) {
	ms := marksOf("hermes", "  <|im_end|>\n")
	if !ms.over(0) {
		t.Error("a mark of the turn that is the last thing ends the reply")
	}
	if ms.in.finish.Text = chat.Length; !ms.over(0) {
		t.Error("so it does where the length has cut what came behind")
	}
	if ms = marksOf("hermes", "  "); !ms.over(0) {
		t.Error("white space is the end")
	}
	if ms.in.finish.Text = chat.Length; ms.over(0) {
		t.Error("a text that was cut has not ended")
	}
}

func TestPageLeavesGlueOut(t *testing.T) {
	for glue, want := range []string{"Hello\n\n", "Hello\n", "Hello", "Hello"} {
		pg, left := collected(textOf("Hello\n\n<mark>"))
		pg.solid(len("Hello"))
		pg.gapAt, pg.markAt = 5, 7
		pg.dropMark(len("<mark>"), glue)
		if pg.Pos = 7; left.String() != want {
			t.Errorf("with %d newlines of glue %q left, want %q", glue, left, want)
		}
	}
}

func TestPageKeepsHalfARune(t *testing.T) {
	pg, left := collected(textOf("a\xe2\x82"))
	pg.keep(3)
	if pg.flushRunes(); left.String() != "a" {
		t.Errorf("%q left, want what is whole", left)
	}
	if pg.flushText(); left.String() != "a\xe2\x82" {
		t.Errorf("%q left in the end", left)
	}
}

func TestOutletKeepsADraft(t *testing.T) {
	n := 0
	o := &outlet{in: new(input), yield: func(chat.Event, error) bool { n++; return false }, drafting: true}
	o.emit(chat.Event{Kind: chat.Text})
	if n != 0 || len(o.drafted) != 1 || o.in.dead {
		t.Errorf("%d events left, %d wait", n, len(o.drafted))
	}
	o.drafting = false
	o.emit(chat.Event{Kind: chat.Text})
	o.emit(chat.Event{Kind: chat.Text})
	if n != 1 || !o.in.dead {
		t.Errorf("%d events left though nobody took the first", n)
	}
}

func TestCodeOpensAndCloses(t *testing.T) {
	for text, want := range map[string]string{
		"```py\nx\n```\nrest":            "```py\nx\n```",
		"````\n```\n````\nrest":          "````\n```\n````",
		"```md\n```js\nx\n```\n```\nend": "```md\n```js\nx\n```\n```",
		"~~~\nx\n```\n~~~\nrest":         "~~~\nx\n```\n~~~",
	} {
		ms := marksOf("hermes", text)
		pg, left := collected(ms.Buffer)
		co := &code{Buffer: ms.Buffer, in: ms.in, marks: ms, page: pg}
		for co.opens(true); co.inBlock() && co.At(0) >= 0; {
			co.inFence(co.At(0))
		}
		if pg.flushText(); left.String() != want {
			t.Errorf("the block in %q is %q, want %q", text, left, want)
		}
	}
}

func TestTrialsAreBounded(t *testing.T) {
	ms := marksOf("hermes", strings.Repeat("x", 100))
	tr := &trial{Buffer: ms.Buffer, in: ms.in, out: new(outlet), page: &page{Buffer: ms.Buffer}}
	tr.pin, tr.outer = -1, -1
	for range 1 << 12 {
		tr.attemptBy(ms.f.Calls[0], func() match {
			tr.Pos += 64
			return mismatch
		})
		if tr.Pos != 0 || tr.pin != -1 {
			t.Fatalf("an attempt that failed leaves position %d and pin %d", tr.Pos, tr.pin)
		}
	}
	if most := 1<<16 + 64; !tr.exhausted() || tr.waste > most {
		t.Errorf("attempts have read %d bytes in vain, more than %d", tr.waste, most)
	}
}

func TestNamesAreReadWhileTheyCanBeOffered(t *testing.T) {
	tools := toolset.New([]chat.Tool{{Name: "get_weather"}}, nil)
	for text, want := range map[string]match{"get_weather(": matched, "get_we": incomplete, "get_water(": mismatch} {
		ns := &names{below: below{Reader: lenient.NewReader(*textOf(text)), tools: tools}}
		tool, n, a := ns.offered(0, func(_, c int) bool { return c == '(' })
		if a != want || (tool != nil) != (a == matched) {
			t.Errorf("%q gives %v behind %d bytes, want %v", text, a, n, want)
		}
	}
}

func TestHeadersAreReadInAnyOrder(t *testing.T) {
	for text, want := range map[string]fields{
		"<|start|>assistant to=f<|channel|>commentary <|constrain|>json<|message|>": {to: "f", channel: "commentary"},
		"<|channel|>commentary to=f<|message|>":                                     {to: "f", channel: "commentary"},
		"<|channel|>final<|message|>":                                               {channel: "final"},
	} {
		hs := &headers{below{Reader: lenient.NewReader(*textOf(text)), marks: marksOf("harmony", text)}}
		hs.marks.Buffer = &hs.Buffer
		want.end = len(text)
		if got, a := hs.at(0); a != matched || got != want {
			t.Errorf("%q gives %+v and %v, want %+v", text, got, a, want)
		}
	}
}

func TestClosersCountBrackets(t *testing.T) {
	cl := &closers{below{Reader: lenient.NewReader(*textOf("[ [[1] ]"))}}
	if n := cl.brackets(2); n != 2 || cl.At(0) != '[' {
		t.Errorf("%d brackets opened", n)
	}
	if cl.Pos = 5; cl.closeBrackets(3) != 1 {
		t.Error("one of three closers is missing")
	}
}
