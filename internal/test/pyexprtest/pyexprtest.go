// Package pyexprtest checks the examples in the comments of a package of pyexpr.
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
	"toolnorm/internal/test/must"
)

// example matches a line `//	expression → result` of a comment.
var example = regexp.MustCompile(`^//\t(.*) → (.*)$`)

// Examples evaluates every example in the comments of the test's folder. It reports an error for
// each wrong result, and if there are fewer examples than the parameter least. testdata/examples.py
// compares the same examples with CPython; its table is part of the differential test.
func Examples(t *testing.T, least int) {
	t.Helper()
	files := must.Have(filepath.Glob("*.go"))(t)
	n := 0
	for _, file := range files {
		text := must.Have(os.ReadFile(file))(t)
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

// reprOf returns the repr of an expression's value or, if the expression fails, the kind and
// message of its error. It first compiles the expression alone, because an invalid expression could
// be valid inside brackets.
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
