package transcript

import (
	"strings"
	"testing"
)

func TestAPagesCommandsAreFound(t *testing.T) {
	page := `# Title

    make run        # no prompt: to copy

    $ curl x -d '{"a":
        1}' | \
      jq
    one

    two
    $ true

A paragraph.

` + "```console\n$ echo \"it's\"\nit's\n```\n    no command\n"
	want := []Command{
		{5, "curl x -d '{\"a\":\n    1}' | \\\n  jq", "one\n\ntwo\n"}, {11, "true", ""}, {16, `echo "it's"`, "it's\n"},
	}
	got := Commands(page)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, c := range got {
		if c != want[i] {
			t.Errorf("got %+v, want %+v", c, want[i])
		}
	}
}

func TestDotsStandForAnything(t *testing.T) {
	const id, other = "1f8e0a52-3c53-4a44-9a55-0e8c2c6f0b2f", "00000000-3c53-4a44-9a55-0e8c2c6f0b2f"
	for _, tt := range []struct {
		shown, printed string
		want           bool
	}{
		{"a … c", "a b c", true},
		{"a … c", "a b\nc", false},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…", "a", true},
		{"a.c", "abc", false},
		{"id " + id, "id " + other, true},
		{"a\n\nb", "a\nb", false},
	} {
		if got := (Command{Output: tt.shown}).Prints(tt.printed + "\n"); got != tt.want {
			t.Errorf("%s", strings.ReplaceAll(tt.shown+" | "+tt.printed, "\n", "⏎"))
		}
	}
}
