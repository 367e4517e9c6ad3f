package grammar

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"toolnorm/chat/schema"
)

// manyDigits bounds numbers whose schema does not: a model that is held to a number and has none in
// mind goes on writing digits. Identifiers of eighteen digits still fit, and so does every bound
// that is computed with here in an int64.
const manyDigits = 999_999_999_999_999_999

// noLimit stands for a limit that there is none of, or none that can be held; -noLimit below.
const noLimit = math.MaxInt64

// number matches a number, held to its bounds where they are whole. Bounds become alternatives of
// digits, since GBNF counts nothing but repetitions: minimum 1990 and maximum 2031 is "199" [0-9]
// or "20" ([0-2] [0-9] or "3" [01]). Leading zeros and "+" are none of JSON's. An exponent is 289
// at most: with the nineteen digits that may stand in front of the point the number still fits a
// double.
func (g *values) number(n *schema.Place, kind schema.Kinds) string {
	low, high := g.limit(n.Minimum, kind, 1), g.limit(n.Maximum, kind, -1)
	// A contradiction lets nothing through, and a model held to nothing cannot end its reply.
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

// limit returns the whole number that a limit holds a number to; step leads inwards. Among numbers
// with fractions that is the next one outwards, and the limit itself where the schema excludes it:
// both let more through than they should. Anything let through that should not be is found by the
// check of the call, so it is noted as dropped where it matters: 1.5 as the least number becomes 1.
// Limits beyond eighteen digits are left out. exclusiveMinimum of an integer is the next one
// inwards, which is exact.
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

// between matches the numbers from low to high: the halves below and above zero are written apart,
// since of negative numbers the digits grow as the number shrinks. least is the least of them
// behind a minus sign: there is no integer -0, but there is -0.5. A limit of the schema that is not
// whole has been moved outwards by then, and noted.
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

// fractions matches the numbers from one whole number to another, neither of them negative. The
// outer one has no fraction: 100.5 is not within 0 to 100, and 99.5 begins with 99. Seventeen
// digits are what a double can tell apart; more are a model that does not find its end.
func fractions(from, to int64) string {
	if from == to {
		return lit(fmt.Sprint(from))
	}
	return alt(seq(digits(from, to-1), `("." [0-9]{1,17})?`), lit(fmt.Sprint(to)))
}

// digits matches the numbers from low to high, neither of them negative. Numbers of one length can
// be compared digit by digit, so the range is cut at the powers of ten: 5 to 1200 is [5-9], two and
// three digits freely, and 1000 to 1200.
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

// within matches the numbers from a to b, which have as many digits: the digits that both share,
// then those that begin like a, those between, and those that begin like b. 105 to 317 is "1" from
// 05 on, [2], and "3" up to 17. The rules for it grow with the digits, not with the numbers
// between.
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
	// "1" followed by 00 to 99 needs no rule for the rest, so the edge joins the digits between.
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
