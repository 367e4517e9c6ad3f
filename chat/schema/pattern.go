package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// A server's converter reads a small part of regular expressions, and reads it literally: `\d` is
// an error, and `.` allows the quotation mark that ends the string. So a pattern is parsed, and
// printed again with only what every converter understands: ^, $, groups, |, classes of characters
// that JSON does not escape, and counted repetitions of classes and groups.

// plainChars are the characters that have no special meaning in a pattern, besides letters and
// digits.
const plainChars = " _-/:@,;=<>~#%&!'"

// safe are the characters that a JSON string contains unescaped, as ranges. DEL is left out, as it
// is by servers. The converter matches a pattern against the string as it is written, escapes
// included, so a class with the quotation mark in it would let the string end anywhere. Therefore
// texts with escapes, such as a line break, cannot be written under a pattern.
var safe = []rune{' ', '!', '#', '[', ']', '~', 0x80, 0x10FFFF}

// serverPattern returns a pattern for a server, anchored at both ends. It returns false for a
// pattern that cannot be expressed. Repetitions without an end are limited to the parameter bound,
// unless it is negative. In JSON Schema a pattern is not anchored (2020-12 Validation, section
// 6.3.3), but servers refuse one without anchors ("Pattern must start with '^' and end with '$'").
func serverPattern(pattern string, bound int) (string, bool) {
	re, err := syntax.Parse(GoPattern(pattern), syntax.Perl)
	if err != nil {
		return "", false
	}
	p := patternPrinter{bound: bound}
	body := p.print(re, true, true)
	return "^" + body + "$", !p.failed && len(body) < 4000
}

// patternPrinter prints one pattern. If one piece cannot be expressed, the whole pattern is
// dropped, because a part of it would allow other texts.
type patternPrinter struct {
	bound  int
	nested int // repetitions around the current expression
	failed bool
}

// fail sets failed and returns "".
func (p *patternPrinter) fail() string {
	p.failed = true
	return ""
}

// print returns the expression re as servers read it. left and right say that re is at the start
// and at the end of the whole pattern. Since a pattern without anchors matches within a text, a
// class for any text is then put before or after re, unless an anchor is there. For example,
// "^ab|cd$" is printed as (ab[…]*|[…]*cd) between two anchors. A pattern with an anchor in the
// middle, such as a^b, can never match, so print fails.
func (p *patternPrinter) print(re *syntax.Regexp, left, right bool) string {
	switch re.Op {
	case syntax.OpBeginText:
		if !left {
			return p.fail()
		}
		return p.open(false, right, "")
	case syntax.OpEndText:
		if !right {
			return p.fail()
		}
		return p.open(left, false, "")
	case syntax.OpConcat:
		return p.concat(re.Sub, left, right)
	case syntax.OpAlternate, syntax.OpCapture:
		return p.alternate(re.Sub, left, right)
	}
	return p.open(left, right, p.leaf(re))
}

// open returns the parameter text, an expression, extended for what may stand around a match.
// Before the expression it puts a class for any text if left is true, and after it if right is
// true, because a pattern without anchors matches within a longer text.
func (p *patternPrinter) open(left, right bool, text string) string {
	if !left && !right {
		return text
	}
	anything := p.repeat(printClass(safe), 0, -1)
	if left {
		text = anything + text
	}
	if right {
		text += anything
	}
	return text
}

// concat returns the text of a sequence of expressions. If left is true, the sequence is at the
// start of the whole pattern, so its first expression is printed as one at the start. If right is
// true, the sequence is at the end of the pattern, so its last expression is printed as one at the
// end.
func (p *patternPrinter) concat(subs []*syntax.Regexp, left, right bool) string {
	var b strings.Builder
	for i, sub := range subs {
		b.WriteString(p.print(sub, left && i == 0, right && i == len(subs)-1))
	}
	return b.String()
}

// alternate returns the alternatives subs as one group. left and right say whether the group is at
// the start and at the end of the whole pattern. Both apply to each alternative as well, because
// each may have anchors of its own.
func (p *patternPrinter) alternate(subs []*syntax.Regexp, left, right bool) string {
	parts := make([]string, len(subs))
	for i, sub := range subs {
		parts[i] = p.print(sub, left, right)
	}
	return "(" + strings.Join(parts, "|") + ")"
}

