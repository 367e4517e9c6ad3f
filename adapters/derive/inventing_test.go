package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// invented is a chat template that a program made up: turns, marks around thoughts, and one way of
// writing calls.
type invented struct {
	about                string    // the drawn parts, for messages
	user, bot, end       string    // what opens the turns, and what ends one
	thinks, said         [2]string // around thoughts, and around text
	glue                 string    // between text and calls
	open, close          string    // of a call
	first, between, last string    // around and between calls
	body                 func(c chat.Call, n int) string
	refusesTwo, bare     bool // bare: strings have no quotes
}

// render is the template.
func (v *invented) render(messages []chat.Message, tools []chat.Tool) (string, error) {
	var b strings.Builder
	for _, t := range tools {
		b.WriteString("tool " + t.Name + ": " + t.Description + "\n")
	}
	for _, m := range messages {
		switch m.Role {
		case chat.Assistant:
			if v.refusesTwo && len(m.Calls) > 1 {
				return "", fmt.Errorf("this template has one call a turn")
			}
			b.WriteString(v.bot + v.reply(m) + v.end)
		case chat.ToolRole:
			b.WriteString(v.user + "result: " + m.Content + v.end)
		default:
			b.WriteString(v.user + m.Content + v.end)
		}
	}
	return b.String() + v.bot, nil
}

// reply is what the model writes for a message.
func (v *invented) reply(m chat.Message) string {
	out := ""
	if m.Reasoning != "" && v.thinks[0] != "" {
		out += v.thinks[0] + m.Reasoning + v.thinks[1]
	}
	if m.Content != "" {
		out += v.said[0] + m.Content + v.said[1]
	}
	if len(m.Calls) == 0 {
		return out
	}
	if m.Content != "" {
		out += v.glue
	}
	var calls []string
	for i, c := range m.Calls {
		calls = append(calls, strings.ReplaceAll(v.open+v.body(c, i)+v.close, "#N#", strconv.Itoa(i+1)))
	}
	return out + v.first + strings.Join(calls, v.between) + v.last
}

// inventor draws the parts of templates.
type inventor struct{ *rand.Rand }

func newInventor(seed uint64) inventor { return inventor{rand.New(rand.NewPCG(seed, 7))} }

func (d inventor) of(words ...string) string { return words[d.IntN(len(words))] }

// word is a word of no language.
func (d inventor) word() string {
	w := ""
	for range 2 + d.IntN(2) {
		w += d.of("ba", "ko", "ri", "tu", "ze", "mo", "la", "fi", "ne", "su", "gra", "plo", "vek", "dor")
	}
	return w
}

// marks are two that belong together.
func (d inventor) marks() [2]string {
	w := d.word()
	up := strings.ToUpper(w)
	all := [][2]string{
		{"<" + w + ">", "</" + w + ">"}, {"<" + w + ">\n", "\n</" + w + ">"}, {"<|" + w + "|>", "<|/" + w + "|>"}, {"<|" + w + "_begin|>", "<|" + w + "_end|>"},
		{"[" + up + "]", "[/" + up + "]"}, {"⟦" + w + ":", "⟧"}, {"@@" + up + " ", "\n@@END"}, {">>> ", "\n<<<"}, {"«" + w + " ", "»"},
		{"```" + w + "\n", "\n```"}, {"::" + w + " ", " ::"}, {"%%" + w + "\n", "\n%%" + w}, {"$" + w + "[", "]" + w + "$"}, {"<<" + up + ">>\n", "\n<<END>>"},
		{"▶", "■"}, {"|" + w + "|", "|"}, {"{%" + w + "%}", "{%end%}"}, {"→" + w + " ", " ←"}, {"<" + w + "_call>", "</" + w + "_call>\n"}, {"#" + w + "#", "#end#"},
	}
	return all[d.IntN(len(all))]
}

