package valid

import (
	"encoding/json"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bounds lists the keywords that limit how large, long or many a value may be, or the form of a
// text. A value out of its bounds has the right type, so a tool that checks these reports an error,
// and an agent can try again. A wrong type, a missing member or a value outside an enum is not a
// matter of bounds, because what a tool does with those is not known.
var bounds = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems",
	"minProperties", "maxProperties"}

// Bounded returns the arguments without the members that the schema forbids. Values out of their
// bounds stay. It returns false if there is any other problem. It implements --out-of-bounds=pass,
// for agents that return a tool's error to the model.
func (v *Validator) Bounded(args []byte) ([]byte, bool) {
	out, _, ok := v.outOfBounds(args)
	return out, ok
}

// outOfBounds returns the arguments without the members that the schema forbids (out), and marks
// for the values that are out of their bounds (over). It returns false if the arguments have any
// other problem, because the call would be refused for that anyway.
func (v *Validator) outOfBounds(args []byte) (out []byte, over []mark, ok bool) {
	m, ok := v.marks(args)
	if !ok {
		return nil, nil, false
	}
	var gone []mark
	// A surplus member is not an obstacle: it is left out in any case.
	for _, k := range m.all {
		switch {
		case k.what == surplus || k.what == again:
			gone = append(gone, k)
		case k.over:
			over = append(over, k)
		default:
			return nil, nil, false
		}
	}
	m.doc.spread(gone, 0)
	return m.doc.edited(nil), over, true
}

// Clamped returns the arguments with every number that is out of bounds set to its nearest bound.
// It returns false if the result does not fit. It implements --out-of-bounds=clamp. For example, 22
// under "maximum": 20 becomes 20, because 20 results are better than none. Texts and lists are not
// cut, because a cut text says something else. So a call with a text that is too long is not
// clamped at all.
func (v *Validator) Clamped(args []byte) ([]byte, bool) {
	for range maxClamped {
		out, over, ok := v.outOfBounds(args)
		if !ok {
			return nil, false
		}
		if len(over) == 0 {
			return out, len(v.Check(out)) == 0
		}
		if args, ok = clamped(out, over); !ok {
			return nil, false
		}
	}
	return nil, false
}

// maxClamped is how many rounds of clamping are tried, since several parts of a schema may bound
// the same number. An allOf with two maximums is satisfied in the second round, but contradictory
// bounds would never end.
const maxClamped = 4

// clamped returns the arguments with the marked numbers set to their bounds. It returns false if a
// marked value is not a number, or if no number is within its bounds. It reads and writes decimals
// exactly, because an integer of 19 digits would change as a float.
func clamped(args []byte, over []mark) ([]byte, bool) {
	doc, err := parse(args)
	if err != nil {
		return nil, false
	}
	for i, k := range over {
		text, _ := doc.at(k.path).value.(json.Number) // empty: not a number
		n, ok := new(big.Rat).SetString(string(text))
		if !ok || k.schema == nil {
			return nil, false
		}
		to := nearest(n, k.schema)
		if to == nil {
			return nil, false
		}
		digits, exact := to.FloatPrec()
		if !exact || digits > maxDigits {
			return nil, false
		}
		over[i].now = to.FloatString(digits)
	}
	doc.spread(over, 0)
	return doc.edited(nil), true
}

// nearest returns the number within the bounds of the schema s that is nearest to n, or nil if
// there is none. With "multipleOf" it is chosen among the multiples around n. For example, for 23
// with a maximum of 20 and a step of 8 it is 16, though 20 is nearer.
func nearest(n *big.Rat, s *jsonschema.Schema) *big.Rat {
	fits := func(x *big.Rat) bool {
		return (s.Minimum == nil || x.Cmp(s.Minimum) >= 0) &&
			(s.Maximum == nil || x.Cmp(s.Maximum) <= 0) &&
			(s.ExclusiveMinimum == nil || x.Cmp(s.ExclusiveMinimum) > 0) &&
			(s.ExclusiveMaximum == nil || x.Cmp(s.ExclusiveMaximum) < 0)
	}
	// Since draft 6 a schema may have two bounds on one side.
	at := n
	for _, low := range []*big.Rat{s.Minimum, s.ExclusiveMinimum} {
		if low != nil && at.Cmp(low) < 0 {
			at = low
		}
	}
	for _, high := range []*big.Rat{s.Maximum, s.ExclusiveMaximum} {
		if high != nil && at.Cmp(high) > 0 {
			at = high
		}
	}
	// Without a step the bound itself is the nearest number, or a number next to it if the bound is
	// exclusive.
	step := stepOf(s)
	if step == nil {
		step = small
		if fits(at) {
			return at
		}
	}
	// the candidates are the multiples around n, or their neighbours if a bound is exclusive
	times := new(big.Rat).Quo(at, step)
	down := new(big.Int).Div(times.Num(), times.Denom())
	var best *big.Rat
	for _, by := range []int64{0, 1, -1, 2} {
		x := new(big.Rat).Mul(step, new(big.Rat).SetInt(new(big.Int).Add(down, big.NewInt(by))))
		if fits(x) && (best == nil || distance(x, n).Cmp(distance(best, n)) < 0) {
			best = x
		}
	}
	return best
}

// small is the distance that a number keeps from a bound that it must not reach. For example, 1
// under "exclusiveMaximum": 1 becomes 0.999999. Integers have a step of 1 instead.
var small = big.NewRat(1, 1_000_000)

// stepOf returns the number that a value must be a multiple of, or nil if there is no such rule. An
// integer that is a multiple of p/q in lowest terms is a multiple of p. For example, an integer
// that is a multiple of 2.5, which is 5/2, is a multiple of 5.
func stepOf(s *jsonschema.Schema) *big.Rat {
	integer := s.Types != nil && slices.Equal(s.Types.ToStrings(), []string{"integer"})
	switch {
	case s.MultipleOf == nil && integer:
		return big.NewRat(1, 1)
	case s.MultipleOf != nil && integer:
		return new(big.Rat).SetInt(s.MultipleOf.Num())
	}
	return s.MultipleOf
}

// distance returns the absolute difference of two numbers.
func distance(a, b *big.Rat) *big.Rat { return new(big.Rat).Abs(new(big.Rat).Sub(a, b)) }
