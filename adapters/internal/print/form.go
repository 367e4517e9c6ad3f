package print

import (
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/form"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// formed prints calls in a [form.Form].
type formed struct{ *form.Form }

// calls appends all calls of one message to dst, in the family's form.
func (f formed) calls(dst []byte, calls []chat.Call) []byte {
	var all []string
	for i, c := range calls {
		all = append(all, f.call(c, i))
	}
	return append(dst, around(f.Calls, all)...)
}

// call returns one call as text. The parameter n is the index of the call among those of its
// message.
func (f formed) call(c chat.Call, n int) string {
	args := scan.Fields(string(c.Args))
	e := f.Call[0]
	if len(args) == 0 && len(f.Call) > 1 {
		e = f.Call[1]
	}
	body := f.body(e, c, args)
	var b strings.Builder
	for _, p := range e {
		switch p.Placeholder {
		case "":
			b.WriteString(p.Lit)
		case "name":
			b.WriteString(c.Name)
		case "id":
			b.WriteString(c.ID)
		case "index":
			b.WriteString(strconv.Itoa(f.First + n))
		case "count":
			b.WriteString(strconv.Itoa(len(args)))
		case "length":
			size := len(body)
			if f.Runes {
				size = utf8.RuneCountInString(body)
			}
			b.WriteString(strconv.Itoa(size))
		default:
			b.WriteString(body)
		}
	}
	return b.String()
}

// body returns the arguments as text for the placeholder that stands for all arguments in the
// example e. It returns "" if the example has no such placeholder.
func (f formed) body(e form.Example, c chat.Call, args []scan.Field) string {
	for _, p := range e {
		switch p.Placeholder {
		case "json":
			return f.json().Value(string(c.Args))
		case "quoted":
			return schema.Quote(f.json().Value(string(c.Args)))
		case "args":
			var all []string
			for _, m := range args {
				all = append(all, f.member(f.Arg, m, "", ""))
			}
			return around(f.Args, all)
		}
	}
	return ""
}

// around joins the texts of calls, arguments, members or elements, with the texts that the form has
// before, between and after them.
func around(s form.Series, all []string) string {
	return s.Open + strings.Join(all, s.Between) + s.Close
}

// member returns an argument, a member of an object or an element of a list as text, by filling in
// the example e. The parameter pad is the text for {indent}, and inner is that for {indent} inside
// the value.
func (f formed) member(e form.Example, m scan.Field, pad, inner string) string {
	var b strings.Builder
	for _, p := range e {
		switch p.Placeholder {
		case "":
			b.WriteString(p.Lit)
		case "key":
			b.WriteString(m.Key)
		case "type":
			b.WriteString(f.typeOf(m.Value))
		case "indent":
			b.WriteString(pad)
		default:
			b.WriteString(f.value(m.Value, inner))
		}
	}
	return b.String()
}

// typeWords contains the words of {type} by the first byte of a value. The byte 'i' is for
// integers, and '0' for other numbers.
var typeWords = map[string]map[byte]string{
	"json": {'"': "string", 'i': "integer", 'n': "null", 't': "boolean", 'f': "boolean",
		'{': "object", '[': "array", '0': "number"},
	"number": {'"': "string", 'i': "number", 'n': "null", 't': "boolean", 'f': "boolean",
		'{': "object", '[': "array", '0': "number"},
	"python": {'"': "str", 'i': "int", 'n': "None", 't': "bool", 'f': "bool", '{': "dict",
		'[': "list", '0': "float"},
}

// typeOf returns the word that the form prints for the type of the JSON value raw, such as
// "integer" or "int" for 5.
func (f formed) typeOf(raw string) string {
	first := strings.TrimSpace(raw)[0]
	if first == '-' || first >= '0' && first <= '9' {
		if first = 'i'; strings.ContainsAny(raw, ".eE") {
			first = '0'
		}
	}
	return typeWords[f.Types][first]
}

// value returns the text of a value that is given as JSON. Empty objects and lists are always {}
// and []. The parameter pad is the text for {indent} in the value.
func (f formed) value(raw, pad string) string {
	raw = strings.TrimSpace(raw)
	switch kind := schema.KindOf(raw); {
	case kind == schema.String:
		text := scan.Unquote(raw)
		if len(f.Block) > 0 && strings.Contains(text, "\n") && !strings.HasSuffix(text, "\n") &&
			strings.TrimLeft(text, " \n") == text {
			head, front, _ := strings.Cut(f.Block[0].Lit, "\n")
			front = "\n" + front + pad
			return head + front + strings.ReplaceAll(text, "\n", front)
		}
		return f.Plain + f.text(text)
	case f.Values == "nested" && kind == schema.Object:
		return f.nested(f.Object, f.Member, scan.Fields(raw), pad, pad+f.Indent, "{}")
	case f.Values == "nested" && kind == schema.Array:
		return f.nested(f.List, f.Element, elements(raw), pad, pad+f.Step, "[]")
	}
	return f.Plain + f.escaped(f.json().Value(raw))
}

// nested returns the members of an object or the elements of a list as text, or the parameter none
// if there are none. Each is printed by filling in the example e, and s has the texts before,
// between and after them. The parameter pad is the text for {indent}, and inner is that for
// {indent} inside the values.
func (f formed) nested(s form.Series, e form.Example, members []scan.Field, pad, inner,
	none string) string {
	var all []string
	for _, m := range members {
		all = append(all, f.member(e, m, pad, inner))
	}
	if len(all) == 0 {
		return none
	}
	return around(s, all)
}

// elements returns the elements of a JSON list, as fields without names.
func elements(list string) (all []scan.Field) {
	text := strings.TrimPrefix(strings.TrimSpace(list), "[")
	for {
		if text = strings.TrimLeft(text, ", \t\r\n"); text == "" || text[0] == ']' {
			return all
		}
		_, rest := JSON.append(nil, text)
		all, text = append(all, scan.Field{Value: text[:len(text)-len(rest)]}), rest
	}
}

// json returns the spelling of all values for which the form has no syntax of its own.
func (f formed) json() *Spelling {
	switch f.Values {
	case "python":
		return Python
	case "compact":
		return compact
	}
	return JSON
}

// compact is JSON without blanks.
var compact = func() *Spelling {
	s := *JSON
	s.Comma, s.List.Comma = ",", ","
	s.key = func(dst []byte, quoted string) []byte { return append(appendString(dst, quoted), ':') }
	return &s
}()

// text returns a string as the form writes strings, with its quotation marks and escapes.
func (f formed) text(s string) string {
	switch f.Strings {
	case "json":
		s = JSON.Value(schema.Quote(s))
	case "python":
		s = Python.Value(schema.Quote(s))
	}
	return f.escaped(f.Quote + s + f.Quote)
}

// escaped returns the text of a value with the escapes of the form.
func (f formed) escaped(text string) string {
	switch f.Escape {
	case "xml":
		return html.EscapeString(text)
	case "url":
		return url.QueryEscape(text)
	}
	return text
}
