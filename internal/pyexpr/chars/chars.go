// Package chars classifies characters as CPython 3.11 does, by Unicode 14. Go's own tables have
// another version of Unicode, which changes with Go. They do not distinguish digits from decimal
// digits, and do not map 'ß' to 'SS' in upper case. The tables are made by testdata/unicode.py from
// CPython's own answers.
package chars

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:embed unicode.txt
var unicodeText string

// characters holds Python's tables of characters. The field sets has, for each set, such as that of
// digits, the first and last character of each range. The field maps has, for each mapping, such as
// that to upper case, the text for each character.
type characters struct {
	sets map[string][]rune
	maps map[string]map[rune]string
}

// unicodeTables returns the tables, which are read at the first call.
var unicodeTables = sync.OnceValue(func() characters {
	all := characters{map[string][]rune{}, map[string]map[rune]string{}}
	for line := range strings.Lines(unicodeText) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "#":
		case strings.Contains(rest, ":"):
			all.maps[name] = readMapping(rest)
		default:
			all.sets[name] = readRanges(rest)
		}
	}
	return all
})

// readRanges parses ranges such as "41-5a 61-7a".
func readRanges(s string) []rune {
	var all []rune
	for word := range strings.FieldsSeq(s) {
		first, last, ok := strings.Cut(word, "-")
		if !ok {
			last = first
		}
		all = append(all, hexRune(first), hexRune(last))
	}
	return all
}

// readMapping parses a mapping such as "61:41 df:53.53".
func readMapping(s string) map[rune]string {
	all := map[rune]string{}
	for word := range strings.FieldsSeq(s) {
		from, to, _ := strings.Cut(word, ":")
		var b strings.Builder
		for one := range strings.SplitSeq(to, ".") {
			b.WriteRune(hexRune(one))
		}
		all[hexRune(from)] = b.String()
	}
	return all
}

// hexRune returns the character with a number in hex. Errors are ignored, since the table is part
// of the program.
func hexRune(s string) rune {
	n, _ := strconv.ParseInt(s, 16, 32)
	return rune(n)
}

// in reports whether a character is in the set with that name. A set is a sorted list of ranges,
// each with its first and last character. A character is in the set if the first entry that is not
// below it is the character itself, or the end of a range.
func in(set string, r rune) bool {
	ranges := unicodeTables().sets[set]
	i, found := slices.BinarySearch(ranges, r)
	return found || i%2 == 1
}

// mapChar returns the text that a mapping has for a character, or the character itself if it has
// none.
func mapChar(mapping string, r rune) string {
	if to, ok := unicodeTables().maps[mapping][r]; ok {
		return to
	}
	return string(r)
}

// Printable reports whether repr shows a character unchanged.
func Printable(r rune) bool { return in("isprintable", r) }

// Space reports whether a character is white space, which in Python includes the four separators of
// ASCII.
func Space(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= 9 && r <= 13 || r >= 0x1c && r <= 0x1f
	}
	return in("isspace", r)
}

// Letter reports whether a character is a letter of any script. Marks that some scripts combine
// with letters are not letters.
func Letter(r rune) bool { return in("isalpha", r) }

// Decimal reports whether a character is a decimal digit. '5' is decimal, digit and numeric; '²' is
// digit and numeric; '五' and '½' are only numeric.
func Decimal(r rune) bool { return in("isdecimal", r) }

// Digit reports whether a character is a digit, including superscript digits.
func Digit(r rune) bool { return in("isdigit", r) }

// Numeric reports whether a character represents a number.
func Numeric(r rune) bool { return in("isnumeric", r) }

// Alphanumeric reports whether a character is a letter, a digit or another numeric character.
func Alphanumeric(r rune) bool { return Letter(r) || Decimal(r) || Digit(r) || Numeric(r) }

// Upper reports whether a character is an upper-case letter. Title-case letters such as ǅ are not.
func Upper(r rune) bool { return in("isupper", r) && !unicode.IsTitle(r) }

// Lower reports whether a character is a lower-case letter.
func Lower(r rune) bool { return in("islower", r) }

// HasCase reports whether a character has a case.
func HasCase(r rune) bool { return in("cased", r) }

// CaseIgnorable reports whether a character, such as an apostrophe, may be inside a word without
// being a letter. Together with HasCase it determines whether a sigma is at the end of a word.
func CaseIgnorable(r rune) bool { return in("ignorable", r) }

// ToUpper returns a character in upper case, which may be several characters, as SS for ß.
func ToUpper(r rune) string { return mapChar("upper", r) }

// ToLower returns a character in lower case.
func ToLower(r rune) string { return mapChar("lower", r) }

// ToTitle returns a character in title case, for the beginning of a word.
func ToTitle(r rune) string { return mapChar("title", r) }

// Fold returns the form of a character for comparisons without regard to case.
func Fold(r rune) string { return mapChar("casefold", r) }

// DigitValue returns the value of a decimal digit of any script, or -1. The ten digits of each
// script are consecutive, from its zero.
func DigitValue(r rune) int {
	ranges := unicodeTables().sets["isdecimal"]
	i, found := slices.BinarySearch(ranges, r)
	switch {
	case found && i%2 == 0:
		return 0
	case i%2 == 0:
		return -1
	}
	return int(r-ranges[i-1]) % 10
}
