package wrapper

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// Ahead looks at a text byte by byte, and tells when it can be no wrapper any more. A document that only begins like one
// is then shown at once.
type Ahead struct {
	tools *toolset.Set
	text  []byte // what was read; nil once a tool was named
	named bool
	own   map[string]bool // the members that tools list, folded; nil before they are asked for

	quote   byte   // of the string that is open; 0 outside
	escaped bool   // the byte behind a backslash
	word    []byte // the string that was read last
	key     string // of the member whose value is read
	bare    bool   // the word stands without quotes
	value   bool   // the string stands behind a colon
	inside  []bool // of each open bracket: what stands in it is free
	json    bool   // it begins like JSON
	seen    bool   // something but white space and marks was read
	begun   bool   // a byte was read
	lines   *lines // what begins with a letter or a sign; nil: something else did
	fence   []byte // the opening line of a fence, or a backquote, up to here
}

// maxFront bounds what may stand in front of the first name of a tool, in bytes.
// A thought may; in front of anything else so much is a document.
const maxFront = 1024

// maxFrontTags is maxFront for tags, where a name stands at the front.
const maxFrontTags = 256

// NewAhead returns an Ahead in front of the first byte.
func NewAhead(tools *toolset.Set) *Ahead { return &Ahead{tools: tools, text: []byte{}} }

// Goes takes one more byte and reports whether the text may still be a wrapper.
func (a *Ahead) Goes(c byte) bool {
	if !a.named {
		a.text = append(a.text, c)
		// names are looked for once, at the bound: at each byte it would cost the square of the text
		if len(a.text) == maxFront || !a.json && len(a.text) == maxFrontTags {
			if a.named = a.tools.In(a.text); !a.named {
				return false
			}
			a.text = nil
		}
	}
	switch {
	// ```yaml⏎
	case a.fence != nil && a.lines == nil && !a.seen:
		if done, goes := a.label(c); !done {
			return goes
		}
	case !a.begun && c == '`':
		a.fence = []byte{c}
	case !a.begun && (scan.IsLetter(c) || strings.IndexByte(frontSigns, c) >= 0):
		a.lines = new(lines)
	}
	a.begun = true
	if a.lines != nil {
		return a.lines.goes(c, a.tools)
	}
	if !a.seen && (c == '{' || c == '[') {
		a.json, a.seen = true, true
	}
	if c == '<' && !a.json {
		a.seen = true
	}
	return !a.json || a.member(c)
}

// frontSigns are the signs that a text of a [law.placed] may begin with.
const frontSigns = "-#*@/$!&(\u2192"

// label takes a byte of the first line of a fence, or of what a backquote opens. done tells that it is no part of it.
func (a *Ahead) label(c byte) (done, goes bool) {
	l := law{tools: a.tools}
	if text := string(append(a.fence, c)); !strings.HasPrefix("```", text[:min(len(text), 3)]) {
		// `get_weather`
		a.lines = new(lines)
		goes = true
		for i := range len(text) {
			goes = goes && a.lines.goes(text[i], a.tools)
		}
		return false, goes
	}
	a.fence = append(a.fence, c)
	label := strings.Trim(string(a.fence), "`\n ")
	switch {
	case c != '\n' && len(label) <= toolset.MaxName && c != '{' && c != '[':
		return false, true
	case c == '\n' && l.named(label) != nil:
		a.lines = &lines{free: true, tool: l.named(label)}
		return false, true
	case c == '\n' && (documentLabels[strings.ToLower(label)] || commandLabels[strings.ToLower(label)]):
		a.lines = new(lines)
		return false, true
	}
	a.seen = c == '{' || c == '['
	a.json = a.seen
	a.fence = nil
	return true, true
}

// member follows JSON as far as it takes to know the name and the value of each member.
func (a *Ahead) member(c byte) bool {
	switch {
	// inside a string
	case a.quote != 0:
		switch {
		case a.escaped:
			a.escaped = false
		case c == '\\':
			a.escaped = true
		case c == a.quote:
			a.quote = 0
			return !a.value || a.may()
		}
		if len(a.word) < maxFront {
			a.word = append(a.word, c)
		}
	case c == '"' || c == '\'':
		a.quote, a.word = c, a.word[:0]
	// {tool: 'get_time'}
	case !a.value && scan.IsName(int(c)):
		if !a.bare {
			a.word = a.word[:0]
		}
		a.bare = true
		if len(a.word) < maxFront {
			a.word = append(a.word, c)
		}
		return true
	// the string in front was a name, what follows is its value
	case c == ':':
		a.key, a.value = fold(string(bytes.TrimSpace(a.word))), true
	case c == ',':
		a.value = false
	case c == '{' || c == '[':
		a.inside = append(a.inside, a.free())
		a.value = false
	case (c == '}' || c == ']') && len(a.inside) > 0:
		a.inside, a.value = a.inside[:len(a.inside)-1], false
	}
	a.bare = false
	return true
}

// free reports whether nothing is asked of what stands here: in a thought, and in a member that may be a parameter.
func (a *Ahead) free() bool {
	return len(a.inside) > 0 && a.inside[len(a.inside)-1] || a.value && (thoughtKeys[a.key] || wraps(a.key) || a.parameter(a.key))
}

// may reports whether the text that was just read may stand in a wrapper: in a free place, as a name, or beside.
func (a *Ahead) may() bool {
	text := string(a.word)
	l := law{tools: a.tools}
	if name, _, called := strings.Cut(text, "("); called && l.named(name) != nil {
		return true
	}
	return a.free() || beside(a.key, &node{text: text}) || bytes.IndexByte(a.word, '{') >= 0 || l.named(text) != nil
}

// parameter reports whether some tool lists a member of this name. The names are folded once: hostile text asks at each brace.
func (a *Ahead) parameter(key string) bool {
	if a.own == nil {
		a.own = map[string]bool{}
		for _, name := range a.tools.MemberNames() {
			a.own[fold(name)] = true
		}
	}
	return a.own[key]
}
