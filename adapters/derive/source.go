package derive

import (
	"regexp"
	"strings"
)

// A template's source shows what conversations may not: many templates drop reasoning from earlier
// turns, and Llama's writes a mark before calls in one mode only. These patterns match
// concatenations in Jinja,
//
//	"<|begin|>assistant<|think|>" + message.reasoning + "<|end|>"
//	"<|python_tag|>" + tool_call.name
//
// and the text around a field in Go's templates: <think>{{ .Thinking }}</think>.
var (
	thoughtInJinja = regexp.MustCompile(
		`(?:"([^"]*)"|'([^']*)')\s*[+~]\s*[\w.]*(?:reasoning|thinking|thought)\w*(?:\.strip\(\)|\s*\|\s*trim)?\s*[+~]\s*(?:"([^"]*)"|'([^']*)')`)
	thoughtInGo   = regexp.MustCompile(`([^{}]*)\{\{-?\s*[.$\w]*Thinking\s*-?\}\}([^{}]*)`)
	closerInJinja = regexp.MustCompile(
		`\['(?:reasoning_content|reasoning|thinking)'\]\s*[+~]\s*(?:"([^"]*)"|'([^']*)')`)
	nameInJinja = regexp.MustCompile(
		`(?:"([^"]*)"|'([^']*)')\s*[+~]\s*tool_?call(?:\.function)?\.name`)
)

// thoughtIn finds the marks that a template's source puts around reasoning, such as the tags in
// Go's <think>{{ .Thinking }}</think>. It returns the test conversation's reasoning between these
// marks, or "" if there are none. The parameter begun is the end of the prompt. If it opens the
// reasoning in words, as Apriel's "Here are my reasoning steps:", only the mark after the reasoning
// is read from the source. Other words are no marks: "'Reasoning: ' + message.reasoning" does not
// show where the reasoning ends.
func thoughtIn(source, begun string) string {
	for _, m := range thoughtInJinja.FindAllStringSubmatch(source, -1) {
		if t := between(m[1]+m[2], m[3]+m[4]); t != "" {
			return t
		}
	}
	for _, m := range thoughtInGo.FindAllStringSubmatch(source, -1) {
		if t := between(m[1], m[2]); t != "" {
			return t
		}
	}
	for _, m := range closerInJinja.FindAllStringSubmatch(source, -1) {
		if closes := strings.ReplaceAll(m[1]+m[2], `\n`, "\n"); hasMark(closes) && len(begun) > 4 {
			return begun + probeThink + closes
		}
	}
	return ""
}

// between returns probeThink, the reasoning in the test conversations, with a mark on each side.
// The mark before it is the one at the end of the text before, and the mark after it the one at the
// beginning of the text after. It returns "" if either text has no such mark.
func between(before, after string) string {
	unescape := strings.NewReplacer(`\n`, "\n")
	opens, closes := lastMark(unescape.Replace(before)), firstMark(unescape.Replace(after))
	if opens == "" || closes == "" {
		return ""
	}
	return opens + probeThink + closes
}

// openersIn returns the marks that a template's source writes before a call's name. They are for
// reading only: a declaration made from the template accepts calls that begin with these marks, but
// prints calls with the marks that the template has printed.
func openersIn(source string) (marks []string) {
	for _, m := range nameInJinja.FindAllStringSubmatch(source, -1) {
		if mark := strings.TrimSpace(lastMark(m[1] + m[2])); mark != "" {
			marks = append(marks, mark)
		}
	}
	return marks
}

// Excerpt returns the part of a template's source that [From] reads. A recording of a template
// keeps it (internal/test/templates), since most of a source is about other things.
func Excerpt(source string) string {
	var lines []string
	for _, re := range []*regexp.Regexp{thoughtInJinja, thoughtInGo, closerInJinja, nameInJinja} {
		lines = append(lines, re.FindAllString(source, -1)...)
	}
	return strings.Join(lines, "\n")
}
