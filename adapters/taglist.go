package adapters

import (
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat/schema"
)

// listOf returns a text as a JSON list if the schema allows only a list and the text is a list in
// another notation: in tags, in lines with a dash, or separated by commas. Otherwise it returns
// false. Texts separated by commas may be one text. Such a text is returned as a JSON string, which
// does not fit the schema, so the model is asked for it again.
func listOf(text string, t *schema.Type) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if !t.Only(schema.Array|schema.Null) || trimmed == "" ||
		strings.IndexByte("{[(\"", trimmed[0]) >= 0 {
		return "", false
	}
	items, ok := taggedItems(trimmed)
	if !ok {
		items, ok = dashedItems(trimmed)
	}
	if !ok && strings.ContainsAny(trimmed, ",;\n") {
		items = strings.FieldsFunc(trimmed, func(r rune) bool {
			return r == ',' || r == ';' || r == '\n'
		})
		if ok = !t.Item().Allows(schema.String) || t.Item().Enum() != nil; !ok {
			return schema.Quote(text), true
		}
	}
	if !ok {
		return "", false
	}
	// \" and \n in an element are JSON escapes, or part of its text
	if t.Item().Allows(schema.String) && strings.Contains(strings.Join(items, ""), `\`) {
		return schema.Quote(text), true
	}
	for i := range items {
		items[i] = lenient.FromText(strings.TrimSpace(items[i]), t.Item())
	}
	return "[" + strings.Join(items, ",") + "]", true
}

// taggedItems returns the texts of a list in tags of one name, <item>a</item><item>b</item>. It
// returns false for any other text, and if there is text between the tags. The name does not
// matter: <item> is the most common, but <label> and <li> mean the same.
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

// dashedItems returns the texts of a list in lines that all begin with a dash or a star. It returns
// false if one line does not, since the text then contains a list but is not one.
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
