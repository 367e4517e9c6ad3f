package lenient

import (
	"bytes"
	"slices"
	"strings"

	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Key reads a member's name and writes it as a JSON string. It writes nothing if there is no name.
// A key without quotation marks consists of word bytes, hyphens, dots and $ (max-items, $ref). If
// wild is true, it is everything up to the colon, because Gemma 4 writes such keys with blanks in
// them: call:run{Basic LLM Chain:…}. A quoted key ends at the first quotation mark after its
// opening one. If that is wrong, the colon is missing, and the caller notices it.
func (r *Reader) Key(wild bool) {
	if q, ok := r.QuoteAt(0); ok {
		r.quotes.key = true
		r.strings().copyString(q)
		r.quotes.key = false
		return
	}
	also := "-.$"
	if wild {
		also = ""
	}
	n := r.wordEnd(0, also, ":=,}\n")
	if r.At(n) < 0 { // half a key
		r.Out.Broken = true
	}
	if n > 0 {
		r.bareKeys = true
		name := bytes.TrimSpace(r.Slice(r.Pos, r.Pos+n))
		r.Out.JSON = chat.AppendQuoted(r.Out.JSON, string(name))
		r.Pos += n
		if r.Quotes == nil { // otherwise it is the family's own form
			r.Repaired("bare-keys")
		} else if bytes.ContainsAny(name, `"'<>#/{[(`) || name[0] == '-' { // perhaps a comment
			r.Out.Odd = true
		}
	}
}

// scalar reads a number, a word such as true, or a text without quotation marks, and writes it when
// it is complete. It returns false if there is none. Half a number is another number (108. and
// 108.2), and half a word is another word, so both are first read to their ends.
func (r *Reader) scalar(t *schema.Type) bool {
	n := 0
	// 1e-05, -Infinity, 1_000
	for wordByte(r.At(n)) {
		n++
	}
	word := string(r.Slice(r.Pos, r.Pos+n))
	if value, ok := parseLiteral(word); ok && r.ahead().valueEnds(n) {
		r.Pos += n
		r.putScalar(word, value, t)
		return true
	}
	return r.phrase(t)
}

// wordByte reports whether a byte can be part of a number or a word such as true. The signs + and -
// are for exponents, as in 1e-05. Dates and versions consist of such bytes as well, but callers
// find that they are not numbers.
func wordByte(c int) bool { return scan.IsWord(c) || c == '+' || c == '-' || c == '.' }

// parseLiteral returns a number, or a word such as true or None, as JSON. It returns false for any
// other text.
func parseLiteral(word string) (string, bool) {
	v, _ := repair.Scalar(word)
	return v, v != ""
}

// valueEnds reports whether a number or a word such as true can end at offset n. It cannot if more
// words follow: {"date": 2024 was a good year} begins with a number, but the value is all of the
// words. It can before a comma, a closing bracket, a comment, a closing tag, the quotation mark of
// the next key, and in a list before the next element. Outside of all containers it ends anywhere,
// because only a single value is read there.
func (a *lookahead) valueEnds(n int) bool {
	n += a.Space(n)
	for size := a.oddSpaceAt(n); size > 0; size = a.oddSpaceAt(n) {
		n += size
		n += a.Space(n)
	}
	c := a.At(n)
	if c < 0 || scan.IsCloser(c) || a.CommaAt(n) > 0 || a.Has(n, "：") || a.Comment(n) > 0 ||
		a.isMark(n) {
		return true
	}
	if a.open.inList() &&
		(c == '-' || c >= '0' && c <= '9' || a.StartsString(n) && a.itemEnd(n) > n) {
		return true // a missing comma
	}
	if a.open.innermost() == '{' {
		_, quoted := a.QuoteAt(n)
		return quoted || a.keyFollows(n) // {"a": 1 "b": 2}: a missing comma
	}
	return len(a.open) == 0
}

// inList reports whether the innermost container is a list or a set, which have no keys.
func (s stack) inList() bool { return s.innermost() == '[' || s.innermost() == aSet }

// putScalar writes a number, true, false or null in the type that the schema demands. The parameter
// word is what the model wrote, and value is the JSON for it. If zip is a text, {"zip": 01234}
// becomes "01234" and not "1234", because each character of a text matters. A null remains null.
func (r *Reader) putScalar(word, value string, t *schema.Type) {
	if t.Allows(schema.String) && !t.Allows(schema.KindOf(value)) && value != "null" {
		r.Out.JSON = chat.AppendQuoted(r.Out.JSON, word)
		return
	}
	// True, None, 0x1F
	if word != value && !r.ownWord(word) {
		r.Repaired("literals")
	}
	r.Put(fit(value, t, r.open.inList()))
}

// ownWord reports whether a word such as None or True is correct in this reply: in a Python call,
// or, for None, in a model family that has its own quotation marks. Such a word is not a defect. To
// report it in every call (repairs=literals) would hide real defects in the log.
func (x *Text) ownWord(word string) bool {
	return word == "None" && x.Quotes != nil || x.Python && (word == "None" || word == "True" ||
		word == "False")
}

// oddPhrase reports whether a text without quotation marks may have lost one of them, or a
// character next to it. For example, a.txt" has lost its first mark, and true: has lost the text
// after it. As strings both would be valid but wrong. It looks for a word such as true with
// punctuation after it, for marks and closing brackets that have no partner, for escaped marks, and
// for a bracket or the like at the beginning.
func oddPhrase(text string) bool {
	// true: or null; lost what followed it
	if word := strings.TrimRight(text, ":;., "); word != text {
		if _, ok := parseLiteral(word); ok {
			return true
		}
	}
	return strings.IndexByte(":=;,<)]}", text[0]) >= 0 || strings.Count(text, `"`)%2 == 1 ||
		strings.Contains(text, `\"`) || strings.Contains(text, `\'`) ||
		strings.HasSuffix(text, "'") && strings.Count(text, "'")%2 == 1 || holdsEnd(text)
}

// phrase reads words without quotation marks as a string, as in {"unit": celsius, "q": north sea}.
// If the text ends inside them, the call is marked as cut. It returns false if there are no such
// words.
func (r *Reader) phrase(t *schema.Type) bool {
	if r.Python {
		return false // an expression, which is not evaluated
	}
	n := 0
	for !r.ahead().phraseEnds(n) {
		n++
	}
	if r.At(n) < 0 {
		r.Out.Broken = true
	}
	text := strings.TrimSpace(string(r.Slice(r.Pos, r.Pos+n)))
	if text == "" {
		return false
	}
	r.Pos += n
	first, _, _ := strings.Cut(text, " ")
	r.Out.doubt(oddPhrase(text) || repair.Word(strings.TrimRight(first, ":;.")) != "" &&
		(r.StartsString(0) || strings.ContainsAny(text, ":;=")))
	r.Out.doubt(slices.ContainsFunc(r.Quotes, func(q Delim) bool {
		return strings.Contains(text, q.Open)
	}))
	r.Repaired("bare-words")
	r.Put(t.Fit(schema.Quote(text)))
	return true
}

// phraseEnds reports whether a string without quotation marks ends at offset n. It ends at a comma,
// a closing bracket, a newline, a closing tag, or a quotation mark that opens a key. A full-width
// comma or colon, and a parenthesis inside a tuple, also end it, because they have repairs of their
// own. Outside of lists a comma ends it only before a member, because Rome, Italy without quotation
// marks is one value.
func (a *lookahead) phraseEnds(n int) bool {
	switch a.At(n) {
	case -1, ']', '\n':
		return true
	case ',':
		return a.open.inList() || a.memberFollows(n+1, '{')
	case '}':
		return a.valueFollows(n)
	case ')':
		return len(a.open) > 0 && closerOf(a.open.innermost()) == ')'
	case '<':
		return a.isMark(n)
	case '"':
		return a.keyFollows(n)
	}
	return a.CommaAt(n) > 0 || a.Has(n, "：")
}
