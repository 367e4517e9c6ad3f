package derive

import (
	"fmt"
	"strings"

	"toolnorm/chat"
)

// nested returns the lines of a declaration that say how objects and lists inside arguments are
// written. It returns "" if the template prints them in a way that cannot be described.
func (p *printer) nested(i items, one, quote string) string {
	flat, list := `{"oryx": {"p": "cat", "q": "dog"}}`, `{"newt": ["cat", "dog"]}`
	object, ok := p.seriesIn(p.valueOf(i, one, quote, "oryx", flat), quote, true)
	elements, ok2 := p.seriesIn(p.valueOf(i, one, quote, "newt", list), quote, false)
	if !ok || !ok2 || !strings.HasSuffix(object.mid, i.plain) ||
		!strings.HasSuffix(elements.before, i.plain) {
		return ""
	}
	object.mid, elements.before = strings.TrimSuffix(object.mid, i.plain),
		strings.TrimSuffix(elements.before, i.plain)
	deep := p.valueOf(i, one, quote, "oryx", `{"oryx": {"q": {"p": "cat", "q": "dog"}}}`)
	_, deep, _ = strings.Cut(deep, "q"+object.mid)
	indent := ""
	if inner, ok := p.seriesIn(deep, quote, true); ok && len(inner.before) > len(object.before) {
		indent = strings.Repeat(" ", len(inner.before)-len(object.before))
	}
	lines := fmt.Sprintf("form    values nested\nform    member %s\nform    element %s\n",
		object.item("{key}", indent), elements.item("", indent))
	if indent != "" {
		lines += "form    indent " + markEdges(indent) + "\n"
	}
	// a list may indent its elements less than an object its members
	_, within, _ := strings.Cut(p.valueOf(i, one, quote, "newt",
		`{"newt": [{"p": "cat", "q": "dog"}]}`), elements.before)
	if inner, ok := p.seriesIn(within, quote, true); ok && indent != "" {
		if n := len(inner.before) - len(object.before); n >= 0 && n < len(indent) {
			lines += "form    step " + markEdges(indent[:n]) + "\n"
		}
	}
	return lines + object.around("object", "{member}") + elements.around("list", "{element}")
}

// around returns the form line of the given kind, which says how an object or a list is written. It
// has the texts before, between and after the items, and what stands for an item. around
// returns "" if there are no such texts.
func (s series) around(kind, placeholder string) string {
	if s.open+s.between+s.close == "" {
		return ""
	}
	e := escapeLiteral.Replace
	return "form    " + kind + " " +
		markEdges(e(s.open)+placeholder+e(s.between)+placeholder+e(s.close)) + "\n"
}

// block returns the line of a declaration that says how a text of several lines is indented, as in
// YAML. It returns "" if the template prints such texts like other texts.
func (p *printer) block(i items, one, quote string) string {
	value := p.valueOf(i, one, quote, "okapi", `{"lemur": "wombat", "okapi": "cat\ndog"}`)
	head, rest, ok := strings.Cut(value, "\n")
	front, _, ok2 := strings.Cut(rest, "cat")
	if !ok || !ok2 || rest != front+"cat\n"+front+"dog" || strings.TrimLeft(front, " ") != "" {
		return ""
	}
	return "form    block " + markEdges(escapeLiteral.Replace(head+"\n"+front)+"{indent}{line}") +
		"\n"
}

// valueOf returns the text that a template prints for the value of the argument named key. It
// renders a call with the arguments args, a JSON object, and removes the text around the value.
// What follows the value must be the same as in the parameter one, which is another rendered call.
// Otherwise valueOf returns "".
func (p *printer) valueOf(i items, one, quote, key, args string) string {
	text := p.show(chat.Call{ID: gnus[0].ID, Name: "store_yaks", Args: []byte(args)})
	at := strings.LastIndex(one, "numbat")
	_, value, ok := strings.Cut(text, key+i.mid)
	if !ok || at < 0 {
		return ""
	}
	tail := strings.NewReplacer("fetch_gnus", "store_yaks", "okapi", key).Replace(
		strings.TrimPrefix(one[at+len("numbat"):], quote))
	value, ok = strings.CutSuffix(value, tail)
	if !ok {
		return ""
	}
	return value
}

// seriesIn returns the literals around two members in the text of a value, or around two elements
// if named is false. It returns false if they are not found, or are written in different ways.
func (p *printer) seriesIn(value, quote string, named bool) (series, bool) {
	first, second := strings.Index(value, "cat"), strings.LastIndex(value, "dog")
	if first < 0 || second < first {
		return series{}, false
	}
	between, tail := value[first+3:second], value[second+3:]
	if !named {
		return seriesOf(strings.TrimSuffix(value[:first], quote), quote, quote,
			strings.TrimSuffix(between, quote), tail, "", "", quote, false)
	}
	k1 := strings.LastIndex(strings.TrimSuffix(value[:first], quote), "p")
	if k1 < 0 {
		return series{}, false
	}
	mid := value[k1+1 : first]
	k2 := strings.LastIndex(between, "q"+mid)
	if k2 < 0 {
		return series{}, false
	}
	head := value[:k1]
	// <p>cat</p>
	if again := strings.Index(between[:k2], "p"); again >= 0 && strings.Contains(tail, "q") {
		end := strings.Index(tail, "q")
		return seriesOf(head, mid, mid, between[again+1:k2], tail[end+1:], between[:again],
			tail[:end], quote, true)
	}
	return seriesOf(head, mid, mid, between[:k2], tail, "", "", quote, false)
}
