package pyexpr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/test/must"
)

const page = "../../docs/expressions.md"

// TestPageListsEverything holds the table of functions and methods on the page.
func TestPageListsEverything(t *testing.T) {
	text := must.Read(t, page)
	row := func(of string, names []string) string {
		return fmt.Sprintf("| %s | `%s` |\n", of, strings.Join(names, "` `"))
	}
	table := row("functions", Names())
	for _, typ := range slices.Sorted(maps.Keys(methods())) {
		table += row("`"+typ+"`", slices.Sorted(maps.Keys(methods()[typ])))
	}
	if !strings.Contains(string(text), "|---|---|\n"+table+"\n") {
		t.Errorf("the table in %s should be\n%s", page, table)
	}
}

// TestPageIsRight computes the examples of the page: results, and the error with its place.
func TestPageIsRight(t *testing.T) {
	text := must.Read(t, page)
	rows := regexp.MustCompile("(?m)^\\| `(.*)` \\| `(.*)` \\|$").FindAllStringSubmatch(string(text), -1)
	n := 0
	for _, row := range rows {
		if methods()[row[1]] != nil {
			continue
		}
		n++
		if r, err := run(row[1], nil, py.Limits{}); err != nil || r.JSON != row[2] {
			t.Errorf("%s = %s, %v, says the page %s", row[1], r.JSON, err, row[2])
		}
	}
	if n < 7 {
		t.Errorf("%d results on the page, want 7", n)
	}
	_, err := run("100 * count / total", map[string]any{"count": 1, "total": 0}, py.Limits{})
	if err == nil || !strings.Contains(string(text), "    "+strings.ReplaceAll(err.Error(), "\n", "\n    ")) {
		t.Errorf("the page does not show\n%v", err)
	}
	vars := map[string]any{"num1": 1, "num2": 2, "price": 10, "discount": 5, "day": "Sat", "limit": 2, "scores": map[string]any{"a": 2.25, "b": 1}}
	for src, want := range map[string]string{
		"num1 * num2": "2", "result = price * (1 - discount / 100)": "9.5", `"weekend" if day in ("Sat", "Sun") else "weekday"`: `"weekend"`,
		`[f"{name}: {score:.1f}" for name, score in scores.items() if score >= limit]`: `["a: 2.2"]`,
	} {
		r, err := run(src, vars, py.Limits{})
		if err != nil || r.JSON != want || !strings.Contains(string(text), "    "+src+"\n") {
			t.Errorf("%s = %s, %v, want %s, and the page to show it", src, r.JSON, err, want)
		}
	}
}
