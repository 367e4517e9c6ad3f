package adapters

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// innerQuote copies a quote that does not close its string. Where what it stands next to looks like more than text, as when
// the string's own quote is lost, there are two readings.
func (d *argReader) innerQuote(q delim) {
	d.call.doubt = d.call.doubt || d.memberLost(q) || d.inList() && d.itemLost(q)
	if d.quoted == 0 {
		text := d.behind()
		next := d.At(len(q.close))
		d.endsEarly = next < 0x80 && !scan.IsWord(next) && (len(text) == 0 || !scan.IsSpace(int(text[len(text)-1])) && strings.IndexByte("([{=,:+-", text[len(text)-1]) < 0)
		d.firstQuote = d.Pos
	}
	d.call.out = schema.AppendEscaped(d.call.out, q.close)
	d.Pos += len(q.close)
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
	if !d.Has(n, q.close) || d.quoted > 0 || d.escaped%2 == 1 || d.Pos == d.stringAt {
		return false
	}
	before := d.Slice(d.Pos-1, d.Pos)[0]
	if scan.IsSpace(int(before)) || before == ',' || !d.closes(2*n) {
		return false
	}
	d.call.doubt = d.call.doubt || scan.IsDigit(before) // inches, perhaps
	return !scan.IsDigit(before)
}

// memberLost says whether next to the quote here stands a member that the schema knows.
func (d *argReader) memberLost(q delim) bool {
	n := len(q.close)
	start := n
	for c := d.At(n); n < maxKey && (scan.IsSpace(c) || c >= 0 && strings.IndexByte(",;.]})", byte(c)) >= 0); c = d.At(n) {
		n++
	}
	quoted := d.Has(n, q.open)
	if quoted || n == start {
		n += len(q.open)
	}
	if d.Has(n, q.open) { // doubled
		n += len(q.open)
	}
	if d.At(n-1) < 0 {
		return false
	}
	word := n
	for scan.IsWord(d.At(n)) || d.At(n) == '-' {
		n++
	}
	key := string(d.Slice(d.Pos+min(word, n), d.Pos+n))
	if end, ok := d.quoteAt(n); ok {
		quoted = true
		n += len(end.open)
	}
	n += d.Space(n)
	c := d.At(n)
	if d.suitsAny(key) && (c == ':' || c == '=' || quoted && d.elementFollows(n)) {
		return true
	}
	n = len(q.close) + d.Space(len(q.close))
	if d.At(n) == ':' && d.suitsAny(lastWord(d.behind())) {
		return true
	}
	before, python := bytes.CutSuffix(d.behind(), []byte("="))
	key = lastWord(before)
	return python && d.python && d.suitsAny(key) && bytes.HasSuffix(bytes.TrimRight(before[:len(before)-len(key)], " "), []byte(","))
}

// itemLost says whether the quote here, in a list, stands next to a comma or another quote.
func (d *argReader) itemLost(q delim) bool {
	end := len(q.close)
	n := end + d.Space(end)
	if c := d.At(n); c == ',' || c == ';' || d.startsString(n) && (n > end || !d.Has(n, q.close) || !d.valueFollows(n+len(q.close))) {
		return true
	}
	before := bytes.TrimRight(d.behind(), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind is the end of what has been read of the string, up to maxKey bytes.
func (d *argReader) behind() []byte { return d.Slice(max(d.stringAt, d.Pos-maxKey), d.Pos) }

// lastWord is the word at the end of a text.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && scan.IsWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}
