package pyexpr

import (
	"context"
	"encoding/json"
	"testing"
)

// run compiles and runs an expression with vars.
func run(src string, vars map[string]any) (Result, error) {
	var names []string
	for name := range vars {
		names = append(names, name)
	}
	p, err := Compile(src, names)
	if err != nil {
		return Result{}, err
	}
	return p.Run(context.Background(), vars, Limits{})
}

func TestNumbersKeepTheirTypes(t *testing.T) {
	vars := map[string]any{"a": json.Number("5"), "b": json.Number("3"), "f": json.Number("5.0"), "big": json.Number("123456789012345678901234567890"), "e": json.Number("1e2")}
	for src, want := range map[string]string{
		"a * b":                            "15",
		"result = a * b":                   "15",
		"  result=a*b\n":                   "15",
		"a * f":                            "25.0",
		"f":                                "5.0",
		"e":                                "100.0",
		"big + a":                          "123456789012345678901234567895",
		"a / b":                            "1.6666666666666667",
		"a // b, a % b, -a // b":           "[1,2,-2]",
		"[x for x in range(a)]":            "[0,1,2,3,4]",
		"f'{a:03d} {f!r:>6} {b=}'":         `"005    5.0 b=3"`,
		"'x' if a > b else None":           `"x"`,
		"{'k': (True, None, 1.5)}":         `{"k":[true,null,1.5]}`,
		"sorted({3, 1, 2})":                "[1,2,3]",
		"-2**2, 2**-1, 10**20":             "[-4,0.5,100000000000000000000]",
		"'한국'[1], '\\u00e9\\n'":            `["국","é\n"]`,
		"max([1, 5, 3], key=lambda x: -x)": "1",
	} {
		got, err := run(src, vars)
		if err != nil || got.JSON != want {
			t.Errorf("%s = %s, %v, want %s", src, got.JSON, err, want)
		}
	}
}
