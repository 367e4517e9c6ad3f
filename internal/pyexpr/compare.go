package pyexpr

import (
	"math"
	"math/big"
	"strings"
)

// compareNode is a chain of comparisons: each operand is computed once, and the first that fails ends it.
type compareNode struct {
	first node
	ops   []string
	rest  []node
}

func (n *compareNode) eval(m *machine, f *frame) (value, error) {
	left, err := n.first.eval(m, f)
	if err != nil {
		return nil, err
	}
	for i, op := range n.ops {
		right, err := n.rest[i].eval(m, f)
		if err != nil {
			return nil, err
		}
		if err := m.step(1); err != nil {
			return nil, err
		}
		ok, err := compare(m, op, left, right)
		if err != nil || !ok {
			return false, err
		}
		left = right
	}
	return true, nil
}

// comparison says whether a comparison operator is next.
func (p *parser) comparison() bool {
	t := p.peek()
	switch t.text {
	case "<", ">", "<=", ">=", "==", "!=", "in", "is":
		return t.kind != tokenString
	case "not":
		return p.tokens[p.at+1].text == "in"
	}
	return false
}

// compare reads a chain of comparisons behind its first operand.
func (p *parser) compare(first node) (node, error) {
	c := &compareNode{first: first}
	pos := p.peek().pos
	for p.comparison() {
		op := p.next().text
		switch {
		case op == "not":
			p.at++
			op = "not in"
		case op == "is" && p.accept("not"):
			op = "is not"
		}
		right, err := p.binary(levelBitOr)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(op, "is") && !singleton(right) && !singleton(c.last()) {
			return nil, at(raise(SyntaxError, "'%s' is only available with None, True and False; compare values with ==", op), *p.src, pos)
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, right)
	}
	return p.place(c, pos), nil
}

// last is the operand before the next operator.
func (n *compareNode) last() node {
	if len(n.rest) > 0 {
		return n.rest[len(n.rest)-1]
	}
	return n.first
}

// singleton says that a node is None, True or False, the only values of which there is exactly one.
func singleton(n node) bool {
	c, ok := n.(*constNode)
	if !ok {
		return false
	}
	_, isBool := c.v.(bool)
	return c.v == nil || isBool
}

// compare computes a op b.
func compare(m *machine, op string, a, b value) (bool, error) {
	switch op {
	case "==":
		return equal(m, a, b)
	case "!=":
		ok, err := equal(m, a, b)
		return !ok, err
	case "is":
		return identical(a, b), nil
	case "is not":
		return !identical(a, b), nil
	case "in":
		return contains(m, b, a)
	case "not in":
		ok, err := contains(m, b, a)
		return !ok, err
	}
	return order(m, op, a, b)
}

// identical compares with one of the values of which there is exactly one.
func identical(a, b value) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && a == y
	}
	return false
}

// equal computes a == b.
func equal(m *machine, a, b value) (bool, error) {
	if err := m.step(1); err != nil {
		return false, err
	}
	if c, ok := compareNumbers(a, b); ok {
		return c == same, nil
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case string:
		y, ok := b.(string)
		return ok && x == y, m.scan(len(x))
	case list:
		y, ok := b.(list)
		if !ok {
			return false, nil
		}
		return equalItems(m, x, y)
	case tuple:
		y, ok := b.(tuple)
		if !ok {
			return false, nil
		}
		return equalItems(m, x, y)
	case *dict:
		y, ok := b.(*dict)
		if !ok {
			return false, nil
		}
		return equalDicts(m, x, y)
	case *set:
		y, ok := setOf(b)
		if !ok {
			return false, nil
		}
		return equalSets(m, x, y)
	case view:
		return equalView(m, x, b)
	case span:
		y, ok := b.(span)
		return ok && (x == y || x.n == y.n && (x.n == 0 || x.start == y.start && (x.n == 1 || x.step == y.step))), nil
	case *iterator:
		return x == b, nil
	case *function:
		return x == b, nil
	case *lambda:
		return x == b, nil
	}
	return false, nil
}

