package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// wrapperTools are what the wrappers of these tests may call.
func wrapperTools() []chat.Tool {
	tool := func(name, schema string) chat.Tool {
		return chat.Tool{Name: name, Schema: json.RawMessage(schema)}
	}
	return []chat.Tool{
		tool("get_time", `{"type":"object","properties":{"timezone":{"type":"string"}}}`),
		tool("convert_currency", `{"type":"object","properties":{"amount":{"type":"number"},"from":{"type":"string"},`+
			`"to":{"type":"string"}},"required":["amount","from","to"]}`),
		tool("create_ticket", `{"type":"object","properties":{"title":{"type":"string"},"body":{"type":"string"},`+
			`"labels":{"type":"array","items":{"type":"string"}},"assignee":{"type":"object"}},"required":["title"]}`),
		tool("search_web", `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
	}
}

// TestWrappersOfKnownMessages has messages of APIs and other programs, each the whole reply, that
// call get_time, or what the name of the section says: a tool and its arguments, or none. If it says
// "asked", the user's question and an empty line precede the reply.
func TestWrappersOfKnownMessages(t *testing.T) {
	o := Options{Tools: wrapperTools()}
	for _, s := range readSections(t, "testdata/wrappers.txt") {
		f := Named(strings.Fields(s.Name)[0])
		name, asked := strings.CutSuffix(s.Name, " asked")
		o.Messages = nil
		if asked {
			question, reply, _ := strings.Cut(s.Text, "\n\n")
			o.Messages, s.Text = []chat.Message{{Role: chat.User, Content: question}}, reply
		}
		calls := decodeCalls(t, f, []string{s.Text}, o)
		want, got := `get_time {"timezone":"UTC"}`, "none"
		if said := strings.SplitN(name, " ", 3); len(said) == 3 {
			want = said[2]
		}
		if len(calls) == 1 {
			got = calls[0].Name + " " + compact(calls[0].Args)
		}
		if got != want {
			t.Errorf("%s: %v", s.Name, calls)
		}
		checkSplits(t, f, s.Text, chat.Stop, o)
	}
}

// compact returns JSON with its members in one order and without blanks.
func compact[T ~string | ~[]byte](raw T) string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// wrapperMaker makes wrappers of names that nobody has listed.
type wrapperMaker struct{ *rand.Rand }

// one returns one of several words.
func (m wrapperMaker) one(words ...string) string { return words[m.IntN(len(words))] }

// word returns a name for a member: one of those that APIs have, or one that is made up.
func (m wrapperMaker) word() string {
	known := []string{"tool_name", "do", "with", "fn", "kw", "use", "op", "payload", "skill", "target", "data", "body_", "run",
		"ability", "inputs", "task", "callee", "operation", "procedure", "which", "given", "using", "api", "handler", "method",
		"params", "arguments_json", "tool_input", "call", "invocation", "functionCall", "recipient_name", "toolUse"}
	if m.IntN(3) > 0 {
		return known[m.IntN(len(known))]
	}
	var w strings.Builder
	for range 1 + m.IntN(3) {
		w.WriteString(m.one("zor", "mek", "ta", "vul", "qi", "pro", "lam"))
	}
	return "x" + w.String()
}

// wanted is a call that is wrapped.
type wanted struct{ name, args string }

// call returns a call to be wrapped.
func (m wrapperMaker) call() wanted {
	switch m.IntN(5) {
	case 0:
		return wanted{"get_time", `{"timezone":"` + m.one("UTC", "Asia/Seoul", "CET") + `"}`}
	case 1:
		return wanted{"convert_currency", fmt.Sprintf(`{"amount":%d.5,"from":"USD","to":"%s"}`, m.IntN(90), m.one("EUR", "JPY"))}
	case 2:
		return wanted{"create_ticket", `{"title":"` + m.one("Fix: the door", "No light", "A < B & C") + `","body":"line one\nline two"}`}
	case 3:
		return wanted{"create_ticket", `{"title":"Broken","labels":["bug","` + m.one("ui", "api") + `"]}`}
	}
	return wanted{"search_web", `{"query":"` + m.one("tram times", "what is a \\\"monad\\\"?", "Öffnungszeiten {Bad}") + `"}`}
}

// beside returns members that stand beside a call.
func (m wrapperMaker) beside() (all []string) {
	choices := []string{`"id": "call_1"`, `"type": "function"`, `"type": "tool_use"`, `"thought": "I need to look, e.g. at the time."`,
		`"role": "assistant"`, `"call_id": "a7"`, `"index": 0`, `"reasoning": "Because it was asked."`, `"jsonrpc": "2.0"`,
		`"content": ""`, `"step": 1`, `"kind": "tool_call"`}
	for range m.IntN(3) {
		i := m.IntN(len(choices))
		all = append(all, choices[i])
		choices = append(choices[:i:i], choices[i+1:]...)
	}
	return all
}

// object writes members in any order.
func (m wrapperMaker) object(members ...string) string {
	m.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, m.one(", ", ",", ",\n  ")) + "}"
}

