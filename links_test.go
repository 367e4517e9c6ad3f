package toolnorm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

var (
	// link is a relative link of Markdown, with its anchor. Addresses with a scheme are not ours to
	// hold.
	link = regexp.MustCompile(`\]\(([^)\s:#]*)(?:#([^)\s]*))?\)`)
	// heading is a line of Markdown that gets an anchor.
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	// page is a document named in code, in a script or in a message, by its path from the root.
	page = regexp.MustCompile(`\bdocs/[a-z/-]+\.md\b`)
	// fence is a block of code in fences, in which a line with # is a comment.
	fence = regexp.MustCompile("(?ms)^```.*?^```")
	// code is what Markdown shows as it is, so that what looks like a link there is none.
	code = regexp.MustCompile("(?ms)^```.*?^```|^    .*?$|`[^`\n]*`")
)

// tracked are the files of the repository whose paths match one of the patterns.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, patterns...)...).Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	var all []string
	for path := range strings.FieldsSeq(string(out)) {
		if _, err := os.Stat(path); err == nil { // else deleted in the working tree
			all = append(all, path)
		}
	}
	return all
}

// TestLinksLeadSomewhere follows every relative link of the documents, to the heading where it
// names one.
func TestLinksLeadSomewhere(t *testing.T) {
	n := 0
	for _, path := range tracked(t, "*.md") {
		if strings.Contains(path, "testdata/") || strings.Contains(path, "/descriptions/") {
			continue
		}
		src := must.Read(t, path)
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(src), ""), -1) {
			target := path
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), m[1])
			}
			n++
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", path, m[0])
			} else if m[2] != "" && !anchors(t, target)[m[2]] {
				t.Errorf("%s: %s has no heading %q", path, target, m[2])
			}
		}
	}
	if n < 100 {
		t.Errorf("%d links, want 100 at least: is the pattern still that of links?", n)
	}
}

// anchors are the anchors of a page's headings, as GitHub makes them: lower case, without
// punctuation, dashes for blanks.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	src := must.Read(t, path)
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(src), ""), -1) {
		name := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		all[regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(name, "")] = true
	}
	return all
}

// TestNamedPagesExist looks up every document that code, a script or a message names.
func TestNamedPagesExist(t *testing.T) {
	for _, path := range tracked(t, "*.go", "*.md", "*.sh", "*.txt", "*.yaml", "*.yml", "*.svelte", "*.ts", "Makefile", "Dockerfile", ".ci/*") {
		src := must.Read(t, path)
		for _, named := range page.FindAllString(string(src), -1) {
			if _, err := os.Stat(named); err != nil && !strings.Contains(path, "testdata/") {
				t.Errorf("%s names %s, which does not exist", path, named)
			}
		}
	}
}

// status is the line below the heading of a decision: its date, and whether it still holds.
var status = regexp.MustCompile(`^\*20\d\d-\d\d-\d\d\. (Accepted|Accepted; changed by \[.+\]\(\S+\)|Superseded by \[.+\]\(\S+\))\.\*$`)

// TestDecisionsHaveADateAndAStatus reads the entries of docs/internal/decisions.
func TestDecisionsHaveADateAndAStatus(t *testing.T) {
	for _, path := range tracked(t, "docs/internal/decisions/*.md") {
		src := must.Read(t, path)
		if filepath.Base(path) == "README.md" {
			continue
		}
		for _, entry := range strings.Split(string(src), "\n## ")[1:] {
			lines := strings.SplitN(entry, "\n", 4)
			if len(lines) < 4 || !status.MatchString(lines[2]) {
				t.Errorf("%s: %q has no line such as *2026-11-23. Accepted.* below it", path, lines[0])
			}
		}
	}
}
