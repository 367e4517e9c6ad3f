package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestCustomToolsAsFiles(t *testing.T) {
	clean(t, "")
	data, files := t.TempDir(), t.TempDir()
	one := filepath.Join(files, "multiply_numbers.yaml")
	text := "name: multiply_numbers\ndescription_agent: product\ntool_type: PYTHON\ndefinition: num1 * num2\nis_active: true\nparams:\n  - param_name: num1\n    param_type: NUMBER\n    is_required: true\n  - param_name: num2\n    param_type: NUMBER\n    is_required: true\n"
	must.Write(t, one, text)
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"tools", "import", "--dry-run", files}, one + ": create multiply_numbers\n"},
		{[]string{"tools", "list"}, ""},
		{[]string{"tools", "import", files}, one + ": create multiply_numbers\n"},
		{[]string{"tools", "import", files}, one + ": unchanged multiply_numbers\n"},
		{[]string{"tools", "list"}, "1\tmultiply_numbers\tPYTHON\toffered\n"},
		{[]string{"tools", "export", filepath.Join(files, "out")}, filepath.Join(files, "out", "multiply_numbers.yaml") + "\n"},
	} {
		out, log, err := ran(t, "", append(step.args, "--data", data)...)
		if err != nil || out != step.want {
			t.Errorf("%q: %q, %s, %v, want %q", step.args, out, log, err, step.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(files, "out", "multiply_numbers.yaml")); err != nil || string(got) != text {
		t.Errorf("exported %s, %v", got, err)
	}
	nowhere := filepath.Join(t.TempDir(), "mistyped")
	for _, args := range [][]string{{"tools", "list"}, {"tools", "export", "--prune", filepath.Join(files, "out")}, {"tools", "check"}, {"kb", "list"}, {"kb", "show", "x"}} {
		for _, where := range [][]string{{"--data", nowhere}, {"--data", data, "--store", nowhere}} {
			if _, _, err := ran(t, "", slices.Concat(args, where)...); err == nil || !strings.Contains(err.Error(), "there is no "+nowhere) {
				t.Errorf("%q %q: %v", args, where, err)
			}
		}
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("a folder was made by a command that reads")
	}
	must.Have(os.Stat(filepath.Join(files, "out", "multiply_numbers.yaml")))(t)
	must.Write(t, filepath.Join(files, "worse.yaml"), "name: x")
	out, log, err := ran(t, "", "tools", "import", files, "--data", data)
	if err == nil || !strings.Contains(out, "unchanged multiply_numbers") || !strings.Contains(out, "refused x") || !strings.Contains(log, "worse.yaml") {
		t.Errorf("%q, %s, %v", out, log, err)
	}
}
