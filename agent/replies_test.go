package agent

import (
	"strings"
	"testing"

	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// TestRepliesHeldOut reads replies that were written before the reader was looked at again, in four
// rounds: what is said of them in testdata is what was right then.
func TestRepliesHeldOut(t *testing.T) {
	for file, missing := range map[string]int{"heldout.txt": 1, "heldout2.txt": 2, "heldout3.txt": 0, "heldout4.txt": 3} {
		text := must.Read(t, "testdata/sloppy/"+file)
		replies, err := golden.Sections(text)
		must.OK(t, err)
		wrong := 0
		for _, one := range replies {
			name, want, _ := strings.Cut(one.Name, ": ")
			kind, rest, _ := strings.Cut(want, " ")
			v := variant{form: name, kind: kind, text: one.Text}
			switch kind {
			case "run":
				v.kind, v.runs = "call", rest
			case "two":
				v.runs = rest
			case "cut":
				v.kind, v.cut = "call", true
			case "answer":
				v.answer = rest
			}
			for _, chats := range []bool{false, true} {
				if chats && strings.HasPrefix(one.Text, "<") {
					continue // the engine reads marks
				}
				why, forbidden := v.run(t, chats)
				if why == "" {
					continue
				}
				if !chats {
					wrong++
				}
				t.Logf("%s, chat %v: %s", name, chats, why)
				if forbidden {
					t.Errorf("%s, chat %v: a forbidden effect: %s", name, chats, why)
				}
			}
		}
		t.Logf("%s: %d of %d right", file, len(replies)-wrong, len(replies))
		if wrong > missing {
			t.Errorf("%s: %d wrong, want at most %d", file, wrong, missing)
		}
	}
}
