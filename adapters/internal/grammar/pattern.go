package grammar

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"toolnorm/adapters/internal/print"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// formatPatterns has the formats of strings that a regular expression can express: RFC 3339's dates
// and times, ids and addresses. E-mail and URI are not among them, because their full rules are
// long, and short ones refuse correct values.
var formatPatterns = map[string]string{
	"date":      datePattern,
	"time":      timePattern,
	"date-time": datePattern + "T" + timePattern,
	"uuid":      `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`,
	"ipv4":      `(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`,
}

// The 29th of February is allowed in leap years only, as in the schema check of the call. There are
// no leap seconds.
const (
	datePattern = `(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|` +
		`(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)`
	timePattern = `(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[-+](?:[01][0-9]|2[0-3]):[0-5][0-9])`
)

// patterned returns an expression for a string with patterns or formats. It uses the first pattern
// or format that GBNF can express, and returns "" if there is none. The others, and the length, are
// reported as dropped, because GBNF cannot combine rules with "and". With several patterns from
// allOf, it would be hard to find out which allows the fewest strings.
func (g *values) patterned(n *schema.Place, s *print.Spelling) (out string) {
	try := func(words []schema.Word, pattern func(text string) string) {
		for _, w := range words {
			expr := ""
			if out == "" {
				expr = g.matching(pattern(w.Text), s)
			}
			if out += expr; expr == "" {
				g.doc.Drop(w.At, w.Keyword)
			}
		}
	}
	try(n.Patterns, schema.GoPattern)
	try(n.Formats, func(text string) string { return "^(?:" + formatPatterns[text] + ")$" })
	if out == "" {
		return ""
	}
	for _, length := range []*schema.Count{n.MinLength, n.MaxLength} {
		if length != nil {
			g.doc.Drop(length.At, length.Keyword)
		}
	}
	return g.rule("pattern", out)
}

// matching returns an expression for the strings that a regular expression allows, as the spelling
// writes strings. It returns "" if GBNF cannot express them. The parameter pattern is in Go's
// notation, to which schema.GoPattern has translated ECMAScript's. Go's parser refuses look-ahead
// and back references, which GBNF cannot express either.
func (g *values) matching(pattern string, s *print.Spelling) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	w := patternWriter{s: s}
	expr := w.anchored(re)
	if w.failed || expr == "" {
		return ""
	}
	if len(s.Quotes) > 0 {
		expr = seq(lit(s.Quotes[0]), expr, lit(s.Quotes[0]))
	}
	return expr
}

// patternWriter translates a regular expression to GBNF, for strings in a given spelling. Its
// methods set the field failed if they cannot translate a part. Callers check the field once at the
// end.
type patternWriter struct {
	s      *print.Spelling
	failed bool
}

// anchored translates a regular expression with anchors at both ends, as in ^[A-Z]{2}$. For any
// other expression it sets the field failed, although schemas often forget the anchors. "[A-Z]{2}"
// allows "xxABxx", but GBNF cannot express the free text around the match: in a quoted string that
// text ends at a quotation mark, which the match may contain.
func (w *patternWriter) anchored(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpCapture:
		return w.anchored(re.Sub[0])
	case syntax.OpAlternate:
		return alt(each(re.Sub, w.anchored)...)
	case syntax.OpConcat:
		last := len(re.Sub) - 1
		if last > 0 && re.Sub[0].Op == syntax.OpBeginText && re.Sub[last].Op == syntax.OpEndText {
			return seq(each(re.Sub[1:last], w.write)...)
		}
	}
	w.failed = true
	return ""
}

// write translates a parsed regular expression to GBNF. It sets the field failed for what GBNF
// cannot express: letters without regard to case, word boundaries, and anchors in the middle. Lazy
// repetitions match the same texts as greedy ones.
func (w *patternWriter) write(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return ""
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			break
		}
		return w.literal(re.Rune)
	case syntax.OpCharClass:
		return w.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		return w.class([]rune{0, '\n' - 1, '\n' + 1, 0x10FFFF})
	case syntax.OpAnyChar:
		return w.class([]rune{0, 0x10FFFF})
	case syntax.OpCapture:
		return w.write(re.Sub[0])
	case syntax.OpConcat:
		return seq(each(re.Sub, w.write)...)
	case syntax.OpAlternate:
		return alt(each(re.Sub, w.write)...)
	case syntax.OpStar:
		return repeat(w.write(re.Sub[0]), 0, -1)
	case syntax.OpPlus:
		return repeat(w.write(re.Sub[0]), 1, -1)
	case syntax.OpQuest:
		return optional(w.write(re.Sub[0]))
	case syntax.OpRepeat:
		return repeat(w.write(re.Sub[0]), re.Min, re.Max)
	}
	w.failed = true
	return ""
}

