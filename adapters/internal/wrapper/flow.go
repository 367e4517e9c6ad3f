package wrapper

import (
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// flow reads a value of YAML on one line, as in {kind: line, from: [0, 0]}. The field text is the
// part that is not read yet.
type flow struct{ text string }

// value reads a mapping, a sequence, a quoted text, or a plain value that ends before a comma or a
// closing bracket. It returns nil if the text does not begin with such a value.
func (f *flow) value() *node {
	f.blanks()
	var n *node
	switch before := f.text; {
	case before == "":
	case before[0] == '{' || before[0] == '[':
		if n = f.members(); n != nil {
			n.text = before[:len(before)-len(f.text)]
		}
	case before[0] == '"' || before[0] == '\'':
		n = f.quoted(before[:1])
	default:
		n = f.plain()
	}
	f.blanks()
	return n
}

// members reads the content of a mapping or a sequence with its brackets. It returns nil if a part
// of it is not a value, or if a key of a mapping is not a plain name.
func (f *flow) members() *node {
	n, closer := &node{kind: anObject}, byte('}')
	if f.text[0] == '[' {
		n.kind, closer = aList, ']'
	}
	f.text = f.text[1:]
	for f.blanks(); f.text != "" && f.text[0] != closer; f.blanks() {
		name := ""
		if n.kind == anObject {
			key, behind, ok := strings.Cut(f.text, ": ")
			if name = strings.Trim(key, `"'`); !ok || name == "" ||
				strings.ContainsFunc(name, func(r rune) bool { return !scan.IsName(int(r)) }) {
				return nil
			}
			f.text = behind
		}
		v := f.value()
		if v == nil {
			return nil
		}
		if n.kind == aList {
			n.items = append(n.items, v)
		} else {
			n.members = append(n.members, member{name, v})
		}
		if behind, ok := strings.CutPrefix(f.text, ","); ok {
			f.text = behind
		} else if f.text == "" || f.text[0] != closer {
			return nil
		}
	}
	if f.text == "" {
		return nil
	}
	f.text = f.text[1:]
	return n
}

// quoted reads a text in quotation marks of the kind mark. It returns nil if the text could be read
// in two ways, or has no end.
func (f *flow) quoted(mark string) *node {
	inner, behind, ok := strings.Cut(f.text[1:], mark)
	if !ok || strings.Contains(inner, `\`) || strings.HasPrefix(behind, mark) {
		return nil
	}
	f.text = behind
	return ofJSON(schema.Quote(inner))
}

// plain reads a text without quotation marks up to a comma or a closing bracket, such as the text
// line in {kind: line}. It returns nil if the text is empty, or has signs with a meaning in YAML.
func (f *flow) plain() *node {
	i := strings.IndexAny(f.text, ",]}")
	if i < 0 {
		return nil
	}
	text := strings.TrimSpace(f.text[:i])
	if f.text = f.text[i:]; text == "" || strings.ContainsAny(text, "{[\"'#&*!|>%@`") ||
		strings.Contains(text, ": ") {
		return nil
	}
	return &node{text: text, cdata: true}
}

// blanks skips blanks.
func (f *flow) blanks() { f.text = strings.TrimLeft(f.text, " \t") }
