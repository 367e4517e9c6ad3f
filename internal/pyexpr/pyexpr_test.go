package pyexpr

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/test/must"
)

// run compiles and runs an expression with vars.
func run(src string, vars map[string]any, limits py.Limits) (Result, error) {
	var names []string
	for name := range vars {
		names = append(names, name)
	}
	p, err := Compile(src, names)
	if err != nil {
		return Result{}, err
	}
	return p.Run(context.Background(), vars, limits)
}

func TestNumbersKeepTheirTypes(t *testing.T) {
	vars := map[string]any{"a": json.Number("5"), "b": json.Number("3"), "f": json.Number("5.0"), "e": json.Number("1e2"),
		"big": json.Number("123456789012345678901234567890"), "i": 7, "i64": int64(-7), "f64": 2.0}
	for src, want := range map[string]string{
		"a * b":                            "15",
		"result = a * b":                   "15",
		"  result=a*b\n":                   "15",
		"result == 5 if False else a":      "", // result is no name
		"a * f":                            "25.0",
		"f":                                "5.0",
		"e":                                "100.0",
		"i + i64":                          "0",
		"f64":                              "2.0",
		"big + a":                          "123456789012345678901234567895",
		"a / b":                            "1.6666666666666667",
		"a // b, a % b, -a // b":           "[1,2,-2]",
		"[x for x in range(a)]":            "[0,1,2,3,4]",
		"f'{a:03d} {f!r:>6} {b=}'":         `"005    5.0 b=3"`,
		"'x' if a > b else None":           `"x"`,
		"{'k': (True, None, 1.5)}":         `{"k":[true,null,1.5]}`,
		"sorted({3, 1, 2})":                "[1,2,3]",
		"-2**2, 2**-1, 10**20":             "[-4,0.5,100000000000000000000]",
		"'한국'[1], '\\u00e9\\n\"\\\\\\x01'": `["국","é\n\"\\\u0001"]`,
		"max([1, 5, 3], key=lambda x: -x)": "1",
		"1e16, 1e-5, -0.0":                 "[1e+16,1e-05,-0.0]",
		"{}, [], ''":                       `[{},[],""]`,
		"'<a href=\"x\">&'":                `"<a href=\"x\">&"`,
	} {
		got, err := run(src, vars, py.Limits{})
		if got.JSON != want || (err == nil) != (want != "") {
			t.Errorf("%s = %s, %v, want %s", src, got.JSON, err, want)
		}
	}
}

// TestErrorsShowTheirPlace holds the rendering: kind, message, line and column, and a caret in
// characters, not bytes.
func TestErrorsShowTheirPlace(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1 / 0", "ZeroDivisionError: division by zero (line 1, column 3)\n    1 / 0\n      ^"},
		{"result = a +\\\n nosuch", "NameError: name 'nosuch' is not defined (line 2, column 2)\n     nosuch\n     ^"},
		{"'한국' + 1", "TypeError: can only concatenate str (not \"int\") to str (line 1, column 6)\n    '한국' + 1\n         ^"},
		{"[x for x in\n  5]", "TypeError: 'int' object is not iterable (line 2, column 3)\n      5]\n      ^"},
		{"f'ab {1 / 0}'", "ZeroDivisionError: division by zero (line 1, column 9)\n    f'ab {1 / 0}'\n            ^"},
		{"'abc'.nope", "AttributeError: 'str' object has no attribute 'nope' (line 1, column 7)\n    'abc'.nope\n          ^"},
		{"max([])", "ValueError: max() arg is an empty sequence (line 1, column 1)\n    max([])\n    ^"},
		{"{1, 2}", "TypeError: Object of type set is not JSON serializable; use sorted(...) to make it a list (line 1, column 1)\n    {1, 2}\n    ^"},
	} {
		_, err := run(c.src, map[string]any{"a": 1}, py.Limits{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n%v\nwant\n%s", c.src, err, c.want)
		}
	}
}

