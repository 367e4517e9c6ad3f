package wrapper

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// coded reads a text that consists only of the arguments of a tool, in any notation for one object:
// JSON, lines, pairs or bullets. It returns nil for any other text.
func coded(text string, t *toolset.Tool) *node {
	if label, inner, ok := fenceAround(text); ok {
		if label != "" && label != "json" && !documentLabels[label] {
			return nil
		}
		text = inner
	} else if inner, ok := strings.CutPrefix(text, "`"); ok && strings.HasSuffix(inner, "`") {
		text = strings.TrimSpace(strings.TrimSuffix(inner, "`"))
	}
	switch {
	case text == "":
		return nil
	case text[0] == '{':
		if n := readJSON(text); n != nil && n.kind == anObject {
			return n
		}
		return nil
	// (city: "Paris"), [city="Paris"]
	case text[0] == '(' && strings.HasSuffix(text, ")"),
		text[0] == '[' && strings.HasSuffix(text, "]"):
		return pairs(text[1:len(text)-1], t.Type())
	}
	if n := pairs(text, t.Type()); n != nil {
		return n
	}
	if odd.MatchString(text) {
		return nil
	}
	// city: Paris⏎days: 3
	if n := readLines(text); n != nil && n.kind == anObject {
		return n
	}
	return bullets(text)
}

// odd matches parts of YAML other than plain values: comments, anchors, tags, folded texts and
// doubled quotation marks. A text with one of these is not read as a call.
var odd = regexp.MustCompile(`(?m)(?:^|\s)#|[:\-] +[&*!>%@|]|''`)

// bullets reads a list with one member of an object in each element, such as "- city: Paris". It
// returns nil for any other text.
func bullets(text string) *node {
	n := readLines(text)
	if n == nil || n.kind != aList {
		return nil
	}
	out := &node{kind: anObject}
	for _, item := range n.items {
		key, value, ok := strings.Cut(item.text, ":")
		if item.kind != aText || !ok {
			return nil
		}
		out.members = append(out.members, member{strings.TrimSpace(key), lineValue(value)})
	}
	return out
}

// pairs reads names and values that are written one after the other:
//
//	--city Paris --days=3          the flags of a program
//	city="Paris", days=3           assignments; in parentheses also with colons
//	:city "Paris" :days 3          keys of a property list
//	(city "Paris") (days . 3)      lists of two
//	city=New%20York&days=3         a query
//
// All pairs must be in one notation, and each name must be a parameter of t. Otherwise, and if
// there are no pairs, it returns nil.
func pairs(text string, t *schema.Type) *node {
	p := pairReader{text: strings.TrimSpace(text), typ: t}
	if p.query() {
		return p.n
	}
	p.n = &node{kind: anObject}
	for p.text != "" {
		if !p.pair() || !p.gap() && p.text != "" {
			return nil
		}
	}
	if len(p.n.members) == 0 {
		return nil
	}
	return p.n
}

// pairReader reads pairs of a name and a value from the beginning of the field text, and removes
// them from it.
type pairReader struct {
	text string
	typ  *schema.Type // has the keys as its parameters; nil allows any key
	n    *node
	form string // the signs before and after the key of the first pair
}

// has reports whether the tool has a parameter with the name key, which means that the field typ
// has such a member. If typ is nil, it returns true for every key.
func (p *pairReader) has(key string) bool { return p.typ == nil || p.typ.Has(key) }

// key matches the name of a parameter with the signs before and after it.
var key = regexp.MustCompile(`^(--|:|\(|)([A-Za-z_][\w.-]*)(\s*(?::=|=)\s*|:\s+|\s+\.\s+|[ \t]+|$)`)

