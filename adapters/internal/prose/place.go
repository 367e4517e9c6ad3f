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

// Place is the kind of place in which a call's opening tag occurs, such as on a line of its own or
// within a sentence. It is judged by the text before the tag.
type Place uint8

const (
	Line     Place = iota // at the start of a line
	Sentence              // after the end of a sentence, on the same line
	Colon                 // after a colon, which may announce something
	Within                // in a sentence
	Element               // in an element of a page that shows its content unchanged
	Quoted                // in a quotation
	Indented              // on a line that is code in Markdown
	Page                  // in a page
)

// Around returns the kind of place that an opening tag after text would be at. The kinds that say
// most are tried first: in a page no tag is meant as a call, on an indented line few are.
//
//	{"raw": "<tool_call>…"}            Quoted: a member of a JSON answer
//	It says “Wait. <tool_call>…”       Quoted: a quotation is open
//	<p>It was <code><tool_call>…       Element: it shows its text
//	    <tool_call>…                   Indented: Markdown's code
//	Never write <tool_call>… here.     Within, and prose after it
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

// isDocument reports whether a text begins like an HTML or XML page that has not ended. After
// </html> a call may be meant again.
func isDocument(text []byte) bool {
	lower := bytes.ToLower(text)
	begins := func(tag string) bool { return bytes.HasPrefix(lower, []byte(tag)) }
	return (begins("<?xml") || begins("<!doctype") || begins("<html")) && !wordBehind(lower) &&
		!bytes.Contains(lower, []byte("</html>"))
}

// wordBehind reports whether a word follows the first tag of a text on the same line. If so, the
// tag is part of a sentence, as in "<html> is the root."
func wordBehind(text []byte) bool {
	_, rest, closed := bytes.Cut(text, []byte("> "))
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return closed && len(text)-len(rest) <= len(line) && len(rest) > 0 && scan.IsLetter(rest[0])
}

// behindBlankLine reports whether a text is empty or ends with a blank line. Indented lines
// directly after text belong to its paragraph and are not code.
func behindBlankLine(text []byte) bool {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return len(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:])) == 0
}

// columns returns how many columns a line of white space takes. A tab counts as four, because
// CommonMark takes a line with four columns before it for code.
func columns(line []byte) int { return len(line) + 3*bytes.Count(line, []byte{'\t'}) }

// quotePairs has the quotation marks of most users' languages. The German closing mark is the
// English opening one.
var quotePairs = [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}, {"「", "」"}, {"『", "』"}, {"‹", "›"}}

// quotes reports whether a text ends with an opening quotation mark. ASCII quotation marks and ‘
// count as opening marks here. A blank may follow, including the no-break space that French puts
// inside quotation marks.
func quotes(text []byte) bool {
	last, _ := utf8.DecodeLastRune(bytes.TrimRight(text, "\u00a0 "))
	return strings.ContainsRune("“„«「『‹\"'‘`", last)
}

// inQuotation reports whether a line ends inside a quotation that it has opened. Apostrophes do not
// count, because "don't" would open a quotation. An odd number of double ASCII quotation marks
// means that one is open. The sequence \" is inside a string and does not count. A “ after „ is the
// German closing mark.
func inQuotation(line []byte) bool {
	if !bytes.ContainsAny(line, "\"“„«「『‹") {
		return false
	}
	s := strings.ReplaceAll(string(line), `\"`, "")
	if strings.Count(s, `"`)%2 == 1 {
		return true
	}
	for _, pair := range quotePairs {
		if n := strings.LastIndex(s, pair[0]); n >= 0 && !strings.Contains(s[n:], pair[1]) &&
			(pair[0] != "“" || !strings.Contains(s[:n], "„")) {
			return true
		}
	}
	return false
}