// json wraps a call in JSON.
func (m wrapperMaker) json(c wanted) string {
	args := c.args
	if m.IntN(5) == 0 {
		quoted, _ := json.Marshal(args)
		args = string(quoted)
	}
	var out string
	if m.IntN(3) == 0 {
		out = m.object(fmt.Sprintf("%q: %s", c.name, c.args))
	} else {
		name, with := m.word(), m.word()
		for with == name {
			with = m.word()
		}
		named := m.one("", "", "", "functions.") + c.name
		out = m.object(append(m.beside(), fmt.Sprintf("%q: %q", name, named), fmt.Sprintf("%q: %s", with, args))...)
	}
	for range m.IntN(3) {
		if m.IntN(2) == 0 {
			out = "[" + out + "]"
		}
		out = m.object(append(m.beside(), fmt.Sprintf("%q: %s", m.word(), out))...)
	}
	return out
}

// python wraps a call in a literal of Python.
func (m wrapperMaker) python(c wanted) string {
	if strings.ContainsAny(c.args, `\'`) {
		return m.json(c)
	}
	return fmt.Sprintf("{'%s': '%s', '%s': %s}", m.word(), c.name, "x"+m.word(), strings.ReplaceAll(c.args, `"`, "'"))
}

// fields are the arguments of a call that are texts or numbers; nil where others are among them.
func (c wanted) fields() (keys, values []string) {
	var all map[string]any
	_ = json.Unmarshal([]byte(c.args), &all)
	for _, k := range []string{"timezone", "amount", "from", "to", "title", "body", "query"} {
		if v, ok := all[k]; ok {
			keys, values = append(keys, k), append(values, fmt.Sprint(v))
		}
	}
	if len(keys) < len(all) {
		return nil, nil
	}
	return keys, values
}

