package text

import "strings"

// Hostile is a text that begins something over and over and never ends it. A decoder has to hold
// such a text back. If it reads all the text that it holds for each new piece, each piece takes
// longer than the one before.
type Hostile struct {
	Name string

	first, piece string
}

// Hostiles are the texts that are measured. With each of them a token must not cost more at the end
// than at the beginning.
var Hostiles = []Hostile{
	{"less-than signs", "", "<"},
	{"opening braces", "", "{"},
	{"lines that open a brace", "", "\n{"},
	{"opening marks", "", "<tool_call>"},
	{"half calls", "", "<tool_call>\n{\"name\": \"" + Tool + "\""},
	{"half calls of Mistral", "", "[TOOL_CALLS]" + Tool + "[ARGS]{\"path\": \""},
	{"half calls without marks", "", "Calling:\n{\"name\": \"" + Tool +
		"\", \"arguments\": {\"path\": \""},
	{"lines that are the tool's name", "", Tool + "\n"},
	{"fences", "", "```json\n"},
	{"newlines", "", "\n"},
	{"quotes in a string", "<tool_call>\n{\"name\": \"" + Tool + "\", \"arguments\": {\"path\": \"",
		"a \"b\" c, "},
	{"joined strings", "<tool_call>\n{\"name\": \"" + Tool + "\", \"arguments\": {\"path\": \"",
		"\"+\""},
	{"nested objects", "<tool_call>\n{\"name\": \"" + Tool + "\", \"arguments\": ", "{\"a\":"},
	{"closers in a value", "<tool_call>\n<function=" + Tool + ">\n<parameter=path>\n",
		"</parameter>\n"},
	{"openers in a value", "<tool_call>\n<function=" + Tool + ">\n<parameter=path>\n",
		"\n<parameter=content>"},
	{"drafts in reasoning", "<think>", "x<tool_call>\n{\"name\": \"" + Tool +
		"\", \"arguments\": {\"path\": \""},
}

// Text returns a hostile text: its beginning, and then n bytes in which one piece is repeated.
func (h Hostile) Text(n int) string {
	return h.first + strings.Repeat(h.piece, n/len(h.piece)+1)[:n]
}
