package toolnorm

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a newcomer reads before the first command.
const (
	readmeLines = 90
	readmeWords = 700
)

func TestTheReadmeIsShort(t *testing.T) {
	src, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines, words := strings.Count(string(src), "\n"), len(strings.Fields(string(src))); lines > readmeLines || words > readmeWords {
		t.Errorf("%d lines and %d words, want %d and %d at most: the rest belongs into docs", lines, words, readmeLines, readmeWords)
	}
}

// quoted is a block of a page which says of itself where it is from.
var quoted = regexp.MustCompile(`<!-- from (\S+) -->\n\n((?:    .*\n)+)`)

// TestPagesQuoteWhatWasRecorded looks up the lines of such blocks in the file that the lane has written: all of them, in order.
func TestPagesQuoteWhatWasRecorded(t *testing.T) {
	n := 0
	for _, path := range tracked(t, "*.md") {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllStringSubmatch(string(page), -1) {
			n++
			recorded, err := os.ReadFile(m[1])
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			rest := strings.Split(string(recorded), "\n")
			for line := range strings.Lines(m[2]) {
				line = strings.TrimSuffix(strings.TrimPrefix(line, "    "), "\n")
				at := slices.Index(rest, line)
				if at < 0 {
					t.Errorf("%s: %q is not in %s, or stands elsewhere there", path, line, m[1])
					break
				}
				rest = rest[at+1:]
			}
		}
	}
	if n == 0 {
		t.Error("no page quotes a report")
	}
}
