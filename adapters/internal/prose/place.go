package prose

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
)

// Place is where a mark stands, by the text in front of it.
type Place uint8

const (
	Line     Place = iota // at the start of a line
	Sentence              // behind the end of a sentence
	Colon                 // behind a colon, which may announce something
	Within                // in a sentence
	Element               // in an element of a page that shows its text as it is
	Quoted                // in a quotation
	Indented              // on a line that Markdown takes for code
	Page                  // in a page
)

// Around returns the place that a text in front of a mark makes of it. The cases are in the order
// of their weight: in a page nothing is meant as a call, on an indented line little.
//
//	{"raw": "<tool_call>…"}            Quoted: a member of a JSON answer
//	It says “Wait. <tool_call>…”       Quoted: a quotation is open
//	<p>It was <code><tool_call>…       Element: it shows its text
//	    <tool_call>…                   Indented: Markdown's code
//	Never write <tool_call>… here.     Within, and prose behind it
func Around(text []byte) Place {
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	front := bytes.TrimRight(line, " \t")
	switch {
	case isDocument(text):
		return Page
	case len(front) == 0 && columns(line) >= 4 && behindBlankLine(text[:len(text)-len(line)]):
		return Indented
	case inElement(text):
		return Element
	case len(front) == 0:
		return Line
	case quotes(front) || inQuotation(line):
		return Quoted
	case !EndsSentence(front) && !endsAside(front):
		return Within
	case front[len(front)-1] == ':':
		return Colon
	}
	return Sentence
}

// isDocument reports whether a text begins as a page does, and the page is not over. A page ends
// with </html>; a call after it is the model's own again.
func isDocument(text []byte) bool {
	lower := bytes.ToLower(text)
	begins := func(tag string) bool { return bytes.HasPrefix(lower, []byte(tag)) }
	return (begins("<?xml") || begins("<!doctype") || begins("<html")) && !wordBehind(lower) && !bytes.Contains(lower, []byte("</html>"))
}

// wordBehind reports whether a word follows the first tag of a text on its line, so that the tag is
// one itself: "<html> is the root."
func wordBehind(text []byte) bool {
	_, rest, closed := bytes.Cut(text, []byte("> "))
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return closed && len(text)-len(rest) <= len(line) && len(rest) > 0 && scan.IsLetter(rest[0])
}

// behindBlankLine reports whether a text ends with a line of white space, or is nothing else:
// indented lines behind text go on with its paragraph, and are no code.
func behindBlankLine(text []byte) bool {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return len(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:])) == 0
}

// columns returns how many columns a line of white space takes. A tab counts four columns, as
// CommonMark has it for code.
func columns(line []byte) int { return len(line) + 3*bytes.Count(line, []byte{'\t'}) }

// quotePairs are the quotation marks of most users' languages; the German ones close with what
// opens English ones.
var quotePairs = [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"‹", "›"}}

// quotes reports whether a text ends with a quotation mark that opens. Curly marks tell which side
// they are; of the plain ones, and ‘, one directly before a mark opens. A blank may come between,
// also the no-break one that French puts inside its quotation marks.
func quotes(text []byte) bool {
	last, _ := utf8.DecodeLastRune(bytes.TrimRight(text, "\u00a0 "))
	return strings.ContainsRune("“„«「『‹\"'‘`", last)
}

// inQuotation reports whether a quotation that a line has opened is open at its end. An apostrophe
// does not count: "don't" would open one. An odd number of plain quotes means that one is open; \"
// is inside a string. German quotations close with the sign that opens English ones, so “ after „
// closes.
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

// elements are what opens those elements of a page that show their text as it is, or hold a page,
// and what closes them. Lists and tables are among them, since documentation shows calls in them.
var elements = [][2]string{
	{"<!--", "-->"}, {"<![cdata[", "]]>"}, {"<pre", "</pre"}, {"<code", "</code"}, {"<samp", "</samp"}, {"<html", "</html"}, {"<body", "</body"}, {"<?xml", "\x00"}, {"<!doctype", "</html"},
	{"<script", "</script"}, {"<textarea", "</textarea"}, {"<svg", "</svg"}, {"<ul", "</ul"}, {"<ol", "</ol"}, {"<table", "</table"}, {"<blockquote", "</blockquote"},
	{"<example", "</example"}, {"<details", "</details"}, {"<quote", "</quote"}, {"<kbd", "</kbd"}, {"<tt>", "</tt"}, {"<xmp", "</xmp"}, {`\begin{verbatim}`, `\end{verbatim}`},
}

