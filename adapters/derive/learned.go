package derive

import (
	"regexp"
	"strings"

	"toolnorm/chat"
)

// What a model wrote has no neighbour to be compared with, so its marks are looked for at the edges of the call.
// Blanks may stand between the brackets of neither form, so that "a < b and c > d" is no mark.
const writtenMark = `(?:<[^<>\s]{1,64}>|\[/?[A-Z_]{2,40}\])`

var (
	markBefore = regexp.MustCompile(writtenMark + `\s*$`)
	markBehind = regexp.MustCompile(`^\s*` + writtenMark)
)

// CallLine is the call line of a reply that holds a tool's name in JSON, or in front of it, behind a mark.
// The object begins in front of the name in {"name": "get_weather", …} and behind it in [TOOL_CALLS]get_weather[ARGS]{…}, at
// most 40 bytes away, which is room for a mark between. JSON that would need a repair is not found.
func CallLine(raw string, tools []chat.Tool) (line string, ok bool) {
	for _, t := range tools {
		at := strings.Index(raw, t.Name)
		if at < 0 {
			continue
		}
		if i := strings.LastIndexByte(raw[:at], '{'); i >= 0 {
			if object, ok := jsonAt(raw[i:]); ok && strings.Contains(object, t.Name) {
				return lineAround(raw, i, i+len(object), "{call}")
			}
		}
		behind := at + len(t.Name)
		if i := strings.IndexByte(raw[behind:], '{'); i >= 0 && i <= 40 {
			if object, ok := jsonAt(raw[behind+i:]); ok {
				return lineAround(raw, at, behind+i+len(object), "{name}"+example(raw[behind:behind+i])+"{json}")
			}
		}
	}
	return "", false
}

// lineAround is a call line with the marks around text[start:end].
// Without a mark in front there is no line: a declaration needs one to tell a call from text.
func lineAround(text string, start, end int, holes string) (string, bool) {
	before := markBefore.FindString(text[:start])
	if before == "" {
		return "", false
	}
	return "call    " + example(before) + holes + example(markBehind.FindString(text[end:])) + "\n", true
}
