package syntax

import (
	"testing"

	"toolnorm/internal/pyexpr/py"
)

// refusal is what Parse says of a text.
func refusal(src string) *py.Error { return py.Attempt(func() { Parse(src, 0) }) }

// TestErrorsShowTheirPlace holds the rendering: message, line and column, and a caret in
// characters, not bytes.
func TestErrorsShowTheirPlace(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"(1 +\n\t2", "SyntaxError: '(' was never closed (line 1, column 1)\n    (1 +\n    ^"},
		{"[1,\n\t2 3]", "SyntaxError: invalid syntax. Perhaps you forgot a comma? (line 2, column 4)\n    \t2 3]\n    \t  ^"},
		{"", "SyntaxError: invalid syntax (line 1, column 1)\n    \n    ^"},
	} {
		if err := refusal(c.src); err == nil || err.Error() != c.want {
			t.Errorf("%q:\n%v\nwant\n%s", c.src, err, c.want)
		}
	}
}

// TestWhatIsRefused lists what Python's grammar has and this one has not, each with words that say
// so.
func TestWhatIsRefused(t *testing.T) {
	for src, want := range map[string]string{
		"b'x'":              "SyntaxError: bytes are not available in expressions",
		"1j":                "SyntaxError: complex numbers are not available in expressions",
		"(x := 1)":          "SyntaxError: assignment expressions are not available",
		"[*a]":              "SyntaxError: starred expressions are not available",
		"max(*a)":           "SyntaxError: starred expressions are not available",
		"(lambda x: x)(1)":  "SyntaxError: lambda is only available as an argument of sorted, min, max, map and filter",
		"a is 1":            "SyntaxError: 'is' is only available with None, True and False; compare values with ==",
		"...":               "SyntaxError: '...' is not available in expressions",
		`'\N{DEGREE SIGN}'`: `SyntaxError: \N{...} is not available in expressions; write \u or \U with the number`,
		`'\ud800'`:          `SyntaxError: a surrogate is no character of its own: \ud800`,
		"import os":         "SyntaxError: invalid syntax",
		"x = 1":             "SyntaxError: invalid syntax",
	} {
		if err := refusal(src); err == nil || err.Kind+": "+err.Message != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
