package adapters

import (
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// TestWhatCannotBeReadNamesItsTool reads the calls of testdata/held.txt, whole and byte by byte: no
// call leaves, and the text names the tool to ask for again, or none where it is no call.
func TestWhatCannotBeReadNamesItsTool(t *testing.T) {
	for _, s := range readSections(t, "testdata/held.txt") {
		name := strings.Fields(s.Name)
		for _, pieces := range [][]string{{s.Text}, golden.Bytes(s.Text)} {
			tool, calls := "-", 0
			for e, err := range Named(name[0]).Decode(golden.Source(pieces, chat.Stop), Options{Tools: testTools(t), Hold: HoldCall}) {
				must.OK(t, err)
				if e.Meta != nil && e.Meta.Doubt != "" {
					tool = e.Meta.Doubt
				}
				if e.Kind == chat.CallStart {
					calls++
				}
			}
			if tool != name[1] || calls > 0 {
				t.Errorf("%s in %d pieces names %s, with %d calls", s.Name, len(pieces), tool, calls)
			}
		}
	}
}
