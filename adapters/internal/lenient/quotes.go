package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// innerQuote copies a quote that does not close its string. Where what it stands next to looks like more than text, as when
// the string's own quote is lost, there are two readings.
func (r *Reader) innerQuote(q Delim) {
	r.Out.Doubt = r.Out.Doubt || r.memberLost(q) || r.inList() && r.itemLost(q)
	if r.quoted == 0 {
		text := r.behind()
		next := r.At(len(q.Close))
		r.endsEarly = next < 0x80 && !scan.IsWord(next) && (len(text) == 0 || !scan.IsSpace(int(text[len(text)-1])) && strings.IndexByte("([{=,:+-", text[len(text)-1]) < 0)
		r.firstQuote = r.Pos
	}
	r.Out.JSON = schema.AppendEscaped(r.Out.JSON, q.Close)
	r.Pos += len(q.Close)
	r.quoted++
	if q.Open == `"` {
		r.inner = true
		r.Repaired("inner-quotes")
	}
}

// quotesDoubted says whether the quotes inside the string that ends here may not belong to it: they are the ends of two
// strings with something between, or one of them, without a partner, doubles the string's own.
func (r *Reader) quotesDoubted() bool {
	if r.quoted == 0 {
		return false
	}
	if r.quoted%2 == 0 {
		return r.endsEarly
	}
	if (r.quoted+r.escaped)%2 == 0 {
		return false
	}
	return r.firstQuote == r.stringAt
}

// doubledQuote says whether the quote here doubles the one that closes the string: nothing in the string asks for it, as the
// sign for inches, the end of a quotation, or an element that is empty would.
func (r *Reader) doubledQuote(q Delim) bool {
	n := len(q.Close)
	if !r.Has(n, q.Close) || r.quoted > 0 || r.escaped%2 == 1 || r.Pos == r.stringAt {
		return false
	}
	before := r.Slice(r.Pos-1, r.Pos)[0]
	if scan.IsSpace(int(before)) || before == ',' || !r.closes(2*n) {
		return false
	}
	r.Out.Doubt = r.Out.Doubt || scan.IsDigit(before) // inches, perhaps
	return !scan.IsDigit(before)
}

// memberLost says whether next to the quote here stands a member that the schema knows.
func (r *Reader) memberLost(q Delim) bool {
	n := len(q.Close)
	start := n
	for c := r.At(n); n < MaxKey && (scan.IsSpace(c) || c >= 0 && strings.IndexByte(",;.]})", byte(c)) >= 0); c = r.At(n) {
		n++
	}
	quoted := r.Has(n, q.Open)
	if quoted || n == start {
		n += len(q.Open)
	}
	if r.Has(n, q.Open) { // doubled
		n += len(q.Open)
	}
	if r.At(n-1) < 0 {
		return false
	}
	word := n
	for scan.IsWord(r.At(n)) || r.At(n) == '-' {
		n++
	}
	key := string(r.Slice(r.Pos+min(word, n), r.Pos+n))
	if end, ok := r.QuoteAt(n); ok {
		quoted = true
		n += len(end.Open)
	}
	n += r.Space(n)
	c := r.At(n)
	if r.suitsAny(key) && (c == ':' || c == '=' || quoted && r.elementFollows(n)) {
		return true
	}
	n = len(q.Close) + r.Space(len(q.Close))
	if r.At(n) == ':' && r.suitsAny(lastWord(r.behind())) {
		return true
	}
	before, python := bytes.CutSuffix(r.behind(), []byte("="))
	key = lastWord(before)
	return python && r.Python && r.suitsAny(key) && bytes.HasSuffix(bytes.TrimRight(before[:len(before)-len(key)], " "), []byte(","))
}

// itemLost says whether the quote here, in a list, stands next to a comma or another quote.
func (r *Reader) itemLost(q Delim) bool {
	end := len(q.Close)
	n := end + r.Space(end)
	if c := r.At(n); c == ',' || c == ';' || r.StartsString(n) && (n > end || !r.Has(n, q.Close) || !r.valueFollows(n+len(q.Close))) {
		return true
	}
	before := bytes.TrimRight(r.behind(), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind is the end of what has been read of the string, up to maxKey bytes.
func (r *Reader) behind() []byte { return r.Slice(max(r.stringAt, r.Pos-MaxKey), r.Pos) }

// lastWord is the word at the end of a text.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && scan.IsWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}