// invent is the template of a seed.
func invent(seed uint64) *invented {
	d := newInventor(seed)
	v := &invented{glue: d.of("", "\n", "\n\n")}
	switch d.IntN(4) {
	case 0:
		v.user, v.bot, v.end = "<|im_start|>user\n", "<|im_start|>assistant\n", "<|im_end|>\n"
	case 1:
		v.user, v.bot, v.end = "<turn:user>", "<turn:model>", "</turn>"
	case 2:
		w := d.word()
		v.user, v.bot, v.end = "<|"+w+"_user|>\n", "<|"+w+"_bot|>\n", "<|"+w+"_end|>\n"
	default:
		v.user, v.bot, v.end = "[USR] ", "[BOT] ", "</s>"
	}
	if d.IntN(3) > 0 {
		w := d.word()
		pairs := [][2]string{{"<think>\n", "\n</think>\n\n"}, {"<" + w + ">", "</" + w + ">"}, {"[" + strings.ToUpper(w) + "]", "[/" + strings.ToUpper(w) + "]"}, {"<|" + w + "|>\n", "\n<|end_" + w + "|>\n"}}
		v.thinks = pairs[d.IntN(len(pairs))]
	}
	m := d.marks()
	v.open, v.close = m[0], m[1]
	v.between = d.of("", "\n", "\n")
	if d.IntN(4) == 0 { // a section
		s := d.marks()
		v.first, v.last, v.between = s[0], s[1], d.of("\n", ", ", " ; ", "\n---\n", "")
	}
	v.refusesTwo = d.IntN(12) == 0
	switch d.IntN(8) { // a counter
	case 0:
		v.open += d.of("[#N#] ", "call #N#: ", "no=#N# ", "#N#. ")
	}
	bodies := []func(d inventor, v *invented){
		objectBody, objectBody, objectBody, behindBody, behindBody, frontBody, lengthBody, pythonForm, tagForm, tagForm, keyedForm, attributeForm,
		yamlForm, yamlForm, assignForm, assignForm, lispForm, pipeForm, urlForm, listForm,
	}
	n := d.IntN(len(bodies))
	bodies[n](d, v)
	v.named(fmt.Sprintf("seed %d, body %d", seed, n))
	return v
}

// named notes where a template comes from, and what its calls look like.
func (v *invented) named(from string) {
	v.about = from + ", " + v.reply(chat.Message{Calls: []chat.Call{{ID: "i1", Name: "get_weather", Args: json.RawMessage(`{"city": "Oslo", "days": 3}`)}, {ID: "i2", Name: "get_time", Args: json.RawMessage(`{"zone": "a"}`)}}})
}

// objectBody is a JSON object around name and arguments, in any order and under any names.
func objectBody(d inventor, v *invented) {
	name, args := d.of("do", "fn", "op", "tool", "use", "name", "verb", d.word()), d.of("with", "kw", "params", "arguments", "input", d.word())
	extra := d.of("", "", `"type": "function", `, `"v": 1, `)
	front, quoted, kind, id := d.IntN(3) > 0, d.IntN(6) == 0, d.IntN(4), d.IntN(5) == 0
	wrap := d.of("", "", "function", d.word())
	v.body = func(c chat.Call, n int) string {
		a := spelled(c.Args, "json")
		if quoted {
			a = quote(a)
		}
		if id {
			a += `, "id": ` + quote(c.ID)
		}
		out := fmt.Sprintf(`{%s"%s": "%s", "%s": %s}`, extra, name, c.Name, args, a)
		if !front {
			out = fmt.Sprintf(`{%s"%s": %s, "%s": "%s"}`, extra, args, a, name, c.Name)
		}
		if wrap != "" {
			out = `{"` + wrap + `": ` + out + `}`
		}
		var b bytes.Buffer
		switch kind {
		case 0:
			_ = json.Compact(&b, []byte(out))
			return b.String()
		case 1:
			_ = json.Indent(&b, []byte(out), "", "  ")
			return b.String()
		}
		return out
	}
}

// listForm is all calls of a turn in one JSON list.
func listForm(d inventor, v *invented) {
	objectBody(d, v)
	w := d.word()
	v.open, v.close, v.between = "", "", ", "
	v.first, v.last = d.of("ACTIONS=[", "<"+w+">[", "["+strings.ToUpper(w)+"][", "@"+w+" ["), d.of("]END", "]</"+w+">", "]\n.")
}

// behindBody has the name behind the arguments.
func behindBody(d inventor, v *invented) {
	sep := d.of("→", " -> ", "</args>", " @ ", "\n", "|")
	w := d.word()
	if d.IntN(2) == 0 {
		v.open, v.close = "<"+w+">", ""
		v.body = func(c chat.Call, _ int) string { return spelled(c.Args, "json") + "</" + w + ":" + c.Name + ">" }
		return
	}
	v.body = func(c chat.Call, _ int) string { return spelled(c.Args, "json") + sep + c.Name }
}

// frontBody has the name in front of the arguments.
func frontBody(d inventor, v *invented) {
	sep, end, kind := d.of(" ", "\n", ": ", " <<", " with ", "("), "", d.of("json", "compact", "python")
	switch sep {
	case "(":
		end = ")"
	case " <<":
		end = ">>"
	}
	v.body = func(c chat.Call, _ int) string { return c.Name + sep + spelled(c.Args, kind) + end }
}

