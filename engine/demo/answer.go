package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/internal/clip"
)

// maxQuoted is how many bytes of a result the demo repeats, and how many bytes of a message it
// reads. This is enough to show that the result arrived, without sending a file back.
const maxQuoted = 8 << 10

// maxNamed is how many tools named in a message are called, which is more than any example needs.
// Otherwise a message that lists a thousand offered tools would get a reply of as many calls.
const maxNamed = 16

// answer returns the demo's next message, which is some text and perhaps calls after it. After a
// result it always answers in words, so that an agent comes to an end. The same conversation always
// gets the same answer, so that tests can check it.
func (t demoTurn) answer() (string, []ollama.Call) {
	user, last := t.user(), t.last()
	switch {
	case last.Role == "tool":
		return fmt.Sprintf("The tool %s answered:\n\n%s\n\nThat is all I have to say.",
			t.calledAs(last.ToolName),
			clip.To(last.Content, maxQuoted)), nil
	case len(t.Tools) == 0:
		return "Hello! I am a demo without a model behind me: offer me tools and I will call one. You said: " + user, nil
	}
	var calls []ollama.Call
	var names []string
	for _, f := range pick(t.Tools, user) {
		var c ollama.Call
		c.Function.Name, c.Function.Arguments = f.Name, fill(f, user)
		calls, names = append(calls, c), append(names, upstream.KnownAs(f.Name, f.Description))
	}
	return fmt.Sprintf("I will use %s for this.\n", strings.Join(names, " and ")), calls
}

// fitting returns an answer in the form that the request wants, which is a JSON Schema, or "json"
// for any JSON. If the schema describes a call (tool_choice, or a call that is written once more),
// the answer is that call, and fits the tool's own schema as well.
func (t demoTurn) fitting(format json.RawMessage) string {
	if !bytes.HasPrefix(bytes.TrimSpace(format), []byte{'{'}) {
		format = t.described()
	}
	if !json.Valid(format) {
		return `{"answer": "I am a demo without a model behind me."}`
	}
	user, doc := t.user(), schema.Parse(format)
	p := doc.Root()
	args, tool := t.wanted(p, user)
	if tool == nil {
		return string(find(user).value("answer", p, true, 0))
	}
	// the tool's own schema has more: examples, and keywords that servers do not enforce
	own := schema.Parse(tool.Parameters).Arguments()
	return fmt.Sprintf(`{"name": %s, "arguments": %s}`, quote(tool.Name),
		find(user).object(doc.Both(args, own), 0))
}

// mostSchemas is how many positions of a text are tried as the beginning of a schema.
const mostSchemas = 64

// described returns the JSON Schema that a message of the client gives for the answer, or nil if no
// message has one. Clients that ask for any JSON describe its form in a message. If several
// messages do, the last one is used.
func (t demoTurn) described() json.RawMessage {
	for _, m := range slices.Backward(t.Messages) {
		text := m.Content
		for range mostSchemas {
			at := strings.IndexByte(text, '{')
			if at < 0 || m.Role == "assistant" || m.Role == "tool" {
				break
			}
			text = text[at:]
			var raw json.RawMessage
			if json.NewDecoder(strings.NewReader(text)).Decode(&raw) == nil &&
				len(schema.Parse(raw).Root().Members) > 0 {
				return raw
			}
			text = text[1:]
		}
	}
	return nil
}

// wanted chooses the tool that the user's message (user) asks for among the tools that the schema p
// allows. A forced reply is constrained to a schema of calls, which is {"name": {"const": "f"},
// "arguments": {…}}, or alternatives of this form. wanted returns the schema of the tool's
// arguments, and the tool. It returns nil, nil if p is not a schema of calls.
func (t demoTurn) wanted(p *schema.Place, user string) (*schema.Place, *upstream.Function) {
	var allowed []upstream.Tool
	offered, args := map[string]upstream.Tool{}, map[string]*schema.Place{}
	for _, tool := range t.Tools {
		offered[schema.Quote(tool.Function.Name)] = tool
	}
	// The schema of one tool is the call itself; a schema of several tools has an alternative for
	// each.
	for _, one := range append(slices.Clip(p.Alternatives), p) {
		name := one.Member("name")
		if name == nil || len(name.Enum) != 1 || one.Member("arguments") == nil {
			continue
		}
		if tool, ok := offered[name.Enum[0]]; ok {
			allowed, args[tool.Function.Name] = append(allowed, tool), one.Member("arguments")
		}
	}
	if len(allowed) == 0 {
		return nil, nil
	}
	if left := slices.DeleteFunc(slices.Clone(allowed), t.called); len(left) > 0 {
		// an agent that requires a call each time has a tool for its answer, and waits for a call
		// of that tool
		allowed = left
	}
	f := pick(allowed, user)[0]
	return args[f.Name], &f
}

// called reports whether a tool was called since the user's last message.
func (t demoTurn) called(tool upstream.Tool) bool {
	for _, m := range slices.Backward(t.Messages) {
		if m.Role == "user" {
			return false
		}
		if slices.ContainsFunc(m.Calls, func(c ollama.Call) bool {
			return c.Function.Name == tool.Function.Name
		}) {
			return true
		}
	}
	return false
}

