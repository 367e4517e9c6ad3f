package notation

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/chat/schema"
)

// table is a row of names followed by one row of values, with the text before and after the two.
type table struct {
	*reader
	front, behind string
	names, values []string
}

// rows reads a text that has its parameters in one row and their values in the next row, in the
// same order, and returns the values as an object. Examples are a table in Markdown,
// comma-separated values, and INSERT INTO calls (tool, city) VALUES (...). A name that is not a
// parameter must be a word such as "tool", with the tool's name below it. It returns false for any
// other text, and if the text around the rows has words that do not belong to a call.
func (r *reader) rows() (string, bool) {
	t, ok := tableIn(r.text)
	t.reader = r
	if !ok || len(t.names) != len(t.values) {
		return "", false
	}
	named, chosen, keys, values := 0, map[string]bool{}, []key(nil), []string(nil)
	for i, name := range t.names {
		name, _ = quotedAll(name)
		param, cell := r.param(name), t.values[i]
		inner, _ := quotedAll(cell)
		switch {
		case roleOf(name)&structural != 0 && (param == "" || !r.typ.Has(name)) &&
			r.tools.Named(inner) == r.tool:
			named++
		case param == "" || chosen[param]:
			return "", false
		case cell == "": // an optional parameter without a value
		default:
			value, ok := t.cell(cell, r.typ.Prop(param))
			if !ok {
				return "", false
			}
			chosen[param] = true
			keys, values = append(keys, key{name: param}), append(values, value)
		}
	}
	around, ok := t.around(t.front + "\n" + t.behind)
	if !ok || named+around != 1 || len(keys) == 0 {
		return "", false
	}
	return r.object(keys, values)
}

// around returns how often the tool is named in a text before or after the table. It returns false
// if the text has words that are neither the tool's name nor part of the notation.
func (t *table) around(text string) (named int, ok bool) {
	l := rest{reader: &reader{text: text, tools: t.tools, tokens: lex(text), said: t.said,
		tool: t.tool, typ: t.typ, folded: t.folded}, marks: map[string][2]int{}, last: -1}
	for i, token := range l.tokens {
		if (token.kind == aWord || token.kind == aText) && !l.word(i) {
			return 0, false
		}
	}
	t.shell = t.shell || l.shell
	return l.named, len(l.marks) == 0
}

// cell returns the value in a cell of a table as JSON, and false if the value does not fit the type
// or is not clear.
func (t *table) cell(text string, typ *schema.Type) (string, bool) {
	if strings.IndexByte("[{", text[0]) >= 0 {
		value, size, ok := t.structured(text, typ)
		return value, ok && size == len(text)
	}
	inner, inQuotes := quotedAll(text)
	if !inQuotes && (strings.ContainsAny(text, "\"`<>") || t.hasSigns(text)) {
		return "", false
	}
	value, ok := t.literal(inner, typ, text)
	return value, ok && lenient.Fits(value, typ)
}

// inserted matches two lists in brackets with one word between them.
var inserted = regexp.MustCompile(`(?s)^([^()]*)\(([^()]*)\)\s*(\pL+)\s*\((.*)\)([^()]*)$`)

// tableIn finds in a text a row of names and the row of their values below it, and returns false if
// there are none. In Markdown a line without words, such as |---|---|, may be between them.
func tableIn(text string) (t table, ok bool) {
	if m := inserted.FindStringSubmatch(text); m != nil {
		return table{nil, m[1] + m[3], m[5], cells(m[2], ","), cells(m[4], ",")}, true
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		sep := separatorOf(line)
		if sep == "" {
			continue
		}
		below := i + 1
		if sep == "|" && below < len(lines) && strings.Trim(lines[below], "|-: \t\r") == "" {
			below++
		}
		if below >= len(lines) || separatorOf(lines[below]) == "" {
			return t, false
		}
		return table{nil, strings.Join(lines[:i], "\n"), strings.Join(lines[below+1:], "\n"),
			cells(line, sep), cells(lines[below], sep)}, true
	}
	return t, false
}

// separatorOf returns the sign that separates the cells of a line, or "" if the line has no cells.
func separatorOf(line string) string {
	for _, sep := range []string{"|", "\t", ";", ","} {
		if strings.Contains(strings.TrimSpace(line), sep) {
			return sep
		}
	}
	return ""
}

// cells returns the cells of a line. Separators in quotation marks and in brackets are part of a
// cell.
func cells(line, sep string) (all []string) {
	line = strings.TrimSpace(line)
	if sep == "|" {
		line = strings.TrimSuffix(strings.TrimPrefix(line, sep), sep)
	}
	from, depth := 0, 0
	for _, t := range lex(line) {
		switch {
		case t.kind == aText:
		case strings.Contains("[{(", t.inner):
			depth++
		case strings.Contains(")}]", t.inner):
			depth--
		case t.inner == sep && depth == 0:
			all = append(all, strings.TrimSpace(line[from:t.from]))
			from = t.to
		}
	}
	return append(all, strings.TrimSpace(line[from:]))
}
