package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// portable returns a JSON object in a form that any shell takes, between single quotes, as one
// unchanged word. It returns an error if args is not a JSON object in UTF-8. Empty arguments and
// null become {}. The result has these properties:
//
//   - it is one line, and contains no single quote, no backquote and no <; after a backslash there is only u or one of the
//     letters b, f, n, r and t, since fish reads \\ and \' even between single quotes;
//   - it contains no $ and no !: after an open quote its strings are between double quotes,
//     where shells interpret both, and csh interprets ! between single quotes as well;
//   - it contains nothing that people or programs could take for a quote or not see: curly quotes and the like, control
//     and format characters (bidi, zero width), other spaces than the blank, unassigned code points;
//   - letters, marks, digits, signs and emoji of every language stay as they are.
//
// So it cannot close a block of Markdown or of tags. The JSON value is the same; the text of
// numbers and the order of members are kept.
func portable(args json.RawMessage) ([]byte, error) {
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		return []byte("{}"), nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, args); err != nil {
		return nil, err
	}
	src := compact.Bytes()
	switch {
	case src[0] != '{':
		return nil, errors.New("not a JSON object")
	case !utf8.Valid(src):
		return nil, errors.New("not UTF-8")
	}
	dst := make([]byte, 0, len(src)+len(src)/8)
	for inside := false; len(src) > 0; {
		if src[0] == '"' {
			inside = !inside
		}
		// Outside of strings JSON has only braces, brackets, digits, words, : and , which no shell
		// interprets between quotes.
		if !inside || src[0] == '"' {
			dst, src = append(dst, src[0]), src[1:]
			continue
		}
		r, size := character(src)
		dst, src = appendCharacter(dst, r), src[size:]
	}
	return dst, nil
}

// character returns the first character inside a valid JSON string, and the number of bytes that
// encode it. An unpaired surrogate is returned as it is.
func character(src []byte) (r rune, size int) {
	if src[0] != '\\' {
		return utf8.DecodeRune(src)
	}
	if src[1] != 'u' {
		return escapeMeanings[src[1]], 2
	}
	r = unit(src)
	if utf16.IsSurrogate(r) && len(src) >= 12 && src[6] == '\\' && src[7] == 'u' {
		if pair := utf16.DecodeRune(r, unit(src[6:])); pair != unicode.ReplacementChar {
			return pair, 12
		}
	}
	return r, 6
}

// escapeMeanings maps a letter after a backslash to its meaning in JSON.
var escapeMeanings = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n',
	'r': '\r', 't': '\t'}

// short maps the control characters for which JSON has a letter to that letter.
var short = map[rune]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// unit returns the value of the escape \uXXXX at the beginning of src, or U+FFFD if its digits are
// invalid.
func unit(src []byte) rune {
	n, err := strconv.ParseUint(string(src[2:6]), 16, 16)
	if err != nil {
		return unicode.ReplacementChar // not in valid JSON
	}
	return rune(n)
}

// appendCharacter appends one character of a string, as itself if it is plain, and otherwise as a
// JSON escape. A character above U+FFFF becomes a pair of surrogates.
func appendCharacter(dst []byte, r rune) []byte {
	letter, named := short[r]
	switch {
	case named:
		return append(dst, '\\', letter)
	case plain(r):
		return utf8.AppendRune(dst, r)
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		return appendUnit(appendUnit(dst, high), low)
	}
	return appendUnit(dst, r)
}

// appendUnit appends the escape \uXXXX for r.
func appendUnit(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// plain reports whether a character can be written as itself in a command, without an escape. Such
// a character is visible, and neither people nor programs take it for a quote or markup. Letters of
// every language are plain, because a user who is to run 휴가 must be able to read it.
func plain(r rune) bool {
	switch r {
	case '\'', '"', '`', '\\', '<', '$', '!':
		return false
	}
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7F
	}
	return unicode.IsPrint(r) &&
		!unicode.In(r, unicode.Quotation_Mark, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Variation_Selector, lookalikes)
}

// lookalikes are characters that look like a quote, a backquote or a backslash, or that some
// program treats like one, and the blank Braille pattern. PowerShell takes curly quotes for quotes;
// those are in unicode.Quotation_Mark.
var lookalikes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00B4, 0x00B4, 1}, // acute accent
		{0x02B9, 0x02BF, 1}, // modifier primes, commas and rings
		{0x02C8, 0x02CB, 1}, // modifier lines and accents
		{0x02EE, 0x02EE, 1}, // double apostrophe
		{0x055A, 0x055A, 1}, // Armenian apostrophe
		{0x05F3, 0x05F4, 1}, // geresh, gershayim
		{0x07F4, 0x07F5, 1}, // N'Ko apostrophes
		{0x1FBD, 0x1FC1, 1}, // Greek koronis and breathings
		{0x1FCD, 0x1FCF, 1},
		{0x1FDD, 0x1FDF, 1},
		{0x1FED, 0x1FEF, 1},
		{0x1FFD, 0x1FFE, 1},
		{0x2032, 0x2037, 1}, // primes
		{0x2057, 0x2057, 1},
		{0x2216, 0x2216, 1}, // set minus
		{0x275B, 0x2760, 1}, // ornamental quotes
		{0x2800, 0x2800, 1}, // blank Braille pattern
		{0x29F5, 0x29F9, 1}, // reverse solidus operators
		{0xA78B, 0xA78C, 1}, // saltillo
		{0xFE68, 0xFE68, 1}, // small reverse solidus
		{0xFF1C, 0xFF1C, 1}, // full-width less-than sign
		{0xFF3C, 0xFF3C, 1}, // full-width reverse solidus
		{0xFF40, 0xFF40, 1}, // full-width grave accent
	},
}
