package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// commandLine runs a command line, and gives what it printed and its error.
func commandLine(t *testing.T, args ...string) (out, log string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	m := NewMain(&stdout, &stderr)
	if err := m.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	err = m.instead()
	return stdout.String(), stderr.String(), err
}

func TestCustomToolsAsFiles(t *testing.T) {
	clean(t, "")
	data, files := t.TempDir(), t.TempDir()
	one := filepath.Join(files, "multiply_numbers.yaml")
	text := "name: multiply_numbers\ndescription_agent: product\ntool_type: PYTHON\ndefinition: num1 * num2\nis_active: true\nparams:\n  - param_name: num1\n    param_type: NUMBER\n    is_required: true\n  - param_name: num2\n    param_type: NUMBER\n    is_required: true\n"
	if err := os.WriteFile(one, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
		out, log, err := commandLine(t, append(step.args, "--data", data)...)
		if err != nil || out != step.want {
			t.Errorf("%q: %q, %s, %v, want %q", step.args, out, log, err, step.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(files, "out", "multiply_numbers.yaml")); err != nil || string(got) != text {
		t.Errorf("exported %s, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(files, "worse.yaml"), []byte("name: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, log, err := commandLine(t, "tools", "import", files, "--data", data)
	if err == nil || !strings.Contains(out, "unchanged multiply_numbers") || !strings.Contains(out, "refused x") || !strings.Contains(log, "worse.yaml") {
		t.Errorf("%q, %s, %v", out, log, err)
	}
}
