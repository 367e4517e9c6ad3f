package ocr

// shortestStem is how much of a word must stand in front of a hyphen for a guess, in characters:
// two of them begin too many words.
const shortestStem = 3

// repaired guesses what the hyphen at the end of a run was, when it was neither: OCR reads the last
// character of キャリア as a hyphen, and キャリー is a word. The guess is ア when the text says キャリア
// elsewhere, as in キャリアコンサルティング, and never キャリー. It returns 0 if it has no guess. It looks for the
// longest stem first, since the run may begin with another word: マイナビキャリ.
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

// following returns the character behind a stem where words outside the run begin with it. The
// long-vowel mark wins over any other, and of two others neither counts: 0.
func following(text, stem []rune, from, to int) rune {
	var next rune
	// The time is that of the text for each stem, and stems are as many as the run has characters
	// in front of its hyphen.
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

// hasPrefix reports whether a text begins with another.
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
