package pyexpr

import (
	"toolnorm/internal/pyexpr/number"
	"toolnorm/internal/pyexpr/py"
)

// listMethods are those that change nothing: a value of the language never changes.
func listMethods() []*method {
	return []*method{
		md("count", oneArg, 1, 1, count),
		md("index", checked, 1, 3, func(m *py.Account, self value, a []value) value {
			if i := indexOf(m, self.(list), a); i >= 0 {
				return i
			}
			return py.Raise(py.ValueError, "%s is not in list", repr(m, a[0]))
		}),
	}
}

// tupleMethods are a list's, with another sentence for what is not found: CPython wrote them apart.
func tupleMethods() []*method {
	return []*method{
		md("count", oneArg, 1, 1, count),
		md("index", checked, 1, 3, func(m *py.Account, self value, a []value) value {
			if i := indexOf(m, self.(tuple), a); i >= 0 {
				return i
			}
			return py.Raise(py.ValueError, "tuple.index(x): x not in tuple")
		}),
	}
}

// count counts the items that equal a value, across types: [1, 1.0, True].count(1) is 3.
//
//	[1, 1.0, True].count(1) → 3
//	(1, 2).count(3) → 0
//	[1].count() → TypeError: list.count() takes exactly one argument (0 given)
func count(m *py.Account, self value, a []value) value {
	n := int64(0)
	for _, v := range items(m, self) {
		if equal(m, v, a[0]) {
			n++
		}
	}
	return n
}

// indexOf finds an item between two bounds, or is -1.
//
//	[1, 2, 1].index(1, 1) → 2
//	(1, 2).index(2) → 1
//	[1].index(5) → ValueError: 5 is not in list
//	(1,).index(5) → ValueError: tuple.index(x): x not in tuple
func indexOf(m *py.Account, all []value, a []value) int64 {
	low, high := int64(0), int64(len(all))
	for i, to := range []*int64{&low, &high} {
		v := a[i+1]
		if !given(v) {
			continue
		}
		n, ok := number.Int(v)
		if !ok {
			py.Raise(py.TypeError, "slice indices must be integers or have an __index__ method")
		}
		k := number.Clamp(n)
		if k < 0 {
			k = max(k+int64(len(all)), 0)
		}
		*to = min(k, int64(len(all)))
	}
	for i := low; i < high; i++ {
		if equal(m, all[i], a[0]) {
			return i
		}
	}
	return -1
}

// dictMethods are the three views, and get. The views show the dict and copy nothing.
//
//	list({'a': 1}.keys()) → ['a']
//	list({'a': 1}.values()) → [1]
//	{'a': 1}.get('b', 0) → 0
//	{'a': 1}.keys() & {'a', 'b'} → {'a'}
func dictMethods() []*method {
	look := func(kind string) *method {
		return md(kind+"s", noArgs, 0, 0, func(m *py.Account, self value, _ []value) value {
			m.Alloc(py.ListBytes)
			return view{self.(*dict), kind}
		})
	}
	return []*method{look("key"), look("value"), look("item"), md("get", checked, 1, 2, dictGet)}
}

// dictGet is None where Python's is: without a second argument, for a key that is not there.
func dictGet(m *py.Account, self value, a []value) value {
	v, ok := self.(*dict).get(m, a[0])
	if ok || !given(a[1]) {
		return v
	}
	return a[1]
}
