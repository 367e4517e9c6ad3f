package pyexpr

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/test/must"
)

// recorded is an expression with what CPython said of it: a type and a repr, or an error's kind and
// message.
type recorded struct {
	Expr    string                     `json:"e"`
	Vars    map[string]json.RawMessage `json:"v"`
	Type    string                     `json:"t"`
	Repr    string                     `json:"r"`
	Kind    string                     `json:"x"`
	Message *string                    `json:"m"`
}

// answer is what the package says, in the same form.
func (r *recorded) answer() (typ, text, kind, message string) {
	vars := map[string]any{}
	var names []string
	for name, raw := range r.Vars {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return "", "", "JSON", err.Error()
		}
		vars[name], names = v, append(names, name)
	}
	p, err := Compile(r.Expr, names)
	if err == nil {
		typ, text, err = p.value(vars)
	}
	var e *py.Error
	if errors.As(err, &e) {
		return "", "", e.Kind, e.Message
	}
	return typ, text, "", ""
}

// value is Run without the JSON: the repr shows more, tuples and the keys of dicts.
func (p *Program) value(vars map[string]any) (typ, text string, err error) {
	m := py.NewAccount(context.Background(), py.Limits{Timeout: time.Minute})
	failure := py.Attempt(func() {
		v := eval(m, p.frame(m, vars), p.root)
		typ, text = object.TypeName(v), object.Repr(m, v)
	})
	if failure != nil {
		return "", "", failure
	}
	return typ, text, nil
}

// differs says how the answer differs, or is empty.
func (r *recorded) differs() string {
	typ, text, kind, message := r.answer()
	switch {
	case r.Kind != kind, r.Message != nil && *r.Message != message:
	case r.Kind == "" && (typ != r.Type || text != r.Repr):
	default:
		return ""
	}
	want := r.Type + " " + r.Repr
	if r.Kind != "" {
		want = r.Kind
		if r.Message != nil {
			want += ": " + *r.Message
		}
	}
	got := typ + " " + text
	if kind != "" {
		got = kind + ": " + message
	}
	vars, _ := json.Marshal(r.Vars)
	return fmt.Sprintf("%s\n\twith %s\n\tCPython %s\n\there    %s", r.Expr, vars, want, got)
}

// lastDigit reports whether two floats are neighbours and came from a power. CPython takes powers
// from the C library, which rounds about one in a thousand to the neighbour of the nearest float;
// here all are the nearest.
func (r *recorded) lastDigit() bool {
	if r.Kind != "" || r.Type != "float" || !strings.Contains(r.Expr, "**") && !strings.Contains(r.Expr, "pow(") {
		return false
	}
	_, text, _, _ := r.answer()
	x, err1 := strconv.ParseFloat(r.Repr, 64)
	y, err2 := strconv.ParseFloat(text, 64)
	return err1 == nil && err2 == nil && (math.Nextafter(x, y) == y)
}

// compare reads recorded expressions, and reports each on which the two differ.
func compareAll(t *testing.T, lines io.Reader) (n int) {
	t.Helper()
	s := bufio.NewScanner(lines)
	s.Buffer(nil, 1<<20)
	bad, rounded, limited := 0, 0, 0
	for s.Scan() {
		var r recorded
		must.OK(t, json.Unmarshal(s.Bytes(), &r))
		if r.Expr == "" {
			continue
		}
		n++
		d := r.differs()
		switch {
		case d == "":
		case r.lastDigit():
			rounded++
		case strings.Contains(d, "\there    LimitError: "):
			limited++ // CPython has no limits: now and then an expression is larger than it was meant to be
		default:
			if bad++; bad <= 40 {
				t.Error(d)
			}
		}
	}
	must.OK(t, s.Err())
	if limited > n/1000 {
		t.Errorf("%d of %d expressions ended at a limit", limited, n)
	}
	t.Logf("%d expressions, %d disagreements, %d powers rounded otherwise by the C library, %d beyond the limits", n, bad, rounded, limited)
	return n
}

// TestDifferential compares with what CPython said when testdata/differential was recorded.
func TestDifferential(t *testing.T) {
	f := must.Have(os.Open("testdata/differential/recorded.jsonl.gz"))(t)
	defer f.Close()
	z := must.Have(gzip.NewReader(f))(t)
	if n := compareAll(t, z); n < 10_000 {
		t.Errorf("%d expressions, want 10,000", n)
	}
}

// TestWritten compares expressions as people write them, and those that the generator once found a
// disagreement with.
func TestWritten(t *testing.T) {
	f := must.Have(os.Open("testdata/differential/written.jsonl"))(t)
	defer f.Close()
	if n := compareAll(t, f); n < 230 {
		t.Errorf("%d expressions, want 230", n)
	}
}

// TestDifferentialLive compares fresh expressions with the python3 of this machine. PYEXPR_SEED and
// PYEXPR_COUNT say which and how many; without them the seed is new on every day.
func TestDifferentialLive(t *testing.T) {
	if testing.Short() {
		t.Skip("the recorded expressions are compared in the short run")
	}
	version, err := exec.Command("python3", "-c", "import sys; print(*sys.version_info[:2], sep='.')").Output()
	if err != nil || strings.TrimSpace(string(version)) != "3.11" {
		t.Skipf("no python3 of version 3.11 here (%s), whose messages are the ones compared", strings.TrimSpace(string(version)))
	}
	seed, count := os.Getenv("PYEXPR_SEED"), os.Getenv("PYEXPR_COUNT")
	if seed == "" {
		seed = time.Now().UTC().Format("20060102")
	}
	if count == "" {
		count = "2000"
	}
	out := must.Have(exec.Command("python3", "testdata/differential/generate.py", seed, count).Output())(t)
	t.Logf("seed %s", seed)
	compareAll(t, bytes.NewReader(out))
}
