package golden

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"toolnorm/chat"
)

func TestCasesAreReadAsTheyStand(t *testing.T) {
	src := "call  # a declaration\n-- a: b: raw --\ntwo\nlines\n\n-- a: b: with --\nfinish length\nprompt \"<think>\\n\"\nhold call\n# policy: because\n-- a: b: events --\nfinish length\n" +
		"-- c: raw quoted --\n\"\\xff\\r\\n\"\n-- c: events --\nfinish stop\n"
	want := []Case{
		{Name: "a: b", Raw: "two\nlines\n", Want: "finish length", Finish: chat.Length, Prompt: "<think>\n", Hold: "call"},
		{Name: "c", Raw: "\xff\r\n", Want: "finish stop", Finish: chat.Stop},
	}
	if got, err := Cases([]byte(src)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestWrongCasesAreNamed(t *testing.T) {
	for src, want := range map[string]string{
		"-- a --\n":                            `section "a" must be named`,
		"-- a: rwa --\n":                       `section "a: rwa": no part "rwa"`,
		"-- a: raw --\n":                       `section "a: events" is missing`,
		"-- a: events --\n":                    `section "a: raw" is missing`,
		"-- a: raw --\n-- a: raw --\n":         `section "a: raw" is there twice`,
		"-- a: raw quoted --\nx\n":             `section "a: raw": not a Go string literal`,
		"-- a: with --\nfinish tool_calls\n":   `finish must be stop or length, not "tool_calls"`,
		"-- a: with --\nhold tight\n":          "hold must be none or short or call",
		"-- a: with --\nprompt <think>\n":      "prompt: <think> is not a Go string literal",
		"-- a: with --\nfinnish stop\n":        `no option "finnish"`,
		"-- a: raw --\n-- a: events quoted --": `section "a: events": not a Go string literal`,
	} {
		if _, err := Cases([]byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Cases(%q): error %v, want one with %q", src, err, want)
		}
	}
}

func TestTranscriptJoinsFragments(t *testing.T) {
	broken := errors.New("the source broke")
	for _, tt := range []struct {
		events []chat.Event
		end    error
		want   string
	}{
		{[]chat.Event{{Kind: chat.Text, Text: "a"}, {Kind: chat.Text, Text: "b\n"}, {Kind: chat.Finish, Text: chat.Stop}}, nil, "text \"ab\\n\"\nfinish stop"},
		{[]chat.Event{{Kind: chat.Reasoning, Text: "r"}, {Kind: chat.CallStart, Text: "f", ID: "x"}, {Kind: chat.CallArgs, Text: "{"}, {Kind: chat.CallArgs, Text: "}"}, {Kind: chat.CallEnd},
			{Kind: chat.CallStart, Text: "g", Index: 1}, {Kind: chat.CallArgs, Text: `{"a`}, {Kind: chat.Finish, Text: chat.Length}}, nil,
			"reasoning \"r\"\ncall 0 f id=x {}\nopen 1 g {\"a\nfinish length"},
		{[]chat.Event{{Kind: chat.CallStart, Text: "f"}, {Kind: chat.CallArgs, Text: "{\n}"}, {Kind: chat.CallEnd}}, nil, `call 0 f "{\n}"`},
		{[]chat.Event{{Kind: chat.Text, Text: "a"}, {Kind: chat.Finish}}, broken, "text \"a\"\nfinish \n"},
		{[]chat.Event{{Kind: chat.CallStart, Text: "f"}, {Kind: chat.CallArgs, Text: "{"}, {Kind: chat.CallEnd}}, errors.New("the arguments of f are no JSON: {"), ""},
	} {
		got, err := Transcript(func(yield func(chat.Event, error) bool) {
			for _, e := range tt.events {
				if !yield(e, nil) {
					return
				}
			}
			if tt.end != nil {
				yield(chat.Event{}, tt.end)
			}
		})
		if got != tt.want || (err == nil) != (tt.end == nil) || err != nil && err.Error() != tt.end.Error() {
			t.Errorf("Transcript(%v) = %q, %v, want %q, %v", tt.events, got, err, tt.want, tt.end)
		}
	}
}

func TestCutsLoseNothing(t *testing.T) {
	for _, text := range []string{"", "a", "한국어 text", strings.Repeat("x", longText)} {
		n := 0
		for what, cut := range Cuts(text, 0, 1) {
			n++
			if got := strings.Join(cut, ""); got != text {
				t.Errorf("%s of %d bytes gives %d", what, len(text), len(got))
			}
		}
		if want := 9 + len(text)%longText; n != want {
			t.Errorf("%d ways to cut %d bytes, want %d", n, len(text), want)
		}
	}
}

func TestTheToolsOfAllCasesCanBeRead(t *testing.T) {
	if tools, err := Tools(); err != nil || len(tools) != 6 {
		t.Errorf("Tools() = %v, %v, want 6", tools, err)
	}
}

// FuzzCases reads any family file without a panic, and what it takes has every part.
func FuzzCases(f *testing.F) {
	f.Add([]byte("call x\n-- a: raw --\nx\n-- a: events --\ntext \"x\"\nfinish stop\n"))
	f.Add([]byte("-- a: raw quoted --\n\"\\xff\"\n-- a: with --\nfinish length\nprompt \"x\"\n-- a: events --\nfinish length\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		cases, err := Cases(src)
		for _, c := range cases {
			if c.Finish != chat.Stop && c.Finish != chat.Length || len(c.Degrees()) == 0 || err != nil {
				t.Errorf("%+v, %v", c, err)
			}
		}
	})
}
