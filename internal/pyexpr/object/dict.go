package object

import (
	"encoding/binary"
	"math"
	"math/big"

	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// Hashing. Python's rule is that equal values have equal hashes, across types: {1: 'a'}[True] and
// {1: 'a'}[1.0] find 'a'. So a value is converted to a Go value, such that two Go values are equal
// exactly when Python's values are: every integral number to its int64 (or its digits, beyond 64
// bits), a tuple to a text of its items. Each Go map has a random seed, so keys that are chosen to
// collide (CVE-2012-1150 in old Pythons) have no effect.

// Dict is a dict, whose entries are in the order of insertion. index maps a hash key to the
// position of its entry.
type Dict struct {
	keys, vals []Value
	index      map[any]int
}

// Set is a set, whose items are in the order of insertion. index maps a hash key to the position of
// its item.
type Set struct {
	items []Value
	index map[any]int
}

// View is one of the three views of a dict.
type View struct {
	d    *Dict
	kind string // "key", "value" or "item"
}

// View returns the view of a dict that dict.keys ("key"), dict.values ("value") or dict.items
// ("item") returns.
func (d *Dict) View(kind string) View { return View{d, kind} }

// typeName returns dict_keys, dict_values or dict_items.
func (v View) typeName() string { return "dict_" + v.kind + "s" }

// The types of hash keys for values that are not their own key. Equal values have equal keys; for
// example, 1, 1.0 and True all have the key int64(1).
type (
	bigKey   string
	tupleKey string
	noneKey  struct{}
)

// hashKey returns the comparable value under which v is found in a dict or set. It raises a
// TypeError if v cannot be hashed.
//
//	{1: 'a'}[True] → 'a'
//	{1: 'a'}[1.0] → 'a'
//	{(1, 2): 'p'}[(1.0, 2)] → 'p'
//	{[]: 1} → TypeError: unhashable type: 'list'
//	len({1, 1.0, True, '1'}) → 2
func hashKey(m *py.Account, v Value) any {
	switch v := v.(type) {
	case nil:
		return noneKey{}
	case string:
		m.Scan(len(v))
		return v
	case int64, bool, *big.Int:
		n, _ := number.Int(v)
		if b, ok := n.(*big.Int); ok {
			m.Alloc(py.BigBytes + number.Bits(b)/8)
			return bigKey(append([]byte{byte(b.Sign())}, b.Bytes()...))
		}
		return n
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			n, _ := new(big.Float).SetFloat64(v).Int(nil)
			return hashKey(m, number.Norm(n))
		}
		return v
	case Tuple:
		return tupleKey(appendKey(m, nil, v))
	case span, *Iterator, Callable:
		return v
	}
	return py.Raise(py.TypeError, "unhashable type: '%s'", TypeName(v))
}

// appendKey appends the hash key of a value as bytes. The bytes of two tuples are the same exactly
// if the tuples are equal.
func appendKey(m *py.Account, dst []byte, v Value) []byte {
	if t, ok := v.(Tuple); ok {
		dst = append(dst, 't')
		dst = binary.AppendUvarint(dst, uint64(len(t)))
		m.Alloc(int64(len(t)) * py.SlotBytes)
		for _, item := range t {
			m.Step(1)
			dst = appendKey(m, dst, item)
		}
		return dst
	}
	return appendScalar(m, dst, hashKey(m, v))
}

// appendScalar appends the hash key of a value that is not a tuple. It raises a TypeError for a
// function.
func appendScalar(m *py.Account, dst []byte, key any) []byte {
	text := func(tag byte, s string) []byte {
		dst = binary.AppendUvarint(append(dst, tag), uint64(len(s)))
		m.Alloc(2 * int64(len(s)))
		return append(dst, s...)
	}
	switch key := key.(type) {
	case int64:
		return binary.AppendVarint(append(dst, 'i'), key)
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, 'f'), math.Float64bits(key))
	case string:
		return text('s', key)
	case bigKey:
		return text('b', string(key))
	case noneKey:
		return append(dst, 'n')
	case span:
		dst = binary.AppendVarint(append(dst, 'r'), key.start)
		return binary.AppendVarint(binary.AppendVarint(dst, key.n), key.step)
	}
	py.Raise(py.TypeError, "a function within a tuple cannot be a key in an expression")
	return nil
}

// NewDict returns an empty dict. It preserves the order of insertion, as Python guarantees since
// 3.7.
func NewDict() *Dict { return &Dict{index: map[any]int{}} }

// NewSet returns an empty set. It preserves the order of insertion. Python's sets do not: their
// order follows hashes, which for strings differ in every process. So an expression should rely
// only on sorted(...), as in Python.
func NewSet() *Set { return &Set{index: map[any]int{}} }

// Set adds an entry, or replaces the value of an equal key. In that case the first key stays, as in
// Python.
//
//	{'a': 1, 'b': 2, 'a': 3} → {'a': 3, 'b': 2}
//	{1: 'x', True: 'y'} → {1: 'y'}
func (d *Dict) Set(m *py.Account, k, v Value) {
	key := hashKey(m, k)
	if i, ok := d.index[key]; ok {
		d.vals[i] = v
		return
	}
	m.Alloc(2 * py.EntryBytes)
	d.index[key] = len(d.keys)
	d.keys, d.vals = append(d.keys, k), append(d.vals, v)
}

// Get returns the value of a key, or false if there is none. It raises a TypeError for a key that
// cannot be hashed.
func (d *Dict) Get(m *py.Account, k Value) (Value, bool) {
	i, ok := d.index[hashKey(m, k)]
	if !ok {
		return nil, false
	}
	return d.vals[i], true
}

// Add adds an item, unless the set has an equal one. It raises a TypeError for an item that cannot
// be hashed.
func (s *Set) Add(m *py.Account, v Value) {
	key := hashKey(m, v)
	if _, ok := s.index[key]; ok {
		return
	}
	m.Alloc(2 * py.EntryBytes)
	s.index[key] = len(s.items)
	s.items = append(s.items, v)
}

// has reports whether an item is in the set.
func (s *Set) has(m *py.Account, v Value) bool {
	_, ok := s.index[hashKey(m, v)]
	return ok
}

// Update adds the entries of a dict, or of an iterable of pairs of key and value. It raises an
// error for any other value.
func (d *Dict) Update(m *py.Account, v Value) {
	if from, ok := v.(*Dict); ok {
		for i := range from.keys {
			d.Set(m, from.keys[i], from.vals[i])
		}
		m.Step(int64(len(from.keys)))
		return
	}
	n := 0
	for v := range Each(m, v) {
		if !Iterable(v) {
			py.Raise(py.TypeError,
				"cannot convert dictionary update sequence element #%d to a sequence", n)
		}
		pair := Items(m, v)
		if len(pair) != 2 {
			py.Raise(py.ValueError,
				"dictionary update sequence element #%d has length %d; 2 is required", n, len(pair))
		}
		d.Set(m, pair[0], pair[1])
		n++
	}
}
