package derive

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// TestWhatTemplatesSpellOtherwise reads templates that differ from others in how they print values
// and what stands at the borders of their marks.
func TestWhatTemplatesSpellOtherwise(t *testing.T) {
	more := map[string][]chat.Call{ // further calls that are read
		"a list of texts in tags": {{Name: "save_note", Args: json.RawMessage(`{"text": "true", "tags": ["1", "null", "2.50"]}`)}},
	}
	for _, city := range []string{"Oslo", "Rome", "Bern", "Kiel"} {
		more["tags of names in two marks"] = append(more["tags of names in two marks"], chat.Call{Name: "get_weather", Args: json.RawMessage(`{"city": "` + city + `"}`)})
	}
	for name, v := range map[string]*invented{
		"the escapes of Go and Jinja": {open: "<act>", close: "</act>", body: func(c chat.Call, _ int) string {
			args := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "é", `\u00e9`, "ã", `\u00e3`).Replace(spelled(c.Args, "compact"))
			return `{"name":"` + c.Name + `","arguments":` + args + `}`
		}},
		"a section whose calls have no end": {first: "[ACTS]", last: "[/ACTS]", between: ",\n", bare: true, body: written("<name>{name}</name>{args}\n", "\n<arg key=\"{k}\">{v}</arg>", "", "raw")},
		"YAML without arguments": {first: "<acts>", last: "\n</acts>", body: func(c chat.Call, _ int) string {
			args := each(c.Args, "", func(k, s string) string { return "\n    " + k + ": " + spelled(json.RawMessage(s), "json") })
			if args == "" {
				args = " {}"
			}
			return "\n- tool: " + c.Name + "\n  args:" + args
		}},
		"a section right in front of tags": {first: "<|acts|>", last: "<|/acts|>", bare: true, body: written("<{name}>{args}\n</{name}>", "\n<p:{k}>{v}</p:{k}>", "", "xml")},
		"marks in two angles":              {open: "<<ACT>>", close: "<</ACT>>", body: written("{json} => {name}", "", "", "json")},
		"a tag around text": {said: [2]string{"<say>", "</say>"}, first: "<<ACTS>>", last: "<</ACTS>>", between: "\n", body: func(c chat.Call, n int) string {
			return c.Name + "#" + strconv.Itoa(n+1) + " " + spelled(c.Args, "json")
		}},
		"quotes that nothing escapes": {open: "<|act|>", close: "<|/act|>", body: func(c chat.Call, _ int) string {
			return c.Name + "(" + each(c.Args, ",\n    ", func(k, s string) string { return k + "=" + quoted(s, "'") }) + ")"
		}},
		"quotes of a section that nothing escapes": {first: "<|acts>", last: "<acts|>", between: "\n", body: func(c chat.Call, _ int) string {
			return c.Name + "(" + each(c.Args, ", ", func(k, s string) string { return k + "=" + quoted(s, "'") }) + ")"
		}},
		"quotes of more than one sign": {first: "[ACTS]", last: "[/ACTS]", between: ",\n", body: func(c chat.Call, _ int) string {
			return "fn " + c.Name + inQuotes(string(c.Args), "<escape>")
		}},
		"JSON with the escapes of XML": {open: "<act>", close: "</act>", body: func(c chat.Call, _ int) string {
			return "<call name=\"" + c.Name + `"` + each(c.Args, "", func(k, s string) string {
				return " " + k + `="` + html.EscapeString(spelled(json.RawMessage(s), "json")) + `"`
			}) + " />"
		}},
		"lists as far in as their key": {open: "<acts>\n", close: "\n</acts>", body: func(c chat.Call, _ int) string {
			return "tool: " + c.Name + "\nargs:" + flat(string(c.Args), 2)
		}},
		"calls without arguments before others": {first: "<unused1>\n", last: "\n<unused2>", between: "\n", body: written("name = \"{name}\"\n{args}", "\n{k} = {v}", "", "json")},
		"tags of texts in tags of values": {open: "<act>\n", close: "\n</act>", bare: true, body: func(c chat.Call, _ int) string {
			return `<invoke name="` + c.Name + `">` + html.UnescapeString(inTags(string(c.Args), "item")) + "</invoke>"
		}},
		"tags of names in two marks": {open: "<|act>", close: "<act|>", between: "\n", bare: true, body: written(`<invoke name="{name}">{args}</invoke>`, "<p:{k}>{v}</p:{k}>", "", "raw")},
		"a list of texts in tags": {first: "<|acts|>", last: "<|/acts|>", body: func(c chat.Call, _ int) string {
			return `<invoke name="` + c.Name + `">` + inTags(string(c.Args), "li") + "</invoke>"
		}},
	} {
		v.user, v.bot, v.end = "<|user|>\n", "<|bot|>\n", "<|end|>\n"
		o := tried(t, v)
		if !o.read {
			t.Errorf("%s: %s, wrong calls %v", name, o.why, o.wrong)
		}
		if more[name] == nil {
			continue
		}
		found, err := From("mystery", adapters.Builtin(), Template{Render: v.render})
		must.OK(t, err)
		if err := Reads(found.Format, v.reply(chat.Message{Calls: more[name]}), "", more[name], drawnTools); err != nil {
			t.Error(err)
		}
	}
}

// quoted writes a value as JSON, but a text as it is between quotes.
func quoted(raw, quote string) string {
	if raw[0] == '"' {
		return quote + spelled(json.RawMessage(raw), "raw") + quote
	}
	return spelled(json.RawMessage(raw), "json")
}

// inQuotes writes a value with bare names and such quotes around each text.
func inQuotes(raw, quote string) string {
	switch raw = strings.TrimSpace(raw); raw[0] {
	case '{':
		return "{" + each(json.RawMessage(raw), ",", func(k, s string) string { return k + ":" + inQuotes(s, quote) }) + "}"
	case '[':
		var all []string
		for _, e := range elementsOf(raw) {
			all = append(all, inQuotes(e, quote))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return quoted(raw, quote)
}

// flat writes a value in YAML, with lists as far in as the key that they belong to, and texts of
// several lines as blocks.
func flat(raw string, n int) string {
	on := "\n" + strings.Repeat(" ", n)
	switch raw = strings.TrimSpace(raw); {
	case raw[0] == '{' && raw != "{}":
		return each(json.RawMessage(raw), "", func(k, s string) string { return on + k + ":" + flat(s, n+2) })
	case raw[0] == '[' && raw != "[]":
		out := ""
		for _, e := range elementsOf(raw) {
			out += on[:len(on)-2] + "-" + flat(e, n)
		}
		return out
	case raw[0] == '"' && strings.Contains(raw, `\n`) && !strings.HasSuffix(raw, `\n"`):
		return " |-" + on + strings.ReplaceAll(spelled(json.RawMessage(raw), "raw"), "\n", on)
	}
	return " " + spelled(json.RawMessage(raw), "json")
}
