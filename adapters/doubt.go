package adapters

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// doubt says why a mark of a call may be a mention.
// A false call runs a tool that nobody asked for: of 48 texts made to look like calls 41 once ran one.
type doubt uint8

const (
	noDoubt  doubt = iota // at the start of a line, or behind a sentence of the model's own family
	inText                // in a sentence, an element of a page, or a mark of another family behind text
	inQuotes              // a quotation mark stands right in front
	inIndent              // on a line that Markdown takes for code
	inPage                // the reply is a page
)

// lookBack is how much of the text in front of a mark is looked at, in bytes.
// A page or a list that was opened further in front is not seen.
const lookBack = 1024

// maxHeld bounds a call between marks that is held until what follows it is known, in bytes.
// A file that is written in a doubted call is held whole; beyond a megabyte the mark is a mention.
const maxHeld = 1 << 20

// doubts are what stands in the way of a mark at one place, for marks of the model's own family and for others. Many marks
// begin alike, and what stands in front of them is read once.
// <tool_call> has a dozen meanings, so the same place is asked a dozen times.
type doubts struct {
	at, gap       int
	own, stranger doubt
	front         []byte // the announcement, once a doubted mark is tried: the buffer may move
}

// doubted says whether and why the mark m here may be a mention.
// A family that is not told owns all marks: then none is a stranger's.
func (d *decoder) doubted(m *declaration.Mark) doubt {
	if d.doubts.at != d.markAt || d.doubts.gap != d.gapAt {
		why, anybodys := d.doubtHere()
		d.doubts = doubts{at: d.markAt, gap: d.gapAt, own: why, stranger: why}
		if !anybodys {
			d.doubts.stranger = inText
		}
	}
	if m.Own {
		return d.doubts.own
	}
	return d.doubts.stranger
}

// doubtHere reads what stands in front of a mark here, and says whether marks of other families have the same doubt.
// The cases are in the order of their weight: in a page nothing runs, on an indented line an announcement is needed, in a
// sentence the end of the reply is enough.
//
//	{"raw": "<tool_call>…"}            inQuotes: a member of a JSON answer
//	The model wrote “<tool_call>…”     inQuotes, or inText when words stand between
//	<p>It was <code><tool_call>…       inText: the element shows its text
//	    <tool_call>…                   inIndent: Markdown's code
//	Never write <tool_call>… here.     inText, and prose behind it
func (d *decoder) doubtHere() (why doubt, anybodys bool) {
	from := d.gapAt
	if d.keptTo == d.gapAt {
		from = max(d.runFrom, d.markAt-lookBack, d.Base)
	}
	text := d.Slice(min(from, d.markAt), d.markAt)
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	front := bytes.TrimRight(line, " \t")
	switch {
	case d.which == Eager:
		return noDoubt, true
	case isDocument(text):
		return inPage, true
	case len(front) == 0 && columns(line) >= 4:
		return inIndent, true
	case inElement(text):
		return inText, true
	case len(front) == 0:
		return noDoubt, true
	case quotes(front):
		return inQuotes, true
	// behind a colon that announces nothing, "output: <tool_call>…", as in a log
	case inQuotation(line) || !endsSentence(front) || front[len(front)-1] == ':' && d.done == 0 && !d.announced():
		return inText, true
	}
	return noDoubt, false
}

// isDocument says whether a text begins as a page does, and the page is not over.
// A page ends with </html>; a call behind it is the model's own again.
func isDocument(text []byte) bool {
	lower := bytes.ToLower(text)
	begins := func(tag string) bool { return bytes.HasPrefix(lower, []byte(tag)) }
	return (begins("<?xml") || begins("<!doctype") || begins("<html")) && !bytes.Contains(lower, []byte("</html>"))
}

// columns is how far a line of white space goes.
// A tab counts four columns, as CommonMark has it for code.
func columns(line []byte) int { return len(line) + 3*bytes.Count(line, []byte{'\t'}) }

// quotePairs are the quotation marks of most users' languages; the German ones close with what opens English ones.
var quotePairs = [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"‹", "›"}}

// quotes says whether a text ends with a quotation mark that opens.
// Curly marks tell which side they are; of the plain ones, and ‘, one directly in front of a mark opens.
// A blank may stand between, also the no-break one that French puts inside its quotation marks.
func quotes(text []byte) bool {
	last, _ := utf8.DecodeLastRune(bytes.TrimRight(text, "\u00a0 "))
	return strings.ContainsRune("“„«「『‹\"'‘`", last)
}

