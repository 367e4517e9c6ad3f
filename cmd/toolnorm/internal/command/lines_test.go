package command

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"toolnorm/internal/test/must"
)

func TestLinesOfEveryLengthAreRead(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	r := bufio.NewReaderSize(strings.NewReader("a\n\r\n"+long+"\n"+long+"y\nlast"), 16)
	for _, want := range []struct {
		line  string
		whole bool
	}{{"a", true}, {"", true}, {long, true}, {"", false}, {"last", true}} {
		line, whole, err := readLine(r, len(long))
		if whole != want.whole || whole && string(line) != want.line || err != nil {
			t.Fatalf("%d bytes, whole %v, %v; want %d, %v", len(line), whole, err, len(want.line), want.whole)
		}
	}
	if _, _, err := readLine(r, 10); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// TestEachAnswerLeavesBeforeTheNextLineIsRead speaks with the loop over pipes, as a harness does.
func TestEachAnswerLeavesBeforeTheNextLineIsRead(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error)
	go func() { // ends with its input
		done <- answerLines(in, out, 10, func(line []byte) any { return string(line) }, func() any { return "too long" })
	}()
	r := bufio.NewReader(answers)
	for _, tt := range []struct{ line, want string }{{"one", `"one"`}, {"12345678901", `"too long"`}, {"<>", `"<>"`}} {
		must.Have(io.WriteString(ask, tt.line+"\n"))(t)
		if got, err := r.ReadString('\n'); got != tt.want+"\n" || err != nil {
			t.Fatalf("%s: %q, %v, want %s", tt.line, got, err, tt.want)
		}
	}
	ask.Close()
	if err := <-done; err != nil {
		t.Errorf("at the end: %v", err)
	}
}

func TestInputThatBreaksIsAnError(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := readInput(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("whole: %v", err)
	}
	if err := answerLines(iotest.ErrReader(broken), io.Discard, 10, nil, nil); !errors.Is(err, broken) {
		t.Errorf("lines: %v", err)
	}
}

// TestTablesFit cuts the widest columns, and nothing where there is no terminal.
func TestTablesFit(t *testing.T) {
	rows := [][]string{{"NAME", "MARKS", "MODELS"}, {"hermes", strings.Repeat("<tool_call> ", 20), "한국어 " + strings.Repeat("qwen ", 30)}}
	for _, width := range []int{0, 40, 80, 1000} {
		var b strings.Builder
		must.OK(t, table(&b, width, rows))
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("width %d: %d in %q", width, n, line)
			}
		}
		if cut := strings.Contains(b.String(), "…"); cut != (width == 40 || width == 80) {
			t.Errorf("width %d: cut %v\n%s", width, cut, b.String())
		}
	}
}
