package wrapper

import (
	"encoding/json"
	"regexp"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
)

// mark matches, at the start of a text, a special token with signs that do not occur in prose, or a
// word in square brackets: <|tool_call|>, <|/tool_call|>, [TOOL_CALL]. The package calls both of
// them marks.
var mark = regexp.MustCompile(
	`^(<[|｜]/?[^\s<>|｜]{1,40}[|｜]?>|</?[^\s<>|｜/]{1,40}[|｜]>|\[/?[A-Z][A-Z_]{3,}\])`)

// lastMark matches a mark at the end of a text.
var lastMark = regexp.MustCompile(
	`(<[|｜]/?[^\s<>|｜]{1,40}[|｜]?>|</?[^\s<>|｜/]{1,40}[|｜]>|\[/?[A-Z][A-Z_]{3,}\])$`)

// damaged matches a JSON text between two marks, each of which may be damaged.
var damaged = regexp.MustCompile(
	`^(<[/ ]{0,2}[|｜]?[\w ]{4,40}[|｜]? ?>?)\s*([{\[][\s\S]*[}\]])\s*(<?[/ ]{0,2}[|｜]?[\w ]{4,40}[|｜]? ?>?)$`)

// letters returns a tag or token without its brackets, bars, slashes and blanks: tool_call for
// <|/tool_call|>.
func letters(mark string) string { return strings.Trim(strings.ReplaceAll(mark, " ", ""), "<>/|｜") }

// between returns the text between two tags with the same word for a call, such as tool_call, if
// one of them is damaged or the closing one comes first. It returns "" for any other text.
func between(text string) string {
	m := damaged.FindStringSubmatch(text)
	if m == nil || letters(m[1]) != letters(m[3]) {
		return ""
	}
	if word := letters(m[1]); m[1] == "<"+word+">" && m[3] == "</"+word+">" {
		return "" // a normal element, whose text may be escaped
	}
	if word := fold(letters(m[1])); !kinds[word] && !strings.Contains(word, "call") {
		return ""
	}
	return m[2]
}

// document reads a whole text as one value, in the notation in which it begins. It returns nil if
// any part of the text is not in this notation.
func (l *law) document(text string) *node {
	text = l.unwrapped(text)
	if inner := between(text); inner != "" {
		text, l.marked = inner, true
	}
	switch {
	case text == "":
		return nil
	// [get_weather]⏎city = "Paris"
	case bracketed.MatchString(text):
		return l.loosely(text)
	// one value, or several in a row
	case text[0] == '{' || text[0] == '[' || text[0] == '"':
		if n := readJSON(text); n != nil {
			return n
		}
		return l.objectsOf(text)
	// tags to the end
	case text[0] == '<':
		n := readTags(text, 0)
		l.tagged = true
		if n != nil {
			l.marked = l.marked ||
				len(n.members) > 0 && kinds[strings.TrimSuffix(fold(n.members[0].key), "s")]
			return n
		}
		return l.loosely(text)
	// words of a reply are prose, unless marks, tags or a fence surround them
	case !l.marked && !l.tagged:
		if n := l.namedLines(text); n != nil {
			return n
		}
		if n := l.code(text); n != nil {
			return n
		}
		if n := l.nested(text); n != nil {
			return n
		}
		return l.loosely(text)
	}
	if n := l.applied(text); n != nil {
		return n
	}
	if n := l.loosely(text); n != nil {
		return n
	}
	return readLines(text)
}

// loosely reads a text in a form that no API and no model family uses: TOML, or a tool's name
// before one object. It returns nil for any other text. If it has read one, it raises the field
// form to at least Loose, which tells callers how certain the call is.
func (l *law) loosely(text string) *node {
	n := l.assigned(text)
	if n == nil {
		n = l.placed(text)
	}
	if n != nil {
		l.form = max(l.form, Loose)
	}
	return n
}

// maxMarks bounds how many marks may surround a text, and maxMark the length of one mark in bytes.
const (
	maxMarks = 6
	maxMark  = 128
)

