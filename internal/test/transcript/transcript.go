// Package transcript finds commands and their outputs in documents and comments, so that tests can
// check whether the outputs are right.
package transcript

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Match reports an error of the test unless got is the output of a command. The comment of a source
// file has the command and its output.
func Match(t testing.TB, file, command, got string) {
	t.Helper()
	if want, err := Of(file, command); err != nil || got != want {
		t.Errorf("printed:\n%s\n%s says:\n%s%v", got, file, want, err)
	}
}

// Of returns the text after the line "$ command" in the comment at the top of a source file, up to
// the comment's end, without the tabs that indent it. It fails if the file cannot be read or has no
// such line. Examples show their output in their package comment, and a test compares it with the
// real output. So the comment is always right, and no second copy is needed.
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
