package pyexpr

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/pyexpr/py"
)

// example matches a line `//	expression → result` of a comment.
var example = regexp.MustCompile(`^//\t(.*) → (.*)$`)

// TestExamplesInComments computes every example of the comments. What CPython says of the same lines is compared by
// testdata/examples.py, whose table is part of the differential test.
func TestExamplesInComments(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, rooms...)
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			m := example.FindStringSubmatch(strings.TrimRight(line, "\n"))
			if m == nil {
				continue
			}
			n++
			if got := shown(m[1]); got != m[2] {
				t.Errorf("%s: %s → %s, says the comment; got %s", file, m[1], m[2], got)
			}
		}
	}
	if n < 300 {
		t.Errorf("%d examples, want the 300 and more that the comments have", n)
	}
}

// shown is the repr of what an expression gives, or its error.
func shown(src string) string {
	p, err := Compile(src, nil)
	if err == nil {
		_, text, failure := p.value(nil)
		if failure == nil {
			return text
		}
		err = failure
	}
	e := err.(*py.Error)
	return e.Kind + ": " + e.Message
}