// lengthBody says how long the arguments are.
func lengthBody(d inventor, v *invented) {
	kind := d.of("json", "compact")
	runes := d.IntN(2) == 0
	v.body = func(c chat.Call, _ int) string {
		a := spelled(c.Args, kind)
		n := len(a)
		if runes {
			n = len([]rune(a))
		}
		return c.Name + " " + strconv.Itoa(n) + "\n" + a
	}
	if d.IntN(2) == 0 {
		v.open, v.close = d.of("#", "~", "&"), ""
		v.between = "\n"
	}
}

// each writes arguments one by one.
func each(args json.RawMessage, between string, one func(key, value string) string) string {
	var all []string
	for _, m := range membersOf(args) {
		all = append(all, one(m[0], m[1]))
	}
	return strings.Join(all, between)
}

// written is a body by an example of a call, whose {args} are the arguments one by one, each as in
// the example arg. The values {v} are spelled in that kind, all arguments {json} as JSON.
func written(call, arg, between, kind string) func(c chat.Call, n int) string {
	return func(c chat.Call, n int) string {
		args := each(c.Args, between, func(k, s string) string {
			return strings.NewReplacer("{k}", k, "{v}", spelled(json.RawMessage(s), kind), "{block}", block(s, "\n    "),
				"{type}", kindOf(s)).Replace(arg)
		})
		return strings.NewReplacer("{name}", c.Name, "{id}", c.ID, "{n}", strconv.Itoa(n), "{args}", args,
			"{json}", spelled(c.Args, "json"), "{tags}", inTags(string(c.Args), "item"),
			"{count}", strconv.Itoa(len(membersOf(c.Args)))).Replace(call)
	}
}

// pythonForm is a call as Python writes it.
func pythonForm(d inventor, v *invented) {
	front, kind := d.of("", "tools.", "api::", "call "), d.of("json", "python")
	v.body = written(front+"{name}({args})", "{k}={v}", ", ", kind)
}

// tagForm has each argument between tags that name it.
func tagForm(d inventor, v *invented) {
	w, kind := d.word(), d.of("raw", "raw", "json", "xml")
	style, on := d.IntN(4), d.of("", "\n", "\n  ")
	v.bare = kind == "raw"
	v.body = written("{name}{args}"+on, on+[]string{
		"<" + w + ` name="{k}">{v}</` + w + ">", "<key>{k}</key><value>{v}</value>",
		"[" + w + ":{k}]{v}[/" + w + "]", "<|" + w + "|>{k}<|is|>{v}<|" + w + "_end|>",
	}[style], "", kind)
}

// keyedForm has tags with the parameters' own names.
func keyedForm(d inventor, v *invented) {
	kind, w, on := d.of("raw", "xml", "json"), d.word(), d.of("", "\n")
	v.bare = kind == "raw"
	v.open, v.close = "", ""
	v.body = written("<"+w+":{name}>{args}"+on+"</"+w+":{name}>", on+"<{k}>{v}</{k}>", "", kind)
}

// attributeForm has arguments as attributes of a tag.
func attributeForm(d inventor, v *invented) {
	kind, w := d.of("json", "python", "xml"), d.word()
	q := ""
	if kind == "xml" {
		q = `"`
	}
	v.open, v.close = "<"+w+" ", "/>"
	v.body = written("tool={name}{args} ", " {k}="+q+"{v}"+q, "", kind)
}

// yamlForm is YAML, with or without JSON in it.
func yamlForm(d inventor, v *invented) {
	name, args := d.of("name", "tool", d.word()), d.of("args", "with", d.word())
	flow := d.IntN(2) == 0
	v.open, v.close = strings.TrimSpace(v.open)+"\n", "\n"+strings.TrimSpace(v.close)
	if strings.TrimSpace(v.close) == "" || strings.TrimSpace(v.open) == "" {
		v.open, v.close = "---call\n", "\n..."
	}
	arg := "\n  {k}:{block}"
	if flow {
		arg = "\n  {k}: {v}"
	}
	v.body = written(name+": {name}\n"+args+":{args}", arg, "", "json")
}

// block is a value in YAML's block style.
func block(raw, on string) string {
	raw = strings.TrimSpace(raw)
	out := ""
	switch raw[0] {
	case '{':
		for _, m := range membersOf(json.RawMessage(raw)) {
			out += on + m[0] + ":" + block(m[1], on+"  ")
		}
	case '[':
		for _, e := range elementsOf(raw) {
			out += on + "-" + block(e, on+"  ")
		}
	default:
		return " " + spelled(json.RawMessage(raw), "json")
	}
	return out
}

