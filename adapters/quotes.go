package adapters

import (
	"bytes"
	"strings"

	"toolnorm/chat/schema"
)

// innerQuote copies a quote that does not close its string. Where what it stands next to looks like more than text, as when
// the string's own quote is lost, there are two readings.
func (d *argReader) innerQuote(q delim) {
	d.call.doubt = d.call.doubt || d.memberLost(q) || d.inList() && d.itemLost(q)
	if d.quoted == 0 {
		text := d.behind()
		next := d.at(len(q.close))
		d.endsEarly = next < 0x80 && !isWord(next) && (len(text) == 0 || !isSpace(int(text[len(text)-1])) && strings.IndexByte("([{=,:+-", text[len(text)-1]) < 0)
		d.firstQuote = d.pos
	}
	d.call.out = schema.AppendEscaped(d.call.out, q.close)
	d.pos += len(q.close)
	d.quoted++
	if q.open == `"` {
		d.inner = true
		d.repaired("inner-quotes")
	}
}

// quotesDoubted says whether the quotes inside the string that ends here may not belong to it: they are the ends of two
// strings with something between, or one of them, without a partner, doubles the string's own.
func (d *argReader) quotesDoubted() bool {
	if d.quoted == 0 {
		return false
	}
	if d.quoted%2 == 0 {
		return d.endsEarly
	}
	if (d.quoted+d.escaped)%2 == 0 {
		return false
	}
	return d.firstQuote == d.stringAt
}

// doubledQuote says whether the quote here doubles the one that closes the string: nothing in the string asks for it, as the
// sign for inches, the end of a quotation, or an element that is empty would.
func (d *argReader) doubledQuote(q delim) bool {
	n := len(q.close)
	if !d.has(n, q.close) || d.quoted > 0 || d.escaped%2 == 1 || d.pos == d.stringAt {
		return false
	}
	before := d.slice(d.pos-1, d.pos)[0]
	if isSpace(int(before)) || before == ',' || !d.closes(2*n) {
		return false
	}
	d.call.doubt = d.call.doubt || isDigit(before) // inches, perhaps
	return !isDigit(before)
}

// memberLost says whether next to the quote here stands a member that the schema knows.
func (d *argReader) memberLost(q delim) bool {
	n := len(q.close)
	start := n
	for c := d.at(n); n < maxKey && (isSpace(c) || c >= 0 && strings.IndexByte(",;.]})", byte(c)) >= 0); c = d.at(n) {
		n++
	}
	quoted := d.has(n, q.open)
	if quoted || n == start {
		n += len(q.open)
	}
	if d.has(n, q.open) { // doubled
		n += len(q.open)
	}
	if d.at(n-1) < 0 {
		return false
	}
	word := n
	for isWord(d.at(n)) || d.at(n) == '-' {
		n++
	}
	key := string(d.slice(d.pos+min(word, n), d.pos+n))
	if end, ok := d.quoteAt(n); ok {
		quoted = true
		n += len(end.open)
	}
	n += d.space(n)
	c := d.at(n)
	if d.suitsAny(key) && (c == ':' || c == '=' || quoted && d.elementFollows(n)) {
		return true
	}
	n = len(q.close) + d.space(len(q.close))
	if d.at(n) == ':' && d.suitsAny(lastWord(d.behind())) {
		return true
	}
	before, python := bytes.CutSuffix(d.behind(), []byte("="))
	key = lastWord(before)
	return python && d.python && d.suitsAny(key) && bytes.HasSuffix(bytes.TrimRight(before[:len(before)-len(key)], " "), []byte(","))
}

// itemLost says whether the quote here, in a list, stands next to a comma or another quote.
func (d *argReader) itemLost(q delim) bool {
	end := len(q.close)
	n := end + d.space(end)
	if c := d.at(n); c == ',' || c == ';' || d.startsString(n) && (n > end || !d.has(n, q.close) || !d.valueFollows(n+len(q.close))) {
		return true
	}
	before := bytes.TrimRight(d.behind(), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind is the end of what has been read of the string, up to maxKey bytes.
func (d *argReader) behind() []byte { return d.slice(max(d.stringAt, d.pos-maxKey), d.pos) }

// lastWord is the word at the end of a text.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && isWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}
