package grammar

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"toolnorm/chat/schema"
)

// manyDigits bounds numbers whose schema has no bounds. Without a bound, a model that has no number
// in mind might never end it. Identifiers of eighteen digits still fit. Every bound that is
// computed here fits an int64.
const manyDigits = 999_999_999_999_999_999

// noLimit means no upper limit, or one that cannot be enforced. -noLimit means the same for lower
// limits.
const noLimit = math.MaxInt64

// number returns an expression for a number within its bounds. Bounds that are not whole are
// widened, see limit. They become alternatives of digits, because GBNF has no arithmetic: minimum
// 1990 and maximum 2031 is "199" [0-9] or "20" ([0-2] [0-9] or "3" [01]). As in JSON there are no
// leading zeros and no "+". An exponent is at most 289, so that with nineteen digits before the
// point the number still fits a double.
func (g *values) number(n *schema.Place, kind schema.Kinds) string {
	low, high := g.limit(n.Minimum, kind, 1), g.limit(n.Maximum, kind, -1)
	// Contradictory bounds allow no number, so the model could not end its reply.
	if low > high {
		g.doc.Drop(n.At, n.Minimum.Keyword)
		low, high = -noLimit, noLimit
	}
	free := low == -noLimit && high == noLimit
	switch {
	case kind == schema.Integer && free:
		return `("0" | "-"? [1-9] [0-9]{0,18})`
	case kind == schema.Integer:
		return between(low, high, 1, digits)
	case free:
		return `"-"? ("0" | [1-9] [0-9]{0,18}) ("." [0-9]{1,17})? ([eE] [-+]? ([12] [0-8] [0-9] | [0-9]{1,2}))?`
	}
	return between(low, high, 0, fractions)
}

// limit returns the bound b as a whole number. The parameter step is the direction from the bound
// to the allowed numbers: 1 for a minimum, -1 for a maximum. If b is nil, the result means no limit
// (see noLimit). For integers the result is exact, also with exclusiveMinimum. For numbers with
// fractions it may allow too much: an excluded bound counts as allowed, and a bound with a fraction
// is moved outwards, such as a minimum of 1.5 to 1. A bound of more than eighteen digits is left
// out. What is changed or left out is reported as dropped.
func (g *values) limit(b *schema.Bound, kind schema.Kinds, step int64) int64 {
	if b == nil {
		return -step * noLimit
	}
	held := b
	if kind == schema.Number && (b.Excluded || !b.Value.IsInt()) {
		g.doc.Drop(b.At, b.Keyword)
		out := new(big.Int).Div(b.Value.Num(), b.Value.Denom()) // towards minus infinity
		if step < 0 && !b.Value.IsInt() {
			out.Add(out, big.NewInt(1))
		}
		held = &schema.Bound{Value: new(big.Rat).SetInt(out)}
	}
	if n := held.Whole(step); n != nil && max(*n, -*n) <= manyDigits {
		return *n
	}
	g.doc.Drop(b.At, b.Keyword)
	return -step * noLimit
}

// between returns an expression for the numbers from low to high. Numbers below and above zero are
// separate alternatives, because the smaller of two negative numbers is the one with the larger
// digits. The parameter least is the smallest number allowed after a minus sign: 1 for integers,
// because -0 is not an integer, and 0 for fractions such as -0.5. The function side returns the
// expression for the numbers without a sign in a range.
func between(low, high, least int64, side func(from, to int64) string) string {
	low, high = max(low, -manyDigits), min(high, manyDigits)
	var all []string
	if low < 0 {
		all = append(all, seq(lit("-"), side(max(-high, least), -low)))
	}
	if high >= 0 {
		all = append(all, side(max(low, 0), high))
	}
	return alt(all...)
}

// fractions returns an expression for the numbers, with or without a fraction, from one whole
// number to another, neither of them negative. After the larger one itself no fraction is allowed,
// because 100.5 is not within 0 to 100. A fraction has at most seventeen digits, the precision of a
// double.
func fractions(from, to int64) string {
	if from == to {
		return lit(fmt.Sprint(from))
	}
	return alt(seq(digits(from, to-1), `("." [0-9]{1,17})?`), lit(fmt.Sprint(to)))
}

// digits returns an expression for the integers from low to high, neither of them negative. Numbers
// of the same length can be compared digit by digit, so the range is split at powers of ten: 5 to
// 1200 is [5-9], any two or three digits, and 1000 to 1200.
func digits(low, high int64) string {
	a, b := strconv.FormatInt(low, 10), strconv.FormatInt(high, 10)
	if len(a) == len(b) {
		return within(a, b)
	}
	all := []string{within(a, strings.Repeat("9", len(a)))}
	if len(b) > len(a)+1 {
		all = append(all, fmt.Sprintf("[1-9] [0-9]{%d,%d}", len(a), len(b)-2))
	}
	return alt(append(all, within("1"+strings.Repeat("0", len(b)-1), b))...)
}

// within returns an expression for the integers from a to b, which have the same number of digits.
// After the leading digits that both share, it has three alternatives by the next digit: that of a,
// those between, and that of b. For example, 105 to 317 is "1" from 05 on, "2" and any two digits,
// and "3" up to 17. The size of the expression grows only with the number of digits.
func within(a, b string) string {
	switch {
	case a == b:
		return lit(a)
	case len(a) == 1:
		return "[" + a + "-" + b + "]"
	case a[0] == b[0]:
		return seq(lit(a[:1]), within(a[1:], b[1:]))
	}
	rest := len(a) - 1
	zeros, nines := strings.Repeat("0", rest), strings.Repeat("9", rest)
	first, last := a[0], b[0]
	var all []string
	// If the rest of a or b is unrestricted, its first digit joins the digits between.
	if a[1:] != zeros {
		all = append(all, seq(lit(a[:1]), within(a[1:], nines)))
		first++
	}
	if b[1:] != nines {
		all = append(all, seq(lit(b[:1]), within(zeros, b[1:])))
		last--
	}
	if first <= last {
		all = append(all, fmt.Sprintf("[%c-%c] [0-9]{%d}", first, last, rest))
	}
	return alt(all...)
}
