package adapters

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// runText is a text of the balanced set: what a model of a family wrote, and how many calls of it
// must run; none, and it must stay as it is.
type runText struct {
	kind, name, text string
	family           *Format
	calls            int
}

// runTexts reads the balanced set: a file a kind, the sections named "stay FAMILY N", "run FAMILY
// N" or "run3 FAMILY N".
func runTexts(t *testing.T) []runText {
	t.Helper()
	var all []runText
	paths, _ := filepath.Glob("testdata/runs/*.txt")
	for _, path := range paths {
		for _, s := range readSections(t, path) {
			kind := strings.TrimSuffix(filepath.Base(path), ".txt")
			words := strings.Fields(s.Name)
			x := runText{kind: kind, name: kind + "/" + s.Name, text: s.Text, family: Named(words[1])}
			if n, runs := strings.CutPrefix(words[0], "run"); runs {
				if x.calls, _ = strconv.Atoi(n); n == "" {
					x.calls = 1
				}
			}
			if x.family == nil {
				t.Fatalf("%s: no such family", x.name)
			}
			all = append(all, x)
		}
	}
	return all
}

// figures are how many texts of a kind there are of each sort, and how many of them were read
// wrong.
type figures struct{ run, stay, lost, wrong int }

// TestWhichTextRuns measures the rule that tells calls from text, and holds it to the table in
// docs/evidence/which-text-runs.md: the figures of a kind that change for the better are to be
// written there, too.
func TestWhichTextRuns(t *testing.T) {
	tools := testTools(t)
	got := map[string]*figures{"all": {}}
	for _, x := range runTexts(t) {
		if got[x.kind] == nil {
			got[x.kind] = new(figures)
		}
		n := len(decodeCalls(t, x.family, []string{x.text}, Options{Tools: tools}))
		meant, runs := x.calls > 0, n > 0 && n >= x.calls
		for _, f := range []*figures{got[x.kind], got["all"]} {
			f.count(meant, runs)
		}
		if meant != runs {
			t.Logf("%d calls, want %d: %s", n, x.calls, x.name)
		}
	}
	if n := got["all"].run + got["all"].stay; n < 400 {
		t.Errorf("only %d texts", n)
	}
	page := must.Read(t, "../docs/evidence/which-text-runs.md")
	for _, kind := range slices.Sorted(maps.Keys(got)) {
		f := got[kind]
		row := fmt.Sprintf("| %s | %d | %d | %d | %d |", kind, f.run, f.stay, f.lost, f.wrong)
		t.Log(row)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/evidence/which-text-runs.md has no row that begins with %s", row)
		}
	}
}

// TestWhichTextRunsInAnyCut reads the same texts byte by byte, and those that stay must be whole.
func TestWhichTextRunsInAnyCut(t *testing.T) {
	o := Options{Tools: testTools(t)}
	for i, x := range runTexts(t) {
		if skipped(i) {
			continue
		}
		checkDecode(t, x.family, x.text, chat.Stop, o)
		if whole, _ := transcript(x.family, []string{x.text}, chat.Stop, o); !strings.Contains(whole, "\ncall ") && !strings.HasPrefix(whole, "call ") {
			checkText(t, x.family, golden.Section{Name: x.name, Text: x.text}, o, i)
		}
	}
}