// TestWhatIsRefused lists what Python has and the language has not, each with words that say so.
func TestWhatIsRefused(t *testing.T) {
	for src, want := range map[string]string{
		"__import__('os')":         "NameError: names that begin with '_' are not available: '__import__'",
		"().__class__":             "AttributeError: names that begin with '_' are not available: '__class__'",
		"open('x')":                "NameError: name 'open' is not defined",
		"eval('1')":                "NameError: name 'eval' is not defined",
		"[].append(1)":             "AttributeError: 'list' object has no attribute 'append'",
		"'{0.x}'.format(1)":        "ValueError: attributes and indexes are not available in the fields of format: {0.x}",
		"map(str, [1])":            "TypeError: Object of type map is not JSON serializable; use list(...) to make it a list",
		"len":                      "TypeError: Object of type builtin_function_or_method is not JSON serializable",
		"str(map(str, [1]))":       "TypeError: a map object has no text in expressions; use list(...) on what can be walked",
		"range(10**30)":            "LimitError: a range beyond 64 bits is not available in expressions",
		"a\x00":                    "SyntaxError: the expression is not valid text",
		strings.Repeat("1+", 9000): "LimitError: the expression is longer than 16384 bytes",
	} {
		_, err := run(src, map[string]any{"a": []any{1}}, py.Limits{})
		got := ""
		var e *py.Error
		if errors.As(err, &e) {
			got = e.Kind + ": " + e.Message
		}
		if got != want {
			t.Errorf("%.40s: %s, want %s", src, got, want)
		}
	}
}

// TestNames holds what a parameter may be called, and which parameters an expression reads.
func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{"num1": true, "이름": true, "a_b": true, "result": true, "": false, "1a": false, "a-b": false, "_x": false,
		"if": false, "None": false, "len": true, "str": true, "a b": false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	p, err := Compile("[a for a in b if c] and f'{d:{e}}'", []string{"a", "b", "c", "d", "e", "unused"})
	if err != nil || !slices.Equal(p.Uses(), []string{"b", "c", "d", "e"}) {
		t.Errorf("Uses() = %v, %v", p.Uses(), err)
	}
	for src, want := range map[string]string{"max - min": "2", "[min for min in range(max)]": "[0,1,2]", "sum": "1.5", "abs(sum)": "1.5", "sum([1])": "TypeError: 'float' object is not callable"} {
		res, err := run(src, map[string]any{"max": 3, "min": 1, "sum": 1.5}, py.Limits{})
		got := res.JSON
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
	if names := Names(); len(names) != 30 || !slices.IsSorted(names) {
		t.Errorf("%d functions: %v", len(names), names)
	}
}

// TestLimits holds the budgets of time, below their defaults too, and that an end from outside ends
// a run. Those of what is made are held where it is made, in packages object and number.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		src    string
		limits py.Limits
		want   string
	}{
		{"sum(range(1000))", py.Limits{Steps: 100}, "the expression takes more than 100 steps"},
		{"sum(range(100000))", py.Limits{Timeout: 1}, "the expression takes longer than 1ns"},
	} {
		_, err := run(c.src, nil, c.limits)
		var e *py.Error
		if !errors.As(err, &e) || e.Kind != py.LimitError || e.Message != c.want {
			t.Errorf("%s: %v, want %s", c.src, err, c.want)
		}
	}
	p := must.Have(Compile("sum(range(10**9))", nil))(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Run(ctx, nil, py.Limits{Steps: 1 << 40, Timeout: time.Hour}); err == nil || !strings.Contains(err.Error(), "the call was cancelled") {
		t.Errorf("a cancelled run ends with %v", err)
	}
}

// TestProgramsAreShared runs one program many times at once; the race detector sees what is
// written.
func TestProgramsAreShared(t *testing.T) {
	p := must.Have(Compile("[f'{x * n}'.upper() for x in range(n)] + sorted(['Σ', 'ß'], key=str.casefold)", []string{"n"}))(t)
	done := make(chan string)
	for range 8 {
		go func() {
			r, _ := p.Run(context.Background(), map[string]any{"n": 3}, py.Limits{})
			done <- r.JSON
		}()
	}
	for range 8 {
		if got := <-done; got != `["0","3","6","ß","Σ"]` {
			t.Error(got)
		}
	}
}

func BenchmarkCompiled(b *testing.B) {
	for _, c := range []struct{ name, src string }{
		{"product", "num1 * num2"},
		{"conditional", "'over' if num1 > 100 else f'{num1:.2f} of {num2}'"},
		{"comprehension", "[x * x for x in range(20) if x % 2]"},
	} {
		p := must.Have(Compile(c.src, []string{"num1", "num2"}))(b)
		vars := map[string]any{"num1": json.Number("5"), "num2": json.Number("3")}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.Have(p.Run(context.Background(), vars, py.Limits{}))(b)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		must.Have(Compile("num1 * num2", []string{"num1", "num2"}))(b)
	}
}
