// Package worded reads calls that models write in words: after the labels of ReAct, and as JSON
// that is surrounded only by fences and an announcement.
//
// It does not read arguments itself. It finds a name and its arguments; package adapters decides
// whether they are a call and reads them, so that slips are repaired or refused as everywhere else.
// One rule covers the labels: a line with a label and the name of an offered tool, followed by
// arguments, is a call, whatever the language of the labels. Known labels (labels.txt) are needed
// where the arguments are a text or the tool is unknown.
//
//	worded.go  Reader: the order in which a reply is looked at; arguments and names
//	dress.go   what models put around a reply and its labels
//	lines.go   lines, their labels and roles
//	steps.go   calls after labels
//	objects.go calls in JSON
//	beside.go  arguments in JSON below or beside a name
//	programs.go calls in program text
//	answer.go  answers without their labels
//	begin.go   whether a text may become a call
package worded

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Reader finds calls in whole replies. Its fields are not changed while it reads.
type Reader struct {
	Tools []chat.Tool
	Also  map[string]string // further names of tools
	// Foreign reports whether a name is one of the client's own tools. Calls of these tools are
	// left in the text. If it is nil, there are no such tools.
	Foreign func(name string) bool
	// Messages are the conversation before the reply. If they show a call, the same call after
	// words in the reply does not count.
	Messages []chat.Message
}

// Longest is how many bytes a text may have. Longer texts are not searched, because calls are short
// and answers may be very long.
const Longest = 64 << 10

// Calls returns the first calls of a reply, in order, with only white space between them, or nil if
// there are none. The parameter end is how the reply ended (chat.Stop, chat.Length). A call of an
// unknown tool is included, under the name that the reply uses. A call that was cut is not
// included. The second result is what the model wrote before the calls.
func (r *Reader) Calls(text, end string) (calls []chat.Call, front string) {
	if len(text) > Longest || len(r.Tools) == 0 {
		return nil, ""
	}
	text = r.coloned(plain(r.unescaped(unwaiting(text))))
	if calls, front = r.steps(text, end); len(calls) > 0 {
		return calls, front
	}
	calls, front = r.objects(text, end)
	if strings.TrimSpace(front) != "" &&
		slices.ContainsFunc(calls, func(c chat.Call) bool {
			return adapters.Shown(r.Messages, c)
		}) {
		return nil, ""
	}
	return calls, front
}

// around matches a name with the words and signs before it, as in "Use `calc.add`" or "the calc.add
// tool".
var around = regexp.MustCompile(
	`^(?i:(?:use|call|run|invoke|execute)\s+)?(?i:the\s+)?(?i:(?:tool|function)\s+)?[$@\[("'` +
		"`" + `\p{Pi}\p{Pf}「『《〈【*_<]*[ ]?([\pL\pN_][\pL\pN_.:/-]{0,127})`)

// closing matches the signs that may follow a name.
var closing = regexp.MustCompile(`^[ ]?[\])"'` + "`" + `\p{Pi}\p{Pf}」』》〉】*_>]+`)

// name returns the name at the beginning of a value, and the text after it. If there is no name, it
// returns "" and the whole value.
func name(value string) (name, rest string) {
	m := around.FindStringSubmatchIndex(value)
	if m == nil {
		return "", value
	}
	// The signs that close those before the name are removed as well, with the word that says that
	// it is a tool.
	opened := value[:m[2]]
	name, rest = strings.TrimRight(value[m[2]:m[3]], ".:"), value[m[3]:]
	if cut := value[m[2]+len(name) : m[3]]; cut != "." {
		rest = cut + rest
	}
	if strings.TrimFunc(opened, func(c rune) bool {
		return unicode.IsLetter(c) ||
			c == ' '
	}) != "" {
		rest = rest[len(closing.FindString(rest)):]
	}
	for _, word := range []string{" tool", " function"} {
		if len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
			rest = rest[len(word):]
		}
	}
	if trimmed := strings.TrimSpace(rest); trimmed == "()" || trimmed == "." ||
		inlineTag.MatchString(trimmed) {
		rest = ""
	}
	return name, rest
}

