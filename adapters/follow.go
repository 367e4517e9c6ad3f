package adapters

import (
	"bytes"

	"toolnorm/adapters/internal/scan"
)

// maxKey bounds how far is looked for a key behind a quote, in bytes.
const maxKey = 128

// closes says whether a quote closes its string: whether what stands at offset i, behind it, can follow a value. Every
// closing quote of valid JSON passes; an inner quote of prose or code does not.
func (d *argReader) closes(i int) bool {
	if d.inKey {
		return true
	}
	c := d.call
	seen := c.endAt
	defer func() { c.endAt = seen }() // looking ahead is not having read
	return d.valueFollows(i)
}

// valueFollows says whether what stands at offset i can follow a value of the innermost container.
func (d *argReader) valueFollows(i int) bool {
	for depth := len(d.stack); depth > 0; depth-- {
		i += d.Space(i)
		c := d.At(i)
		kind := d.stack[depth-1].kind
		switch {
		case c < 0:
			return true
		case c == ',' || d.Has(i, "，"):
			return d.memberFollows(i+d.commaLen(i), kind)
		case scan.IsCloser(c):
			open := depth
			for depth > 0 && closerOf(d.stack[depth-1].kind) != c {
				depth--
			}
			if depth == 0 {
				return d.behindSurplus(i, open)
			}
			i++
			continue
		case c == '+':
			return d.joins(i + 1)
		case c == '/' || c == '#':
			return d.comment(i)
		case kind != '{':
			return d.isMark(i) || d.nextString(i) || kind != callArgs && d.nextItem(i)
		default:
			return d.plainKey(i) || d.isMark(i)
		}
	}
	return d.argumentsEnd(i)
}

// behindSurplus says whether what stands behind the closers at offset i, the first of which closes none of the containers up
// to open, can follow a value: a member that their schemas know, or the end.
func (d *argReader) behindSurplus(i, open int) bool {
	for scan.IsCloser(d.At(i)) {
		i += 1 + d.Space(i+1)
	}
	if d.At(i) != ',' {
		return d.At(i) < 0 || d.isMark(i)
	}
	i += 1 + d.Space(i+1)
	for at := range open {
		if _, isKey := d.keyAt(i); isKey && d.startsString(i) && d.suits(i, at) == 2 {
			d.call.doubt = d.call.doubt || bytes.ContainsAny(d.behind(), "[{(") // the closer may be that of a bracket inside
			return true
		}
	}
	return false
}

// nextString says whether in Python a string that is joined to the one just read stands at offset i. A quote that can close
// the value is no opening one.
func (d *argReader) nextString(i int) bool {
	q, ok := d.quoteAt(i)
	if !ok || !d.python {
		return false
	}
	end := i + len(q.open)
	if d.At(i-1) == d.At(i) && !d.startsString(end+d.Space(end)) && d.valueFollows(end) {
		return false
	}
	return d.joins(i)
}

// nextItem says whether an element stands at offset i, behind white space, although no comma does: a whole one that another
// element or a closer follows. Behind quotes that are not escaped, what looks like one is more likely prose.
func (d *argReader) nextItem(i int) bool {
	if d.inner || !scan.IsSpace(d.At(i-1)) {
		return false
	}
	if c := d.At(i); c == '{' || c == '[' {
		return true
	}
	if key, ok := d.keyAt(i); ok {
		return d.suitsAny(key)
	}
	n := d.itemEnd(i)
	return n > i && (d.At(n) == ',' || scan.IsCloser(d.At(n)) || d.startsString(n) && scan.IsSpace(d.At(n-1)))
}

// maxItem bounds how far is looked for the end of an element, in bytes.
const maxItem = 512

// itemEnd is the offset behind the string, number or literal at offset i and the white space behind it; i when none stands
// there or its end is far.
func (d *argReader) itemEnd(i int) int {
	n := i
	if q, ok := d.quoteAt(i); ok {
		for n += len(q.open); n < i+maxItem && d.At(n) >= 0 && !d.Has(n, q.close); n++ {
			if d.At(n) == '\\' {
				n++
			}
		}
		if !d.Has(n, q.close) {
			return i
		}
		n += len(q.close)
	} else {
		for n < i+maxKey && wordByte(d.At(n)) {
			n++
		}
		if _, ok := parseLiteral(string(d.Slice(d.Pos+i, d.Pos+n))); !ok {
			return i
		}
	}
	return n + d.Space(n)
}

// comment says whether a comment that ends its line and quotes nothing stands at offset i.
func (d *argReader) comment(i int) bool {
	if c := d.At(i + 1); d.At(i) == '/' && c != '/' && c != '*' {
		return false
	}
	if c := d.At(i); c != '/' && c != '#' {
		return false
	}
	for n := i; n < i+4*maxKey; n++ {
		switch c := d.At(n); {
		case c == '\n' || c == '*' && n == i+1:
			return true
		case c < 0 || scan.IsQuote(c):
			return false
		}
	}
	return false
}

// commentEnd is the offset behind the comment that stands at offset i.
func (d *argReader) commentEnd(i int) int {
	end := "\n"
	if d.At(i+1) == '*' {
		end = "*/"
	}
	for n := i + 1; n < i+4*maxKey; n++ {
		if d.Has(n, end) {
			return n + len(end)
		}
	}
	return i + 4*maxKey
}

