package ocr

// shortestStem is the smallest number of characters before a hyphen for which repaired makes a
// guess. Too many words begin with any two characters.
const shortestStem = 3

// repaired returns a guess for the hyphen at the end of a run if the hyphen stands for another
// katakana character, and 0 if it has no guess. For example, OCR reads the last character of キャリア
// as a hyphen, although キャリー is a word as well. The guess is ア if another word of the text, such as
// キャリアコンサルティング, begins with キャリア and none begins with キャリー. The longest stem is tried first, since
// the run may begin with another word, as in マイナビキャリ.
func (n *Normalizer) repaired(text []rune, r run, verdicts []verdict) rune {
	last := r.hyphens[len(r.hyphens)-1]
	if !n.Repair || last != r.n-1 || verdicts[len(verdicts)-1] == hyphen {
		return 0
	}
	for from := 0; last-from >= shortestStem; from++ {
		if next := following(text, text[r.at+from:r.at+last], r.at, r.at+r.n); next != 0 {
			if next == longMark {
				return 0
			}
			return next
		}
	}
	return 0
}

// following returns the katakana character that follows a stem in the words of the text, except for
// words in the run between the two offsets. It returns the long-vowel mark if any word has that. It
// returns 0 if no word begins with the stem or several characters follow it.
func following(text, stem []rune, from, to int) rune {
	var next rune
	// Each stem takes time proportional to the text, and there are as many stems as the run has
	// characters before its hyphen.
	for i := range text {
		if i >= from && i < to || i > 0 && (isKatakana(text[i-1]) || text[i-1] == longMark) ||
			!hasPrefix(text[i:], stem) {
			continue
		}
		end := i + len(stem)
		switch {
		case end == len(text):
		case text[end] == longMark:
			return longMark
		case !isKatakana(text[end]):
		case next != 0 && next != text[end]:
			return 0
		default:
			next = text[end]
		}
	}
	return next
}

// hasPrefix reports whether text begins with head.
func hasPrefix(text, head []rune) bool {
	if len(text) < len(head) {
		return false
	}
	for i, r := range head {
		if text[i] != r {
			return false
		}
	}
	return true
}
