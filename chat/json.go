package chat

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// JSON returns v as compact JSON on one line. It does not escape <, > and &, because models and
// people read it, not web pages. It returns an error if v cannot be encoded.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// AppendQuoted appends s as a JSON string.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

// AppendEscaped appends s as the inside of a JSON string, in the spelling of encoding/json without
// HTML escaping. Each byte that is not UTF-8 becomes U+FFFD. A call of encoding/json for each
// fragment would copy it twice, and examine each byte of a prompt separately. A fuzz test ensures
// that both give the same result. U+2028 and U+2029 are escaped because older JavaScript ends a
// line at them.
func AppendEscaped(dst []byte, s string) []byte { return appendEscaped(dst, s, true) }

// AppendShortQuoted appends s as a JSON string in which U+2028 and U+2029 are not escaped, as JSON
// allows. It is for model servers, which read JSON as a whole. If they were escaped, a text that
// consists of these two would have twice as many bytes.
func AppendShortQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, s, false)
	return append(dst, '"')
}

// appendEscaped appends s with the characters escaped that JSON does not allow in a string. U+2028
// and U+2029 are escaped as well if separators is true.
func appendEscaped(dst []byte, s string, separators bool) []byte {
	start := 0
	for i := plain(s); i < len(s); i += plain(s[i:]) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if !(separators && (r == '\u2028' || r == '\u2029')) &&
				(r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		if rest := len(s) - start; rest > 64<<10 && cap(dst)-len(dst) < rest {
			// all at once, because growing by a quarter at a time, a text of megabytes leaves four
			// times its length as garbage
			dst = slices.Grow(dst, 2*rest)
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, r)
		i += size
		start = i
	}
	return append(dst, s[start:]...)
}

const (
	eachByte = 0x0101010101010101 // multiplied by a byte it gives that byte eight times
	topBits  = eachByte * 0x80
)

// plain returns how many bytes at the start of s are ASCII and need no escape in a JSON string. It
// examines eight bytes at a time. If a byte is below a blank, a quotation mark, a backslash or
// beyond ASCII, one of four values has the top bit of that byte set. A borrow can also set the top
// bit of a later byte, but never that of an earlier one.
func plain(s string) int {
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		w := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		found := w | (w - eachByte*' ')
		found |= ((w ^ eachByte*'"') - eachByte) | ((w ^ eachByte*'\\') - eachByte)
		if found &= topBits; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// hexDigits are the digits of an escape.
const hexDigits = "0123456789abcdef"

// appendEscape appends the escape of a character that needs one, or of utf8.RuneError.
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
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15],
		hexDigits[r&15])
}
