package lenient

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// quotes is what is known of the string that is read, or was read last, for its quotes.
type quotes struct {
	at           int  // where it begins
	quoted       int  // how many of its own quotes it has inside
	escaped      int  // how many double quotes it has that are escaped
	beginsQuoted bool // the first of those that are not stands at its beginning
	endsEarly    bool // the first of them looked like its end
	inner        bool // it has quotes inside that are not escaped
	key          bool // it is a key, which ends at its first quote
}

// innerQuote copies a quote that does not close its string. Where what it stands next to looks like
// more than text, as when the string's own quote is lost, there are two readings. {"cmd": "echo
// "hi" >f"} has quotes that are text, as most are that close nothing. One is not where a member is
// lost: in {"path": "a.txt, "mode": "r"} the quote in front of mode opens a key, and taking it for
// text would make one valid and wrong string of two members. Doubtful calls are shown as text, so
// nothing runs on a guess.
func (s *stringReader) innerQuote(q Delim) {
	s.Out.keep()
	s.Out.doubt(!s.Out.Doubt && (s.memberLost(q) || s.ahead.open.inList() && s.itemLost(q))) // looking ahead keeps back what was written
	if s.quoted == 0 {
		text := s.behind(&s.Text)
		next := s.At(len(q.Close))
		s.endsEarly = next < 0x80 && !scan.IsWord(next) && (len(text) == 0 || !scan.IsSpace(int(text[len(text)-1])) && strings.IndexByte("([{=,:+-", text[len(text)-1]) < 0) // right behind a word, and nothing like a word behind it: "best", he said
		s.beginsQuoted = s.Pos == s.at
	}
	s.Out.JSON = chat.AppendEscaped(s.Out.JSON, q.Close)
	s.Pos += len(q.Close)
	s.quoted++
	if q.Open == `"` {
		s.inner = true // from now on closes() asks for more
		s.Repaired("inner-quotes")
	}
}

// quotesDoubted reports whether the quotes inside the string that ends here may not belong to it:
// they are the ends of two strings with something between, or one of them, without a partner,
// doubles the string's own. "red", "blue" under a schema of one string may be two strings: its
// inner quotes come in pairs, and the first of them looked like an end. An odd number of them
// without an escaped partner, the first at the very beginning, is ""a.txt": the opening quote
// twice.
func (s *stringReader) quotesDoubted() bool {
	// "red", "blue" as one string: pairs of quotes are quotations, unless the first looked like an
	// end
	if s.quoted%2 == 0 {
		return s.quoted > 0 && s.endsEarly
	}
	// where the partner of an odd one is escaped, say \"hi", they are a pair
	return s.escaped%2 == 0 && s.beginsQuoted
}

// doubledQuote reports whether the quote here doubles the one that closes the string: nothing in
// the string asks for it, as the sign for inches, the end of a quotation, or an element that is
// empty would. {"path": "a.txt"", "mode": "r"}: the second quote closes as well as the first would,
// so one is dropped. After a digit it may be the sign for inches, {"size": "15""}; an empty string
// has its two quotes by right.
func (s *stringReader) doubledQuote(q Delim) bool {
	n := len(q.Close)
	if !s.Has(n, q.Close) || s.quoted > 0 || s.escaped%2 == 1 || s.Pos == s.at {
		return false
	}
	before := s.Slice(s.Pos-1, s.Pos)[0]
	if scan.IsSpace(int(before)) || before == ',' || !s.closes(2*n) { // an element that is empty, or a quotation that begins
		return false
	}
	s.Out.doubt(scan.IsDigit(before)) // inches, perhaps
	return !scan.IsDigit(before)
}

// memberLost reports whether next to the quote here is a member that the schema knows. Next to it
// means after it, "a.txt, "mode": …, with signs of punctuation or a doubled quote between; the
// quote may also come after the key, which then has lost its first one: …, mode": "r"; in Python
// the key ends in an equals sign.
func (s *stringReader) memberLost(q Delim) bool {
	n := len(q.Close)
	start := n
	for c := s.At(n); n < MaxKey && (scan.IsSpace(c) || strings.IndexByte(",;.]})", byte(c)) >= 0); c = s.At(n) {
		n++
	}
	quoted := s.Has(n, q.Open)
	if quoted || n == start {
		n += len(q.Open)
	}
	if s.Has(n, q.Open) { // doubled
		n += len(q.Open)
	}
	if s.At(n-1) < 0 { // the text ends here: nothing is known of what would follow
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
	// …, "mode": "r": a key of the schema behind the quote
	if s.ahead.open.knows(key) && (c == ':' || c == '=' || quoted && s.elementFollows(n)) {
		return true
	}
	n = len(q.Close) + s.Space(len(q.Close))
	if s.At(n) == ':' && s.ahead.open.knows(lastWord(s.behind(&s.Text))) { // …, mode": "r"
		return true
	}
	before, python := bytes.CutSuffix(s.behind(&s.Text), []byte("=")) // f(path="a.txt, mode="r")
	key = lastWord(before)
	return python && s.Python && s.ahead.open.knows(key) && bytes.HasSuffix(bytes.TrimRight(before[:len(before)-len(key)], " "), []byte(","))
}

// itemLost reports whether the quote here, in a list, is next to a comma or another quote. ["say
// "hi", please"]: one element or two cannot be told, and a list of wrong texts is valid. ["say "hi"
// now"] has one reading, and is repaired.
func (s *stringReader) itemLost(q Delim) bool {
	end := len(q.Close)
	n := end + s.Space(end)
	// "a", or "a" "b: another element may begin
	if c := s.At(n); c == ',' || c == ';' || s.StartsString(n) && (n > end || !s.Has(n, q.Close) || !s.ahead.valueFollows(n+len(q.Close))) {
		return true
	}
	before := bytes.TrimRight(s.behind(&s.Text), " \t\r\n")
	return len(before) > 0 && before[len(before)-1] == ','
}

// behind returns the end of what has been read of the string, up to MaxKey bytes. More is not
// needed: what is looked for in it is a key, and keys are no longer than that.
func (q *quotes) behind(x *Text) []byte { return x.Slice(max(q.at, x.Pos-MaxKey), x.Pos) }

// lastWord returns the word at the end of a text. It is where a key is whose quotes are not where
// they should be.
func lastWord(text []byte) string {
	i := len(text)
	for i > 0 && scan.IsWord(int(text[i-1])) {
		i--
	}
	return string(text[i:])
}

// closes reports whether a quote closes its string: whether the text at offset i, after it, can
// follow a value. Every closing quote of valid JSON passes; an inner quote of prose or code does
// not. The rule is the opposite of what a parser does: it does not say what a quote is, but whether
// the text goes on as it must if it were the end. So no valid JSON is changed, and {"say": "a "b"
// c"} still has one reading.
func (s *stringReader) closes(i int) bool {
	if s.key { // no key holds a quote, and what follows one is a colon or a slip of its own
		return true
	}
	defer s.Out.UnseeEnd()()
	return s.ahead.valueFollows(i)
}
