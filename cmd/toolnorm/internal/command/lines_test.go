package command

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
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
		if _, err := io.WriteString(ask, tt.line+"\n"); err != nil {
			t.Fatal(err)
		}
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
