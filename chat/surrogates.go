package chat

import (
	"bytes"
	"strconv"
	"unicode/utf16"
)

// MendSurrogates replaces, in place, the escape of each lone half of a surrogate pair in JSON text
// by U+FFFD, as encoding/json reads it. Such an escape means no character, and other JSON parsers
// take its six characters for the text.
func MendSurrogates(text []byte) {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return
		}
		text = text[at:]
		if text[1] != 'u' { // most escapes are of line breaks and quotes
			text = text[2:]
			continue
		}
		first, ok := surrogate(text)
		switch second, _ := surrogate(text[min(6, len(text)):]); {
		case !ok:
			text = text[2:]
		case utf16.DecodeRune(first, second) != '\uFFFD':
			text = text[12:]
		default:
			copy(text, `\ufffd`)
			text = text[6:]
		}
	}
}

// surrogate returns the half of a surrogate pair whose escape is at the start of text. ok is false
// if there is none.
func surrogate(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil && utf16.IsSurrogate(rune(n))
}
