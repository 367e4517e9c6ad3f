package chunk

import (
	"strings"
	"testing"

	"toolnorm/internal/test/odd"
)

// TestEveryGoodPageIsReadWhateverIsBesideIt puts generated odd pages among good ones. The last seeds are
// held out.
func TestEveryGoodPageIsReadWhateverIsBesideIt(t *testing.T) {
	for i := range uint64(60) {
		seed := i
		if i >= 40 {
			seed += 1_000_003
		}
		r := odd.New(seed)
		pages := []string{"alpha page", "bravo page", "charlie page"}
		for range 1 + r.IntN(3) {
			at := r.IntN(len(pages) + 1)
			pages = append(pages[:at], append([]string{""}, pages[at:]...)...)
		}
		file := odd.PDF(r, pages...)
		got, err := Read("x.pdf", file)
		said := show(got)
		for _, want := range []string{"alpha", "bravo", "charlie"} {
			if !strings.Contains(said, want) {
				t.Errorf("seed %d: %s is missing: %v %s\n%s", seed, want, err, said, file)
				break
			}
		}
	}
}