// inElement reports whether a text ends inside one of the elements: its last opener has no closer
// after it. That needs no stack: elements of a page are rarely closed in order. Most texts have no
// opener, which Contains tells fast. <p> and <div> are not among them: models write them around
// anything.
func inElement(text []byte) bool {
	if bytes.IndexByte(text, '<') < 0 && bytes.IndexByte(text, '\\') < 0 {
		return false
	}
	lower := string(bytes.ToLower(text))
	return slices.ContainsFunc(elements, func(e [2]string) bool {
		return strings.Contains(lower, e[0]) && strings.LastIndex(lower, e[0]) > strings.LastIndex(lower, e[1])
	})
}

// EndsSentence reports whether a text ends with what ends a sentence in any script, or announces
// something, and no abbreviation: e.g., z.B. "e.g. <tool_call>…" ran once, since its last dot ended
// a sentence.
func EndsSentence(text []byte) bool {
	if n := len(text); n > 3 && text[n-1] == '.' && scan.IsLetter(text[n-2]) && (text[n-3] == '.' || text[n-3] == ' ' && text[n-4] == '.') {
		return false
	}
	last, _ := utf8.DecodeLastRune(text)
	return endsSentence(last)
}

// endsSentence reports whether a character ends a sentence in some script, or announces something.
func endsSentence(r rune) bool {
	return r == ':' || r == '：' || r == '…' || r == '។' || unicode.Is(unicode.Sentence_Terminal, r)
}

// endsAside reports whether a text ends with a sign that no sentence goes on behind: an emoji, or
// the end of what is bold.
func endsAside(text []byte) bool {
	last, _ := utf8.DecodeLastRune(bytes.TrimRight(text, "\ufe0f\u200d"))
	return unicode.Is(unicode.So, last) || bytes.HasSuffix(text, []byte("**"))
}

// Mentions reports whether a mark stands in a sentence as a word does: words of the sentence stand
// on both sides of it, and those behind the call go on in small letters, or a sign ends the
// sentence there.
//
//	Never write <call> in an answer.   a mention
//	It ends with <call>.               a mention
//	<act><call></act>                  a mention: what opens in front is a form that nobody reads
//	hello<call>hi                      none: no word is glued to others
//	यह देखता हूँ <call> Then I report.       none: another sentence begins
func Mentions(front, behind []byte) bool {
	if len(behind) == 0 || behind[0] == '\n' {
		return false
	}
	first, _ := utf8.DecodeRune(bytes.TrimLeft(behind, " \t"))
	last, _ := utf8.DecodeLastRune(front)
	switch {
	case inTag(front):
		return true
	case behind[0] != ' ' && behind[0] != '\t':
		return strings.ContainsRune(".,;:!?)]}|", first)
	case last != ' ' && last != '\t':
		return false
	}
	small := unicode.IsLower(first) && unicode.ToTitle(first) != first // Georgian sentences begin with small letters
	return small || strings.ContainsRune(".,;:!?", first)
}

// inTag reports whether a text ends with a tag that opens.
func inTag(text []byte) bool {
	at := bytes.LastIndexByte(text, '<')
	return at >= 0 && bytes.HasSuffix(text, []byte(">")) && text[at+1] != '/'
}

// Recorded reports whether the last line of a text is one of a log or of a table: it begins with a
// time, a level or a bracket, or has cells.
func Recorded(text []byte) bool {
	line := bytes.TrimLeft(text[bytes.LastIndexByte(text, '\n')+1:], " \t")
	return logLine.Match(line) || bytes.Contains(line, []byte(" | ")) || bytes.HasSuffix(line, []byte(" |")) || bytes.HasPrefix(line, []byte("|"))
}

// logLine matches the beginning of a line of a log.
var logLine = regexp.MustCompile(`^\[?(\d{4}-\d\d-\d\d[ T])?\d\d:\d\d(:\d\d)?|^\[?(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b`)
