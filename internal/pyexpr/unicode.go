package pyexpr

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// What characters are, as CPython 3.11 knows it: Unicode 14. Go's own tables are of another version, which changes with
// Go, and know neither which characters are digits but no decimal ones nor that 'ß' in large letters is 'SS'.
// The tables are made by testdata/unicode.py from CPython's own answers.

//go:embed unicode.txt
var unicodeText string

// characters are the tables: ranges of characters, first and last in turn, and mappings to other text.
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

// hexRune reads a character's number; the table is part of the program, so that it can be read is known.
func hexRune(s string) rune {
	n, _ := strconv.ParseInt(s, 16, 32)
	return rune(n)
}

// in says whether a character is in a set: whether the first bound above it is the end of a range.
func in(set string, r rune) bool {
	ranges := unicodeTables().sets[set]
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i] >= r })
	return i < len(ranges) && (i%2 == 1 || ranges[i] == r)
}

// mapped is the text that a mapping has for a character, or the character.
func mapped(mapping string, r rune) string {
	if to, ok := unicodeTables().maps[mapping][r]; ok {
		return to
	}
	return string(r)
}

// isPrintable says that repr shows a character as it is.
func isPrintable(r rune) bool { return in("isprintable", r) }

// isSpace says that a character separates words and is stripped: Python counts the four separators of ASCII too.
func isSpace(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= 9 && r <= 13 || r >= 0x1c && r <= 0x1f
	}
	return in("isspace", r)
}

// isAlpha says that a character is a letter: of any script, and without the marks that some scripts write letters with.
func isAlpha(r rune) bool { return in("isalpha", r) }

// The three kinds of digits: '5' is all of them, '²' no decimal one, '五' and '½' only numeric.
func isDecimal(r rune) bool      { return in("isdecimal", r) }
func isDigitRune(r rune) bool    { return in("isdigit", r) }
func isNumeric(r rune) bool      { return in("isnumeric", r) }
func isAlphanumeric(r rune) bool { return isAlpha(r) || isDecimal(r) || isDigitRune(r) || isNumeric(r) }

func isUpper(r rune) bool { return in("isupper", r) && !unicode.IsTitle(r) }
func isLower(r rune) bool { return in("islower", r) }

// isCased says that a character has a case, and isCaseIgnorable that it stands within words without being a letter,
// as an apostrophe does. Both decide whether a sigma ends its word.
func isCased(r rune) bool         { return in("cased", r) }
func isCaseIgnorable(r rune) bool { return in("ignorable", r) }

func upperRune(r rune) string { return mapped("upper", r) }
func lowerRune(r rune) string { return mapped("lower", r) }
func titleRune(r rune) string { return mapped("title", r) }
func foldRune(r rune) string  { return mapped("casefold", r) }

// decimalDigit is what a decimal digit of any script stands for, or -1. Each script's ten stand in a row from its zero.
func decimalDigit(r rune) int {
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
