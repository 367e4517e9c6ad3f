package derive

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// TestWhatTemplatesSpellOtherwise reads templates that differ from others in how they print values
// and what stands at the borders of their marks.
func TestWhatTemplatesSpellOtherwise(t *testing.T) {
	rows := func(c chat.Call, front, mid, end string) string {
		return each(c.Args, "", func(k, s string) string {
			return front + k + mid + spelled(json.RawMessage(s), "raw") + end
		})
	}
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
		"a section whose calls have no end": {first: "[ACTS]", last: "[/ACTS]", between: ",\n", bare: true, body: func(c chat.Call, _ int) string {
			return "<name>" + c.Name + "</name>" + rows(c, "\n<arg key=\"", "\">", "</arg>") + "\n"
		}},
		"YAML without arguments": {first: "<acts>", last: "\n</acts>", body: func(c chat.Call, _ int) string {
			args := each(c.Args, "", func(k, s string) string { return "\n    " + k + ": " + spelled(json.RawMessage(s), "json") })
			if args == "" {
				args = " {}"
			}
			return "\n- tool: " + c.Name + "\n  args:" + args
		}},
		"a section right in front of tags": {first: "<|acts|>", last: "<|/acts|>", bare: true, body: func(c chat.Call, _ int) string {
			return "<" + c.Name + ">" + each(c.Args, "", func(k, s string) string {
				return "\n<p:" + k + ">" + spelled(json.RawMessage(s), "xml") + "</p:" + k + ">"
			}) + "\n</" + c.Name + ">"
		}},
		"marks in two angles": {open: "<<ACT>>", close: "<</ACT>>", body: func(c chat.Call, _ int) string {
			return spelled(c.Args, "json") + " => " + c.Name
		}},
		"a tag around text": {said: [2]string{"<say>", "</say>"}, first: "<<ACTS>>", last: "<</ACTS>>", between: "\n", body: func(c chat.Call, n int) string {
			return c.Name + "#" + strconv.Itoa(n+1) + " " + spelled(c.Args, "json")
		}},
		"tags of names in two marks": {open: "<|act>", close: "<act|>", between: "\n", bare: true, body: func(c chat.Call, _ int) string {
			return `<invoke name="` + c.Name + `">` + each(c.Args, "", func(k, s string) string {
				return "<p:" + k + ">" + spelled(json.RawMessage(s), "raw") + "</p:" + k + ">"
			}) + "</invoke>"
		}},
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
		if err != nil {
			t.Fatal(err)
		}
		if err := Reads(found.Format, v.reply(chat.Message{Calls: more[name]}), "", more[name], drawnTools); err != nil {
			t.Error(err)
		}
	}
}
