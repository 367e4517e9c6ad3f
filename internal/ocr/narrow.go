package ocr

import "golang.org/x/text/unicode/norm"

// narrowMark is the long-vowel mark in half width.
const narrowMark = 'ｰ'

// isNarrow reports whether a character is half-width katakana, including the marks for voiced
// sounds but not the long-vowel mark.
func isNarrow(r rune) bool { return r >= 'ｦ' && r <= 'ﾟ' && r != narrowMark }

// wide returns a text with half-width katakana replaced by full-width ones, as the dictionary has
// them, and for each resulting character its offset in the text. The offsets differ because two
// characters such as ﾃﾞ become one, デ. Other characters are unchanged.
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

// inPlace returns the changes with their offsets in text. The keys of found are offsets in a copy
// of text whose half-width katakana were widened; at has the offset in text of each character of
// the copy. After half-width katakana, the long-vowel mark becomes a half-width one. Any other
// change there is left out, because in half width the new character may need two.
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
