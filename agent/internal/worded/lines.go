package worded

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed labels.txt
var labelText string

// role says what the text after a label is, such as a thought, an action or an answer.
type role uint8

const (
	none  role = iota // the line has no label
	other             // a label that is not known
	thought
	action
	input
	observation
	final
)

// roles returns the role of each label in labels.txt, by the folded label.
var roles = sync.OnceValue(func() map[string]role {
	names := map[string]role{"thought": thought, "action": action, "input": input,
		"observation": observation, "final": final}
	all := map[string]role{}
	for line := range strings.Lines(labelText) {
		kind, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		if as, ok := names[kind]; ok {
			for word := range strings.SplitSeq(words, ", ") {
				// The first entry counts: 行動 is an action in Chinese as well as in Japanese.
				if _, ok := all[folded(word)]; !ok {
					all[folded(word)] = as
				}
			}
		}
	}
	return all
})

// folded returns a label, such as "Action-Input 2", in a form to compare: in lower case, with
// blanks in place of hyphens and underscores, and without bold and a number at its end.
func folded(label string) string {
	label = strings.NewReplacer("_", " ", "-", " ", "*", "", "`", "", "’", "'").Replace(
		strings.ToLower(label))
	label = strings.TrimRight(label, "0123456789 #().")
	return strings.Join(strings.Fields(label), " ")
}

// line is a line of a reply.
type line struct {
	label  string
	role   role
	closes bool   // it is a closing fence
	value  string // the text after the label, without bold
	start  int    // offset of the line in the text
	at     int    // offset of the value in the text
	end    int    // offset of the end of the line, without its line break
}

// These match labels. A label is an optional emoji, a list or heading sign, a few words that may be
// bold and numbered, and a colon. Known labels may have brackets around them, or an arrow or a dash
// after them, instead of the colon.
var (
	labelled = regexp.MustCompile(`^[ \t]{0,3}` + picture +
		`(?:(?:[-*•+]|\(?\d{1,2}[.)])[ \t]+|#{1,6}[ \t]*)?` + code + strong +
		`([\pL][\pL\pM\pN '’_-]{0,40}?)` + strong + `[ \t]*(?:[#(]?\d{1,2}\)?)?` + strong +
		`[ \t]*[:：]` + strong + code + `[ \t]*`)
	arrowed = regexp.MustCompile(
		`^[ \t]{0,3}(?:[-*•+][ \t]+)?[*_]{0,3}([\pL][\pL\pM\pN '’_]{0,40}?)[*_]{0,3}[ \t]*(?:=>|->|→|=|[ \t][-–—])[ \t]+`)
	heading = regexp.MustCompile(
		`^[ \t]{0,3}(?:#{1,6}[ \t]*[*_]{0,3}|[*_]{2,3})([\pL][\pL\pM\pN '’_-]{0,40}?)[ \t]*\d{0,2}[*_]{0,3}[ \t]*$`)
	bracketed = regexp.MustCompile(`^[ \t]{0,3}` + picture + strong +
		`[\[【〔]([\pL][\pL\pM\pN '’_-]{0,40}?)[ \t]*\d{0,2}[\]】〕]` + strong + `[ \t]*[:：]?[ \t]*`)
)

// What may come before a label, and around it.
const (
	picture = `(?:[\p{So}\p{Sk}\x{FE0F}\x{200D}]{1,8}[ \t]*)?`
	code    = "`?"
	strong  = `(?:[*_]{1,3}|</?(?:b|strong|i|em|u|p|li)>){0,3}`
)

// mostWords is how many words a label may have.
const mostWords = 5

// lineAt returns the line of a text that begins at offset start, with its label, such as "Action:",
// if it has one.
func lineAt(text string, start int) line {
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	l := line{start: start, at: start, end: end}
	whole := text[start:end]
	l.closes = len(whole) > 2 && strings.Trim(whole, "` \t") == "" ||
		len(whole) > 2 && strings.Trim(whole, "~ \t") == ""
	m := labelled.FindStringSubmatchIndex(whole)
	if m == nil {
		for _, known := range []*regexp.Regexp{heading, bracketed, arrowed} {
			if m = known.FindStringSubmatchIndex(whole); m != nil {
				break
			}
		}
		if m == nil || roles()[folded(whole[m[2]:m[3]])] == none {
			return l
		}
	}
	label := whole[m[2]:m[3]]
	if len(strings.Fields(label)) > mostWords {
		return l
	}
	l.label, l.role, l.at = label, other, start+m[1]
	if known := roles()[folded(label)]; known != none {
		l.role = known
	}
	l.skipAgain(whole)
	l.value = strings.TrimSpace(whole[l.at-start:])
	return l
}

// skipAgain moves the start of the line's text, l.at, behind a label that is written twice, as in
// "Action: Action:". A second label of arguments is skipped only before JSON, since the arguments
// may have a member of that name.
func (l *line) skipAgain(whole string) {
	for l.role > other {
		rest := whole[l.at-l.start:]
		m := labelled.FindStringSubmatchIndex(rest)
		if m == nil || roles()[folded(rest[m[2]:m[3]])] != l.role ||
			l.role == input && !opensValue(rest[m[1]:]) {
			return
		}
		l.at += m[1]
	}
}

// linesOf returns the lines of a text.
func linesOf(text string) (all []line) {
	for at := 0; at <= len(text); {
		l := lineAt(text, at)
		all = append(all, l)
		at = l.end + 1
	}
	return all
}

// fenced matches an opening fence: its sign, and the language. A list sign may come before it.
var fenced = regexp.MustCompile(
	"^[ \\t]*(?:(?:[-*]|\\d{1,2}[.)])[ \\t]+)?(`{3,}|~{3,})[ \\t]*([\\w+-]*)[ \\t]*")

// fence returns the contents of the fence that a text begins with, and the text after that fence.
// It returns false if the text begins with no fence. A fence at the end of the text need not be
// closed.
func fence(text string) (inner, behind string, ok bool) {
	m := fenced.FindStringSubmatchIndex(text)
	if m == nil {
		return "", "", false
	}
	sign := text[m[2]:m[3]]
	inner = text[m[1]:]
	if i := strings.Index(inner, sign); i >= 0 {
		return inner[:i], strings.TrimLeft(inner[i:], sign[:1]), true
	}
	return inner, "", true
}

// inFence reports whether the end of a text is inside a fence that the text has opened, and at
// which offset that fence begins.
func inFence(text string) (at int, inside bool) {
	sign := ""
	for _, l := range linesOf(text) {
		m := fenced.FindStringSubmatchIndex(text[l.start:l.end])
		switch {
		case m == nil:
		case sign == "":
			sign, at, inside = text[l.start+m[2]:l.start+m[3]], l.start, true
			if strings.Contains(text[l.start+m[3]:l.end], sign) { // opened and closed on one line
				sign, inside = "", false
			}
		case text[l.start+m[2]] == sign[0] && m[3]-m[2] >= len(sign):
			sign, inside = "", false
		}
	}
	return at, inside
}