// query reads the field text as the query of a URL, such as city=Rome&days=3, into the field n. It
// returns false if the text is not a query.
func (p *pairReader) query() bool {
	if strings.ContainsAny(p.text, " \n\"'+") || !strings.ContainsAny(p.text, "?&") ||
		strings.ContainsRune(".!:", rune(p.text[len(p.text)-1])) {
		return false
	}
	n := &node{kind: anObject}
	for _, part := range strings.Split(strings.TrimPrefix(p.text, "?"), "&") {
		key, value, ok := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(value)
		if !ok || err != nil || !p.has(key) || strings.ContainsAny(value, "=,;|<>()$`\\{}[]*") {
			return false
		}
		n.members = append(n.members, member{key, &node{text: plain, cdata: true}})
	}
	p.n = n
	return true
}

// pair reads one pair, a name and its value, into the field n. It returns false if the text does
// not begin with a pair, or if this pair is in another notation than the pairs before.
func (p *pairReader) pair() bool {
	m := key.FindStringSubmatch(p.text)
	if m == nil {
		return false
	}
	front, name, sign := m[1], m[2], strings.TrimSpace(m[3])
	// --guest-name
	if front == "--" && !p.has(name) {
		name = strings.ReplaceAll(name, "-", "_")
	}
	if form := front + " " + sign; p.form == "" {
		p.form = form
	} else if p.form != form && front != "--" {
		return false
	}
	// a word by itself is text
	if !p.has(name) || front == "" && sign == "" || front == ":" && sign != "" ||
		front == "--" && sign != "" && sign != "=" {
		return false
	}
	p.text = p.text[len(m[0]):]
	prop := p.typ.Prop(name)
	if front == "--" && sign == "" && prop.Only(schema.Boolean|schema.Null) &&
		(p.text == "" || strings.HasPrefix(p.text, "--")) {
		p.n.members = append(p.n.members, member{name, &node{text: "true"}})
		p.text = " " + p.text
		return true
	}
	v := p.value(front == "(")
	if v == nil {
		return false
	}
	// t and nil of Lisp
	if (front == ":" || front == "(") && prop.Only(schema.Boolean|schema.Null) &&
		(v.text == "t" || v.text == "nil") {
		v.text = map[string]string{"t": "true", "nil": "false"}[v.text]
	}
	p.n.members = append(p.n.members, member{name, v})
	if front == "(" {
		inner, ok := strings.CutPrefix(strings.TrimLeft(p.text, " \t\n"), ")")
		p.text = inner
		return ok
	}
	return true
}

// value reads a value: in quotation marks, in brackets, or one word without signs that a shell or a
// program interprets. It returns nil if the text does not begin with such a value. If listed is
// true, the value is in parentheses, and a word may begin with a hyphen.
func (p *pairReader) value(listed bool) *node {
	if p.text == "" {
		return nil
	}
	size := 0
	switch c := p.text[0]; c {
	case '"', '\'':
		for size = 1; size < len(p.text) && p.text[size] != c; size++ {
			if p.text[size] == '\\' {
				size++
			}
		}
		if size >= len(p.text) {
			return nil
		}
		quoted := p.text[:size+1]
		p.text = p.text[size+1:]
		return quotedValue(quoted)
	case '{', '[':
		var raw json.RawMessage
		d := json.NewDecoder(strings.NewReader(p.text))
		if d.Decode(&raw) != nil {
			return nil
		}
		p.text = p.text[d.InputOffset():]
		return ofJSON(string(raw))
	}
	size = strings.IndexAny(p.text, " \t\r\n,)")
	if size < 0 {
		size = len(p.text)
	}
	word := p.text[:size]
	// a sign at the end may belong to the sentence
	if word == "" || strings.ContainsRune(".!?:", rune(word[len(word)-1])) ||
		strings.ContainsAny(word, "\"'`|<>;$&*(){}[]\\=#~“”„«»「」『』‘’″′") ||
		!listed && strings.HasPrefix(word, "-") && strings.Trim(word, "-.0123456789") != "" {
		return nil
	}
	p.text = p.text[size:]
	return &node{text: word, cdata: true}
}

