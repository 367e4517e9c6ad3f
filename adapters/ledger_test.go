package adapters

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// TestEachToleranceHasItsCase reads the ledger: what the decoder forgives is there because a case
// needs it, so a line of a function that is gone, or of a case that is, fails, and so does a repair
// that no line gives a case for.
func TestEachToleranceHasItsCase(t *testing.T) {
	ledger := must.Read(t, "testdata/tolerances.txt")
	codes := map[string]bool{}
	for _, r := range Reasons() {
		codes[r.Code] = true
	}
	cases, functions := namedCases(t), sourceOfReading(t)
	for line := range strings.Lines(string(ledger)) {
		what, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if name = strings.TrimSpace(name); !ok || what == "#" {
			continue
		}
		repairs, known := cases[name]
		switch {
		case !known:
			t.Errorf("%s: there is no case %q", what, name)
		case codes[what] && !slices.Contains(repairs(), what):
			t.Errorf("%q gives %q, not %s", name, repairs(), what)
		case !codes[what] && !strings.Contains(functions, " "+what+"("):
			t.Errorf("%s is neither a code nor a function", what)
		}
		delete(codes, what)
	}
	for code := range codes {
		t.Errorf("%s has no case in the ledger", code)
	}
}

// namedCases are the cases that a ledger can name, each with what reading it repairs.
func namedCases(t *testing.T) map[string]func() []string {
	o := Options{Tools: testTools(t)}
	all := map[string]func() []string{}
	for _, g := range goldens(t) {
		all[g.format+"/"+g.Name] = func() (repairs []string) {
			for ev := range decodeAs(Named(g.format), o)(golden.Source([]string{g.Raw}, g.Finish), g.Prompt, "short") {
				if ev.Kind == chat.Finish {
					repairs = ev.Meta.Repairs
				}
			}
			return repairs
		}
	}
	for _, s := range readSections(t, "testdata/json/repairs.txt") {
		all["json "+s.Name] = func() []string { _, repairs, _ := Repair(s.Text, nil); return repairs }
	}
	none := func() []string { return nil }
	for _, s := range negatives(t) {
		all["negative "+s.Name] = none
	}
	for _, x := range runTexts(t) {
		all["runs "+strings.Replace(x.name, "/", ".txt/", 1)] = none
	}
	for _, r := range Reasons() { // TestEveryReasonsExampleGivesIt runs them
		all["reason "+r.Code] = func() []string { return []string{r.Code} }
	}
	return all
}

// sourceOfReading is the source of the decoder and of the reader of arguments, receivers left out.
func sourceOfReading(t *testing.T) string {
	var all strings.Builder
	for _, dir := range []string{".", "internal/lenient", "internal/repair", "internal/prose"} {
		files, err := os.ReadDir(dir)
		must.OK(t, err)
		for _, f := range files {
			if src, err := os.ReadFile(dir + "/" + f.Name()); err == nil && strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
				all.Write(src)
			}
		}
	}
	return regexp.MustCompile(`func \([^)]*\) `).ReplaceAllString(all.String(), "func ")
}
