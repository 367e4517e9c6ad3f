// Package transcript finds what a program says of its own output, so that a test can hold it to
// that.
package transcript

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Match reports an error unless a source file says that a command prints got.
func Match(t testing.TB, file, command, got string) {
	t.Helper()
	if want, err := Of(file, command); err != nil || got != want {
		t.Errorf("printed:\n%s\n%s says:\n%s%v", got, file, want, err)
	}
}

// Of returns what the comment at the top of a source file shows behind the line "$ command": all of
// it up to the comment's end. In the comment it is indented by a tab. It fails when the file cannot
// be read or has no such line. Examples show their output in their package comment, and a test runs
// them and compares. So the comment cannot go stale, and there is no second copy of it in a golden
// file.
func Of(file, command string) (string, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	_, shown, ok := strings.Cut(string(src), "//\t$ "+command+"\n")
	if !ok {
		return "", fmt.Errorf("%s does not say what %q prints", file, command)
	}
	var out strings.Builder
	for line := range strings.Lines(shown) {
		text, ok := strings.CutPrefix(line, "//")
		if !ok {
			break
		}
		out.WriteString(strings.TrimPrefix(text, "\t"))
	}
	return out.String(), nil
}
