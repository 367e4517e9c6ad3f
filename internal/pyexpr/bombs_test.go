package pyexpr

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/test/must"
)

// What one hostile expression may take: memory by the runtime's own count, time on a machine that
// does nothing else.
const (
	mostAllocated = 16 << 20
	mostTime      = 50 * time.Millisecond
)

// bomb is a hostile expression and the kind of error it must end with, or "ok".
type bomb struct{ expr, want string }

// bombs reads the corpus.
func bombs(t testing.TB) (all []bomb) {
	t.Helper()
	text := must.Read(t, "testdata/bombs.txt")
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			kind, expr, _ := strings.Cut(line[1:], " ")
			all = append(all, bomb{expr, kind})
		case strings.HasPrefix(line, "ok "):
			all = append(all, bomb{line[3:], "ok"})
		default:
			all = append(all, bomb{line, py.LimitError})
		}
	}
	if len(all) < 80 {
		t.Fatalf("%d hostile expressions, want at least 80", len(all))
	}
	return all
}

// bombVars are the variables of the corpus.
func bombVars() map[string]any {
	numbers := make([]any, 1000)
	for i := range numbers {
		numbers[i] = i
	}
	return map[string]any{"s": strings.Repeat("a", 10_000), "u": strings.Repeat("한", 10_000), "n": 1_000_000_000, "l": numbers}
}

// explode runs a bomb and says what it ended with, and what it allocated.
func (b bomb) explode(vars map[string]any) (Result, string, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := Compile(b.expr, []string{"s", "u", "n", "l"})
	var r Result
	if err == nil {
		r, err = p.Run(context.Background(), vars, py.Limits{Timeout: time.Minute}) // the steps have to end it
	}
	runtime.ReadMemStats(&after)
	kind := "ok"
	var e *py.Error
	if errors.As(err, &e) {
		kind = e.Kind
	}
	return r, kind, after.TotalAlloc - before.TotalAlloc
}

func TestBombs(t *testing.T) {
	vars := bombVars()
	chars.Printable(0x100) // reads the tables once a process, not by an expression
	functions()
	methods()
	for _, b := range bombs(t) {
		r, kind, allocated := b.explode(vars)
		switch {
		case kind != b.want:
			t.Errorf("%.100s ends with %s, want %s", b.expr, kind, b.want)
		case r.Steps > py.DefaultLimits.Steps || r.Bytes > py.DefaultLimits.Bytes:
			t.Errorf("%.100s took %d steps and %d bytes", b.expr, r.Steps, r.Bytes)
		case allocated > mostAllocated:
			t.Errorf("%.100s allocated %d bytes, charged %d", b.expr, allocated, r.Bytes)
		}
	}
}
