package derive

import (
	"regexp"
	"strings"
)

// A template's source says what no conversation makes it print: many drop reasoning from what was
// said before, and Llama's writes a mark in front of calls in one mode only. Read are what is put
// together in Jinja,
//
//	"<|begin|>assistant<|think|>" + message.reasoning + "<|end|>"
//	"<|python_tag|>" + tool_call.name
//
// and what stands around a field in Go's templates: <think>{{ .Thinking }}</think>.
var (
	thoughtInJinja = regexp.MustCompile(`(?:"([^"]*)"|'([^']*)')\s*[+~]\s*[\w.]*(?:reasoning|thinking|thought)\w*(?:\.strip\(\)|\s*\|\s*trim)?\s*[+~]\s*(?:"([^"]*)"|'([^']*)')`)
	thoughtInGo    = regexp.MustCompile(`([^{}]*)\{\{-?\s*[.$\w]*Thinking\s*-?\}\}([^{}]*)`)
	closerInJinja  = regexp.MustCompile(`\['(?:reasoning_content|reasoning|thinking)'\]\s*[+~]\s*(?:"([^"]*)"|'([^']*)')`)
	nameInJinja    = regexp.MustCompile(`(?:"([^"]*)"|'([^']*)')\s*[+~]\s*tool_?call(?:\.function)?\.name`)
)

// thoughtIn returns reasoning with the marks that a template's source puts around it, or "". Where
// the prompt ends with words that open it, as Apriel's "Here are my reasoning steps:" does, only
// the mark after it is needed from the source. Only marks are believed: in "'Reasoning: ' +
// message.reasoning" nothing says where it ends. Go's templates are Ollama's own: <think>{{
// .Thinking }}</think>.
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

// between returns reasoning between the mark that before ends with and the one that after begins
// with, or "" where either has no mark.
func between(before, after string) string {
	unescape := strings.NewReplacer(`\n`, "\n")
	opens, closes := lastMark(unescape.Replace(before)), firstMark(unescape.Replace(after))
	if opens == "" || closes == "" {
		return ""
	}
	return opens + probeThink + closes
}

// openersIn returns marks that a template's source writes before a call's name. They are read
// besides the calls that the template prints, and never printed.
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