// literal returns an expression for a text as it is written inside a string of the spelling. A
// quotation mark is written as the spelling escapes it. If the text has a character that may begin
// the closing tag after a raw value, it sets failed.
func (w *patternWriter) literal(text []rune) string {
	out := ""
	for _, c := range text {
		written, ok := w.escaped(c)
		w.failed = w.failed || !ok
		out += written
	}
	return lit(out)
}

// escaped returns a character as it is written in a string of the spelling, and false if it cannot
// occur there. Raw text has no escapes, so the first character of a closing tag that would end the
// value cannot occur in it at all.
func (w *patternWriter) escaped(c rune) (string, bool) {
	if len(w.s.Avoid) > 0 {
		for _, mark := range w.s.Avoid {
			if []rune(mark)[0] == c {
				return "", false
			}
		}
		return string(c), c != 0
	}
	quoted := w.s.Value(`"` + jsonEscape(c) + `"`)
	return quoted[1 : len(quoted)-1], quoted[0] == w.s.Quotes[0][0]
}

// jsonEscape returns a character as it is written inside a JSON string.
//
// A regular expression in a schema describes the text of a string, but the grammar describes how it
// is written. For example, a quotation mark in the expression is \" in JSON.
func jsonEscape(c rune) string {
	if c < ' ' || c == '"' || c == '\\' || c == 0x7f {
		return fmt.Sprintf(`\u%04x`, c)
	}
	return string(c)
}

// class translates a set of characters, given as pairs of the first and the last of each range.
// Characters that need an escape in the strings become alternatives, and the others remain ranges.
// No escape is for characters beyond ASCII, so only those up to 0x7f are handled one by one.
// Control characters other than white space are left out, because a model would write them as
// escapes that are not part of the pattern. The field failed is set if the set contains a character
// that cannot be written, or if no character of the set can be written.
func (w *patternWriter) class(ranges []rune) string {
	var all []string
	var plain []rune // ranges
	add := func(low, high rune) {
		if n := len(plain); n > 0 && plain[n-1] == low-1 {
			plain[n-1] = high
		} else {
			plain = append(plain, low, high)
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		for c := low; c <= min(high, 0x7f); c++ {
			written, ok := w.escaped(c)
			text := c >= ' ' || scan.IsSpace(int(c))
			switch {
			case !ok && len(w.s.Avoid) > 0 && c != 0:
				w.failed = true // leaving it out would forbid what the schema allows
			case ok && text && written == string(c):
				add(c, c)
			case ok && text:
				all = append(all, lit(written))
			}
		}
		if high > 0x7f {
			add(max(low, 0x80), high)
		}
	}
	if len(plain) > 0 {
		all = append(all, "["+classRanges(plain)+"]")
	}
	w.failed = w.failed || len(all) == 0
	return alt(all...)
}

// classRanges returns the inside of a character class, such as a-z0-9. The parameter ranges has the
// first and the last character of each range in turn.
func classRanges(ranges []rune) (class string) {
	for i := 0; i < len(ranges); i += 2 {
		if class += escapeClass(ranges[i]); ranges[i] < ranges[i+1] {
			class += "-" + escapeClass(ranges[i+1])
		}
	}
	return class
}

// escapeClass returns a character as it is written in a class of GBNF. llama.cpp knows \x, \u and
// \U with two, four and eight digits, and the escapes of \, ", [, ], n, r and t. It refuses others,
// so ^ and - are written as numbers.
func escapeClass(c rune) string {
	switch {
	case c < ' ' || strings.ContainsRune(`"]\^-[`, c) || c == 0x7f:
		return fmt.Sprintf(`\x%02X`, c)
	case c >= 0x80:
		return fmt.Sprintf(`\U%08X`, c)
	}
	return string(c)
}
