package adapters

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// key reads a member's name and writes it as a JSON string. A wild one is everything up to the colon.
func (d *argReader) key(wild bool) {
	if q, ok := d.quoteAt(0); ok {
		d.inKey = true
		d.copyString(q)
		d.inKey = false
		return
	}
	n := 0
	for n < maxKey {
		c := d.At(n)
		if c < 0 || c == ':' || c == '=' || c == ',' || c == '}' || c == '\n' || !wild && !scan.IsWord(c) && c != '-' && c != '.' && c != '$' {
			break
		}
		n++
	}
	if d.At(n) < 0 {
		d.call.broken = true
	}
	if n > 0 {
		d.bareKeys = true
		name := bytes.TrimSpace(d.Slice(d.Pos, d.Pos+n))
		d.call.out = schema.AppendQuote(d.call.out, string(name))
		d.Pos += n
		if d.quotes == nil { // else the family writes its keys so
			d.repaired("bare-keys")
		}
	}
}

// literals are the words for true, false and null in JSON, Python and JavaScript.
var literals = map[string]string{
	"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false",
	"null": "null", "None": "null", "none": "null", "nil": "null", "undefined": "null", "NULL": "null",
	"NaN": "null", "nan": "null", "Infinity": "null", "-Infinity": "null", "inf": "null", "-inf": "null",
}

// scalar reads a number, a literal, or a bare phrase; nothing of it leaves before it is whole. It answers false when
// there is none.
func (d *argReader) scalar(t *schema.Type) bool {
	n := 0
	for wordByte(d.At(n)) {
		n++
	}
	word := string(d.Slice(d.Pos, d.Pos+n))
	if value, ok := parseLiteral(word); ok && d.valueEnds(n) {
		d.Pos += n
		d.putScalar(word, value, t)
		return true
	}
	return d.phrase(t)
}

// wordByte says whether a byte can be part of a number or a literal.
func wordByte(c int) bool { return scan.IsWord(c) || c == '+' || c == '-' || c == '.' }

// parseLiteral reads a word as a JSON scalar.
func parseLiteral(word string) (string, bool) {
	if v, ok := literals[word]; ok {
		return v, true
	}
	if schema.IsNumber(word) {
		return word, true
	}
	return number(word)
}

// number mends the spelling of a number.
func number(s string) (string, bool) {
	sign := ""
	if rest, minus := strings.CutPrefix(s, "-"); minus {
		sign, s = "-", rest
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	if s == "" || s[0] != '.' && (s[0] < '0' || s[0] > '9') {
		return "", false
	}
	if len(s) > 2 && (s[1] == 'x' || s[1] == 'X') {
		n, err := strconv.ParseUint(s[2:], 16, 64)
		return sign + strconv.FormatUint(n, 10), err == nil
	}
	s = strings.ReplaceAll(s, "_", "")
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	s = strings.TrimSuffix(s, ".")
	for len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		s = s[1:]
	}
	return sign + s, schema.IsNumber(s)
}

// valueEnds says whether a scalar can end at offset n: nothing of a phrase follows.
func (d *argReader) valueEnds(n int) bool {
	n += d.Space(n)
	for size := d.oddSpaceAt(n); size > 0; size = d.oddSpaceAt(n) {
		n += size
		n += d.Space(n)
	}
	c := d.At(n)
	if c < 0 || strings.IndexByte(",}])", byte(c)) >= 0 || d.wideComma(n) || d.comment(n) || d.isMark(n) {
		return true
	}
	if d.inList() && (c == '-' || c >= '0' && c <= '9' || d.startsString(n) && d.itemEnd(n) > n) {
		return true // a missing comma
	}
	if d.innermost() == '{' {
		_, quoted := d.quoteAt(n)
		return quoted || d.keyFollows(n)
	}
	return len(d.stack) == 0
}

// wideComma says whether full-width punctuation stands at offset n in the place of a comma or colon.
func (d *argReader) wideComma(n int) bool {
	return d.At(n) >= 0x80 && (d.Has(n, "，") || d.Has(n, "："))
}

func (d *argReader) inList() bool { return d.innermost() == '[' || d.innermost() == aSet }

// putScalar writes a scalar in the type that the schema wants; word is how the model spelled it.
func (d *argReader) putScalar(word, value string, t *schema.Type) {
	if t.Known() && t.Allows(schema.String) && !t.Allows(schema.KindOf(value)) && value != "null" {
		d.call.out = schema.AppendQuote(d.call.out, word)
		return
	}
	if word != value && !d.ownWord(word) {
		d.repaired("literals")
	}
	d.put(fitScalar(value, t))
}

// ownWord says whether the family itself spells a word so: Python's in Python, and None where a family has its own quotes.
func (d *argReader) ownWord(word string) bool {
	return word == "None" && d.quotes != nil || d.python && (word == "None" || word == "True" || word == "False")
}

// fitScalar is a number or literal in the type that the schema wants; alone where it wants a list, in a list.
func fitScalar(value string, t *schema.Type) string {
	if t.Only(schema.Array|schema.Null) && value != "null" {
		if item := t.Item().Fit(value); t.Item().Allows(schema.KindOf(item)) {
			return "[" + item + "]"
		}
	}
	return t.Fit(value)
}

// oddPhrase says whether a text without quotes may have lost one of them, or something in front: it ends or begins with what
// does so in no text.
func oddPhrase(text string) bool {
	if word := strings.TrimRight(text, ":;., "); word != text {
		if _, ok := parseLiteral(word); ok {
			return true
		}
	}
	return strings.IndexByte(":=;,<)]}", text[0]) >= 0 || strings.Count(text, `"`)%2 == 1 || strings.Contains(text, `\"`) || strings.Contains(text, `\'`) || strings.HasSuffix(text, "'") && strings.Count(text, "'")%2 == 1
}

// phrase reads a value that lost its quotes: up to a comma, a closer, a newline, a mark, or a quote that opens a key.
func (d *argReader) phrase(t *schema.Type) bool {
	if d.python {
		return false // an expression, which nobody evaluates here
	}
	n := 0
scan:
	for {
		c := d.At(n)
		switch {
		case c < 0:
			d.call.broken = n > 0 || d.call.broken
			break scan
		case c == ',' && (d.inList() || d.memberFollows(n+1, '{')), c == '}' && d.valueFollows(n), c == ']' || c == '\n':
			break scan
		case c == ')' && len(d.stack) > 0 && closerOf(d.innermost()) == ')', d.wideComma(n), c == '<' && d.isMark(n):
			break scan
		case c == '"' && n > 0 && d.keyFollows(n):
			break scan
		}
		n++
	}
	text := strings.TrimSpace(string(d.Slice(d.Pos, d.Pos+n)))
	if text == "" {
		return false
	}
	d.Pos += n
	first, _, _ := strings.Cut(text, " ")
	d.call.doubt = d.call.doubt || oddPhrase(text) || literals[strings.TrimRight(first, ":;.")] != "" && (d.startsString(0) || strings.ContainsAny(text, ":;=")) || slices.ContainsFunc(d.quotes, func(q delim) bool { return strings.Contains(text, q.open) })
	d.repaired("bare-words")
	d.put(t.Fit(schema.Quote(text)))
	return true
}
