// Package chars knows what characters are, as CPython 3.11 does: Unicode 14. Go's own tables are of
// another version, which changes with Go, and know neither which characters are digits but no
// decimal ones nor that 'ß' in large letters is 'SS'. The tables are made by testdata/unicode.py
// from CPython's own answers.
package chars

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

//go:embed unicode.txt
var unicodeText string

// characters are the tables: ranges of characters, first and last in turn, and mappings to other
// text.
type characters struct {
	sets map[string][]rune
	maps map[string]map[rune]string
}

// unicodeTables are read when the first character beyond ASCII asks for them.
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

// readRanges reads "41-5a 61-7a".
func readRanges(s string) []rune {
	var all []rune
	for _, word := range strings.Fields(s) {
		first, last, ok := strings.Cut(word, "-")
		if !ok {
			last = first
		}
		all = append(all, hexRune(first), hexRune(last))
	}
	return all
}

// readMapping reads "61:41 df:53.53".
func readMapping(s string) map[rune]string {
	all := map[rune]string{}
	for _, word := range strings.Fields(s) {
		from, to, _ := strings.Cut(word, ":")
		var b strings.Builder
		for _, one := range strings.Split(to, ".") {
			b.WriteRune(hexRune(one))
		}
		all[hexRune(from)] = b.String()
	}
	return all
}

// hexRune reads a character's number; the table is part of the program, so that it can be read is
// known.
func hexRune(s string) rune {
	n, _ := strconv.ParseInt(s, 16, 32)
	return rune(n)
}

// Load reads the tables, which the first question would read else. Who measures what an expression
// takes does it beforehand.
func Load() { unicodeTables() }

// in reports whether a character is in a set: whether the first bound above it is the end of a
// range.
func in(set string, r rune) bool {
	ranges := unicodeTables().sets[set]
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i] >= r })
	return i < len(ranges) && (i%2 == 1 || ranges[i] == r)
}

// mapped returns the text that a mapping has for a character, or the character.
func mapped(mapping string, r rune) string {
	if to, ok := unicodeTables().maps[mapping][r]; ok {
		return to
	}
	return string(r)
}

// Printable reports whether repr shows a character as it is.
func Printable(r rune) bool { return in("isprintable", r) }

// Space reports whether a character separates words and is stripped: Python counts the four
// separators of ASCII too.
func Space(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= 9 && r <= 13 || r >= 0x1c && r <= 0x1f
	}
	return in("isspace", r)
}

// Letter reports whether a character is a letter: of any script, and without the marks that some
// scripts write letters with.
func Letter(r rune) bool { return in("isalpha", r) }

// Decimal reports whether a character is a digit of a number. Of the three kinds of digits '5' is
// all, '²' no decimal one, '五' and '½' only numeric.
func Decimal(r rune) bool { return in("isdecimal", r) }

// Digit reports whether a character is a digit, of an exponent too.
func Digit(r rune) bool { return in("isdigit", r) }

// Numeric reports whether a character stands for a number.
func Numeric(r rune) bool { return in("isnumeric", r) }

// Alphanumeric reports whether a character is a letter or any digit.
func Alphanumeric(r rune) bool { return Letter(r) || Decimal(r) || Digit(r) || Numeric(r) }

// Upper reports whether a character is a large letter; those of titles, as ǅ, are none.
func Upper(r rune) bool { return in("isupper", r) && !unicode.IsTitle(r) }

// Lower reports whether a character is a small letter.
func Lower(r rune) bool { return in("islower", r) }

// Cased reports whether a character has a case.
func Cased(r rune) bool { return in("cased", r) }

// CaseIgnorable reports whether a character stands within words without being a letter, as an
// apostrophe does. With Cased it decides whether a sigma ends its word.
func CaseIgnorable(r rune) bool { return in("ignorable", r) }

// ToUpper returns a character in large letters, which may be several: ß gives SS.
func ToUpper(r rune) string { return mapped("upper", r) }

// ToLower returns a character in small letters.
func ToLower(r rune) string { return mapped("lower", r) }

// ToTitle returns a character as the first of a word.
func ToTitle(r rune) string { return mapped("title", r) }

// Fold returns a character for comparisons without case.
func Fold(r rune) string { return mapped("casefold", r) }

// DigitValue returns what a decimal digit of any script stands for, or -1. Each script's ten stand
// in a row from its zero.
func DigitValue(r rune) int {
	ranges := unicodeTables().sets["isdecimal"]
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i] >= r })
	switch {
	case i == len(ranges) || i%2 == 0 && ranges[i] != r:
		return -1
	case i%2 == 0:
		return 0
	}
	return int(r-ranges[i-1]) % 10
}
