package worded

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tags matches thoughts inside tags such as <think>, which are not part of the reply.
var tags = regexp.MustCompile(
	`(?is)<(thought|thinking|think|reasoning|scratchpad)>.*?</(?:thought|thinking|think|reasoning|scratchpad)>`)

// wide replaces the East Asian wide forms of JSON's punctuation by the normal ones.
var wide = strings.NewReplacer("｛", "{", "｝", "}", "：", ":", "，", ",", "＂", `"`)

// element matches a label written as a tag: <action>calc.add</action>.
var element = regexp.MustCompile(
	`(?s)<([\pL][\pL\pM '’_-]{1,39})>\s*(.*?)\s*</([\pL][\pL\pM '’_-]{1,39})>`)

// divided returns a text in which the label of an action or an answer, such as "Action:", begins a
// new line if it follows a thought on the same line. Any other text is returned unchanged.
func divided(text string) string {
	l := lineAt(text, 0)
	if l.role != thought {
		return text
	}
	for at := l.at; at < l.end; at++ {
		if text[at] != ':' && !strings.HasPrefix(text[at:], "：") {
			continue
		}
		from := at
		for range mostWords {
			from = strings.LastIndexAny(strings.TrimRight(text[:from], " "), " ") + 1
			if from <= l.at {
				break
			}
			if as := roles()[folded(text[from:at])]; as == action || as == final {
				return text[:from-1] + "\n" + text[from:]
			}
		}
	}
	return text
}

// labelOf returns an element, such as <action>calc.add</action>, as a line with a label, "action:
// calc.add". An element that is neither an action nor the input of one is returned unchanged.
func labelOf(tag string) string {
	m := element.FindStringSubmatch(tag)
	if as := roles()[folded(m[1])]; m[1] != m[3] || as != action && as != input {
		return tag
	}
	return "\n" + m[1] + ": " + m[2] + "\n"
}

// tagInFront matches a tag at the beginning of a text that opens a thought. It is used for thoughts
// that are never closed.
var tagInFront = regexp.MustCompile(`(?i)^\s*<(?:thought|thinking|think|reasoning|scratchpad)>`)

// roleInFront matches a role at the beginning of a reply.
var roleInFront = regexp.MustCompile(`^\s*(?i:assistant|model|bot)[ \t]*:[ \t]*`)

// plain returns a text without thoughts in tags, with tags such as <action> written as labels
// ("action:"), and with JSON's own punctuation instead of the East Asian wide forms.
func plain(text string) string {
	text = unquote(strings.ReplaceAll(text, "\r\n", "\n"))
	if strings.Contains(text, "</") {
		text = tags.ReplaceAllString(text, "")
		// An element counts only at the beginning of a line: in a sentence or a command the tag is
		// part of the text.
		if m := element.FindStringIndex(text); m != nil &&
			strings.TrimSpace(text[strings.LastIndexByte(text[:m[0]], '\n')+1:m[0]]) == "" {
			text = element.ReplaceAllStringFunc(text, labelOf)
		}
	}
	if open := tagInFront.FindString(text); open != "" {
		text = text[len(open):]
	}
	text = divided(roleInFront.ReplaceAllString(text, ""))
	if strings.Contains(text, "｛") {
		text = wide.Replace(text)
	}
	return text
}

// unescaped returns a text without Markdown's backslashes before underscores, if the name of a tool
// is written with them. JSON and names know no such escape, so the model has escaped the whole
// text. Any other text is returned unchanged.
func (r *Reader) unescaped(text string) string {
	if !strings.Contains(text, `\_`) {
		return text
	}
	for _, t := range r.Tools {
		_, bare, _ := strings.Cut(t.Name, ".")
		if bare = cmp.Or(bare, t.Name); strings.Contains(bare, "_") &&
			strings.Contains(text, strings.ReplaceAll(bare, "_", `\_`)) {
			return strings.ReplaceAll(text, `\_`, "_")
		}
	}
	return text
}

// inlineTag matches HTML that only formats a text.
var inlineTag = regexp.MustCompile(`^</?(?:b|strong|i|em|u|p|br|li)[ ]*/?>$`)

// unquote returns a reply that is one quotation in Markdown without the sign > at the beginning of
// its lines. Every line that is not blank must begin with the sign. It returns any other reply
// unchanged.
func unquote(text string) string {
	if !strings.HasPrefix(strings.TrimSpace(text), ">") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		inner, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), ">")
		if !ok && strings.TrimSpace(line) != "" {
			return text
		}
		lines[i] = strings.TrimPrefix(inner, " ")
	}
	return strings.Join(lines, "\n")
}

// coloned returns the text with a colon after each label that fills a line, such as "Action". It
// does so only if the line after some "Action" is just the name of an offered tool, and otherwise
// returns the text unchanged.
func (r *Reader) coloned(text string) string {
	lines := strings.Split(text, "\n")
	found := false
	for i := range len(lines) - 1 {
		called, rest := name(strings.TrimSpace(lines[i+1]))
		_, known := r.tool(called)
		found = found || bareLabel(lines[i]) == action && known && strings.TrimSpace(rest) == ""
	}
	if !found {
		return text
	}
	for i, line := range lines {
		if bareLabel(line) > other {
			lines[i] = line + ":"
		}
	}
	return strings.Join(lines, "\n")
}

// bareLabel returns the role of the label in a line that has nothing else, not even a colon, such
// as "Final Answer". It returns the role none for any other line.
func bareLabel(line string) role {
	if line = strings.TrimSpace(line); len(line) > longestLabel || strings.ContainsAny(line, ":：") {
		return none
	}
	return roles()[folded(line)]
}

// unwaiting removes the last line of a text if that line only says that the model waits for a
// result. Otherwise the line would become the end of an argument. The line is PAUSE, or a label
// such as "Observation" without its colon, at which a stop sequence has cut the reply. It stays if
// it begins in lower case, since it may then be the last line of a program.
func unwaiting(text string) string {
	trimmed := strings.TrimRight(text, " \t\n")
	i := strings.LastIndexByte(trimmed, '\n')
	last := strings.TrimSpace(trimmed[i+1:])
	first, _ := utf8.DecodeRuneInString(last)
	if i > 0 && (last == "PAUSE" ||
		roles()[folded(last)] == observation && !unicode.IsLower(first)) {
		return trimmed[:i]
	}
	return text
}
