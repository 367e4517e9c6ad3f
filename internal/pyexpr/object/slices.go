package object

import (
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Slices, a[start:stop:step]. The bounds are clamped to the sequence, so that no slice is out of
// range, and the number of Items is known before any of them is copied.

// SliceBound returns a bound of a slice, or the last argument if the bound is None. A number beyond
// 64 bits counts as the largest. It raises a TypeError if the bound is not an integer.
func SliceBound(v Value, otherwise int64) int64 {
	if v == nil {
		return otherwise
	}
	n, ok := number.Int(v)
	if !ok {
		py.Raise(py.TypeError, "slice indices must be integers or None or have an __index__ method")
	}
	return number.Clamp(n)
}

// bounds returns the first index, the end, the step and the number of items of a slice of n items.
// It raises an error if the step is zero or a part is not an integer.
//
//	'abcdef'[-3:-1] → 'de'
//	'abcdef'[10:0:-2] → 'fdb'
//	'abc'[::-1] → 'cba'
//	'abc'[-10:2] → 'ab'
//	[1, 2][:10**30] → [1, 2]
func (c Cut) bounds(n int64) (start, stop, step, count int64) {
	step = SliceBound(c.Step, 1)
	if step == 0 {
		py.Raise(py.ValueError, "slice step cannot be zero")
	}
	low, high := int64(0), n // the range to which a bound is clamped
	first, last := low, high
	if step < 0 {
		low, high = -1, n-1
		first, last = high, low
	}
	within := func(v Value, otherwise int64) int64 {
		if v == nil {
			return otherwise
		}
		i := SliceBound(v, 0)
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	start = within(c.Start, first)
	stop = within(c.Stop, last)
	return start, stop, step, between(start, stop, step)
}

// between returns how many numbers range(start, stop, step) has.
func between(start, stop, step int64) int64 {
	switch {
	case step > 0 && start < stop:
		return int64((uint64(stop)-uint64(start)-1)/uint64(step)) + 1
	case step < 0 && start > stop:
		return int64((uint64(start)-uint64(stop)-1)/(-uint64(step))) + 1
	}
	return 0
}

// slice returns x[a:b:c] for a sequence.
//
//	[1, 2, 3, 4][1:3] → [2, 3]
//	'hello'[::-1] → 'olleh'
//	(1, 2, 3)[-2:] → (2, 3)
//	[1, 2][5:] → []
//	[1][::0] → ValueError: slice step cannot be zero
//	'ab'['x':] → TypeError: slice indices must be integers or None or have an __index__ method
func slice(m *py.Account, x Value, c Cut) Value {
	n, _ := Length(x)
	start, stop, step, count := c.bounds(n)
	switch x := x.(type) {
	case string:
		return sliceText(m, x, start, step, count)
	case List:
		return List(pick(m, x, start, step, count))
	case Tuple:
		return Tuple(pick(m, x, start, step, count))
	case span:
		if wide := number.Magnitude(step); wide > 1<<31 || number.Magnitude(x.step) > 1<<31 ||
			number.Magnitude(x.stop) > 1<<62 || number.Magnitude(x.start) > 1<<62 {
			py.Raise(py.LimitError,
				"a slice of a range beyond 62 bits is not available in expressions")
		}
		// The stop is what Python shows, from the clamped bound: range(10)[2:100] is range(2, 10).
		return span{x.start + start*x.step, x.start + stop*x.step, x.step * step, count}
	}
	return nil
}

// pick returns items of a slice. The parameter start is the index of the first one, step is the
// distance between two of them, and count is their number. The caller must make sure that they
// exist.
func pick(m *py.Account, x []Value, start, step, count int64) []Value {
	m.AllocItems(count)
	all := make([]Value, count)
	for i := range all {
		all[i] = x[start+int64(i)*step]
	}
	return all
}

// sliceText returns the slice of a text by characters. For a slice of ASCII text with step 1 it
// counts bytes, which gives the same result.
func sliceText(m *py.Account, s string, start, step, count int64) Value {
	m.AllocText(int64(len(s)))
	if count == 0 {
		return ""
	}
	if step == 1 {
		if IsASCII(s) {
			return s[start : start+count]
		}
		from := ByteAt(s, int(start))
		return s[from : from+ByteAt(s[from:], int(count))]
	}
	m.Alloc(4 * int64(len(s)))
	all := []rune(s)
	picked := make([]rune, count)
	for i := range picked {
		picked[i] = all[start+int64(i)*step]
	}
	m.Alloc(8 * count)
	return string(picked)
}

// NewRange returns a range of 64-bit numbers. It raises an error if the range has more numbers than
// an int64 counts. Python has such ranges, but none could be iterated within the limits.
func NewRange(m *py.Account, start, stop, step int64) Value {
	n := between(start, stop, step)
	if n < 0 { // -2**63 to 2**63-1 has more numbers than an int64 counts
		py.Raise(py.LimitError, "a range beyond 64 bits is not available in expressions")
	}
	m.Alloc(py.ListBytes)
	return span{start, stop, step, n}
}
