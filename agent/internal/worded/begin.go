package worded

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Begins returns the offset of the first line that may begin a call or a labelled answer, or -1 if
// no line may. The parameter front says whether the text starts at the beginning of a line. The
// text before the returned offset is not part of a call, whatever text comes later.
func (r *Reader) Begins(text string, front bool) int {
	whole := text[:len(text)-halfRune(text)]
	at := 0
	for at < len(whole) {
		l := lineAt(whole, at)
		if (at > 0 || front) && r.mayBegin(whole[at:], l.end < len(whole)) {
			return at
		}
		at = l.end + 1
	}
	if at == len(whole) && len(whole) < len(text) && (at > 0 || front) {
		return at // half a character may become any character
	}
	return -1
}

// halfRune returns how many bytes at the end of a text are an incomplete character, or 0.
func halfRune(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return n
			}
			break
		}
	}
	return 0
}

// longestLabel is how many bytes a line may have before its label must be complete.
const longestLabel = 80

// mayBegin reports whether a text at the start of a line may be the beginning of a call or of a
// labelled answer. If ended is true, the first line of the text is complete.
func (r *Reader) mayBegin(text string, ended bool) bool {
	l := lineAt(text, 0)
	first := strings.TrimLeft(text[:l.end], " \t")
	switch {
	case first == "":
		return !ended && text != "" // anything may follow blanks
	case first[0] == '{' || first[0] == '[' && strings.HasPrefix(strings.TrimLeft(first[1:], " "),
		"{"), first[0] == '[' && len(first) == 1:
		return r.mayObject(text)
	case first[0] == '<':
		return r.mayObject(text)
	case first[0] == '>' || ended && bareLabel(first) == action:
		return true
	case first[0] == '`' || first[0] == '~':
		return r.mayFence(text, ended)
	case l.role > other:
		return true
	case r.beginsCall(first):
		return true
	case l.role == other:
		n, rest := name(l.value)
		_, known := r.tool(n)
		return known || l.value == "" && !ended ||
			!ended && rest == "" && len(l.value) < longestLabel
	case !ended && len(first) < longestLabel:
		return mayLabel(first)
	}
	return strings.EqualFold(strings.TrimSpace(first), "json")
}

// half matches the beginning of a line that may become a label, in any language.
var half = regexp.MustCompile(`^` + picture + `[#*_\-+•(0-9.)\[【〔 \t]*` + strong +
	`[\pL\pM\pN '’_-]*[*_\]】〕 \t]*$`)

// mayLabel reports whether an incomplete line may become one that begins with a label, such as
// "Action:", or with the word "json" before a JSON text. It returns false if the line has too many
// words, or a sign that no label has.
func mayLabel(line string) bool {
	return half.MatchString(line) && len(strings.Fields(line)) <= mostWords+1
}

// beginsCall reports whether a line may begin with a call in Python, which is a tool's name, or the
// beginning of one, and a bracket.
func (r *Reader) beginsCall(line string) bool {
	n, rest := name(line)
	if n == "" || !strings.HasPrefix(line, n) {
		return false
	}
	_, known := r.tool(n)
	return known && (rest == "" || rest[0] == '(') || rest == "" && len(n) < longestLabel &&
		r.prefix(n)
}

// mayFence reports whether a text at the start of a line may be a fence, or a span of code, in
// which a call begins. If ended is true, the first line of the text is complete.
func (r *Reader) mayFence(text string, ended bool) bool {
	m := fenced.FindStringSubmatchIndex(text)
	if m == nil {
		inner := strings.TrimLeft(text, " \t`~")
		return inner == "" && !ended || inner != "" && r.mayBegin(inner, ended)
	}
	inner := strings.TrimLeft(text[m[1]:], " \t\n")
	switch {
	case inner == "":
		return !strings.Contains(text[m[1]:], "\n\n")
	case strings.IndexByte("{[</#", inner[0]) >= 0:
		return r.mayObject(inner)
	}
	inner = inner[len(wrapped.FindString(inner)):]
	n, rest := name(inner)
	if _, known := r.tool(n); known && strings.HasPrefix(strings.TrimSpace(rest), "(") ||
		rest == "" && len(n) < longestLabel && r.prefix(n) {
		return true
	}
	return r.mayBegin(inner, strings.Contains(inner, "\n"))
}

// prefix reports whether the name of a tool, or one of its other names, begins with the text n.
func (r *Reader) prefix(n string) bool {
	for _, t := range r.Tools {
		if strings.HasPrefix(t.Name, n) {
			return true
		}
	}
	for also := range r.Also {
		if strings.HasPrefix(also, n) {
			return true
		}
	}
	return false
}

// mayObject reports whether a text that begins with JSON or a tag may be a call or an answer. It
// returns true if the text is still short, or if its first bytes name a tool or may be the
// arguments of a tool.
func (r *Reader) mayObject(text string) bool {
	if len(text) < reach/2 {
		return true
	}
	head := text[:min(len(text), reach)]
	return named.MatchString(head) || strings.HasPrefix(text, "{") && (r.mayCall(text) ||
		r.mayBeside(text))
}
