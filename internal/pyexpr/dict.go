package pyexpr

import (
	"encoding/binary"
	"math"
	"math/big"
)

// Hashing. Python's rule is that equal values have equal hashes, across types: {1: 'a'}[True] and {1: 'a'}[1.0] find 'a'.
// So a value is turned into a Go value that is equal exactly when Python's values are: every integral number into its int64
// (or its digits, beyond 64 bits), a tuple into a text of its items. Go's maps are seeded at random for each map, so keys
// chosen to collide (CVE-2012-1150 in old Pythons) gain nothing.

// dict keeps its entries in the order of insertion. index says where the entry of a hash key stands.
type dict struct {
	keys, vals []value
	index      map[any]int
}

// set keeps its items in the order of insertion.
type set struct {
	items []value
	index map[any]int
}

// view is one of the three looks at a dict.
type view struct {
	d    *dict
	kind string // "key", "value" or "item"
}

// typeName is dict_keys, dict_values or dict_items.
func (v view) typeName() string { return "dict_" + v.kind + "s" }

// The types of hash keys that are no Go value of their own. Equal values have equal keys: 1, 1.0 and True are all int64(1).
type (
	bigKey   string
	tupleKey string
	noneKey  struct{}
)

// hashKey is the comparable value under which v is found in a dict or set.
//
//	{1: 'a'}[True] → 'a'
//	{1: 'a'}[1.0] → 'a'
//	{(1, 2): 'p'}[(1.0, 2)] → 'p'
//	{[]: 1} → TypeError: unhashable type: 'list'
//	len({1, 1.0, True, '1'}) → 2
func hashKey(m *machine, v value) (any, error) {
	switch v := v.(type) {
	case nil:
		return noneKey{}, nil
	case string:
		return v, m.scan(len(v))
	case int64, bool, *big.Int:
		n, _ := integer(v)
		if b, ok := n.(*big.Int); ok {
			return bigKey(append([]byte{byte(b.Sign())}, b.Bytes()...)), m.alloc(bigBytes + bits(b)/8)
		}
		return n, nil
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			n, _ := new(big.Float).SetFloat64(v).Int(nil)
			return hashKey(m, norm(n))
		}
		return v, nil
	case tuple:
		text, err := appendKey(m, nil, v)
		return tupleKey(text), err
	case span:
		return v, nil
	case *iterator, *function, *lambda:
		return v, nil
	case *bound:
		return v, nil
	}
	return nil, raise(TypeError, "unhashable type: '%s'", typeName(v))
}

// appendKey writes a hash key so that two tuples write the same exactly when they are equal.
func appendKey(m *machine, dst []byte, v value) ([]byte, error) {
	if t, ok := v.(tuple); ok {
		dst = append(dst, 't')
		dst = binary.AppendUvarint(dst, uint64(len(t)))
		if err := m.alloc(int64(len(t)) * slotBytes); err != nil {
			return nil, err
		}
		for _, item := range t {
			var err error
			if err = m.step(1); err != nil {
				return nil, err
			}
			if dst, err = appendKey(m, dst, item); err != nil {
				return nil, err
			}
		}
		return dst, nil
	}
	key, err := hashKey(m, v)
	if err != nil {
		return nil, err
	}
	return appendScalar(m, dst, key)
}

// appendScalar writes the hash key of a value that is no tuple.
func appendScalar(m *machine, dst []byte, key any) ([]byte, error) {
	text := func(tag byte, s string) ([]byte, error) {
		dst = binary.AppendUvarint(append(dst, tag), uint64(len(s)))
		return append(dst, s...), m.alloc(2 * int64(len(s)))
	}
	switch key := key.(type) {
	case int64:
		return binary.AppendVarint(append(dst, 'i'), key), nil
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, 'f'), math.Float64bits(key)), nil
	case string:
		return text('s', key)
	case bigKey:
		return text('b', string(key))
	case noneKey:
		return append(dst, 'n'), nil
	case span:
		dst = binary.AppendVarint(append(dst, 'r'), key.start)
		return binary.AppendVarint(binary.AppendVarint(dst, key.n), key.step), nil
	}
	return nil, raise(TypeError, "a function within a tuple cannot be a key in an expression")
}

// newDict makes a dict that can be filled. Python's dicts keep the order of insertion since 3.7, and the language promises it.
func newDict() *dict { return &dict{index: map[any]int{}} }

// newSet makes a set that can be filled. A set keeps the order of insertion here, which Python's does not: its order is that
// of hashes, for strings another one in every process. What an expression may rely on is sorted(...), as in Python.
func newSet() *set { return &set{index: map[any]int{}} }

// set puts an entry in. As in Python the first key stays where an equal one follows.
//
//	{'a': 1, 'b': 2, 'a': 3} → {'a': 3, 'b': 2}
//	{1: 'x', True: 'y'} → {1: 'y'}
func (d *dict) set(m *machine, k, v value) error {
	key, err := hashKey(m, k)
	if err != nil {
		return err
	}
	if i, ok := d.index[key]; ok {
		d.vals[i] = v
		return nil
	}
	if err := m.alloc(2 * entryBytes); err != nil {
		return err
	}
	d.index[key] = len(d.keys)
	d.keys, d.vals = append(d.keys, k), append(d.vals, v)
	return nil
}

// get finds the value of a key.
func (d *dict) get(m *machine, k value) (value, bool, error) {
	key, err := hashKey(m, k)
	if err != nil {
		return nil, false, err
	}
	i, ok := d.index[key]
	if !ok {
		return nil, false, nil
	}
	return d.vals[i], true, nil
}

// add puts an item in, unless an equal one is there.
func (s *set) add(m *machine, v value) error {
	key, err := hashKey(m, v)
	if err != nil {
		return err
	}
	if _, ok := s.index[key]; ok {
		return nil
	}
	if err := m.alloc(2 * entryBytes); err != nil {
		return err
	}
	s.index[key] = len(s.items)
	s.items = append(s.items, v)
	return nil
}

// has says whether an item is in the set.
func (s *set) has(m *machine, v value) (bool, error) {
	key, err := hashKey(m, v)
	if err != nil {
		return false, err
	}
	_, ok := s.index[key]
	return ok, nil
}
