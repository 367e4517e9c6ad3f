package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
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

func TestDecodeSaysWhy(t *testing.T) {
	clean(t, "")
	offered := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(offered, []byte(`[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for wrote, want := range map[string]string{
		`<tool_call>{"name": "weather", "arguments": {}}</tool_call>`:      "weather does not fit its schema: city: is missing. The server has the model write the call again.",
		`<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>`: "no_such_tool is not among the offered tools (weather).",
		"It is fine.": "read as hermes\n",
	} {
		var errs bytes.Buffer
		m := NewMain(io.Discard, &errs)
		m.stdin = strings.NewReader(wrote)
		if err := m.ParseFlags([]string{"decode", "--format", "hermes", "--tools", offered}); err != nil {
			t.Fatal(err)
		}
		if err := m.command(); err != nil || !strings.HasSuffix(strings.TrimSpace(errs.String()), strings.TrimSpace(want)) {
			t.Errorf("%s: %q, %v; want %q", wrote, errs.String(), err, want)
		}
	}
}