// tags wraps a call in tags.
func (m wrapperMaker) tags(c wanted) string {
	keys, values := c.fields()
	if keys == nil {
		return m.json(c)
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;")
	sep := m.one("", "\n")
	args, attrs := sep, sep
	part := m.one("arg", "param", "parameter")
	for i, k := range keys {
		args += "<" + k + ">" + escape.Replace(values[i]) + "</" + k + ">" + sep
		attrs += "<" + part + ` name="` + k + `">` + escape.Replace(values[i]) + "</" + part + ">" + sep
	}
	outer, name, with := m.word(), m.word(), "x"+m.word()
	switch m.IntN(6) {
	case 0:
		return "<" + c.name + ">" + args + "</" + c.name + ">"
	case 1:
		return "<" + outer + ` name="` + c.name + `">` + m.one(args, attrs) + "</" + outer + ">"
	case 2:
		return "<" + outer + ">" + sep + "<" + name + ">" + c.name + "</" + name + ">" + sep + "<" + with + ">" + args + "</" + with + ">" + sep + "</" + outer + ">"
	case 3:
		return "<" + outer + ">" + sep + "<" + name + ">" + c.name + "</" + name + ">" + sep + "<" + with + ">" + escape.Replace(c.args) + "</" + with + ">" + sep + "</" + outer + ">"
	case 4:
		return "<" + outer + "s><" + outer + ` tool="` + c.name + `" id="7">` + attrs + "</" + outer + "></" + outer + "s>"
	}
	return "<|" + outer + "|>" + c.name + m.one("(", " (") + c.args + ")<|/" + outer + "|>"
}

// yaml wraps a call in lines between tags.
func (m wrapperMaker) yaml(c wanted) string {
	keys, values := c.fields()
	if keys == nil || strings.ContainsAny(c.args, "\\&<") {
		return m.tags(c)
	}
	out := m.word() + ": " + c.name + "\n" + "x" + m.word() + ":\n"
	for i, k := range keys {
		out += "  " + k + ": " + values[i] + "\n"
	}
	tag := m.one("tool_call", "act", "use_tool")
	return "<" + tag + ">\n" + out + "</" + tag + ">"
}

// wrap returns a wrapped call, alone, in a fence or between marks.
func (m wrapperMaker) wrap() (string, wanted) {
	c := m.call()
	switch m.IntN(8) {
	case 0, 1:
		return m.tags(c), c
	case 2:
		return m.yaml(c), c
	case 3:
		return m.python(c), c
	}
	text := m.json(c)
	switch m.IntN(6) {
	case 0:
		text = "```" + m.one("", "json", "tool_call") + "\n" + text + "\n```"
	case 1:
		text = "<tool_call>\n" + text + "\n</tool_call>"
	case 2:
		text = "[TOOL_CALL]" + text + "[/TOOL_CALL]"
	case 3:
		quoted, _ := json.Marshal(text)
		text = string(quoted)
	}
	return text, c
}

// TestWrappersOfAnyName reads wrappers that a program makes, half of them by a seed that no rule
// was made for.
func TestWrappersOfAnyName(t *testing.T) {
	o := Options{Tools: wrapperTools()}
	for _, half := range []struct {
		name        string
		seed, other uint64
		make        func(wrapperMaker) (string, wanted)
		least, lost int
	}{
		{"seen", 1, 30, wrapperMaker.wrap, 240, 0}, {"held out", 20261123, 30, wrapperMaker.wrap, 240, 0},
		{"later, seen", 3, 31, wrapperMaker.later, 245, 5}, {"later, held out", 20261125, 31, wrapperMaker.later, 245, 5},
	} {
		m, read, held := wrapperMaker{rand.New(rand.NewPCG(half.seed, half.other))}, 0, 0
		for i := range 250 {
			text, want := half.make(m)
			switch calls := decodeCalls(t, Named("generic"), []string{text}, o); {
			case len(calls) == 1 && calls[0].Name == want.name && compact(calls[0].Args) == compact(want.args):
				read++
			case len(calls) > 0:
				t.Errorf("%q\n%v, want %v", text, calls, want)
			case doubtOf(t, Named("generic"), []string{text}, o) == want.name:
				held++
			default:
				t.Logf("lost: %q", text)
			}
			if i%10 == 0 {
				checkSplits(t, Named("generic"), text, chat.Stop, o)
			} else {
				checkDecode(t, Named("generic"), text, chat.Stop, o)
			}
		}
		t.Logf("%s: %d of 250 read, %d asked for again", half.name, read, held)
		// Values with entities are in doubt: in some forms these are data, in others not.
		if read < half.least || read+held < 250-half.lost {
			t.Errorf("%s: only %d of 250 are read, %d asked for again", half.name, read, held)
		}
	}
}

// document returns an ordinary document; some mention tools, as lists, records, settings and pages
// do.
func (m wrapperMaker) document() string {
	c := m.call()
	word, key := m.one("Rome", "draft 2", "a list", "see below"), m.word()
	n := m.IntN(900)
	switch m.IntN(24) {
	case 0:
		return m.object(`"name": "`+c.name+`"`, `"result": "`+word+`"`, fmt.Sprintf(`"ms": %d`, n))
	case 1:
		return m.object(fmt.Sprintf("%q: %q", key, c.name), `"given": `+c.args, `"status": "ok"`, fmt.Sprintf(`"duration": %d`, n))
	case 2:
		return fmt.Sprintf(`[{"name": %q, "description": "Does %s.", "inputSchema": {"type": "object", "properties": {"timezone": {"type": "string"}}}}]`, c.name, word)
	case 3:
		return m.object(fmt.Sprintf("%q: {\"enabled\": true, \"limit\": %d}", c.name, n), `"retries": 3`)
	case 4:
		return fmt.Sprintf(`{"tools": ["get_time", "search_web"], "model": "small", %q: %d}`, key, n)
	case 5:
		return fmt.Sprintf(`{"counts": {"get_time": %d, "search_web": %d}}`, n, n/2)
	case 6:
		return fmt.Sprintf(`{"question": "What is %s?", "expected_tool": %q, "given": %s}`, word, c.name, c.args)
	case 7:
		return fmt.Sprintf(`{"example": {%q: %q, "with": %s}}`, key, c.name, c.args)
	case 8:
		return fmt.Sprintf(`{%q: {"calls": %d, "errors": 0}}`, c.name, n)
	case 9:
		return fmt.Sprintf(`{"title": %q, "body": %q, "items": [%d, 2, 3], "tool": %q}`, word, word, n, c.name)
	case 10:
		return fmt.Sprintf(`{%q: %s, %q: %q, "output": %q}`, "xargs", c.args, key, c.name, word)
	case 11:
		return fmt.Sprintf(`{"name": "toolbox", "version": "1.%d.0", "dependencies": {%q: "^2.0"}}`, n, c.name)
	case 12:
		return fmt.Sprintf(`{"timezone": "UTC", "query": %q, %q: %d}`, word, key, n)
	case 13:
		return fmt.Sprintf(`{"log": [{"tool": %q, "args": %s, "at": "10:0%d"}]}`, c.name, c.args, n%10)
	case 14:
		return fmt.Sprintf(`{"role": "user", %q: %q, "with": %s}`, key, c.name, c.args)
	case 15:
		return fmt.Sprintf("[{\"city\": %q, \"id\": %d}, {\"city\": \"Oslo\", \"id\": %d}]", word, n, n+1)
	case 16:
		return fmt.Sprintf("<html><head><title>%s</title></head><body><p>The tool <b>%s</b> has %d users.</p></body></html>", word, c.name, n)
	case 17:
		return fmt.Sprintf("<?xml version=\"1.0\"?>\n<tools>\n  <tool name=%q><description>%s</description></tool>\n</tools>", c.name, word)
	case 18:
		return fmt.Sprintf("<config><tool name=%q enabled=\"true\"/><limit>%d</limit></config>", c.name, n)
	case 19:
		return fmt.Sprintf("<%s>\n  <name>%s</name>\n  <result>%s</result>\n</%s>", key, c.name, word, key)
	case 20:
		return fmt.Sprintf("<svg width=\"%d\"><text>%s</text></svg>", n, c.name)
	case 21:
		return fmt.Sprintf("<project><artifactId>%s</artifactId><version>%d</version></project>", c.name, n)
	case 22:
		return "```json\n" + fmt.Sprintf(`{%q: %q, "arguments_of": %q}`, key, c.name, word) + "\n```"
	}
	return fmt.Sprintf("<%s>\n  <%s>%s, at %d</%s>\n  %s\n</%s>", key, "x"+key, word, n, "x"+key, c.name, key)
}

// staysText reports an error if a reply runs a call or is not passed on as it is, and if splits,
// also if it is read in another way when it comes in pieces.
func staysText(t *testing.T, text string, o Options, splits bool) {
	t.Helper()
	var got strings.Builder
	for e := range Named("generic").Decode(golden.Source([]string{text}, chat.Stop), o) {
		if e.Kind == chat.CallStart {
			t.Errorf("%q runs", text)
		}
		got.WriteString(map[bool]string{true: e.Text}[e.Kind == chat.Text])
	}
	if got.String() != text {
		t.Errorf("%q became %q", text, got.String())
	}
	if splits {
		checkSplits(t, Named("generic"), text, chat.Stop, o)
	}
}

// TestDocumentsAreNoWrappers reads documents of many kinds: none of them runs, and all stay as they
// are.
func TestDocumentsAreNoWrappers(t *testing.T) {
	o := Options{Tools: wrapperTools()}
	for _, half := range []struct {
		seed, other uint64
		make        func(wrapperMaker) string
	}{
		{2, 30, wrapperMaker.document}, {20261124, 30, wrapperMaker.document},
		{4, 31, wrapperMaker.laterDocument}, {20261126, 31, wrapperMaker.laterDocument},
	} {
		m := wrapperMaker{rand.New(rand.NewPCG(half.seed, half.other))}
		for i := range 1000 {
			staysText(t, half.make(m), o, i%20 == 0)
		}
	}
}

// TestNearlyWrappers has documents that would be calls but for one thing.
func TestNearlyWrappers(t *testing.T) {
	tools := append(wrapperTools(), chat.Tool{Name: "find", Schema: json.RawMessage(
		`{"type":"object","properties":{"query":{"type":"string"},"type":{"type":"string"}},"required":["query"]}`)})
	for _, text := range []string{
		`["search_web", {"enabled": true}]`,
		`["search_web", {"query": "tram"}, "ok"]`,
		`["search_web", "get_time"]`,
		`{"search_web": [{"query": "tram"}, {"hits": 3}]}`,
		`{"search_web": ["tram", "bus"]}`,
		`<call tool="search_web" query="tram" status="done"/>`,
		`<call tool="search_web" limit="3"/>`,
		`<call tool="find" type="function" query="tram"/>`, // the type is the wrapper's, or the tool's
		"<tool_call>\ntool: search_web\nquery: tram\nhits: 3\n</tool_call>",
		"```yaml\nsearch_web: # a draft\n  query: tram\n```",
		"```yaml\ntool: search_web\nargs:\n  query: *tram\n```",
		"```ini\n[search_web]\nquery = \"tram\"\n```",
		"```bash\nsearch_web --query tram\n```",
		"search_web --query $TRAM",
		"search_web --query tram | less",
		"search_web query=tram.",
		"search_web: query=tram, hits=3",
		"[search_web]\nquery = tram",
		"> search_web --query tram",
		"search_web:\n  query:\n    type: string",
		"```yaml\nname: search_web\nversion: 1\n```",
		"```yaml\ntools:\n  - search_web\n  - get_time\n```",
		"```yaml\nsearch_web:\n  retries: 3\n```",
		"~~~yaml\nquery: tram\n~~~",
	} {
		if calls := decodeCalls(t, Named("generic"), []string{text}, Options{Tools: tools}); len(calls) > 0 {
			t.Errorf("%q runs %v", text, calls)
		}
	}
}

// countingSource counts the bytes that are asked for.
type countingSource struct {
	chat.Source
	read int
}

// Next hands on the next event.
func (s *countingSource) Next() (chat.Event, error) {
	e, err := s.Source.Next()
	s.read += len(e.Text)
	return e, err
}

// TestDocumentsAreShownAsTheyCome has documents whose first members tell that they are no wrappers.
func TestDocumentsAreShownAsTheyCome(t *testing.T) {
	for front, most := range map[string]int{
		`{"city": "Rome", "note": "`:                24,
		`[{"headline": "Rome", "note": "`:           24,
		`{"items": ["a", "b"], "headline": "x", "b`: 48,
		"<p>Tools</p>\n<p>":                         300,
		`{"counts": {"a": 1, "b": 2}, "c": [`:       1100,
		"# Rome\n\n":                                8,
		"### search_web\n\nIt finds ":               24,
		"**Rome** is ":                              8,
		"Use the train, ":                           8,
		"/etc/hosts has ":                           8,
		"search_web is a tool, ":                    24,
		"```yaml\nname: CI\non: push\n":             24,
		"```bash\nls -la\n":                         16,
		"### search_web\n```json\n{\"query\": \"tram\"}\n```\n\nIt ": 60,
	} {
		src := &countingSource{Source: golden.Source(golden.Bytes(front+strings.Repeat("and so on, ", 200)), chat.Stop)}
		for e := range Named("generic").Decode(src, Options{Tools: wrapperTools()}) {
			if src.read > most {
				t.Errorf("%q: text leaves after %d bytes, not %d: %v", front, src.read, most, e.Text)
			}
			break
		}
	}
}
