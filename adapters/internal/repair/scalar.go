package repair

import (
	"strconv"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// words maps the words for true, false and null in JSON, Python and JavaScript to JSON. JSON has no
// NaN and no infinities, and JSON.stringify writes null for them.
var words = map[string]string{
	"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false",
	"FALSE": "false",
	"null":  "null", "None": "null", "none": "null", "nil": "null", "undefined": "null",
	"NULL": "null",
	"NaN":  "null", "nan": "null", "Infinity": "null", "-Infinity": "null", "inf": "null",
	"-inf": "null",
}

// Scalar returns a number, or a word such as true or None, as JSON. It returns "" for any other
// text. The result own reports whether the word is already correct JSON. Valid JSON numbers are
// returned unchanged, including 1.50, 1E+2, and numbers beyond 2^53.
func Scalar(word string) (value string, own bool) {
	if v, ok := words[word]; ok {
		return v, v == word
	}
	if schema.IsNumber(word) { // most numbers
		return word, true
	}
	if v, ok := number(word); ok {
		return v, false
	}
	return "", false
}

// Word returns true, false or null as JSON for a word that means the same in some programming
// language, such as None. It returns "" for any other word.
func Word(word string) string { return words[word] }

// number returns a number as JSON writes it, and false if the text is not a number. For example,
// .25, +7, 8., 0x1F, 1_000 and 007 are valid in Python, JavaScript or C. The digits are copied, so
// no number is rounded. Only hexadecimal numbers are converted, and they must fit into 64 bits.
func number(s string) (string, bool) {
	rest := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(rest)]
	if sign == "" {
		rest = strings.TrimPrefix(s, "+")
	}
	if rest == "" || rest[0] != '.' && !scan.IsDigit(rest[0]) {
		return "", false
	}
	// 0x1F; not a number beyond 64 bits
	if hex, ok := strings.CutPrefix(strings.ToLower(rest), "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 64)
		return sign + strconv.FormatUint(n, 10), err == nil
	}
	// 1_000, 8. and 007
	s = strings.TrimLeft(strings.TrimSuffix(strings.ReplaceAll(rest, "_", ""), "."), "0")
	// 0 and .25
	if s == "" || !scan.IsDigit(s[0]) {
		s = "0" + s
	}
	return sign + s, schema.IsNumber(s)
}

// scalar adds to the search the ways to read a string, a number, a word, or text without quotation
// marks. Numbers and words of other languages, such as True, are converted to JSON. They cost less
// after the first one, because they are a habit of the model.
func (x *valueReader) scalar() {
	x.openStrings(0, false)
	if !x.python {
		x.junkWord()
	}
	if scan.IsQuote(x.c) && x.space(x.n.Pos+1) > x.n.Pos+1 && x.stringAhead(x.space(x.n.Pos+1)) {
		x.step(likely, keep(x.n, x.n.Pos+1))
	}
	if x.c == '\\' && scan.IsQuote(x.at(x.n.Pos+1)) {
		x.step(slip, keep(x.n, x.n.Pos+1))
	}
	x.doubledQuote()
	if x.prefixed() {
		return
	}
	if x.n.Stack != nil && x.has(x.n.Pos, "...") {
		to := x.n.behind(x.n.Pos + 3)
		if x.n.Stack.Kind == anObject || x.n.Stack.Kind == aCall {
			to.Flags |= lost
			x.step(small, to, "null")
			return
		}
		x.step(small, to)
		return
	}
	end := x.n.Pos
	for end < x.n.Pos+maxKey && x.wordByte(end) {
		end++
	}
	word := x.text[x.n.Pos:end]
	behind := x.blank(end)
	ends := x.over(behind) || scan.IsCloser(x.at(behind)) || x.at(behind) == ','
	value, own := Scalar(word)
	isWord := value != ""
	if isWord {
		to := x.n.behind(end)
		cost := pick(ends, 0, trifle)
		if !own && !x.python {
			cost += to.first(habitWords, small)
		}
		to.Flags |= x.halfQuoted(end, x.t, schema.KindOf(value))
		if !x.t.Allows(schema.KindOf(value)) && x.t.Allows(schema.String) {
			value = schema.Quote(word)
		}
		x.step(cost, to, value)
	}
	if x.quoteAt(x.n.Pos) == 0 && x.ownQuote(x.n.Pos) == 0 &&
		strings.IndexByte(",:;=}])<(\\", byte(x.c)) < 0 && !x.has(x.n.Pos, "- ") &&
		!x.has(x.n.Pos, "--") {
		rest, _ := Scalar(strings.TrimRight(word, ".:;"))
		x.bare(pick(x.c == '#' || x.c == '/', habit, 0) + pick(rest != "" && (ends || !isWord),
			slip, 0))
	}
}

// doubledQuote adds to the search the reading in which the first of two quotation marks is surplus
// and is skipped.
func (x *valueReader) doubledQuote() {
	for _, size := range []int{pick(scan.IsQuote(x.c), 1, 0), x.ownQuote(x.n.Pos)} {
		next := x.n.Pos + size
		if size > 1 {
			next = x.space(next)
		}
		if size > 0 && x.has(next, x.text[x.n.Pos:x.n.Pos+size]) &&
			(next == x.n.Pos+size || x.likelyEnd(next+size, x.n.Stack) == 0) {
			to := keep(x.n, next)
			if c := x.at(next + size); c == ' ' || scan.IsCloser(c) {
				to.Flags |= unsure // perhaps an empty text with signs after it
			}
			x.step(to.doubled(), to)
		}
	}
}

// halfQuoted returns the flag unsure if a word that ends at offset i may be a string that has lost
// its first quotation mark. The parameter word is the type of the word itself, such as number. Two
// conditions must hold: a quotation mark follows that does not begin a key, and the schema allows
// both that type and strings. Otherwise it returns 0.
func (g *look) halfQuoted(i int, t *schema.Type, word schema.Kinds) uint64 {
	if key, _ := g.keyAhead(i); g.quoteAt(i) > 0 && key == "" && t.Allows(schema.String) &&
		t.Allows(word) {
		return unsure
	}
	return 0
}

// wordByte reports whether the byte at offset i can occur in a number or a word without quotation
// marks.
func (g *look) wordByte(i int) bool {
	c := g.at(i)
	return scan.IsWord(c) || c == '+' || c == '-' || c == '.'
}

// isPlain reports whether the f-string whose text begins at offset i contains no expressions
// and has an end. An f-string such as f"{x}" is not read, because its text is not its value.
func isPlain(text string, i int, quote byte) bool {
	rest := text[i:min(i+maxAhead, len(text))]
	end := strings.IndexByte(rest, quote)
	return end >= 0 && strings.IndexByte(rest[:end], '{') < 0
}