func equalItems(m *machine, x, y []value) (bool, error) {
	if len(x) != len(y) {
		return false, nil
	}
	for i := range x {
		if ok, err := equal(m, x[i], y[i]); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func equalDicts(m *machine, x, y *dict) (bool, error) {
	if len(x.keys) != len(y.keys) {
		return false, nil
	}
	for i, k := range x.keys {
		v, ok, err := y.get(m, k)
		if err != nil || !ok {
			return false, err
		}
		if ok, err := equal(m, x.vals[i], v); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// ordering is how two values stand to each other; a NaN is unordered.
type ordering int8

const (
	less      ordering = -1
	same      ordering = 0
	greater   ordering = 1
	unordered ordering = 2
)

// compareNumbers compares exactly, without turning an int into a float: 2**53+1 is not 2.0**53. ok is false when one
// of them is no number.
func compareNumbers(a, b value) (ordering, bool) {
	i, aInt := integer(a)
	j, bInt := integer(b)
	x, aFloat := a.(float64)
	y, bFloat := b.(float64)
	switch {
	case aInt && bInt:
		return compareInts(i, j), true
	case aFloat && bFloat:
		return compareFloats(x, y), true
	case aInt && bFloat:
		return compareMixed(i, y), true
	case aFloat && bInt:
		c := compareMixed(j, x)
		if c != unordered {
			c = -c
		}
		return c, true
	}
	return same, false
}

func compareInts(a, b value) ordering {
	x, ok1 := a.(int64)
	y, ok2 := b.(int64)
	if !ok1 || !ok2 {
		return ordering(toBig(a).Cmp(toBig(b)))
	}
	switch {
	case x < y:
		return less
	case x > y:
		return greater
	}
	return same
}

func compareFloats(x, y float64) ordering {
	switch {
	case x < y:
		return less
	case x > y:
		return greater
	case x == y:
		return same
	}
	return unordered
}

// compareMixed compares an int with a float.
func compareMixed(n value, y float64) ordering {
	i, small := n.(int64)
	switch {
	case math.IsNaN(y):
		return unordered
	case small && magnitude(i) <= exactInFloat, math.IsInf(y, 0):
		x, err := toFloat(n)
		if err != nil { // too large for a float, and still less than infinity
			x = math.Copysign(math.MaxFloat64, float64(toBig(n).Sign()))
		}
		return compareFloats(x, y)
	}
	floor := math.Floor(y)
	whole, _ := new(big.Float).SetFloat64(floor).Int(nil)
	c := ordering(toBig(n).Cmp(whole))
	if c == same && y > floor {
		return less
	}
	return c
}

// order computes an ordering comparison.
func order(m *machine, op string, a, b value) (bool, error) {
	if err := m.step(1); err != nil {
		return false, err
	}
	if c, ok := compareNumbers(a, b); ok {
		return holds(op, c), nil
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok { // UTF-8 orders as code points do
			return holds(op, ordering(strings.Compare(x, y))), m.scan(min(len(x), len(y)))
		}
	case list:
		if y, ok := b.(list); ok {
			return orderItems(m, op, x, y)
		}
	case tuple:
		if y, ok := b.(tuple); ok {
			return orderItems(m, op, x, y)
		}
	case *set, view:
		if ok, known, err := orderSets(m, op, a, b); known {
			return ok, err
		}
	}
	return false, raise(TypeError, "'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
}

func holds(op string, c ordering) bool {
	switch op {
	case "<":
		return c == less
	case "<=":
		return c == less || c == same
	case ">":
		return c == greater
	}
	return c == greater || c == same
}

// orderItems compares the first items that differ, and the lengths when none do.
func orderItems(m *machine, op string, x, y []value) (bool, error) {
	for i := range min(len(x), len(y)) {
		ok, err := equal(m, x[i], y[i])
		if err != nil {
			return false, err
		}
		if !ok {
			return order(m, op, x[i], y[i])
		}
	}
	return holds(op, compareInts(int64(len(x)), int64(len(y)))), nil
}

// contains computes v in x.
func contains(m *machine, x, v value) (bool, error) {
	switch x := x.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			return false, raise(TypeError, "'in <string>' requires string as left operand, not %s", typeName(v))
		}
		return strings.Contains(x, s), m.scan(4 * (len(x) + len(s)))
	case *dict:
		_, ok, err := x.get(m, v)
		return ok, err
	case *set:
		return x.has(m, v)
	case span:
		return x.has(m, v)
	case view:
		if x.kind == "keys" {
			_, ok, err := x.d.get(m, v)
			return ok, err
		}
	}
	if !iterable(x) {
		return false, raise(TypeError, "argument of type '%s' is not iterable", typeName(x))
	}
	it, err := iterate(m, x)
	if err != nil {
		return false, err
	}
	return it.has(m, v)
}

func (it *iterator) has(m *machine, v value) (bool, error) {
	for {
		item, ok, err := it.next(m)
		if err != nil || !ok {
			return false, err
		}
		if ok, err := equal(m, item, v); err != nil || ok {
			return ok, err
		}
	}
}

// has says whether v is one of a range's numbers, by arithmetic where it is an int.
func (s span) has(m *machine, v value) (bool, error) {
	i, ok := integer(v)
	if !ok {
		it, err := iterate(m, s)
		if err != nil {
			return false, err
		}
		return it.has(m, v)
	}
	n, ok := i.(int64)
	if !ok || s.n == 0 {
		return false, nil
	}
	last := s.start + (s.n-1)*s.step
	low, high := min(s.start, last), max(s.start, last)
	return n >= low && n <= high && (n-s.start)%s.step == 0, nil
}