// tool returns the tool that a name means. The name may be the tool's own, another name for it, or
// either of these with a namespace before it. It returns false if no tool has the name.
func (r *Reader) tool(name string) (chat.Tool, bool) {
	if whole, ok := r.Also[name]; ok {
		name = whole
	}
	if t, ok := adapters.Offered(r.Tools, name); ok {
		return t, true
	}
	// mcp__calc__add, calc.calc.add, functions.add: the last parts count, if one tool has them
	parts := strings.FieldsFunc(strings.ReplaceAll(name, "__", "."), func(c rune) bool {
		return c == '.' || c == '/' || c == ':'
	})
	for i := 1; i < len(parts); i++ {
		tail := strings.Join(parts[i:], ".")
		if whole, ok := r.Also[tail]; ok {
			tail = whole
		}
		if i := slices.IndexFunc(r.Tools, func(t chat.Tool) bool {
			return t.Name == tail
		}); i >= 0 {
			return r.Tools[i], true
		}
	}
	return chat.Tool{}, false
}

// read returns the arguments of a tool from a text. The text may be JSON, a list in Python, lines
// of keys and values, or the value of the tool's only parameter. That last form is accepted only if
// worded is true, which means that a label such as "Input:" precedes the text. The parameter whole
// is true if the text was not cut. read returns false if the text has none of these forms, or was
// cut inside the arguments.
func read(t chat.Tool, text string, worded, whole bool) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if inner := ""; strings.HasPrefix(text, `"{`) && json.Unmarshal([]byte(text), &inner) == nil {
		text = inner
	}
	bare := unquoted(text)
	switch {
	case bare == "" || slices.Contains([]string{"none", "null", "n/a", "-", "{}", "no input",
		"no arguments"}, strings.ToLower(bare)):
		return json.RawMessage("{}"), whole
	case bare[0] == '{' || bare[0] == '[' && strings.HasPrefix(strings.TrimLeft(bare[1:], " \n"),
		"{"):
		value, complete := value(bare)
		if !whole && !complete {
			return nil, false
		}
		return arguments(t, value, complete)
	case !whole:
		return nil, false
	}
	if strings.HasPrefix(bare, "(") && strings.HasSuffix(bare, ")") {
		bare = strings.TrimSpace(bare[1 : len(bare)-1])
	}
	for _, as := range []func(chat.Tool, string) (json.RawMessage, bool){python, pairs} {
		if args, ok := as(t, bare); ok {
			return args, true
		}
	}
	if only := onlyText(t); only != "" && worded {
		first, _, _ := strings.Cut(bare, "\n\n")
		return object([][2]string{{only, quoted(unquoted(first))}}), true
	}
	return nil, false
}

// arguments returns the arguments in JSON as models write it, repaired. The parameter complete says
// whether the brackets are closed. If they are not, the text is returned as it is, so that the call
// fails with an error that the model reads. The result is false if text cannot be read.
func arguments(t chat.Tool, text string, complete bool) (json.RawMessage, bool) {
	args, repairs, ok := adapters.Arguments(t, text)
	if !ok || !complete && (slices.Contains(repairs, "truncated") ||
		slices.Contains(repairs, "closers")) {
		return json.RawMessage(text), strings.HasPrefix(text, "{")
	}
	return json.RawMessage(args), true
}

// python reads arguments such as a="x", b=2, with the format of calls in Python. It returns false
// if they cannot be read.
func python(t chat.Tool, text string) (json.RawMessage, bool) {
	calls := decoded("python", "tool("+text+")", chat.Stop,
		[]chat.Tool{{Name: "tool", Schema: t.Schema}})
	if len(calls) != 1 {
		return nil, false
	}
	return calls[0].Args, true
}

