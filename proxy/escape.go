package proxy

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendEscaped appends s as the inside of a JSON string, spelled as encoding/json does without HTML escaping: each
// byte that is no UTF-8 becomes U+FFFD.
func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain(c) {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, r)
		i += size
		start = i
	}
	return append(dst, s[start:]...)
}

// plain says that an ASCII byte stands for itself in a JSON string.
func plain(c byte) bool {
	return c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf
}

// appendEscape appends the escape of a character that cannot stand for itself, or of utf8.RuneError.
func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendQuoted appends s as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s)
	return append(dst, '"')
}

// wholeRunes is the length of the part of s that does not end inside a character: all of it but at most three bytes.
func wholeRunes(s string) int {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax+1; i-- {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if s[i] >= utf8.RuneSelf && !utf8.FullRuneInString(s[i:]) {
			return i
		}
		break
	}
	return len(s)
}
