package notation

import (
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat/schema"
)

// lines reads the value of a parameter that extends over several lines, or has named parts.
type lines struct {
	*reader
	key  key
	next int          // where the next parameter begins
	of   *schema.Type // the type of the value
}

// nested reads the value of a parameter that is an object. The members of the object are named
// between this parameter and the next, by the same rules as the parameters of a tool. It returns
// false if the parameter is not an object, or if its members cannot be read.
func (l *lines) nested() (m member, ok bool) {
	t, from := l.of, l.key.at+1
	if !t.Only(schema.Object|schema.Null) || len(t.Members()) == 0 {
		return m, false
	}
	end := from
	for end < len(l.tokens) && l.tokens[end].from < l.next {
		end++
	}
	in := reader{text: l.text[:l.next], tools: l.tools, tokens: l.tokens[from:end], said: l.said,
		tool: l.tool, typ: t, outer: l.key.name, tries: l.tries}
	in.fold()
	if !in.places() {
		return m, false
	}
	value, ok := in.arguments()
	return member{value: value, end: l.next, inner: true}, ok
}

// elements reads the value of a parameter that is a list in tags, as in
// <item>a</item><item>b</item>. All tags must have the same name, and one that means an element,
// such as item. It returns the list and the position where it ends, and false if there is no such
// list or it does not fit the schema.
func (l *lines) elements() (string, int, bool) {
	j, next, t := l.key.at+1, l.next, l.of
	for j < len(l.tokens) && l.tokens[j].inner != ">" {
		if kind := l.tokens[j].kind; kind == aWord || kind == aText {
			return "", 0, false
		}
		j++
	}
	if j >= len(l.tokens) || l.tokens[j].from >= next || !t.Only(schema.Array|schema.Null) {
		return "", 0, false
	}
	from, name, all := l.tokens[j].to, "", []string(nil)
	for {
		rest := strings.TrimLeft(l.text[from:next], " \t\r\n")
		tag, behind, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		closer := "</" + tag + ">"
		item, _, closed := strings.Cut(behind, closer)
		if !ok || !closed || !strings.HasPrefix(rest, "<"+tag) || wordSize(tag) != len(tag) ||
			roleOf(tag)&structural == 0 && tag+"s" != l.key.name ||
			name != "" && tag != name || strings.ContainsAny(item, "<>") {
			break
		}
		value, ok := l.literal(item, t.Item(), item)
		if !ok {
			return "", 0, false
		}
		name, all = tag, append(all, value)
		from = next - len(behind) + len(item) + len(closer)
	}
	list := "[" + strings.Join(all, ",") + "]"
	return list, from, len(all) > 0 && lenient.Fits(list, t)
}
