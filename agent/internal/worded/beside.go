package worded

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// spelled matches names in a sentence. Only names that cannot be ordinary words count, which are
// those that contain a sign or have Markdown signs around them.
var spelled = regexp.MustCompile(
	"[`*]{1,2}([\\pL\\pN_][\\pL\\pN_.:/-]*)[`*]{1,2}|\\b([\\pL\\pN]+(?:[_.][\\pL\\pN]+)+)\\b")

// fenceInFront matches an opening fence, or the opening of a span of code, at the end of the text
// before JSON.
var fenceInFront = regexp.MustCompile(
	"(?:^|\n)[ \t]*[`~]{3,}[ \t]*(?:json[c5]?|text|tool_code|)[ \t]*\n?[ \t]*$|`$")

// beside reads a call whose tool is named in the line before its arguments, in a heading or in
// words such as "I will call add:". The arguments must be JSON with everything that the tool
// requires and nothing that it does not know. It also returns the text before the arguments, and
// returns nil if there is no such call.
func (r *Reader) beside(text string) (calls []chat.Call, front string) {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return nil, ""
	}
	body, complete := value(text[at:])
	front = strings.TrimRight(fenceInFront.ReplaceAllString(text[:at], ""), " \t\n")
	line := strings.TrimSpace(front[strings.LastIndexByte(front, '\n')+1:])
	t, ok := r.only(line)
	if !complete || !ok {
		return nil, ""
	}
	if _, inside := inFence(front); inside {
		return nil, ""
	}
	args, ok := fits(t, body)
	said, behind := front, rest(closers.ReplaceAllString(text[at+len(body):], ""))
	after, _, _ := strings.Cut(behind, "\n")
	switch below := strings.Contains(text[len(front):at], "\n"); {
	case !ok || strings.ContainsFunc(after, unicode.IsLetter):
		return nil, ""
	case r.named(strings.Trim(line, "#*`:：-• "), t):
		if said, _ = bared(strings.TrimSuffix(front, line)); !below {
			return nil, "" // an entry of a list that describes tools
		}
	case !isSentence(line):
		return nil, ""
	}
	if !adapters.Meant(said, behind) {
		return nil, ""
	}
	return []chat.Call{{Name: t.Name, Args: args}}, front
}

// only returns the tool that a line names. It returns false if the line names no tool or several.
func (r *Reader) only(line string) (only chat.Tool, ok bool) {
	for _, m := range spelled.FindAllStringSubmatch(line, mostTries) {
		t, known := r.tool(m[1] + m[2])
		if known && ok && t.Name != only.Name {
			return only, false
		}
		if known {
			only, ok = t, true
		}
	}
	return only, ok
}

// named reports whether a text is only a name of the tool t.
func (r *Reader) named(text string, t chat.Tool) bool {
	named, known := r.tool(text)
	return known && named.Name == t.Name
}

// fits reads JSON as the arguments of a tool. It returns false if the JSON lacks something that the
// tool requires, or has something that the tool does not know.
func fits(t chat.Tool, body string) (json.RawMessage, bool) {
	read, ok := arguments(t, body, true)
	var members map[string]json.RawMessage
	if !ok || json.Unmarshal(read, &members) != nil || len(members) == 0 {
		return nil, false
	}
	typ := schema.Compile(t.Schema)
	for name := range members {
		if !typ.Has(name) {
			return nil, false
		}
	}
	for _, name := range typ.Required() {
		if _, ok := members[name]; !ok {
			return nil, false
		}
	}
	return read, true
}

// firstKey matches the first member of an object.
var firstKey = regexp.MustCompile(`^\{\s*["'“]?([\pL_][\pL\pN_-]*)["'”]?\s*:`)

// mayBeside reports whether the first key in JSON is a parameter of an offered tool, so that the
// JSON may be arguments of a call.
func (r *Reader) mayBeside(text string) bool {
	m := firstKey.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	return slices.ContainsFunc(r.Tools, func(t chat.Tool) bool {
		return schema.Compile(t.Schema).Has(m[1])
	})
}
