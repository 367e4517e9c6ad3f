package wrapper

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// Ahead reads a text byte by byte and decides when it can no longer be a wrapper, which is a text
// that consists only of calls in a form like those of well-known APIs. From then on the text can be
// shown, so a document that only begins like a wrapper is hardly delayed.
type Ahead struct {
	tools *toolset.Set
	text  []byte // the text so far; nil after the name of a tool was found
	named bool
	own   map[string]bool // the folded names of all parameters; nil until first needed

	quote   byte   // the quote of the open string, or 0
	escaped bool   // the next byte follows a backslash
	word    []byte // the last string or unquoted word
	key     string // the folded key of the current value
	bare    bool   // the word has no quotation marks
	value   bool   // the string follows a colon
	inside  []bool // has an element for each open bracket: whether its content may be any text
	json    bool   // the text begins like JSON
	seen    bool   // the first bracket or tag was read
	begun   bool   // the first byte was read
	// lines reads a text that begins with a letter or a sign. It is nil if the text begins
	// otherwise.
	lines *lines
	fence []byte // the opening line of a fence, or the first backquotes, as far as they were read
}

// maxFront bounds the text before the first name of a tool, in bytes. A thought may come before the
// name, but a text without a name for longer than this is a document.
const maxFront = 1024

// maxFrontTags is the same bound for texts other than JSON, in which the name comes early.
const maxFrontTags = 256

// NewAhead returns an Ahead for a new text.
func NewAhead(tools *toolset.Set) *Ahead { return &Ahead{tools: tools, text: []byte{}} }

// Goes adds a byte and reports whether the text may still be a wrapper, a text that consists only
// of calls. After it has returned false, further results have no meaning.
func (a *Ahead) Goes(c byte) bool {
	if !a.named {
		a.text = append(a.text, c)
		// names are looked for only once, at the bound, because a search at each byte would take
		// quadratic time
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

// frontSigns are the signs with which a text for [law.placed] may begin.
const frontSigns = "-#*@/$!&(\u2192"

// label takes the next byte of the label of a fence (```), or of the text after a single backquote.
// If done is true, the label has ended, and the caller has to handle the byte. Otherwise the result
// goes reports whether the text may still be a wrapper, which is a text that consists only of
// calls.
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
	case c == '\n' && holds(label):
		a.lines = new(lines)
		return false, true
	}
	a.seen = c == '{' || c == '['
	a.json = a.seen
	a.fence = nil
	return true, true
}

// member takes the next byte of an object, and follows JSON closely enough to know the name and the
// value of each member. It returns false if a string was read that cannot occur in a wrapper.
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
	// the string before was a key, its value follows
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

// free reports whether any string is allowed at the current place of a possible wrapper, a text
// that consists only of calls. That is so inside a member for the model's thoughts, inside one for
// the arguments, and inside one whose name may be that of a parameter.
func (a *Ahead) free() bool {
	return len(a.inside) > 0 && a.inside[len(a.inside)-1] ||
		a.value && (thoughtKeys[a.key] || wraps(a.key) || a.parameter(a.key))
}

// may reports whether the string that was just read can occur in a wrapper, a text that consists
// only of calls. It can if any string is allowed in its place, or if it begins with the name of a
// tool, contains a brace, or belongs to a member that may occur beside a call, such as an id.
func (a *Ahead) may() bool {
	text := string(a.word)
	l := law{tools: a.tools}
	if name, _, called := strings.Cut(text, "("); called && l.named(name) != nil {
		return true
	}
	return a.free() || beside(a.key, &node{text: text}) || bytes.IndexByte(a.word, '{') >= 0 ||
		l.named(text) != nil
}

// parameter reports whether some tool has a parameter with this name. The name must be folded: in
// small letters, without separators. The names of all parameters are folded only once, because
// hostile text may have a brace at each byte.
func (a *Ahead) parameter(key string) bool {
	if a.own == nil {
		a.own = map[string]bool{}
		for _, name := range a.tools.MemberNames() {
			a.own[fold(name)] = true
		}
	}
	return a.own[key]
}