// quotedValue returns the content of a text in quotation marks. It returns nil if a part of the
// text has a special meaning in some notation, such as $name in a shell.
func quotedValue(quoted string) *node {
	inner := quoted[1 : len(quoted)-1]
	switch {
	case quoted[0] == '\'' && strings.Contains(inner, `\`),
		dollar.MatchString(inner) && quoted[0] == '"':
		return nil
	case quoted[0] == '"' && strings.Contains(inner, `\`):
		n := readJSON(quoted)
		if n == nil || n.json == "" {
			return nil
		}
		inner = n.text
	}
	return &node{text: inner, cdata: true}
}

// dollar matches text that a shell replaces: variables and commands.
var dollar = regexp.MustCompile("\\$[\\w({]|`")

// gap skips the separator between two pairs, such as a comma or blanks, and reports whether there
// was one. If the value before it ends in a comma or another separator, as in "Paris," days=3,
// blanks alone are no separator, because that comma may have been meant to come after the quotation
// mark.
func (p *pairReader) gap() bool {
	before := len(p.text)
	p.text = strings.TrimLeft(p.text, " \t\r")
	last := p.n.members[len(p.n.members)-1].value.text
	separated := last == "" || strings.IndexByte(",;|\n", last[len(last)-1]) < 0
	for _, sep := range []string{",", ";", "\\\n", "\\\r\n"} {
		if rest, ok := strings.CutPrefix(p.text, sep); ok {
			p.text, separated = rest, true
			break
		}
	}
	p.text = strings.TrimLeft(p.text, " \t\r\n")
	return separated && len(p.text) < before
}

// assigned reads a document of assignments as in TOML: lines of the form key = value, below the
// name of a table. It returns nil for any other text, and if no tool is named in the document.
func (l *law) assigned(text string) *node {
	root := &node{kind: anObject}
	at := root
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		// [tool_call.arguments]
		if m := table.FindStringSubmatch(line); m != nil {
			path := []string{m[2]}
			if l.named(m[2]) == nil {
				path = strings.Split(m[2], ".")
			}
			if len(m[1]) != len(m[3]) || len(path) > maxDepth {
				return nil
			}
			if at = root.table(path, m[1] != "["); at == nil {
				return nil
			}
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || value == "" ||
			strings.IndexFunc(name, func(r rune) bool { return !scan.IsName(int(r)) }) >= 0 {
			return nil
		}
		v := assignedValue(value)
		if v == nil {
			return nil
		}
		at.members = append(at.members, member{name, v})
	}
	if !l.below(root, maxDepth) {
		return nil
	}
	return root
}

// table matches the head of a table in TOML, such as [tool_call.arguments].
var table = regexp.MustCompile(`^(\[\[?)([\w.-]+)(\]\]?)$`)

// table returns the object at a path, and creates the missing objects. If element is true, the
// object is a new element of the list at the path. It returns nil if the path already has another
// value.
func (n *node) table(path []string, element bool) *node {
	for i, name := range path {
		var inner *node
		for _, m := range n.members {
			if m.key == name {
				inner = m.value
			}
		}
		last := i == len(path)-1
		switch {
		case inner == nil && last && element:
			inner = &node{kind: aList}
			n.members = append(n.members, member{name, inner})
		case inner == nil:
			inner = &node{kind: anObject}
			n.members = append(n.members, member{name, inner})
		// a table may be written only once
		case last && !element:
			return nil
		}
		if inner.kind == aList {
			if last {
				inner.items = append(inner.items, &node{kind: anObject})
			}
			inner = inner.items[len(inner.items)-1]
		}
		if n = inner; n.kind != anObject || n.json != "" {
			return nil
		}
	}
	return n
}

// assignedValue returns the value after an equals sign: a text in quotation marks, an inline table,
// a number, true, false or a list. It returns nil for any other text.
func assignedValue(text string) *node {
	p := pairReader{text: text}
	v := p.value(false)
	if v == nil && text[0] == '{' && strings.HasSuffix(text, "}") {
		p.text = ""
		v = pairs(text[1:len(text)-1], nil)
	}
	// a word without quotes belongs to another notation: limit = fast
	if v == nil || p.text != "" || v.json == "" && strings.IndexByte("\"'{", text[0]) < 0 &&
		!json.Valid([]byte(v.text)) {
		return nil
	}
	return v
}
