package chunk

import (
	"strings"
	"testing"

	"toolnorm/internal/test/odd"
)

// TestEveryGoodPageIsReadWhateverIsBesideIt puts generated odd pages among good ones. The last
// seeds are held out.
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

// TestEncodingsThatSayWhatTheyAreAreRead reads them, and refuses those that would have to be
// guessed.
func TestEncodingsThatSayWhatTheyAreAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfe\x70\x65\x57\x5b": "数字", "\xfe\xff\x65\x70\x5b\x57": "数字", "\x1b$B?t;z\x1b(B": "数字",
		"\x8f\xd5\x93\xcb": "", // Shift_JIS, too short to tell
	} {
		got, err := Read("x.txt", []byte(text))
		if want == "" && err == nil || want != "" && !strings.Contains(show(got), want) {
			t.Errorf("%q: %s, %v", text, show(got), err)
		}
	}
}
