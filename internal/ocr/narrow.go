package ocr

import "golang.org/x/text/unicode/norm"

// narrowMark is the long-vowel mark in half width.
const narrowMark = 'ｰ'

// isNarrow reports whether a character is katakana in half width, or a mark of its sounds.
func isNarrow(r rune) bool { return r >= 'ｦ' && r <= 'ﾟ' && r != narrowMark }

// wide returns a text with its half-width katakana in full width, of which the dictionary is, and
// for each character where it stands in the text: ﾃﾞ is one character, デ. Texts without any are
// returned as they are.
func wide(text []rune) (letters []rune, at []int) {
	at = make([]int, 0, len(text))
	for i := 0; i < len(text); i++ {
		at = append(at, i)
		r := text[i]
		if isNarrow(r) || r == narrowMark {
			full := []rune(norm.NFKC.String(string(r)))
			if i+1 < len(text) && (text[i+1] == 'ﾞ' || text[i+1] == 'ﾟ') {
				if both := []rune(norm.NFKC.String(string(text[i : i+2]))); len(both) == 1 {
					full = both
					i++
				}
			}
			r = full[0]
		}
		letters = append(letters, r)
	}
	return letters, at
}

// inPlace moves changes of the wide text to their places in the text as it is: a mark behind half
// width has half width. A guess there is left out, as its character may take two in half width.
func inPlace(text []rune, at []int, found map[int]Change) map[int]Change {
	moved := map[int]Change{}
	for offset, c := range found {
		i := at[offset]
		if i > 0 && isNarrow(text[i-1]) {
			if c.To != string(longMark) {
				continue
			}
			c.To = string(narrowMark)
		}
		moved[i] = c
	}
	return moved
}
