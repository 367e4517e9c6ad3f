package object

import (
	"slices"

	"toolnorm/internal/pyexpr/py"
)

// pair is an item with the key by which it is ordered.
type pair struct{ key, item Value }

// Sort returns a sorted list of items. It is stable: equal items stay in order, even if reverse is
// true. It raises an error if two keys cannot be compared. It only asks whether one key is less
// than another, in the same order as CPython, because that determines the two types in the error
// for a mixed list.
//
//	sorted([3, 1, 2], reverse=True) → [3, 2, 1]
//	sorted(['B', 'a'], key=str.lower) → ['a', 'B']
//	sorted([(1, 'b'), (1, 'a')], key=lambda p: p[0]) → [(1, 'b'), (1, 'a')]
//	sorted([1, 'a', None]) → TypeError: '<' not supported between instances of 'str' and 'int'
func Sort(m *py.Account, items []Value, key func(Value) Value, reverse bool) Value {
	n := int64(len(items))
	m.Alloc(3*py.ListBytes + n*5*py.SlotBytes)
	pairs := make([]pair, n)
	for i, v := range items {
		pairs[i] = pair{key(v), v}
	}
	if reverse {
		slices.Reverse(pairs)
	}
	mergeSort(m, pairs, make([]pair, len(pairs)))
	if reverse {
		slices.Reverse(pairs)
	}
	all := make(List, n)
	for i, p := range pairs {
		all[i] = p.item
	}
	return all
}

// smallRun is the length below which a run is sorted by insertion, as in CPython.
const smallRun = 64

// mergeSort sorts both halves of a and merges them. Halves that are already in order are not
// merged, so a sorted list, the most frequent case, takes one comparison for each item.
func mergeSort(m *py.Account, a, spare []pair) {
	if len(a) < smallRun {
		insertionSort(m, a)
		return
	}
	half := len(a) / 2
	mergeSort(m, a[:half], spare[:half])
	mergeSort(m, a[half:], spare[half:])
	if !Order(m, "<", a[half].key, a[half-1].key) {
		return
	}
	merge(m, a, half, spare)
}

// merge merges the two sorted parts of a; the second part begins at the index half. An item of the
// second part comes first only if it is less, so that the sort is stable.
func merge(m *py.Account, a []pair, half int, spare []pair) {
	left, right := spare[:copy(spare, a[:half])], a[half:]
	for i := range a {
		switch {
		case len(left) == 0:
			return
		case len(right) > 0:
			if Order(m, "<", right[0].key, left[0].key) {
				a[i], right = right[0], right[1:]
				continue
			}
		}
		a[i], left = left[0], left[1:]
	}
}

// insertionSort sorts a. It begins with the items at the start of a that are in ascending or
// descending order, reverses them if necessary, and inserts the other items by bisection.
func insertionSort(m *py.Account, a []pair) {
	run := countRun(m, a)
	for ; run < len(a); run++ {
		pivot := a[run]
		low, high := 0, run
		for low < high {
			mid := (low + high) / 2
			if Order(m, "<", pivot.key, a[mid].key) {
				high = mid
			} else {
				low = mid + 1
			}
		}
		copy(a[low+1:run+1], a[low:run])
		a[low] = pivot
		m.Step(1)
	}
}

// countRun returns how many items at the beginning of a are in ascending or in descending order. It
// reverses them if they are descending.
func countRun(m *py.Account, a []pair) int {
	if len(a) < 2 {
		return len(a)
	}
	falls := Order(m, "<", a[1].key, a[0].key)
	n := 2
	for ; n < len(a); n++ {
		lower := Order(m, "<", a[n].key, a[n-1].key)
		if lower != falls {
			break
		}
	}
	if falls {
		slices.Reverse(a[:n])
	}
	return n
}
