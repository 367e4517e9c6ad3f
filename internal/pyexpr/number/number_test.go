package number

import (
	"testing"

	"toolnorm/internal/pyexpr/py"
)

// TestWhatNumbersCannotBe has operations whose results Python has, and this language has not.
func TestWhatNumbersCannotBe(t *testing.T) {
	for _, c := range []struct {
		op     string
		a, b   any
		limits py.Limits
		want   string
	}{
		{"**", int64(-8), 0.5, py.Limits{}, "ValueError: a negative number raised to a fraction is complex, and complex numbers are not available in expressions"},
		{"**", int64(2), int64(200), py.Limits{Bits: 128}, "LimitError: the integer has more than 128 bits"},
		{"<<", int64(1), int64(200), py.Limits{Bits: 128}, "LimitError: the integer has more than 128 bits"},
	} {
		m := py.NewAccount(t.Context(), c.limits)
		var got any
		err := py.Attempt(func() { got, _ = Operate(m, c.op, c.a, c.b) })
		if err == nil || err.Kind+": "+err.Message != c.want {
			t.Errorf("%v %s %v = %v, %v, want %s", c.a, c.op, c.b, got, err, c.want)
		}
	}
}
