package chunk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRunningHeadsDoNotStandInSentences sets a text over pages with heads and feet of many kinds,
// and holds that the text is read as it was without them, and that no line of it is taken for one.
// The last seeds are held out.
func TestRunningHeadsDoNotStandInSentences(t *testing.T) {
	heads := []string{"", "ACME Corp confidential handbook %d", "Travel rules", "Page %d of 9", "%d", "- %d -"}
	for seed := range uint64(60) {
		if seed >= 40 {
			seed += 1_000_003
		}
		r := rand.New(rand.NewPCG(seed, 0))
		top, foot, more := heads[r.IntN(len(heads))], heads[r.IntN(len(heads))], heads[r.IntN(len(heads))]
		var contents, want []string
		for page := range 3 + r.IntN(6) {
			var shown []string
			number := func(head string) string { return strings.ReplaceAll(head, "%d", fmt.Sprint(page+1)) }
			shown = append(shown, number(top))
			for range 3 + r.IntN(4) {
				want = append(want, fmt.Sprintf("word%d costs %d euros", len(want), r.IntN(100)))
				shown = append(shown, want[len(want)-1])
			}
			shown = append(shown, number(more), number(foot))
			content, y := "BT /F1 10 Tf ", 760
			for _, text := range shown {
				if text != "" {
					content += fmt.Sprintf("1 0 0 1 72 %d Tm (%s) Tj ", y, text)
				}
				y -= 12
			}
			contents = append(contents, content+"ET")
		}
		got, err := Read("x.pdf", pdfOf(t, contents...))
		said := ""
		for _, b := range got.Blocks {
			said += strings.ReplaceAll(b.Text, "\n", " ") + " "
		}
		if whole := strings.Join(want, " "); err != nil || !strings.Contains(said, whole) {
			t.Errorf("seed %d, %q %q %q: %v\n%s\nwant\n%s", seed, top, more, foot, err, said, whole)
		}
	}
}
