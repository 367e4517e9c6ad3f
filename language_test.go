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

// What makes the code readable for someone who has never seen it, as far as a program can measure
// it.
const (
	mapFrom       = 9  // files from which on a package needs a map of them
	glossaryLimit = 25 // words that ARCHITECTURE.md may define
)

// TestPackagesHaveMaps holds that the comment of a package with many files names each of them, so
// that a newcomer knows which one to open. The comment may stand in any file, mostly in doc.go.
func TestPackagesHaveMaps(t *testing.T) {
	_, all := readPackages(t)
	for _, p := range all {
		if len(p.files) < mapFrom {
			continue
		}
		var doc strings.Builder
		for _, f := range p.files {
			doc.WriteString(f.Doc.Text())
		}
		for path := range p.files {
			if name := filepath.Base(path); name != "doc.go" && !namesFile(doc.String(), name) {
				t.Errorf("the package comment of %s does not name %s", p.dir, name)
			}
		}
		for _, name := range fileNames.FindAllString(doc.String(), -1) {
			if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
				t.Errorf("the package comment of %s names %s, which does not exist", p.dir, name)
			}
		}
	}
}

// fileNames matches what a package comment calls a file of its own: a base name, no path.
var fileNames = regexp.MustCompile(`(^|\b)[a-z0-9_]+\.go\b`)

// namesFile reports whether doc names the file, by its whole base name.
func namesFile(doc, name string) bool {
	return regexp.MustCompile(`(^|[^\w/])` + regexp.QuoteMeta(name) + `\b`).MatchString(doc)
}

// gone are words of a private language that this code once used for standard terms. What stands in
// their place is in the glossary of ARCHITECTURE.md.
var gone = map[string]string{
	`mend(s|ed|ing|able)?`:      "repair",
	`tid(y|ied)`:                "normalize",
	`unloop`:                    "call loop",
	`metered`:                   "tracked",
	`is rid of`:                 "removes",
	`without a word`:            "silently",
	`signs? of life`:            "keep-alive",
	`(is|are|was|were) told of`: "is reported",
	`turned away`:               "refused",
	`wish(es)?`:                 "asks for",
	`can(not)? be had`:          "is (not) available",
}

// formWord is gone where it meant a client form; of SQL and of JSON Schema it is the field's own
// word, and where old names are still read they have to be named.
var formWord = regexp.MustCompile(`(?i)\bdialects?\b`)

// hasForms matches the folders and documents that speak of client forms.
var hasForms = regexp.MustCompile(`^(proxy|cmd|examples|runner)/|^docs/|\.md$`)

// TestTheLanguageIsTheFields looks for those words in the code, in what the programs print, and in
// the documents.
func TestTheLanguageIsTheFields(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.go", "*.md").Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	words := map[*regexp.Regexp]string{}
	for word, instead := range gone {
		words[regexp.MustCompile(`(?i)\b`+word+`\b`)] = instead
	}
	for path := range strings.FieldsSeq(string(out)) {
		if speaksOfThePast(path) {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			continue // deleted in the working tree
		}
		n := 0
		for line := range strings.Lines(string(src)) {
			n++
			if found := formWord.FindString(line); found != "" && hasForms.MatchString(path) {
				t.Errorf("%s:%d: %q is a client form, or the format of a family", path, n, found)
			}
			for word, instead := range words {
				if found := word.FindString(line); found != "" {
					t.Errorf("%s:%d: %q is a word of our own; the field says %q", path, n, found, instead)
				}
			}
		}
	}
}

// speaksOfThePast reports files whose words are not ours to choose: what models wrote, what was
// once changed, this list.
func speaksOfThePast(path string) bool {
	return path == "language_test.go" || path == "CHANGELOG.md" || strings.Contains(path, "testdata/") ||
		strings.HasSuffix(path, "_test.go")
}

// TestTheGlossaryIsShort counts the words that a newcomer has to learn.
func TestTheGlossaryIsShort(t *testing.T) {
	src := must.Read(t, "ARCHITECTURE.md")
	_, words, ok := strings.Cut(string(src), "\n## Words\n")
	if n := strings.Count(words, "\n| ") - 1; !ok || n < 10 || n > glossaryLimit {
		t.Errorf("%d words in the glossary, want 10 to %d", n, glossaryLimit)
	}
}
