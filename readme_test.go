package toolnorm

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// What a newcomer reads before the first command.
const (
	readmeLines = 92
	readmeWords = 700
)

func TestTheReadmeIsShort(t *testing.T) {
	src := must.Read(t, "README.md")
	if lines, words := strings.Count(string(src), "\n"), len(strings.Fields(string(src))); lines > readmeLines || words > readmeWords {
		t.Errorf("%d lines and %d words, want %d and %d at most: the rest belongs into docs", lines, words, readmeLines, readmeWords)
	}
}

// quoted is a block of a page which says of itself where it is from.
var quoted = regexp.MustCompile(`<!-- from (\S+) -->\n\n((?:    .*\n)+)`)

// TestPagesQuoteWhatWasRecorded looks up the lines of such blocks in the file that the lane has
// written: all of them, in order.
func TestPagesQuoteWhatWasRecorded(t *testing.T) {
	n := 0
	for _, path := range tracked(t, "*.md") {
		page := must.Read(t, path)
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

// release is the heading of a version in CHANGELOG.md.
var release = regexp.MustCompile(`^## (\d+)\.(\d+)\.(\d+) – \d{4}-\d\d-\d\d$`)

// TestTheChangelogHasVersions checks the headings: what is unreleased, then versions, the newest
// first.
func TestTheChangelogHasVersions(t *testing.T) {
	src := must.Read(t, "CHANGELOG.md")
	var versions [][]int
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if m := release.FindStringSubmatch(line); m != nil {
			var version []int
			for _, part := range m[1:] {
				n, err := strconv.Atoi(part)
				must.OK(t, err)
				version = append(version, n)
			}
			versions = append(versions, version)
		} else if strings.HasPrefix(line, "## ") && (line != "## Unreleased" || versions != nil) {
			t.Errorf("%q is neither Unreleased nor a version with its date", line)
		}
	}
	if len(versions) == 0 || !slices.IsSortedFunc(versions, func(a, b []int) int { return slices.Compare(b, a) }) {
		t.Errorf("versions %v, want the newest first", versions)
	}
}

// TestTheWorkflowRunsEveryLane compares the lanes of .ci/run with those of the workflow. The
// modules are fetched in front of each.
func TestTheWorkflowRunsEveryLane(t *testing.T) {
	script := must.Read(t, ".ci/run")
	workflow := must.Read(t, ".github/workflows/ci.yml")
	var lanes []string
	for _, m := range regexp.MustCompile(`(?m)^(?:tail_lines=\d+ )?lane (\w+) \d`).FindAllStringSubmatch(string(script), -1) {
		if m[1] != "modules" {
			lanes = append(lanes, m[1])
		}
	}
	if want := "lane: [" + strings.Join(lanes, ", ") + "]"; !strings.Contains(string(workflow), want) {
		t.Errorf(".github/workflows/ci.yml has no %q", want)
	}
}
