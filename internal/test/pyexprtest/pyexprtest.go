// Package pyexprtest computes what the comments of a room of pyexpr give as examples.
package pyexprtest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/pyexpr"
	"toolnorm/internal/pyexpr/py"
)

// example matches a line `//	expression → result` of a comment.
var example = regexp.MustCompile(`^//\t(.*) → (.*)$`)

// Examples computes every example of the comments in the folder of the test, at least so many. What
// CPython says of the same lines is compared by testdata/examples.py, whose table is part of the
// differential test.
func Examples(t *testing.T, least int) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
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
			if got := reprOf(t, m[1]); got != m[2] {
				t.Errorf("%s: %s → %s, says the comment; got %s", file, m[1], m[2], got)
			}
		}
	}
	if n < least {
		t.Errorf("%d examples, want the %d and more that the comments have", n, least)
	}
}

// reprOf returns the repr of what an expression gives, or its error. The expression is compiled by
// itself first, or a wrong one could be right between brackets.
func reprOf(t *testing.T, src string) string {
	t.Helper()
	_, err := pyexpr.Compile(src, nil)
	if err == nil {
		var p *pyexpr.Program
		if p, err = pyexpr.Compile("'%r' % (("+src+"),)", nil); err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var r pyexpr.Result
		if r, err = p.Run(context.Background(), nil, py.Limits{}); err == nil {
			var text string
			if err := json.Unmarshal([]byte(r.JSON), &text); err != nil {
				t.Fatalf("%s gives %s: %v", src, r.JSON, err)
			}
			return text
		}
	}
	var e *py.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v", src, err)
	}
	return e.Kind + ": " + e.Message
}