// pick returns the functions that the message names, in the order in which they are offered. If it
// names none, pick returns the function that shares most words with the message, where a word in
// the name counts three times as much as one in the description. So a tool is always called,
// because the demo is made to show calls, and it cannot answer questions that need none.
//
// For example, "get_weather in Oslo, and getEmployee EMP002" names two. "Please look up employee
// EMP001" names none, but getEmployee contains one of its words.
func pick(tools []upstream.Tool, message string) (named []upstream.Function) {
	said := map[string]bool{}
	for _, w := range words(message) {
		said[w] = true
	}
	best, most := 0, -1
	for i, t := range tools {
		score := 0
		for _, w := range words(t.Function.Name) {
			score += 3 * count(said[w])
		}
		for _, w := range words(t.Function.Description) {
			score += count(said[w])
		}
		if len(named) < maxNamed &&
			holdsWord(message, upstream.KnownAs(t.Function.Name, t.Function.Description)) &&
			!slices.ContainsFunc(named, func(f upstream.Function) bool {
				return f.Name == t.Function.Name
			}) {
			named = append(named, t.Function)
		}
		if score > most {
			best, most = i, score
		}
	}
	if named == nil {
		named = []upstream.Function{tools[best].Function}
	}
	return named
}

// holdsWord reports whether s contains the word with no letter or digit on either side, so that
// "already" does not name a tool called read.
func holdsWord(s, word string) bool {
	inside := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' }
	for from := 0; word != ""; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		behind, _ := utf8.DecodeRuneInString(s[end:])
		first, size := utf8.DecodeRuneInString(word)
		if first > unicode.MaxLatin1 || (at == 0 || !inside(before)) && (end == len(s) ||
			!inside(behind)) {
			return true // scripts without blanks have no such borders
		}
		from = at + size
	}
	return false
}

// count returns 1 for true and 0 for false.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// words returns the words of three letters or more in s, in lower case, without a plural's s. It
// splits CamelCase and snake_case, so that "weather" finds both getWeather and get_weather.
func words(s string) []string {
	var b strings.Builder
	before := ' '
	for _, c := range s {
		if unicode.IsUpper(c) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
		before = c
	}
	var out []string
	for _, w := range strings.FieldsFunc(b.String(), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	}) {
		if w = strings.TrimSuffix(w, "s"); len(w) >= 3 && w != "the" && w != "and" && w != "for" {
			out = append(out, w)
		}
	}
	return out
}

// inDialect returns the whole text of an answer, with its calls in the format f of a model family.
// The text before the calls is left out if the calls could not be read after it. If the format
// allows only one call in a reply, only the first is written. inDialect decodes its own result, so
// that the demo does not write a reply that the decoder of f cannot read.
func inDialect(f *adapters.Format, tools []upstream.Tool, text string, calls []ollama.Call) string {
	if len(calls) == 0 {
		return text
	}
	list := make([]chat.Call, len(calls))
	for i, c := range calls {
		list[i] = chat.Call{Name: c.Function.Name, Args: c.Function.Arguments}
	}
	for ; ; list = list[:1] {
		for _, front := range []string{text, ""} {
			if written := string(f.Append([]byte(front), list...)); reads(f, tools, written) == len(
				list) {
				return written
			}
		}
		if len(list) == 1 {
			return string(f.Append(nil, list...))
		}
	}
}

// reads returns the number of calls that the format finds in the text. Calls of tools that were not
// offered are left out.
func reads(f *adapters.Format, tools []upstream.Tool, text string) (calls int) {
	var offered []chat.Tool
	for _, t := range tools {
		offered = append(offered, chat.Tool{Name: t.Function.Name, Schema: t.Function.Parameters})
	}
	for ev, err := range f.Decode(&chat.Fixed{chat.Event{Kind: chat.Text, Text: text},
		chat.Event{Kind: chat.Finish, Text: chat.Stop}}, adapters.Options{Tools: offered}) {
		if err == nil && ev.Kind == chat.CallStart {
			calls++
		}
	}
	return calls
}

// calledAs returns the name by which the user knows a tool. The parameter name is the name that the
// model was given, which may be an alias. The description of a tool with an alias contains the
// user's name ("Also called …").
func (t demoTurn) calledAs(name string) string {
	for _, tool := range t.Tools {
		if tool.Function.Name == name {
			return upstream.KnownAs(tool.Function.Name, tool.Function.Description)
		}
	}
	return name
}

// The demo also answers clients that write the tools into the system prompt, as agents do for
// models without tool calling. These are package agent, and other programs with the same contract.
// The demo reads the JSON list after listMark, and takes a user's message that begins with
// resultMark for a result.
const (
	listMark   = "the following tools:\n["
	resultMark = "[Tool Result: "
)

// contracted returns the turn with the tools that an agent lists in its system prompt instead of
// the request's tools, and the format in which such an agent expects calls. The list is written as
// [{"name": "get_time", "description": "…", "parameters": {…}}], and more prose follows it. If the
// prompt has no such list, or one that is not JSON, the turn is unchanged and the format is nil.
//
// Such an agent sends a result as a message of the user, "[Tool Result: get_time]\n12:00". It
// becomes a tool's message here, so that the demo answers it in words instead of calling again.
func (t demoTurn) contracted() (demoTurn, *adapters.Format) {
	if len(t.Tools) > 0 || len(t.Messages) == 0 || t.Messages[0].Role != "system" {
		return t, nil
	}
	_, list, found := strings.Cut(t.Messages[0].Content, listMark)
	if !found {
		return t, nil
	}
	var described []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if err := json.NewDecoder(strings.NewReader("[" + list)).Decode(&described); err != nil {
		return t, nil
	}
	out := demoTurn{}
	for _, d := range described {
		out.Tools = append(out.Tools,
			upstream.Tool{Type: "function", Function: upstream.Function{Name: d.Name,
				Description: d.Description, Parameters: d.Parameters}})
	}
	for _, m := range t.Messages {
		if rest, ok := strings.CutPrefix(m.Content, resultMark); ok && m.Role == "user" {
			name, text, _ := strings.Cut(rest, "]\n")
			m.Role, m.ToolName, m.Content = "tool", name, text
		}
		out.Messages = append(out.Messages, m)
	}
	return out, adapters.Named("agent")
}
