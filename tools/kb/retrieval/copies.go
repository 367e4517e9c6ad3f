package retrieval

import (
	"iter"
	"slices"
)

// mostlySame is the share of equal words from which on two passages count as copies. They may be
// from a document that exists twice, from last year's version of it, or from the same file in
// another format.
const mostlySame = .9

// words has the words of a passage as numbers, in three forms. In own, the same number may mean
// another word in another passage. In all and set, it means the same in every passage. The function
// all iterates over the numbers, and may have to split the text for that. The map set is made for
// the first comparison.
type words struct {
	own       []uint32
	all       func() iter.Seq[uint32]
	different int // how many different words there are; 0: not counted yet
	set       map[uint32]bool
}

// alike reports whether two passages are copies. Most pairs differ in length, so nothing has to be
// read for them. For the other pairs, one passage is read until too many of its words are missing
// in the other passage.
func (w *words) alike(other *words) bool {
	short, long := min(len(w.own), len(other.own)), max(len(w.own), len(other.own))
	if short == 0 || float64(short) < mostlySame*float64(long) {
		return false
	}
	if other.set != nil {
		w, other = other, w
	}
	same, least := other.distinct(), mostlySame*float64(max(w.distinct(), other.distinct()))
	mine, missing := w.made(), map[uint32]bool{}
	for word := range other.all() {
		if float64(same) < least {
			return false
		}
		if !mine[word] && !missing[word] {
			missing[word] = true
			same--
		}
	}
	return float64(same) >= least
}

// wordsOf returns a words value for a passage whose words have their numbers already.
func wordsOf(all []uint32) words {
	return words{own: all, all: func() iter.Seq[uint32] { return slices.Values(all) }}
}

// distinct returns how many different words the passage has.
func (w *words) distinct() int {
	if w.different == 0 {
		w.different = len(slices.Compact(slices.Sorted(slices.Values(w.own))))
	}
	return w.different
}

// made returns the passage's words as a set. It makes the set at the first call.
func (w *words) made() map[uint32]bool {
	if w.set == nil {
		w.set = make(map[uint32]bool, w.distinct())
		for word := range w.all() {
			w.set[word] = true
		}
	}
	return w.set
}
