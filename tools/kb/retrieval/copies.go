package retrieval

// mostlySame is the share of equal words from which on two passages count as copies. They may be
// from a document that exists twice, from last year's version of it, or from the same file in
// another format.
const mostlySame = .9

// words are the words of a passage. length is how many there are. The function all returns them as
// numbers, and may have to read the passage again for that. The set is made when they are first
// compared.
type words struct {
	length int
	all    func() []uint32
	set    map[uint32]bool
}

// alike reports whether two passages are copies. Most pairs differ in length, so nothing has to be
// read for them.
func (w *words) alike(other *words) bool {
	short, long := min(w.length, other.length), max(w.length, other.length)
	if short == 0 || float64(short) < mostlySame*float64(long) {
		return false
	}
	same, mine, others := 0, w.distinct(), other.distinct()
	for word := range mine {
		if others[word] {
			same++
		}
	}
	return float64(same) >= mostlySame*float64(max(len(mine), len(others)))
}

// wordsOf returns a words value for words that have been read already.
func wordsOf(all []uint32) words {
	return words{length: len(all), all: func() []uint32 { return all }}
}

// distinct returns the set of the words.
func (w *words) distinct() map[uint32]bool {
	if w.set == nil {
		w.set = make(map[uint32]bool, w.length)
		for _, word := range w.all() {
			w.set[word] = true
		}
	}
	return w.set
}
