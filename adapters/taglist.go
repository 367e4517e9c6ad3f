package adapters

import (
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat/schema"
)

// listOf reads a text as a list where the schema wants nothing else, and it lists things in a way
// that is not JSON's: in tags of their own, in lines with a dash, or separated by commas. Texts
// that commas separate may be one text; then the text stays, which fits nowhere, and is asked for
// again.
func listOf(text string, t *schema.Type) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if !t.Only(schema.Array|schema.Null) || trimmed == "" || strings.IndexByte("{[(\"", trimmed[0]) >= 0 {
		return "", false
	}
	items, ok := taggedItems(trimmed)
	if !ok {
		items, ok = dashedItems(trimmed)
	}
	if !ok && strings.ContainsAny(trimmed, ",;\n") {
		items = strings.FieldsFunc(trimmed, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
		if ok = !t.Item().Allows(schema.String) || t.Item().Enum() != nil; !ok {
			return schema.Quote(text), true
		}
	}
	if !ok {
		return "", false
	}
	// \" and \n in an element are JSON's, or its text
	if t.Item().Allows(schema.String) && strings.Contains(strings.Join(items, ""), `\`) {
		return schema.Quote(text), true
	}
	for i := range items {
		items[i] = lenient.FromText(strings.TrimSpace(items[i]), t.Item())
	}
	return "[" + strings.Join(items, ",") + "]", true
}

// taggedItems returns the texts of a list in tags of one name, <item>a</item><item>b</item>, with
// nothing between them. What the name is does not matter: <item> is the commonest, <label> and <li>
// mean the same.
func taggedItems(text string) (items []string, ok bool) {
	name, _, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	if !ok || text[0] != '<' || name == "" || strings.ContainsAny(name, "</ \n") {
		return nil, false
	}
	for text != "" {
		rest, opened := strings.CutPrefix(text, "<"+name+">")
		item, rest, closed := strings.Cut(rest, "</"+name+">")
		if !opened || !closed {
			return nil, false
		}
		items, text = append(items, item), strings.TrimSpace(rest)
	}
	return items, true
}

// dashedItems returns the texts of a list in lines that all begin with a dash or a star. One line
// without makes it a text that holds a list, which is not the same.
func dashedItems(text string) (items []string, ok bool) {
	for line := range strings.Lines(text) {
		item, dash := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !dash {
			item, dash = strings.CutPrefix(strings.TrimSpace(line), "* ")
		}
		if !dash {
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}
