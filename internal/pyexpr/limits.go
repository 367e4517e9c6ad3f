package pyexpr

import (
	"context"
	"math/big"
	"time"
)

// Limits bound what one run may spend. A field of zero has the default of DefaultLimits; none can be switched off, since
// a single expression without a bound (`[0]*10**9`) ends the whole process with an out-of-memory that nothing recovers.
type Limits struct {
	Steps   int64         // nodes, loop turns and comparisons
	Bytes   int64         // allocated in all during the run, freed or not
	Bits    int           // of one integer
	Depth   int           // nesting of arguments and result
	Result  int           // bytes of the result's JSON
	Timeout time.Duration // of wall time, beside the context's own end
}

// DefaultLimits are what the zero value of Limits stands for.
// 200,000 steps took at most 40 ms for every hostile expression of the corpus, and 8 MiB charged was never more than 16 MiB allocated.
var DefaultLimits = Limits{Steps: 200_000, Bytes: 8 << 20, Bits: 65_536, Depth: 64, Result: 1 << 20, Timeout: time.Second}

// The bounds of a source text. They hold when an expression is compiled, where no caller's limits are known yet.
const (
	mostSource = 16 << 10 // bytes
	mostNested = 64       // brackets, calls and prefix operators within each other
)

// withDefaults fills the fields that are zero or negative.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	if l.Steps > 0 {
		d.Steps = l.Steps
	}
	if l.Bytes > 0 {
		d.Bytes = l.Bytes
	}
	if l.Bits > 0 {
		d.Bits = l.Bits
	}
	if l.Depth > 0 {
		d.Depth = l.Depth
	}
	if l.Result > 0 {
		d.Result = l.Result
	}
	if l.Timeout > 0 {
		d.Timeout = l.Timeout
	}
	return d
}

// machine is the state of one run: what it has spent and what it may.
type machine struct {
	limits   Limits
	ctx      context.Context
	deadline time.Time
	steps    int64
	bytes    int64
	check    int64 // the number of steps at which the clock and the context are looked at again
	pos      int   // of the part of the source that an error would be blamed on
}

// betweenChecks are the steps between two looks at the clock: about 50 µs, and a look costs less than a hundredth of that.
const betweenChecks = 1024

// newMachine starts a run. The clock is only read at the first check, so a short expression never pays for it.
func newMachine(ctx context.Context, l Limits) *machine {
	m := &machine{limits: l.withDefaults(), ctx: ctx}
	m.check = min(betweenChecks, m.limits.Steps)
	return m
}

// step charges n steps.
func (m *machine) step(n int64) {
	m.steps += n
	if m.steps >= m.check || n < 0 {
		m.pause(n)
	}
}

// pause looks whether the run may go on. A charge so large that it overflowed, or was said to be negative, is beyond any limit.
func (m *machine) pause(n int64) {
	if m.steps > m.limits.Steps || m.steps < 0 || n < 0 {
		m.steps = m.limits.Steps
		raise(LimitError, "the expression takes more than %d steps", m.limits.Steps)
	}
	if m.deadline.IsZero() {
		m.deadline = time.Now().Add(m.limits.Timeout)
	}
	if m.ctx.Err() != nil {
		raise(LimitError, "the call was cancelled")
	}
	if time.Now().After(m.deadline) {
		raise(LimitError, "the expression takes longer than %v", m.limits.Timeout)
	}
	m.check = min(m.steps+betweenChecks, m.limits.Steps)
}

// alloc charges n bytes that are about to be allocated.
func (m *machine) alloc(n int64) {
	if n < 0 || n > m.limits.Bytes-m.bytes {
		m.bytes = m.limits.Bytes
		raise(LimitError, "the expression needs more than %d bytes", m.limits.Bytes)
	}
	m.bytes += n
}

// What values cost, in bytes: an interface is two words, and what does not fit into one is allocated behind it.
const (
	slotBytes  = 16
	boxBytes   = 16 // a number or the header of a string behind an interface
	listBytes  = 48
	entryBytes = 112 // of a dict or set: the key, the value and Go's map, which is at most seven eighths full
	bigBytes   = 64  // of an integer beyond 64 bits, beside its digits
)

// allocItems charges a list or tuple of n items and the work of filling it.
func (m *machine) allocItems(n int64) {
	if n > m.limits.Bytes { // n*slotBytes could overflow
		m.alloc(m.limits.Bytes + 1)
	}
	m.alloc(listBytes + n*slotBytes)
	m.step(n / 8)
}

// allocText charges a string of n bytes and the work of filling it.
func (m *machine) allocText(n int64) {
	m.alloc(boxBytes + n)
	m.step(n / 64)
}

// scan charges reading n bytes of text.
func (m *machine) scan(n int) { m.step(int64(n) / 64) }

// allocBits charges an integer of at most n bits, before it is made.
func (m *machine) allocBits(n int64) {
	if n > int64(m.limits.Bits) {
		raise(LimitError, "the integer has more than %d bits", m.limits.Bits)
	}
	m.alloc(bigBytes + n/8)
}

// bits are the length of an integer.
func bits(v value) int64 {
	switch v := v.(type) {
	case *big.Int:
		return int64(v.BitLen())
	case bool:
		return 1
	default:
		return 64
	}
}
