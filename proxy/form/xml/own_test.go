package xml

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
)

// TestTheClientsOwnXMLIsACall writes calls as the client has them, in random pieces, and texts that
// only look so.
func TestTheClientsOwnXMLIsACall(t *testing.T) {
	p := prompt(t, "void")
	r := rand.New(rand.NewPCG(5, 6))
	const call = "<read_file>\n<uri>main.go</uri>\n</read_file>"
	for _, tt := range []struct{ text, finish, args string }{
		{call, chat.Stop, `{"uri":"main.go"}`},
		{"I will read it.\n\n" + call, chat.Stop, `{"uri":"main.go"}`},
		{"I will read it.\n```xml\n" + call + "\n```\n", chat.Stop, `{"uri":"main.go"}`},
		{"```\n" + call + "\n```", chat.Stop, `{"uri":"main.go"}`},
		{strings.TrimSuffix(call, "\n</read_file>"), chat.Stop, `{"uri":"main.go"}`},
		{call, chat.Length, `{"uri":"main.go"}`},
		{strings.TrimSuffix(call, "\n</read_file>"), chat.Length, ""},
		{"<read_file>\n<uri>main.", chat.Stop, ""},
		{"<read_file>\n</read_file>", chat.Stop, ""}, // uri is required
		{"<read_file>\n<uri>a</uri>\n<uri>b</uri>\n</read_file>", chat.Stop, ""},
		{"For example, you could write:\n" + call, chat.Stop, ""},
		{call + "\nThis reads a file.", chat.Stop, ""},
		{"The tag <read_file> reads.", chat.Stop, ""},
		{"<read_files>\n", chat.Stop, ""},
	} {
		for range 50 {
			o := own{prompt: p}
			passed := ""
			for _, piece := range chunks(r, tt.text) {
				passed += o.text(piece)
			}
			got, rest := o.end(tt.finish)
			switch {
			case tt.args == "" && (got != nil || passed+rest != tt.text):
				t.Fatalf("%q (%s): %+v, text %q", tt.text, tt.finish, got, passed+rest)
			case tt.args != "" && (got == nil || got.Name != "read_file" || string(got.Args) != tt.args):
				t.Fatalf("%q (%s): %+v, text %q %q", tt.text, tt.finish, got, passed, rest)
			}
		}
	}
	start := time.Now()
	o := own{prompt: p}
	o.text("<edit_file>\n<uri>")
	for range 200_000 {
		o.text("word ")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("a long value takes %v", took)
	}
}
