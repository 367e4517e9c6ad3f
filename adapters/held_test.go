package adapters

import (
	"cmp"
	"strings"
	"testing"

	"toolnorm/internal/golden"
)

// TestWhatCannotBeReadNamesItsTool reads the calls of testdata/held.txt, whole and byte by byte: no
// call leaves, and the text names the tool to ask for again, or none where it is no call.
func TestWhatCannotBeReadNamesItsTool(t *testing.T) {
	for _, s := range readSections(t, "testdata/held.txt") {
		name := strings.Fields(s.Name)
		for _, pieces := range [][]string{{s.Text}, golden.Bytes(s.Text)} {
			f, o := Named(name[0]), Options{Tools: testTools(t), Hold: HoldCall}
			tool, calls := cmp.Or(doubtOf(t, f, pieces, o), "-"), decodeCalls(t, f, pieces, o)
			if tool != name[1] || len(calls) > 0 {
				t.Errorf("%s in %d pieces names %s, with %d calls", s.Name, len(pieces), tool, len(calls))
			}
		}
	}
}
