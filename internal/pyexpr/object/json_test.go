package object

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/test/must"
)

// TestArgumentsComeBack holds that any JSON value that goes in as an argument comes out as it was:
// each number with its digits and its type, each string with its characters, an object with its
// keys in order.
func TestArgumentsComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		want, _ := json.Marshal(randomJSON(random, 4))
		d := json.NewDecoder(bytes.NewReader(want))
		d.UseNumber()
		var v any
		must.OK(t, d.Decode(&v))
		m, got := py.NewAccount(t.Context(), py.Limits{}), ""
		if err := py.Attempt(func() { got = ToJSON(m, FromJSON(m, v, 1)) }); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if !sameJSON(t, got, v) {
			t.Fatalf("%s came back as %s", want, got)
		}
	}
}

// sameJSON compares with numbers as text, since 5 is not 5.0 here.
func sameJSON(t *testing.T, text string, want any) bool {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var got any
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return reflect.DeepEqual(got, want)
}

// randomJSON makes a value. Floats are written as Python writes them, so that their text can be
// compared.
func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case n == 0:
		return nil
	case n == 1:
		return r.IntN(2) == 0
	case n == 2:
		return json.Number(strings.TrimLeft(strings.Repeat("9", r.IntN(30))+"7", "0"))
	case n == 3:
		return json.Number(number.FloatText((r.Float64() - 0.5) * 1e6))
	case n < 6 || depth == 0:
		letters := []rune("ab한\"\\\n\t\x00é😀<&> ")
		s := make([]rune, r.IntN(8))
		for i := range s {
			s[i] = letters[r.IntN(len(letters))]
		}
		return string(s)
	case n == 6:
		o := map[string]any{}
		for range r.IntN(4) {
			o[string(rune('a'+r.IntN(26)))] = randomJSON(r, depth-1)
		}
		return o
	}
	a := make([]any, r.IntN(4))
	for i := range a {
		a[i] = randomJSON(r, depth-1)
	}
	return a
}

// TestWhatNoResultCanHold has values that Python has and JSON has not.
func TestWhatNoResultCanHold(t *testing.T) {
	m := py.NewAccount(t.Context(), py.Limits{})
	byNumber := NewDict()
	byNumber.Set(m, int64(1), int64(2))
	for want, v := range map[string]Value{
		"ValueError: Out of range float values are not JSON compliant":                                  math.NaN(),
		"TypeError: keys of the result must be str, not int; use str(...)":                              byNumber,
		"TypeError: Object of type range is not JSON serializable; use list(...) to make it a list":     NewRange(m, 0, 3, 1),
		"TypeError: Object of type dict_keys is not JSON serializable; use list(...) to make it a list": byNumber.View("key"),
		"TypeError: Object of type set is not JSON serializable; use sorted(...) to make it a list":     NewSet(),
	} {
		text := ""
		err := py.Attempt(func() { text = ToJSON(m, v) })
		if err == nil || err.Kind+": "+err.Message != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
	}
}

// TestLimits holds the budgets of what is made, below their defaults too.
func TestLimits(t *testing.T) {
	long, deep := strings.Repeat("x", 1000), []any{[]any{[]any{1}}}
	for _, c := range []struct {
		limits py.Limits
		do     func(*py.Account)
		want   string
	}{
		{py.Limits{Bytes: 5000}, func(m *py.Account) { Operate(m, "*", long, int64(10)) }, "the expression needs more than 5000 bytes"},
		{py.Limits{Depth: 2}, func(m *py.Account) { FromJSON(m, deep, 1) }, "an argument is nested more than 2 deep"},
		{py.Limits{Depth: 2}, func(m *py.Account) { ToJSON(m, FromJSON(py.NewAccount(t.Context(), py.Limits{}), deep, 1)) }, "the result is nested more than 2 deep"},
		{py.Limits{Result: 100}, func(m *py.Account) { ToJSON(m, long) }, "the result is longer than 100 bytes"},
		{py.Limits{Result: 1500}, func(m *py.Account) { ToJSON(m, FromJSON(m, []any{long, long}, 1)) }, "the result is longer than 1500 bytes"},
	} {
		m := py.NewAccount(t.Context(), c.limits)
		if err := py.Attempt(func() { c.do(m) }); err == nil || err.Kind != py.LimitError || err.Message != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