// decoded returns the calls of a text in the format that the parameter family names, such as
// "hermes". The parameter end is the reason why the reply ended. It returns nil if the text
// contains anything but calls, or if the decoder fails.
func decoded(family, text, end string, tools []chat.Tool) []chat.Call {
	source := chat.Fixed{{Kind: chat.Text, Text: text}, {Kind: chat.Finish, Text: end}}
	var got chat.Collector
	for e, err := range adapters.Named(family).Decode(&source,
		adapters.Options{Tools: tools, Hold: adapters.HoldCall}) {
		if err != nil {
			return nil
		}
		got.Add(e)
	}
	if strings.TrimSpace(got.Text.String()) != "" {
		return nil
	}
	return got.Complete()
}

// pair matches a key and a value in one of the forms city: Seoul, "city" = "Seoul", and city is
// Seoul.
var pair = regexp.MustCompile(`^(?:[-*•]\s)?\s*["'*` + "`" + `]{0,2}([\pL_][\pL\pN_.-]*)["'*` +
	"`" + `]{0,2}(?:\s*[:=：]\*{0,2}|\s+is\s)\s*(.*)$`)

// member returns the parameter that a key means, whatever its case and its hyphens. It returns ""
// if no parameter or several may be meant.
func member(typ *schema.Type, key string) (found string) {
	if typ.Has(key) {
		return key
	}
	for _, name := range typ.Members() {
		if folded(name) == folded(key) {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	return found
}

// pairs reads arguments from lines of keys and values, or from one line with commas between them.
// It returns false unless every key is a parameter of the tool.
func pairs(t chat.Tool, text string) (json.RawMessage, bool) {
	typ := schema.Compile(t.Schema)
	var found [][2]string
	var lines []string
	if !strings.Contains(text, "\n") {
		lines = commas(text, typ)
	} else {
		lines = strings.Split(text, "\n")
	}
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		m := pair.FindStringSubmatch(line)
		if m == nil || member(typ, m[1]) == "" {
			return nil, false
		}
		key := member(typ, m[1])
		text := unquoted(strings.TrimSuffix(strings.TrimSpace(m[2]), ","))
		value, ok := typ.Prop(key).FromText(text)
		switch {
		case strings.HasPrefix(text, `"`) && json.Valid([]byte(text)):
			value = text
		case !ok:
			value = quoted(text)
		}
		found = append(found, [2]string{key, value})
	}
	return object(found), len(found) > 0
}

// commas splits a line at each comma or semicolon after which a parameter of typ follows with its
// value, as in a: 1, b: 2.
func commas(text string, typ *schema.Type) (parts []string) {
	start := 0
	for i, c := range text {
		if c != ',' && c != ';' {
			continue
		}
		if m := pair.FindStringSubmatch(strings.TrimSpace(text[i+1:])); m != nil &&
			member(typ, m[1]) != "" && strings.Count(text[start:i], `"`)%2 == 0 {
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// object returns a JSON object of keys and values. The values are already JSON.
func object(members [][2]string) json.RawMessage {
	var b strings.Builder
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", quoted(m[0]), m[1])
	}
	return json.RawMessage("{" + b.String() + "}")
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	out, _ := chat.JSON(text)
	return string(out)
}

// unquoted returns a text without the fence or the quotes around it.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	if inner, _, ok := fence(text); ok {
		return strings.TrimSpace(inner)
	}
	for _, q := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"**", "**"}} {
		if inner, ok := strings.CutPrefix(text, q[0]); ok && strings.HasSuffix(inner, q[1]) &&
			!strings.Contains(strings.TrimSuffix(inner, q[1]), q[0]) {
			return strings.TrimSuffix(inner, q[1])
		}
	}
	return text
}

// onlyText returns the parameter that is meant by a text without a parameter's name. That is the
// only required parameter, or else the only parameter. It returns "" if there is none, or if it
// does not accept a text.
func onlyText(t chat.Tool) string {
	typ := schema.Compile(t.Schema)
	members := typ.Required()
	if len(members) == 0 {
		members = typ.Members()
	}
	if len(members) != 1 {
		return ""
	}
	if p := typ.Prop(members[0]); p.Known() && !p.Allows(schema.KindOf(`""`)) {
		return ""
	}
	return members[0]
}
