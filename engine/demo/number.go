package demo

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat/schema"
)

// bounds are the bounds that a schema has for a number. Unlike real models the demo observes them.
// For example, "search with 22 results" and a maximum of 20 gives 20, and not a call that does not
// fit.
type bounds struct {
	low, high float64 // inclusive, unless above or below is set
	above     bool    // low itself is excluded
	below     bool    // high itself is excluded
	step      float64 // the number must be a multiple of it; 0: of none
}

// boundsOf returns the bounds that the schema p has for numbers. For integers, a step that is
// missing or not a whole number becomes 1. A bound that is not a float64 becomes the nearest
// float64.
func boundsOf(p *schema.Place, kind schema.Kinds) bounds {
	b := bounds{low: math.Inf(-1), high: math.Inf(1), step: p.Step}
	if p.Minimum != nil {
		b.low, _ = p.Minimum.Value.Float64()
		b.above = p.Minimum.Excluded
	}
	if p.Maximum != nil {
		b.high, _ = p.Maximum.Value.Float64()
		b.below = p.Maximum.Excluded
	}
	if kind == schema.Integer && (b.step != math.Trunc(b.step) || b.step == 0) {
		b.step = 1
	}
	return b
}

// fits reports whether x is within the bounds. A multiple may be off by 1e-9 of a step, because 0.3
// is not an exact multiple of 0.1 in binary.
func (b bounds) fits(x float64) bool {
	if x < b.low || x > b.high || b.above && x == b.low || b.below && x == b.high {
		return false
	}
	return b.step == 0 || math.Abs(x/b.step-math.Round(x/b.step)) < 1e-9
}

// nearest returns the number nearest to x that is within the bounds and a multiple of the step, if
// there is one. If a bound is excluded, the result is one step away from it. Without a step it is 1
// away, or in the middle of a range narrower than 2.
func (b bounds) nearest(x float64) float64 {
	x = min(max(x, b.low), b.high)
	gap := b.step
	if gap == 0 {
		gap = 1
		if width := b.high - b.low; width < 2 {
			gap = width / 2
		}
	} else {
		x = math.Round(x/b.step) * b.step
	}
	if x < b.low || b.above && x == b.low {
		x += gap
	}
	if x > b.high || b.below && x == b.high {
		x -= gap
	}
	return x
}

// number returns the next number in the user's message that fits, or the next one moved into the
// bounds. Numbers that look like years, as in "in 2025", are for a member called year. Another
// member gets such a number only if it is required and no other number is left. If the message has
// no number, a required member gets the schema's own example, or else a small number. A member that
// is not required gets nil.
func (f *finds) number(name string, kind schema.Kinds, p *schema.Place, required bool) []byte {
	b := boundsOf(p, kind)
	from := []*[]string{&f.numbers}
	if strings.Contains(strings.ToLower(name), "year") {
		from = []*[]string{&f.years, &f.numbers}
	} else if required {
		from = append(from, &f.years)
	}
	for _, list := range from {
		for i, n := range *list {
			if x, err := strconv.ParseFloat(n, 64); err == nil && b.fits(x) {
				*list = slices.Delete(*list, i, i+1)
				return []byte(trimZeros(n))
			}
		}
	}
	for _, list := range from {
		for i, n := range *list {
			if x, err := strconv.ParseFloat(n, 64); err == nil &&
				(kind == schema.Number || x == math.Trunc(x)) {
				*list = slices.Delete(*list, i, i+1)
				return decimal(b.nearest(x))
			}
		}
	}
	if !required {
		return nil
	}
	v := example(p, schema.Number)
	if x, err := strconv.ParseFloat(v, 64); err == nil && b.fits(x) {
		return []byte(v)
	}
	return decimal(b.nearest(1))
}

// decimal returns x as JSON without an exponent, and without the error of binary fractions:
// 0.30000000000000004 is written 0.3.
func decimal(x float64) []byte {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 15, 64), 64); err == nil {
		x = short
	}
	return strconv.AppendFloat(nil, x, 'f', -1, 64)
}

// trimZeros returns a number without leading zeros, which JSON forbids: 7 for 007. The other digits
// stay as the user wrote them, so 1.50 is unchanged.
func trimZeros(n string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(n, "-"); ok {
		sign, n = "-", rest
	}
	for len(n) > 1 && n[0] == '0' && n[1] != '.' {
		n = n[1:]
	}
	return sign + n
}
