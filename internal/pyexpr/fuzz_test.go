package pyexpr

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/py"
)

// seeds are what fuzzing begins with: the hostile expressions and the examples of the comments.
func seeds(f *testing.F) {
	for _, b := range bombs(f) {
		f.Add(b.expr)
	}
	for _, s := range []string{
		"result = a * b", "a if a > b else b", "[x for x in l if x % 2]", "{k: v for k, v in d.items()}", "f'{a:>{b}.2f}{s!r}'",
		"'%5.2f|%s' % (a, s)", "'{0:x}{name!r}'.format(a, name=s)", "sorted(l, key=lambda x: -x)[::-1]", "s.upper().split(',', 1)[0]",
		"1 < 2 <= 3 != 4 in l", "not None is True", "a // b % 3 ** 2 << 1 | 5 & ~3", `'\x41\u00e9' r'\n' """x"""`, "0x1f + 1_000 + .5e-3",
	} {
		f.Add(s)
	}
}

// FuzzCompile holds that no source makes the reader panic, that an error is an *Error with a place
// within the source, and that reading a long one does not take long: it is bounded by the size
// alone.
func FuzzCompile(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Compile(src, []string{"a", "b", "s", "l", "d"})
		var e *py.Error
		switch {
		case err == nil && p == nil:
			t.Fatal("neither a program nor an error")
		case err == nil:
		case !errors.As(err, &e) || e.Kind == py.SystemError:
			t.Fatalf("%T is no *Error", err)
		case e.Line > strings.Count(src, "\n")+1 || e.Line > 0 && e.Column < 1:
			t.Fatalf("line %d, column %d is not in the source", e.Line, e.Column)
		case e.Message == "" || !utf8.ValidString(e.Error()):
			t.Fatalf("message %q", e.Error())
		}
	})
}

// FuzzRun holds that no expression makes a run panic, that no budget is exceeded, that a result is
// valid JSON within its limit, and that the same run gives the same.
func FuzzRun(f *testing.F) {
	seeds(f)
	limits := py.Limits{Steps: 20_000, Bytes: 1 << 20, Bits: 8_192, Depth: 32, Result: 64 << 10, Timeout: time.Minute}
	vars := map[string]any{"a": json.Number("7"), "b": json.Number("2.5"), "s": "héllo, 한국", "l": []any{3, 1, json.Number("2"), "x", nil, true},
		"d": map[string]any{"k": 1, "한": []any{1.5}}}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := Compile(src, []string{"a", "b", "s", "l", "d"})
		if err != nil {
			return
		}
		r, err := p.Run(context.Background(), vars, limits)
		if r.Steps > limits.Steps || r.Bytes > limits.Bytes {
			t.Fatalf("%d steps and %d bytes spent", r.Steps, r.Bytes)
		}
		if err != nil {
			var e *py.Error
			if !errors.As(err, &e) || e.Kind == "" || e.Kind == py.SystemError || !utf8.ValidString(e.Message) {
				t.Fatalf("%T %q", err, err)
			}
		} else if !json.Valid([]byte(r.JSON)) || len(r.JSON) > limits.Result || !utf8.ValidString(r.JSON) {
			t.Fatalf("%d bytes, not valid JSON: %.200q", len(r.JSON), r.JSON)
		}
		again, err2 := p.Run(context.Background(), vars, limits)
		if again != r || (err == nil) != (err2 == nil) {
			t.Fatalf("%+v, %v and then %+v, %v", r, err, again, err2)
		}
	})
}
