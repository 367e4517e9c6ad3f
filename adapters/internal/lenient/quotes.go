package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// innerQuote copies a quote that does not close its string. Where what it stands next to looks like more than text, as when
// the string's own quote is lost, there are two readings.
// {"cmd": "echo "hi" >f"} has quotes that are text, as most are that close nothing. One is not where a
// member is lost: in {"path": "a.txt, "mode": "r"} the quote in front of mode opens a key, and taking it for text would
// make one valid and wrong string of two members. Doubtful calls are shown as text, so nothing runs on a guess.
func (r *Reader) innerQuote(q Delim) {
	r.Out.keep()
	r.doubt(!r.Out.Doubt && (r.memberLost(q) || r.inList() && r.itemLost(q))) // looking ahead keeps back what was written
	if r.quoted == 0 {
		text := r.behind()
		next := r.At(len(q.Close))
		r.endsEarly = next < 0x80 && !scan.IsWord(next) && (len(text) == 0 || !scan.IsSpace(int(text[len(text)-1])) && strings.IndexByte("([{=,:+-", text[len(text)-1]) < 0) // right behind a word, and nothing like a word behind it: "best", he said
		r.beginsQuoted = r.Pos == r.stringAt
	}
	r.Out.JSON = chat.AppendEscaped(r.Out.JSON, q.Close)
	r.Pos += len(q.Close)
	r.quoted++
	if q.Open == `"` {
		r.inner = true // from now on closes() asks for more
		r.Repaired("inner-quotes")
	}
}

// quotesDoubted says whether the quotes inside the string that ends here may not belong to it: they are the ends of two
// strings with something between, or one of them, without a partner, doubles the string's own.
// "red", "blue" under a schema of one string may be two strings: its inner quotes come in pairs, and the first of them
// looked like an end. An odd number of them without an escaped partner, the first at the very beginning, is ""a.txt": the
// opening quote twice.
func (r *Reader) quotesDoubted() bool {
	// "red", "blue" as one string: pairs of quotes are quotations, unless the first looked like an end
	if r.quoted%2 == 0 {
		return r.quoted > 0 && r.endsEarly
	}
	// where the partner of an odd one is escaped, say \"hi", they are a pair
	return r.escaped%2 == 0 && r.beginsQuoted
}

// doubledQuote says whether the quote here doubles the one that closes the string: nothing in the string asks for it, as the
// sign for inches, the end of a quotation, or an element that is empty would.
// {"path": "a.txt"", "mode": "r"}: the second quote closes as well as the first would, so one is dropped. Behind a digit it
// may be the sign for inches, {"size": "15""}; an empty string has its two quotes by right.
func (r *Reader) doubledQuote(q Delim) bool {
	n := len(q.Close)
	if !r.Has(n, q.Close) || r.quoted > 0 || r.escaped%2 == 1 || r.Pos == r.stringAt {
		return false
	}
	before := r.Slice(r.Pos-1, r.Pos)[0]
	if scan.IsSpace(int(before)) || before == ',' || !r.closes(2*n) { // an element that is empty, or a quotation that begins
		return false
	}
	r.doubt(scan.IsDigit(before)) // inches, perhaps
	return !scan.IsDigit(before)
}

// memberLost says whether next to the quote here stands a member that the schema knows.
// Next to it means behind, "a.txt, "mode": …, with signs of punctuation or a doubled quote between; the quote may also
// stand behind the key, which then has lost its first one: …, mode": "r"; in Python the key ends in an equals sign.
func (r *Reader) memberLost(q Delim) bool {
	n := len(q.Close)
	start := n
	for c := r.At(n); n < MaxKey && (scan.IsSpace(c) || strings.IndexByte(",;.]})", byte(c)) >= 0); c = r.At(n) {
		n++
	}
	quoted := r.Has(n, q.Open)
	if quoted || n == start {
		n += len(q.Open)
	}
	if r.Has(n, q.Open) { // doubled
		n += len(q.Open)
	}
	if r.At(n-1) < 0 { // the text ends here: nothing is known of what would follow
		return false
	}
	word := n
	n = r.wordEnd(word, "-", "")
	key := string(r.Slice(r.Pos+word, r.Pos+n))
	if end, ok := r.QuoteAt(n); ok {
		quoted = true
		n += len(end.Open)
	}
	n += r.Space(n)
	c := r.At(n)
	// …, "mode": "r": a key of the schema behind the quote
	if known(key, r.stack) && (c == ':' || c == '=' || quoted && r.elementFollows(n)) {
		return true
	}
	n = len(q.Close) + r.Space(len(q.Close))
	if r.At(n) == ':' && known(lastWord(r.behind()), r.stack) { // …, mode": "r"
		return true
	}
	before, python := bytes.CutSuffix(r.behind(), []byte("=")) // f(path="a.txt, mode="r")
	key = lastWord(before)
	return python && r.Python && known(key, r.stack) && bytes.HasSuffix(bytes.TrimRight(before[:len(before)-len(key)], " "), []byte(","))
}

// itemLost says whether the quote here, in a list, stands next to a comma or another quote.
// ["say "hi", please"]: one element or two cannot be told, and a list of wrong texts is valid. ["say "hi" now"] has one
// reading, and is repaired.
func (r *Reader) itemLost(q Delim) bool {
	end := len(q.Close)
	n := end + r.Space(end)
	// "a", or "a" "b: another element may begin
	if c := r.At(n); c == ',' || c == ';' || r.StartsString(n) && (n > end || !r.Has(n, q.Close) || !r.valueFollows(n+len(q.Close))) {
		return true
	}
	before := bytes.TrimRight(r.behind(), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind is the end of what has been read of the string, up to maxKey bytes.
// More is not needed: what is looked for in it is a key, and keys are no longer than that.
func (r *Reader) behind() []byte { return r.Slice(max(r.stringAt, r.Pos-MaxKey), r.Pos) }

// lastWord is the word at the end of a text.
// It is where a key stands whose quotes are not where they should be.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && scan.IsWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}