// inQuotation says whether a quotation that a line has opened is open at its end.
// An apostrophe is none: "don't" would open one. Of plain quotes an odd number says that one is open; \" is inside a string.
// German quotations close with the sign that opens English ones, so “ behind „ closes.
func inQuotation(line []byte) bool {
	if !bytes.ContainsAny(line, "\"“„«「『‹") {
		return false
	}
	s := strings.ReplaceAll(string(line), `\"`, "")
	if strings.Count(s, `"`)%2 == 1 {
		return true
	}
	for _, pair := range quotePairs {
		if n := strings.LastIndex(s, pair[0]); n >= 0 && !strings.Contains(s[n:], pair[1]) && (pair[0] != "“" || !strings.Contains(s[:n], "„")) {
			return true
		}
	}
	return false
}

// elements are what opens those elements of a page that show their text as it is, or hold a page, and what closes them.
// Lists and tables are among them, since documentation shows calls in them.
var elements = [][2]string{
	{"<!--", "-->"}, {"<![cdata[", "]]>"}, {"<pre", "</pre"}, {"<code", "</code"}, {"<samp", "</samp"}, {"<html", "</html"}, {"<body", "</body"}, {"<?xml", "\x00"}, {"<!doctype", "</html"},
	{"<script", "</script"}, {"<textarea", "</textarea"}, {"<svg", "</svg"}, {"<ul", "</ul"}, {"<ol", "</ol"}, {"<table", "</table"}, {"<blockquote", "</blockquote"},
	{"<example", "</example"}, {"<details", "</details"}, {"<quote", "</quote"}, {"<kbd", "</kbd"}, {"<tt>", "</tt"}, {"<xmp", "</xmp"}, {`\begin{verbatim}`, `\end{verbatim}`},
}

// inElement says whether a text ends inside such an element: its last opener has no closer behind it.
// That needs no stack: elements of a page are rarely closed in order. Most texts have no opener, which Contains tells fast.
// <p> and <div> are not among them: models write them around anything.
func inElement(text []byte) bool {
	if bytes.IndexByte(text, '<') < 0 && bytes.IndexByte(text, '\\') < 0 {
		return false
	}
	lower := string(bytes.ToLower(text))
	return slices.ContainsFunc(elements, func(e [2]string) bool {
		return strings.Contains(lower, e[0]) && strings.LastIndex(lower, e[0]) > strings.LastIndex(lower, e[1])
	})
}

// endsSentence says whether a text ends with what ends a sentence or announces something, and no abbreviation: e.g., z.B.
// "e.g. <tool_call>…" ran once, since its last dot ended a sentence.
func endsSentence(text []byte) bool {
	if n := len(text); n > 3 && text[n-1] == '.' && scan.IsLetter(text[n-2]) && (text[n-3] == '.' || text[n-3] == ' ' && text[n-4] == '.') {
		return false
	}
	for _, end := range sentenceEnds {
		if bytes.HasSuffix(text, []byte(end)) {
			return true
		}
	}
	return false
}

// tryDoubted reads the calls that a doubted mark begins as a draft, and lets what follows decide. Calls that are text are
// text to their last byte; a mark or a call that the end of the text cuts is what it is elsewhere, but for a quoted one.
// A family's own marks need less than another's: peers never read those, and a repaired call of theirs is a guess too many.
// What is rejected is remembered to its end: inside, no other mark is tried, or a call in a quoted call would run.
func (d *decoder) tryDoubted(m *declaration.Mark, why doubt) match {
	a, readTo, cutOff := mismatch, 0, false
	first, repairs := d.blank, len(d.Repairs)
	if d.doubts.front == nil {
		d.doubts.front = bytes.Clone(d.announcement())
	}
	front := d.doubts.front
	announced := func() bool { return d.announcedBy(front) }
	afterSentence := endsSentence(front)
	ok := d.draft(maxHeld, func() bool {
		done := d.done
		a = d.try(m)
		end := d.Pos
		for a == committed && !d.wasCut {
			if end = d.Pos; !d.moreCalls() {
				break
			}
		}
		cutOff = (a == incomplete || d.wasCut) && !d.Hit
		if a != committed || d.done == done {
			return false
		}
		readTo = end
		// own marks may be followed by other marks of theirs, such as the end of the turn
		last := d.over(0) || m.Own && d.structure(d.Space(0))
		sure := m.Own || afterSentence && why == inText && (last || announced())
		// What had to be repaired is no clean call, and one that misses a parameter may be an outline.
		if why == inPage || !sure && len(d.Repairs) > repairs || !m.Own && !d.complete() {
			return false
		}
		switch {
		case why == inIndent:
			return last && (first || announced())
		// nothing stands behind it that could make a mention of it
		case last:
			return true
		}
		return why == inText && (afterSentence && !m.Own || m.Own && d.At(0) == '\n') && announced()
	})
	switch {
	case ok:
		return committed
	case cutOff && (m.Own || afterSentence) && why != inQuotes && why != inPage && (d.lengthCut() || d.evidence):
		return d.try(m)
	case readTo > 0:
		d.rejected = readTo
	}
	return mismatch
}