// unwrapped returns a text without the marks (such as <|tool_call|>) and the fence around it. It
// sets the fields of l that say what was around the text.
func (l *law) unwrapped(text string) string {
	for range maxMarks {
		before := len(text)
		// [TOOL_CALL], <|tool_call|>
		if m := mark.FindString(text); m != "" {
			text, l.marked = strings.TrimSpace(text[len(m):]), true
		}
		if m := lastMark.FindString(text[max(0, len(text)-maxMark):]); m != "" && l.marked {
			text = strings.TrimSpace(text[:len(text)-len(m)])
		}
		label, inner, whole := fenceAround(text)
		switch {
		// the name of a tool, see [law.placed]
		case whole && l.named(label) != nil:
			return text
		case holds(label):
			// JSON and tags in such a fence are only shown
			if inner = strings.TrimSpace(inner); !whole || inner == "" ||
				strings.IndexByte("{[<\"", inner[0]) >= 0 && !bracketed.MatchString(inner) {
				return text
			}
			text, l.form = inner, Loose
			if commandLabels[strings.ToLower(label)] {
				l.form = Command
			}
		default:
			if inner := unfenced(text); inner != text {
				text, l.tagged = inner, true
			}
		}
		// invisible characters, see [scan.Buffer.ZeroWidth]
		text = strings.Trim(text, "\u200b\ufeff \r\n\t")
		if len(text) == before {
			break
		}
	}
	return text
}

// unfenced returns the content of a text that is a fence (```), without the label of the fence. It
// returns any other text unchanged.
func unfenced(text string) string {
	if !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") {
		return text
	}
	rest := strings.TrimLeft(text, text[:1]+"abcdefghijklmnopqrstuvwxyz_5")
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), text[:1]))
}

// objectsOf reads several JSON objects on lines of their own, as a list. It returns nil for any
// other text.
func (l *law) objectsOf(text string) *node {
	return readJSON("[" + strings.ReplaceAll(text, "}\n{", "},{") + "]")
}

// applied reads the name of a tool with its arguments after it: get_time({…}),
// get_time(timezone="UTC"), get_time{…}. It returns nil for any other text.
func (l *law) applied(text string) *node {
	i := 0
	for i < len(text) && isKeyByte(text[i]) {
		i++
	}
	// any other word may begin a sentence, or lines of YAML
	t := l.named(text[:i])
	if t == nil {
		return nil
	}
	rest, called := strings.TrimSpace(text[i:]), false
	// functions.get_time:0<|tool_call_argument_begin|>{…}
	if m := mark.FindString(rest); m != "" {
		rest = strings.TrimSpace(rest[len(m):])
	}
	// (zone="UTC") is like an object with other signs
	if inner, ok := strings.CutPrefix(rest, "("); ok && strings.HasSuffix(inner, ")") {
		rest = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
		// get_time(**{"zone": "UTC"})
		rest = strings.TrimPrefix(rest, "**")
		if !strings.HasPrefix(rest, "{") {
			args, left, ok := lenient.Keywords(inner, t.Name, t.Type())
			if !ok || strings.TrimSpace(inner[len(inner)-left:]) != "" {
				return nil
			}
			rest, called = args, true
		}
	}
	if !strings.HasPrefix(rest, "{") {
		return nil
	}
	args := readJSON(plainQuotes(rest))
	if args == nil {
		return nil
	}
	if called {
		args.json = args.compact() // as for other Python calls
	}
	n := &node{kind: anObject, members: []member{{t.Name, args}}}
	// functions.get_time:0 is also the call's id
	if name := text[:i]; counted.MatchString(name) {
		n.members = append([]member{{"id", &node{text: name}}}, n.members...)
	}
	return n
}

// counted matches the number of a call at the end of its name, as in get_time:0.
var counted = regexp.MustCompile(`:\d+$`)

// gemmaQuote is Gemma's quotation mark.
const gemmaQuote = `<|"|>`

// plainQuotes returns a text with plain quotation marks in place of Gemma's, <|"|>. It returns ""
// if that could change a value, because a mark is missing or a string has characters that JSON
// escapes.
func plainQuotes(text string) string {
	if !strings.Contains(text, gemmaQuote) {
		return text
	}
	if strings.Count(text, gemmaQuote)%2 == 1 ||
		strings.ContainsAny(strings.ReplaceAll(text, gemmaQuote, ""), "\"\\") {
		return ""
	}
	return strings.ReplaceAll(text, gemmaQuote, `"`)
}

// readLines reads members on lines of their own as in YAML, in the form name: value. Nested values
// are indented below the name. It returns nil for any other text.
func readLines(text string) *node {
	var lines []string
	for line := range strings.Lines(strings.TrimSuffix(text, "\n...")) {
		if line = strings.TrimRight(line, "\r\n"); line == "---" {
			line = ""
		}
		lines = append(lines, line)
	}
	n, rest := block(filled(lines))
	if len(rest) > 0 {
		return nil
	}
	return n
}

