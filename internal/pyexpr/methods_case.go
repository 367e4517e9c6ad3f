package pyexpr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/chars"
	"toolnorm/internal/pyexpr/object"
)

// Methods of strings that depend on the kind of characters: their case, and whether they are
// letters, digits or blanks.

// caseMethods returns the methods that change the case of characters.
func caseMethods() []*method {
	return []*method{
		textMethod("lower", true, func(s string) value { return lower(s) }),
		textMethod("upper", true, func(s string) value { return mapRunes(s, chars.ToUpper) }),
		textMethod("casefold", true, func(s string) value { return mapRunes(s, chars.Fold) }),
		textMethod("title", true, func(s string) value { return title(s) }),
		textMethod("capitalize", true, func(s string) value { return capitalize(s) }),
		textMethod("swapcase", true, func(s string) value { return swapcase(s) }),
	}
}

// classMethods returns the methods that test every character. Except for isascii they return False
// for an empty text.
//
//	'²'.isdigit() → True
//	'²'.isdecimal() → False
//	'½'.isnumeric() → True
//	'한국'.isalpha() → True
//	'a1'.isalnum() → True
//	''.isalpha() → False
//	'\t \u3000'.isspace() → True
func classMethods() []*method {
	every := func(name string, in func(rune) bool) *method {
		return textMethod(name, false, func(s string) value {
			return s != "" && strings.IndexFunc(s, func(r rune) bool { return !in(r) }) < 0
		})
	}
	return []*method{
		every("isdigit", chars.Digit), every("isnumeric", chars.Numeric),
		every("isdecimal", chars.Decimal),
		every("isalpha", chars.Letter), every("isspace", chars.Space),
		every("isalnum", chars.Alphanumeric),
		textMethod("isascii", false, func(s string) value { return object.IsASCII(s) }),
		textMethod("isupper", false, func(s string) value {
			return oneCase(s, chars.Upper, chars.Lower)
		}),
		textMethod("islower", false, func(s string) value {
			return oneCase(s, chars.Lower, chars.Upper)
		}),
		textMethod("istitle", false, func(s string) value { return isTitle(s) }),
	}
}

// mapRunes returns s with each character replaced with the result of the function to.
//
//	'straße'.upper() → 'STRASSE'
//	'Straße'.casefold() → 'strasse'
//	'ŉ'.upper() → 'ʼN'
//	'ﬁ'.upper() → 'FI'
func mapRunes(s string, to func(rune) string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		b.WriteString(to(r))
	}
	return b.String()
}

// oneCase reports whether a text has a character for which the function in returns true, and none
// for which the function wrong returns true or that is in title case.
//
//	'AB1'.isupper() → True
//	'Ab'.islower() → False
//	'1'.isupper() → False
//	'ß'.islower() → True
//	'ǅ'.isupper() → False
func oneCase(s string, in, wrong func(rune) bool) bool {
	found := false
	for _, r := range s {
		if wrong(r) || unicode.IsTitle(r) {
			return false
		}
		found = found || in(r)
	}
	return found
}

// title returns s with the first letter of each run of letters in title case, and the others in
// lower case.
//
//	"they're here".title() → "They'Re Here"
//	'ab 1c d_e'.title() → 'Ab 1C D_E'
//	'ÀÉ îß'.title() → 'Àé Îß'
func title(s string) string {
	var b strings.Builder
	inWord := false
	for i, r := range s {
		if inWord {
			b.WriteString(lowerAt(s, i, r))
		} else {
			b.WriteString(chars.ToTitle(r))
		}
		inWord = chars.HasCase(r)
	}
	return b.String()
}

// isTitle reports whether letters are in upper case or title case exactly at the beginning of each
// word, and there is a letter.
//
//	'Ab Cd'.istitle() → True
//	'Ab cd'.istitle() → False
//	'1'.istitle() → False
func isTitle(s string) bool {
	found, inWord := false, false
	for _, r := range s {
		switch {
		case chars.Upper(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			found, inWord = true, true
		case chars.Lower(r):
			if !inWord {
				return false
			}
			found = true
		default:
			inWord = false
		}
	}
	return found
}

// capitalize returns s with the first character in title case and the others in lower case.
//
//	'hELLO wORLD'.capitalize() → 'Hello world'
//	'ßx'.capitalize() → 'Ssx'
func capitalize(s string) string {
	if s == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(s)
	var b strings.Builder
	b.WriteString(chars.ToTitle(r))
	for i, r := range s[size:] {
		b.WriteString(lowerAt(s, size+i, r))
	}
	return b.String()
}

// swapcase returns s with upper and lower case exchanged.
//
//	'aB ß'.swapcase() → 'Ab SS'
func swapcase(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case chars.Upper(r):
			b.WriteString(lowerAt(s, i, r))
		case chars.Lower(r):
			b.WriteString(chars.ToUpper(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lower returns s in lower case. A Greek sigma at the end of a word becomes another letter than
// within a word.
//
//	'ÀB'.lower() → 'àb'
//	'ΑΣ'.lower() → 'ας'
//	'ΑΣΑ'.lower() → 'ασα'
//	'İ'.lower() → 'i̇'
func lower(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		b.WriteString(lowerAt(s, i, r))
	}
	return b.String()
}

// lowerAt returns the lower case of the character r, which is at s[i:].
func lowerAt(s string, i int, r rune) string {
	if r != 'Σ' {
		return chars.ToLower(r)
	}
	before := strings.TrimRightFunc(s[:i], chars.CaseIgnorable)
	after := strings.TrimLeftFunc(s[i+2:], chars.CaseIgnorable) // Σ is two bytes
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	if before != "" && chars.HasCase(last) && (after == "" || !chars.HasCase(next)) {
		return "ς"
	}
	return "σ"
}
