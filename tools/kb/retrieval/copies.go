package retrieval

// mostlySame is how much of the words of two passages is the same where one is a copy of the other:
// of a document that is there twice, of its version of last year, or of the same file in another
// format.
const mostlySame = .9

// words are those of a passage: how many, and what they are as numbers, for which it may have to be
// read again; as a set once they were compared.
type words struct {
	length int
	all    func() []uint32
	set    map[uint32]bool
}

// alike reports whether two passages are copies. Most are told apart by their lengths, for nothing.
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

// wordsOf returns words that are known.
func wordsOf(all []uint32) words {
	return words{length: len(all), all: func() []uint32 { return all }}
}

// distinct returns each word once.
func (w *words) distinct() map[uint32]bool {
	if w.set == nil {
		w.set = make(map[uint32]bool, w.length)
		for _, word := range w.all() {
			w.set[word] = true
		}
	}
	return w.set
}