// filled returns the lines without empty lines at the beginning.
func filled(lines []string) []string {
	for len(lines) > 0 && empty(lines[0]) {
		lines = lines[1:]
	}
	return lines
}

// empty reports whether a line has only white space.
func empty(line string) bool { return strings.TrimSpace(line) == "" }

// indent returns the number of blanks with which a line begins.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// block reads the lines that are indented like the first line, and the lines nested below them, as
// one value. It returns the value and the lines that remain. The value is nil if a line is not a
// member or an element.
func block(lines []string) (*node, []string) {
	if len(lines) == 0 {
		return nil, nil
	}
	n, depth := new(node), indent(lines[0])
	for ; len(lines) > 0 && indent(lines[0]) == depth; lines = filled(lines) {
		line := strings.TrimRight(lines[0][depth:], " \t")
		// - red
		if item, ok := strings.CutPrefix(line, "- "); ok &&
			(n.kind == aList || len(n.members) == 0) {
			n.kind = aList
			below := 1
			for below < len(lines) && (empty(lines[below]) || indent(lines[below]) > depth) {
				below++
			}
			for below > 1 && empty(lines[below-1]) {
				below--
			}
			// - tool: get_time⏎  with:
			value := lineValue(item)
			if below > 1 {
				var left []string
				value, left = block(append([]string{strings.Repeat(" ", depth+2) + item},
					lines[1:below]...))
				if value == nil || len(left) > 0 {
					return nil, lines
				}
			}
			n.items, lines = append(n.items, value), lines[below:]
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || n.kind == aList ||
			strings.IndexFunc(key, func(r rune) bool { return !scan.IsName(int(r)) }) >= 0 {
			return nil, lines
		}
		n.kind, lines = anObject, lines[1:]
		// indented lines belong to the member; a list may have the indentation of its name
		below := 0
		for below < len(lines) &&
			(empty(lines[below]) || indent(lines[below]) > depth ||
				strings.HasPrefix(lines[below], strings.Repeat(" ", depth)+"- ")) {
			below++
		}
		for below > 0 && empty(lines[below-1]) {
			below--
		}
		v := belowKey(strings.TrimSpace(value), lines[:below])
		if v == nil {
			return nil, lines
		}
		n.members, lines = append(n.members, member{key, v}), lines[below:]
	}
	return n, lines
}

// belowKey returns the value of a member: the text after the colon or, if that is empty, the lines
// below. It returns nil if the value cannot be read.
func belowKey(value string, below []string) *node {
	switch {
	// with:⏎  zone: UTC
	case value == "" && len(below) > 0:
		n, rest := block(filled(below))
		if len(rest) > 0 {
			return nil
		}
		return n
	// body: |⏎  line one⏎  line two
	case value == "|" || value == "|-":
		return literal(below, value == "|")
	// a text that continues below: how its lines are joined is unknown
	case len(below) > 0:
		return nil
	}
	return lineValue(value)
}

// literal returns the text of a literal block of YAML, with a line break at its end if the
// parameter ends is true. It returns nil if there is no text, or if a line is indented less than
// the first one.
func literal(below []string, ends bool) *node {
	text := filled(below)
	if len(text) == 0 {
		return nil
	}
	depth := indent(text[0])
	var b strings.Builder
	for _, line := range below {
		if !empty(line) && indent(line) < depth {
			return nil
		}
		b.WriteString(line[min(depth, len(line)):] + "\n")
	}
	if ends {
		return &node{text: b.String(), cdata: true}
	}
	return &node{text: strings.TrimSuffix(b.String(), "\n"), cdata: true}
}

// lineValue returns the value on a line: JSON, a text in quotation marks, a flow mapping or
// sequence of YAML, or otherwise a plain text.
func lineValue(value string) *node {
	value = strings.TrimSpace(value)
	if value != "" && strings.IndexByte(`{["'`, value[0]) >= 0 {
		if json.Valid([]byte(value)) {
			return ofJSON(value)
		}
		f := flow{value}
		if n := f.value(); n != nil && f.text == "" {
			return n
		}
		if n := readJSON(value); n != nil {
			return n
		}
	}
	return &node{text: value}
}