// elements has the beginnings and ends of elements that show their text unchanged, or that contain
// a page. Lists and tables are among them, because documentation shows calls in them.
var elements = [][2]string{
	{"<!--", "-->"}, {"<![cdata[", "]]>"}, {"<pre", "</pre"}, {"<code", "</code"},
	{"<samp", "</samp"}, {"<html", "</html"}, {"<body", "</body"}, {"<?xml", "\x00"},
	{"<!doctype", "</html"},
	{"<script", "</script"}, {"<textarea", "</textarea"}, {"<svg", "</svg"}, {"<ul", "</ul"},
	{"<ol", "</ol"}, {"<table", "</table"}, {"<blockquote", "</blockquote"},
	{"<example", "</example"}, {"<details", "</details"}, {"<quote", "</quote"}, {"<kbd", "</kbd"},
	{"<tt>", "</tt"}, {"<xmp", "</xmp"}, {`\begin{verbatim}`, `\end{verbatim}`},
}

// inElement reports whether a text ends inside one of the HTML or LaTeX elements of the list
// elements: after the last beginning of the element there is no end. It does not use a stack,
// because elements are often not closed in order. <p> and <div> are not in the list, because models
// write them around anything.
func inElement(text []byte) bool {
	if bytes.IndexByte(text, '<') < 0 && bytes.IndexByte(text, '\\') < 0 {
		return false
	}
	lower := string(bytes.ToLower(text))
	return slices.ContainsFunc(elements, func(e [2]string) bool {
		return strings.Contains(lower, e[0]) && strings.LastIndex(lower, e[0]) > strings.LastIndex(
			lower, e[1])
	})
}

// EndsSentence reports whether a text ends with a sign that ends a sentence in some script, or with
// a colon. The dot of an abbreviation such as "e.g." or "z.B." does not count.
func EndsSentence(text []byte) bool {
	if n := len(text); n > 3 && text[n-1] == '.' && scan.IsLetter(text[n-2]) &&
		(text[n-3] == '.' || text[n-3] == ' ' && text[n-4] == '.') {
		return false
	}
	last, _ := utf8.DecodeLastRune(text)
	return endsSentence(last)
}

// endsSentence reports whether a character ends a sentence in some script, or is a colon.
func endsSentence(r rune) bool {
	return r == ':' || r == '：' || r == '…' || r == '។' || unicode.Is(unicode.Sentence_Terminal, r)
}

// endsAside reports whether a text ends with an emoji or the end of bold text, because a sentence
// does not continue after these.
func endsAside(text []byte) bool {
	last, _ := utf8.DecodeLastRune(bytes.TrimRight(text, "\ufe0f\u200d"))
	return unicode.Is(unicode.So, last) || bytes.HasSuffix(text, []byte("**"))
}

// Mentions reports whether a call's opening tag is used like a word in a sentence. The parameter
// front is the text before the tag, and behind is the text after the call. In a mention, words
// precede the tag, and the text after the call continues in small letters or with a sign that ends
// the sentence.
//
//	Never write <call> in an answer.   a mention
//	It ends with <call>.               a mention
//	<act><call></act>                  a mention: an unknown tag opens before it
//	hello<call>hi                      not a mention: a word has blanks around it
//	यह देखता हूँ <call> Then I report.       not a mention: another sentence begins
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
	// Georgian sentences begin with small letters
	small := unicode.IsLower(first) && unicode.ToTitle(first) != first
	return small || strings.ContainsRune(".,;:!?", first)
}

// inTag reports whether a text ends with an opening tag.
func inTag(text []byte) bool {
	at := bytes.LastIndexByte(text, '<')
	return at >= 0 && bytes.HasSuffix(text, []byte(">")) && text[at+1] != '/'
}

// Recorded reports whether the last line of a text is from a log or a table. Such a line begins
// with a time or a log level, or has cells.
func Recorded(text []byte) bool {
	line := bytes.TrimLeft(text[bytes.LastIndexByte(text, '\n')+1:], " \t")
	return logLine.Match(line) || bytes.Contains(line, []byte(" | ")) ||
		bytes.HasSuffix(line, []byte(" |")) || bytes.HasPrefix(line, []byte("|"))
}

// logLine matches the beginning of a line of a log.
var logLine = regexp.MustCompile(
	`^\[?(\d{4}-\d\d-\d\d[ T])?\d\d:\d\d(:\d\d)?|^\[?(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b`)