// plainKey says whether a key stands at offset i although no comma does: it must be a plain word, quoted or not.
func (d *argReader) plainKey(i int) bool {
	c := d.At(i)
	if c != '"' && c != '\'' {
		return d.keyFollows(i)
	}
	if key, ok := d.keyAt(i); ok && d.suitsAny(key) {
		return true
	}
	n := i + 1
	for scan.IsWord(d.At(n)) || d.At(n) == '-' || d.At(n) == '.' {
		n++
	}
	return n > i+1 && d.At(n) == c && d.quotedKey(n, string(rune(c)))
}

// joins says whether a short string that ends a value stands at offset i: the right side of a concatenation.
func (d *argReader) joins(i int) bool {
	i += d.Space(i)
	q, ok := d.quoteAt(i)
	if !ok {
		return false
	}
	for n := i + len(q.open); n < i+maxKey; n++ {
		switch c := d.At(n); {
		case c < 0:
			return true
		case c == '\\':
			n++
		case c == int(q.close[0]) && d.Has(n, q.close):
			n += len(q.close)
			next := n + d.Space(n)
			return d.At(next) == '+' || d.python && d.startsString(next) || d.valueFollows(n) // a chain is believed, or looking ahead has no end
		}
	}
	return true
}

func (d *argReader) commaLen(i int) int {
	if d.At(i) == ',' {
		return 1
	}
	return len("，")
}

// memberFollows says whether a next member of a container of the kind can stand at offset i, behind a comma.
func (d *argReader) memberFollows(i int, kind byte) bool {
	for {
		i += d.Space(i)
		if d.comment(i) {
			i = d.commentEnd(i)
		} else if d.At(i) == ',' {
			i++
		} else {
			break
		}
	}
	c := d.At(i)
	if c < 0 || c == '}' || c == ']' || c == ')' {
		return true
	}
	if key, ok := d.keyAt(i); ok && d.suitsAny(key) {
		return true
	}
	if kind == '{' || kind == callArgs {
		return d.keyFollows(i) || kind == callArgs && d.positional && d.elementFollows(i)
	}
	return d.elementFollows(i)
}

// elementFollows says whether a value that has no name can stand at offset i.
func (d *argReader) elementFollows(i int) bool {
	c := d.At(i)
	if _, ok := d.quoteAt(i); ok || c == '{' || c == '[' || c == '(' || c == '-' || c >= '0' && c <= '9' {
		return true
	}
	for _, w := range []string{"true", "false", "null", "True", "False", "None", "..."} {
		if d.Has(i, w) {
			return true
		}
	}
	return false
}

// keyFollows says whether a key and its colon stand at offset i.
func (d *argReader) keyFollows(i int) bool {
	if q, ok := d.quoteAt(i); ok {
		return d.quotedKey(i+len(q.open), q.close) && (!d.inner || d.expected(i+len(q.open), q.close))
	}
	if d.quotes == nil && !d.bareKeys && !d.python {
		return d.knownKey(i)
	}
	n := i
	for ; n < i+maxKey; n++ {
		c := d.At(n)
		if c == ':' || c == '=' {
			return n > i
		}
		if c < 0 {
			return true // cut inside what looks like a key
		}
		if c == '\n' || c == ',' || c == '}' || c == '"' || d.quotes == nil && !scan.IsWord(c) && c != '-' && c != ' ' {
			return false
		}
	}
	return false
}

// expected says whether the quoted key at offset i is a parameter of the tool, or could be any key. It is asked where a
// string has shown quotes that are not escaped: the next such quote is more likely one of them than the end.
func (d *argReader) expected(i int, quote string) bool {
	t := d.call.typ
	if len(d.stack) != 1 || len(t.Members()) == 0 {
		return true
	}
	n := i
	for n < i+maxKey && d.At(n) >= 0 && !d.Has(n, quote) {
		n++
	}
	return t.Has(string(d.Slice(d.Pos+i, d.Pos+n)))
}

// quotedKey says whether a quoted key that begins at offset i is closed and followed by a colon.
func (d *argReader) quotedKey(i int, quote string) bool {
	for n := i; n < i+maxKey; n++ {
		c := d.At(n)
		if c < 0 {
			return true // cut inside what looks like a key
		}
		if c == '\\' {
			n++
		} else if c == int(quote[0]) && d.Has(n, quote) {
			n += len(quote)
			n += d.Space(n)
			c = d.At(n)
			return c == ':' || c == '=' || c < 0 || d.noColons || d.Has(n, "：")
		}
	}
	return false
}

// knownKey says whether a bare word that the called tool's schema knows, and a colon, stand at offset i.
func (d *argReader) knownKey(i int) bool {
	n := i
	for scan.IsWord(d.At(n)) && n < i+maxKey {
		n++
	}
	if n == i || !d.call.typ.Has(string(d.Slice(d.Pos+i, d.Pos+n))) {
		return false
	}
	n += d.Space(n)
	c := d.At(n)
	return c == ':' || c == '='
}

// startsString says whether a string begins at offset n.
func (d *argReader) startsString(n int) bool {
	_, ok := d.quoteAt(n)
	return ok
}