// assignForm is a line for each argument.
func assignForm(d inventor, v *invented) {
	op, kind := d.of(" := ", " = ", ": ", " -> ", " is "), d.of("raw", "json", "python")
	lead := d.of("", "  ", "* ", "--", "set ")
	v.bare = kind == "raw"
	v.close = "\n" + strings.TrimLeft(v.close, "\n")
	if len(strings.TrimSpace(v.close)) < 3 {
		v.close = "\n@@END"
	}
	v.body = written("{name}{args}", "\n"+lead+"{k}"+op+"{v}", "", kind)
}

// lispForm is an expression in parentheses.
func lispForm(d inventor, v *invented) {
	colon, nested := d.of(":", "#:", "@"), d.IntN(2) == 0
	v.open, v.close = "("+d.of("call ", "invoke ", "tool/"), ")"
	var value func(raw string) string
	value = func(raw string) string {
		raw = strings.TrimSpace(raw)
		switch {
		case nested && raw[0] == '{':
			return "(" + each(json.RawMessage(raw), " ", func(k, s string) string { return colon + k + " " + value(s) }) + ")"
		case nested && raw[0] == '[':
			var all []string
			for _, e := range elementsOf(raw) {
				all = append(all, value(e))
			}
			return "#(" + strings.Join(all, " ") + ")"
		}
		return spelled(json.RawMessage(raw), "json")
	}
	v.body = func(c chat.Call, _ int) string {
		return c.Name + each(c.Args, "", func(k, s string) string { return " " + colon + k + " " + value(s) })
	}
}

// pipeForm has bars between arguments.
func pipeForm(d inventor, v *invented) {
	bar := d.of("|", ";", " / ", "¦")
	v.open, v.close = bar, bar
	if d.IntN(2) == 0 {
		v.open, v.close = "!!"+bar, bar+"!!"
	}
	v.body = written("{name}{args}", bar+"{k}={v}", "", "json")
}

// urlForm is a query.
func urlForm(d inventor, v *invented) {
	front := d.of("tool://", "call:", "/do/")
	v.body = written(front+"{name}?{args}", "{k}={v}", "&", "url")
}

// membersOf are the members of an object, in order, with their values as JSON.
func membersOf(raw json.RawMessage) (all [][2]string) {
	in := json.NewDecoder(bytes.NewReader(raw))
	_, _ = in.Token()
	for in.More() {
		key, _ := in.Token()
		var v json.RawMessage
		if in.Decode(&v) != nil {
			break
		}
		all = append(all, [2]string{key.(string), string(v)})
	}
	return all
}

func elementsOf(raw string) (out []string) {
	var all []json.RawMessage
	_ = json.Unmarshal([]byte(raw), &all)
	for _, e := range all {
		out = append(out, string(e))
	}
	return out
}

// quote is a JSON string.
func quote(s string) string { return string(chat.AppendQuoted(nil, s)) }

// spelled is a JSON value as a template prints it. It is written anew here, and shares nothing with
// the printer.
func spelled(raw json.RawMessage, kind string) string {
	text := strings.TrimSpace(string(raw))
	comma, colon := ", ", ": "
	if kind == "compact" {
		comma, colon = ",", ":"
	}
	inner := kind
	if kind == "raw" || kind == "xml" || kind == "url" {
		inner = "json"
	}
	out := text
	switch text[0] {
	case '{':
		out = "{" + each(json.RawMessage(text), comma, func(k, s string) string {
			return spelled(json.RawMessage(quote(k)), inner) + colon + spelled(json.RawMessage(s), inner)
		}) + "}"
	case '[':
		var all []string
		for _, e := range elementsOf(text) {
			all = append(all, spelled(json.RawMessage(e), inner))
		}
		out = "[" + strings.Join(all, comma) + "]"
	case '"':
		var s string
		_ = json.Unmarshal([]byte(text), &s)
		switch kind {
		case "raw", "xml", "url":
			out = s
		case "python":
			return repr(s)
		default:
			return quote(s)
		}
	default:
		if kind == "python" {
			out = map[string]string{"true": "True", "false": "False", "null": "None"}[text]
			if out == "" {
				out = text
			}
		}
	}
	switch kind {
	case "xml":
		return html.EscapeString(out)
	case "url":
		return url.QueryEscape(out)
	}
	return out
}

// repr is a string as Python prints it.
func repr(s string) string {
	q := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = `"`
	}
	return q + strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, q, `\`+q).Replace(s) + q
}