// leaf returns an expression without anchors in a form that servers can convert. It fails for word
// boundaries and line anchors, which no server can convert. The point (.) becomes a class of
// characters, because servers would let it match the quotation mark that ends the string.
func (p *patternPrinter) leaf(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return ""
	case syntax.OpLiteral:
		return p.literal(re)
	case syntax.OpCharClass:
		return p.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return printClass(safe)
	case syntax.OpStar:
		return p.repeated(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return p.repeated(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		return p.repeated(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return p.repeated(re.Sub[0], re.Min, re.Max)
	}
	return p.fail()
}

// literal returns a text as a pattern. A character with a meaning in patterns becomes a class of
// its own, so "1.5" becomes 1[\x2E]5.
func (p *patternPrinter) literal(re *syntax.Regexp) string {
	var b strings.Builder
	for _, r := range re.Rune {
		switch {
		// (?i)yes is [Yy][Ee][Ss].
		case re.Flags&syntax.FoldCase != 0:
			b.WriteString(p.class(folds(r)))
		case isAlnum(r) || strings.ContainsRune(plainChars, r) || r >= 0x80:
			b.WriteRune(r)
		default:
			b.WriteString(p.class([]rune{r, r}))
		}
	}
	return b.String()
}

// folds returns the upper and lower case of an ASCII letter, as ranges, because converters do not
// know the flag i. Any other character is returned as its own range. Go's own folding, by which k
// is also the Kelvin sign, is left out.
func folds(r rune) []rune {
	low, high := unicode.ToUpper(r), unicode.ToLower(r)
	if r >= 0x80 || low == high {
		return []rune{r, r}
	}
	return []rune{low, low, high, high}
}

// isAlnum reports whether r is an ASCII letter or digit.
func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// class returns a class such as [^/] without the characters that JSON must escape, for example the
// quotation mark. If no character is left, as with [\n], the conversion of the pattern fails,
// because no text could match it.
func (p *patternPrinter) class(ranges []rune) string {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for j := 0; j < len(safe); j += 2 {
			if low, high := max(ranges[i], safe[j]), min(ranges[i+1], safe[j+1]); low <= high {
				out = append(out, low, high)
			}
		}
	}
	if len(out) == 0 {
		return p.fail()
	}
	return printClass(out)
}

// printClass returns ranges of characters as a class.
func printClass(ranges []rune) string {
	var b strings.Builder
	for i := 0; i < len(ranges); i += 2 {
		b.WriteString(classChar(ranges[i]))
		if ranges[i] != ranges[i+1] {
			b.WriteString("-" + classChar(ranges[i+1]))
		}
	}
	return "[" + b.String() + "]"
}

// classChar returns one end of a range. Signs such as ] ^ - and \ are written by their numbers, so
// that they have no special meaning in the class.
func classChar(r rune) string {
	if isAlnum(r) || r >= 0x80 {
		return string(r)
	}
	return fmt.Sprintf(`\x%02X`, r)
}

// repeated returns a repetition of sub, or "" if sub is empty. A class may be counted directly, and
// anything else is put in a group.
func (p *patternPrinter) repeated(sub *syntax.Regexp, least, most int) string {
	p.nested++
	one := p.print(sub, false, false)
	p.nested--
	single := strings.HasPrefix(one, "[") && strings.IndexByte(one, ']') == len(one)-1
	if one == "" {
		return ""
	}
	if !single {
		one = "(" + one + ")"
	}
	return p.repeat(one, least, most)
}

// repeat returns the parameter one, a class or a group, with a count from least to most. A negative
// most means that there is no upper limit. Such a repetition gets a limit here, so that a model
// does not write for ever: \d+ becomes [0-9]{1,1000}. Inside another repetition it gets none,
// because the counts would multiply, and servers and Go refuse products above 1000.
func (p *patternPrinter) repeat(one string, least, most int) string {
	bounded := p.bound >= 0 && p.nested == 0 && !slices.Contains([]byte(one), '{')
	switch {
	case most < 0 && bounded:
		return fmt.Sprintf("%s{%d,%d}", one, least, max(least, min(p.bound, 1000)))
	case most < 0 && least == 0:
		return one + "*"
	case most < 0 && least == 1:
		return one + "+"
	case most < 0:
		return fmt.Sprintf("%s{%d}%s*", one, least, one)
	case most == 0:
		return ""
	case least == 0 && most == 1:
		return one + "?"
	case least == most:
		return fmt.Sprintf("%s{%d}", one, least)
	}
	return fmt.Sprintf("%s{%d,%d}", one, least, most)
}

// escapes matches the escapes in a pattern. It consumes an escaped backslash as well, which begins
// no other escape: \\u0041 is a backslash and a word.
var escapes = regexp.MustCompile(`(?s)\\(?:u[0-9A-Fa-f]{4}|.)`)

// GoPattern returns a schema's pattern in Go's notation, with \x{XXXX} for JavaScript's \uXXXX.
// Parts that Go does not know are not changed. JSON Schema uses JavaScript's patterns (ECMA-262).
// Go's are those of RE2, which has no look-around and no back references.
func GoPattern(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(escape string) string {
		if len(escape) == len(`\u0041`) {
			return `\x{` + escape[2:] + `}`
		}
		return escape
	})
}
