package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// quotes records what is known about the quotation marks of the current string, or of the last one.
type quotes struct {
	at           int  // the position at which the string begins
	quoted       int  // how many of its own quotation marks it contains
	escaped      int  // how many escaped double quotation marks it contains
	beginsQuoted bool // the first unescaped mark is at its beginning
	endsEarly    bool // the first unescaped mark looked like its end
	inner        bool // it contains unescaped quotation marks
	key          bool // it is a key, which ends at the first quotation mark
}

// innerQuote copies a quotation mark that does not close its string. Most of these are text, as in
// {"cmd": "echo "hi" >f"}. But in {"path": "a.txt, "mode": "r"} the mark before mode opens a key.
// Reading it as text would turn two members into one valid but wrong string. So if a possible
// member or element is next to the mark, innerQuote notes a doubt (see Output.Doubt), because
// doubtful calls are shown as text and do not run.
func (s *stringReader) innerQuote(q Delim) {
	s.Out.keep()
	// to look ahead would delay the output
	s.Out.doubt(!s.Out.Doubt && (s.memberLost(q) || s.ahead.open.inList() && s.itemLost(q)))
	if s.quoted == 0 {
		text := s.behind(&s.Text)
		next := s.At(len(q.Close))
		// right after a word, and no word follows: "best", he said
		s.endsEarly = next < 0x80 && !scan.IsWord(next) &&
			(len(text) == 0 || !scan.IsSpace(int(text[len(text)-1])) &&
				strings.IndexByte("([{=,:+-", text[len(text)-1]) < 0)
		s.beginsQuoted = s.Pos == s.at
	}
	s.Out.JSON = chat.AppendEscaped(s.Out.JSON, q.Close)
	s.Pos += len(q.Close)
	s.quoted++
	if q.Open == `"` {
		s.inner = true // from now on a key needs more evidence (isKey)
		s.Repaired("inner-quotes")
	}
}

// quotesDoubted reports whether it is doubtful that the quotation marks inside the string that ends
// here are part of its text. They may delimit two strings, or repeat the string's own mark. For
// example, "red", "blue" where the schema demands one string may be two strings: the inner marks
// come in pairs, and the first looked like an end. In ""a.txt" the opening mark was written twice:
// the number of inner marks is odd, none has an escaped partner, and the first is at the beginning.
func (s *stringReader) quotesDoubted() bool {
	// "red", "blue" as one string: pairs of quotes are quotations, unless the first looked like an
	// end
	if s.quoted%2 == 0 {
		return s.quoted > 0 && s.endsEarly
	}
	// an odd quote whose partner is escaped, say \"hi", belongs to a pair
	return s.escaped%2 == 0 && s.beginsQuoted
}

// doubledQuote reports whether the quotation mark at the current position was written twice where
// it should close the string once. In {"path": "a.txt"", "mode": "r"} the second mark closes the
// string as well as the first, so one is dropped. Two marks in a row may also be an empty string.
// The first mark may also be text: the end of a quotation, or after a digit the sign for inches, as
// in {"size": "15""}. This is a doubt (see Output.Doubt).
func (s *stringReader) doubledQuote(q Delim) bool {
	n := len(q.Close)
	if !s.Has(n, q.Close) || s.quoted > 0 || s.escaped%2 == 1 || s.Pos == s.at {
		return false
	}
	before := s.Slice(s.Pos-1, s.Pos)[0]
	// an empty element, or the beginning of a quotation
	if scan.IsSpace(int(before)) || before == ',' || !s.closes(2*n) {
		return false
	}
	s.Out.doubt(scan.IsDigit(before)) // inches, perhaps
	return !scan.IsDigit(before)
}

// memberLost reports whether a member of the schema is next to the quotation mark at the current
// position, so that the mark may belong to that member. It may follow the mark, with punctuation or
// a doubled mark between them, as in "a.txt, "mode": …. Or its key may come before the mark and
// lack its own first mark, as in …, mode": "r". In Python such a key ends with an equals sign.
func (s *stringReader) memberLost(q Delim) bool {
	n := len(q.Close)
	start := n
	for c := s.At(n); n < MaxKey &&
		(scan.IsSpace(c) || strings.IndexByte(",;.]})", byte(c)) >= 0); c = s.At(n) {
		n++
	}
	quoted := s.Has(n, q.Open)
	if quoted || n == start {
		n += len(q.Open)
	}
	if s.Has(n, q.Open) { // doubled
		n += len(q.Open)
	}
	if s.At(n-1) < 0 { // the text ends here, so what would follow is unknown
		return false
	}
	word := n
	n = s.wordEnd(word, "-", "")
	key := string(s.Slice(s.Pos+word, s.Pos+n))
	if end, ok := s.QuoteAt(n); ok {
		quoted = true
		n += len(end.Open)
	}
	n += s.Space(n)
	c := s.At(n)
	// …, "mode": "r": a key of the schema after the quote
	if s.ahead.open.knows(key) && (c == ':' || c == '=' || quoted && s.elementFollows(n)) {
		return true
	}
	n = len(q.Close) + s.Space(len(q.Close))
	if s.At(n) == ':' && s.ahead.open.knows(lastWord(s.behind(&s.Text))) { // …, mode": "r"
		return true
	}
	before, python := bytes.CutSuffix(s.behind(&s.Text), []byte("=")) // f(path="a.txt, mode="r")
	key = lastWord(before)
	return python && s.Python && s.ahead.open.knows(key) &&
		bytes.HasSuffix(bytes.TrimRight(before[:len(before)-len(key)], " "), []byte(","))
}

// itemLost reports whether the quotation mark at the current position, in a list, is next to a
// comma or another mark. Then an element may end there, and the text may have two meanings: ["say
// "hi", please"] may have one element or two, and both lists are valid. ["say "hi" now"] has only
// one meaning, and is repaired.
func (s *stringReader) itemLost(q Delim) bool {
	end := len(q.Close)
	n := end + s.Space(end)
	// "a", or "a" "b: another element may begin
	if c := s.At(n); c == ',' || c == ';' || s.StartsString(n) && (n > end || !s.Has(n, q.Close) ||
		!s.ahead.valueFollows(n+len(q.Close))) {
		return true
	}
	before := bytes.TrimRight(s.behind(&s.Text), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind returns the last bytes of the string that were read, but not more than MaxKey. Callers
// look for a key in them, and keys are no longer than that.
func (q *quotes) behind(x *Text) []byte { return x.Slice(max(q.at, x.Pos-MaxKey), x.Pos) }

// lastWord returns the word at the end of a text, or "". Callers use it where a quotation mark is
// misplaced, because the word may be a key.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && scan.IsWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}

// closes reports whether a quotation mark closes its string, because the text at offset i, after
// the mark, can follow a value. Every closing mark of valid JSON passes this test, so valid JSON is
// never changed. An inner mark of prose or code, as in {"say": "a "b" c"}, does not pass it.
func (s *stringReader) closes(i int) bool {
	if s.key { // keys contain no quotation marks; a missing colon is another slip
		return true
	}
	defer s.Out.UnseeEnd()()
	return s.ahead.valueFollows(i)
}

// copyText reads a string where the schema allows any text. If three quotation marks are around it
// outside of Python, two of them may belong to the text (see [repair.QuotedText]), which is a doubt
// (see Output.Doubt).
func (r *Reader) copyText(q Delim) {
	from, three := r.Pos, q.Open == `"""` && !r.Python
	r.Out.Odd = r.Out.Odd || three
	r.strings().copyString(q)
	r.Out.doubt(three && from >= r.Base && repair.QuotedText(string(r.Slice(from, r.Pos))))
}
