// Package py is shared by all parts of the evaluator. It has Python's kinds of errors, with the one
// way in which they end a run, and the account of what a run has spent. It does not depend on
// values.
package py

import (
	"context"
	"time"
)

// Limits bound what one run may use. A field that is not positive has the default of DefaultLimits.
// No limit can be switched off, because a single expression without one, such as `[0]*10**9`, can
// exhaust the memory of the whole process, from which it cannot recover.
type Limits struct {
	Steps   int64         // nodes, loop turns and comparisons
	Bytes   int64         // allocated during the whole run, whether freed or not
	Bits    int           // of any integer
	Depth   int           // levels of nesting in arguments and the result
	Result  int           // bytes of the result's JSON
	Timeout time.Duration // real time; the context may end the run earlier
}

// DefaultLimits are the defaults of Limits. 200,000 steps took at most 40 ms for every hostile
// expression of the corpus, and when 8 MiB were charged, never more than 16 MiB were allocated.
var DefaultLimits = Limits{Steps: 200_000, Bytes: 8 << 20, Bits: 65_536, Depth: 64, Result: 1 << 20,
	Timeout: time.Second}

// MostDigits is CPython's own limit for conversions between an int and its decimal digits. It
// exists because the conversion takes quadratic time.
const MostDigits = 4300

// withDefaults returns limits whose zero or negative fields have their defaults.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Steps: positive(l.Steps, d.Steps), Bytes: positive(l.Bytes, d.Bytes),
		Bits:  positive(l.Bits, d.Bits),
		Depth: positive(l.Depth, d.Depth), Result: positive(l.Result, d.Result),
		Timeout: positive(l.Timeout, d.Timeout),
	}
}

// positive returns n if it is positive, and otherwise the second argument.
func positive[N int | int64 | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// Account is the state of one run: how much it has used, and how much it may use.
type Account struct {
	Limits   Limits
	ctx      context.Context
	deadline time.Time
	Steps    int64
	Bytes    int64
	check    int64 // the number of steps at which the clock and the context are next checked
	Pos      int   // the offset in the source at which an error would be reported
}

// betweenChecks is the number of steps between two checks of the clock: about 50 µs. A check takes
// less than a hundredth of that.
const betweenChecks = 1024

// NewAccount returns the account of a new run. The clock is read only at the first check, so a
// short expression never reads it.
func NewAccount(ctx context.Context, l Limits) *Account {
	m := &Account{Limits: l.withDefaults(), ctx: ctx}
	m.check = min(betweenChecks, m.Limits.Steps)
	return m
}

// Step charges n steps. Like all methods that charge, it raises a LimitError if a limit is
// exceeded.
func (m *Account) Step(n int64) {
	m.Steps += n
	if m.Steps >= m.check || n < 0 {
		m.pause(n)
	}
}

// pause raises a LimitError if a limit is exceeded or the context has ended. A negative charge, for
// example one that overflowed, exceeds every limit.
func (m *Account) pause(n int64) {
	if m.Steps > m.Limits.Steps || m.Steps < 0 || n < 0 {
		m.Steps = m.Limits.Steps
		Raise(LimitError, "the expression takes more than %d steps", m.Limits.Steps)
	}
	if m.deadline.IsZero() {
		m.deadline = time.Now().Add(m.Limits.Timeout)
	}
	if m.ctx.Err() != nil {
		Raise(LimitError, "the call was cancelled")
	}
	if time.Now().After(m.deadline) {
		Raise(LimitError, "the expression takes longer than %v", m.Limits.Timeout)
	}
	m.check = min(m.Steps+betweenChecks, m.Limits.Steps)
}

// Alloc charges n bytes that are about to be allocated.
func (m *Account) Alloc(n int64) {
	if n < 0 || n > m.Limits.Bytes-m.Bytes {
		m.Bytes = m.Limits.Bytes
		Raise(LimitError, "the expression needs more than %d bytes", m.Limits.Bytes)
	}
	m.Bytes += n
}

// The sizes of values, in bytes. An interface has two words, and a value that does not fit into one
// word is allocated separately.
const (
	SlotBytes = 16
	BoxBytes  = 16 // a number or a string header in an interface
	ListBytes = 48
	// an entry of a dict or set: the key, the value and the share of Go's map, which is at most
	// seven eighths full
	EntryBytes = 112
	BigBytes   = 64 // of an integer beyond 64 bits, in addition to its digits
)

// AllocItems charges the memory of a list or tuple of n items, and the work of filling it.
func (m *Account) AllocItems(n int64) {
	if n > m.Limits.Bytes { // n*slotBytes could overflow
		m.Alloc(m.Limits.Bytes + 1)
	}
	m.Alloc(ListBytes + n*SlotBytes)
	m.Step(n / 8)
}

// AllocText charges the memory of a string of n bytes, and the work of filling it.
func (m *Account) AllocText(n int64) {
	m.Alloc(BoxBytes + n)
	m.Step(n / 64)
}

// Product returns the product of two counts; ok is false if the product exceeds every limit.
func Product(a, b int64) (n int64, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	if a > 1<<40/b {
		return 0, false
	}
	return a * b, true
}

// Times returns the total size of n parts, and raises a LimitError if that exceeds every limit. It
// charges nothing.
func (m *Account) Times(size, n int64) int64 {
	total, ok := Product(size, n)
	if !ok {
		m.Alloc(-1)
	}
	return total
}

// Scan charges the work of reading n bytes of text.
func (m *Account) Scan(n int) { m.Step(int64(n) / 64) }

// AllocBits charges the memory of an integer of at most n bits, before it is computed. It raises a
// LimitError if there are too many bits.
func (m *Account) AllocBits(n int64) {
	if n > int64(m.Limits.Bits) {
		Raise(LimitError, "the integer has more than %d bits", m.Limits.Bits)
	}
	m.Alloc(BigBytes + n/8)
}
