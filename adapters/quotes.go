package adapters

import (
	"bytes"
	"strings"

	"toolnorm/chat/schema"
)

// innerQuote copies a quote that does not close its string. Where what it stands next to looks like more than text, as when
// the string's own quote is lost, there are two readings.
func (d *decoder) innerQuote(q delim) {
	d.call.doubt = d.call.doubt || d.memberLost(q) || d.inList() && d.itemLost(q)
	if d.quoted == 0 {
		text := d.behind()
		d.endsEarly = len(text) > 0 && !isSpace(int(text[len(text)-1])) && isSpace(d.at(len(q.close)))
	}
	d.call.out = schema.AppendEscaped(d.call.out, q.close)
	d.pos += len(q.close)
	d.quoted++
	if q.open == `"` {
		d.inner = true
		d.repaired("inner-quotes")
	}
}

// memberLost says whether next to the quote here stands a member that the schema knows.
func (d *decoder) memberLost(q delim) bool {
	n := len(q.close)
	start := n
	for c := d.at(n); n < maxKey && (isSpace(c) || c >= 0 && strings.IndexByte(",;.]})", byte(c)) >= 0); c = d.at(n) {
		n++
	}
	quoted := d.has(n, q.open)
	if quoted || n == start {
		n += len(q.open)
	}
	word := n
	for isWord(d.at(n)) || d.at(n) == '-' {
		n++
	}
	key := string(d.slice(d.pos+min(word, n), d.pos+n))
	if quoted = d.has(n, q.close); quoted {
		n += len(q.close)
	}
	n += d.space(n)
	c := d.at(n)
	if d.suitsAny(key) && (c == ':' || c == '=' || quoted && d.startsString(n)) {
		return true
	}
	n = len(q.close) + d.space(len(q.close))
	return d.at(n) == ':' && d.suitsAny(lastWord(d.behind()))
}

// itemLost says whether the quote here, in a list, stands next to a comma or another quote.
func (d *decoder) itemLost(q delim) bool {
	end := len(q.close)
	n := end + d.space(end)
	if c := d.at(n); c == ',' || c == ';' || d.startsString(n) && (n > end || !d.has(n, q.close) || !d.valueFollows(n+len(q.close))) {
		return true
	}
	before := bytes.TrimRight(d.behind(), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind is the end of what has been read of the string, up to maxKey bytes.
func (d *decoder) behind() []byte { return d.slice(max(d.stringAt, d.pos-maxKey), d.pos) }

// lastWord is the word at the end of a text.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && isWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}
