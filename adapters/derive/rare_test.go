package derive

import (
	"encoding/json"
	"fmt"
	"strings"
)

// rareBodies are ways of writing calls that were written down after the derivation, and not looked
// at while it was made.
var rareBodies = []struct{ open, close, call, arg, between string }{
	{call: `["{name}", {json}]`},
	{call: "{name} [{args}]", arg: `["{k}", {v}]`, between: ", "},
	{call: "<tool {name}>{args}\n</tool>", arg: "\n<arg name=\"{k}\" type=\"{type}\">{v}</arg>"}, // the values are raw
	{"<run>", "</run>", "<{name}>{tags}</{name}>", "", ""},
	{"(", ")", "{name}{args}", " ({k} {v})", ""},
	{"[call.", "\n[end]", "{name}]{args}", "\n{k} = {v}", ""},
	{call: "{name}{{args}}", arg: `"{k}" => {v}`, between: ", "},
	{call: "{name}\nInput: {json}"}, // behind Tool: and the like
	{call: "{{args}} => {name}", arg: "{k}: {v}", between: ", "},
	{"$ ", " ;;", "{name}{args}", " --{k} {v}", ""},
	{call: "{name}: {args}", arg: "{v} -> {k}", between: "; "},
	{call: "| tool | {name} |\n|---|---|{args}", arg: "\n| {k} | {v} |"},
	{call: "{name} with {count} arguments: {args}", arg: "{k}={v}", between: ", "},
	{call: `{"index": {n}, "id": "{id}", "{name}": {json}}`},
	{call: "{name}{args}", arg: "\n<{k}={k}>{v}"},
}

// kindOf is the word for a value's type.
func kindOf(raw string) string {
	switch raw[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// inventRare is a template of these.
func inventRare(seed uint64) *invented {
	v := invent(seed)
	d := newInventor(seed + 1)
	n := int(seed) % len(rareBodies)
	m := d.marks()
	v.open, v.close = m[0], m[1]
	b, kind := rareBodies[n], "json"
	if b.open != "" {
		v.open, v.close = b.open, b.close
	}
	switch {
	case strings.Contains(b.arg, "{type}"):
		kind = "raw"
	case strings.Contains(b.call, "Input: "):
		v.open, v.close = d.of("Tool: ", "USE ", "Action: "), ""
		v.first, v.last, v.between = "", "", "\n"
	}
	v.body = written(b.call, b.arg, b.between, kind)
	v.named(fmt.Sprintf("seed %d, rare %d", seed, n))
	return v
}

// inTags writes a value as tags named after its members, and elements of lists as tags of the given
// name.
func inTags(raw, item string) string {
	switch raw = strings.TrimSpace(raw); raw[0] {
	case '{':
		return each(json.RawMessage(raw), "", func(k, s string) string { return "<" + k + ">" + inTags(s, item) + "</" + k + ">" })
	case '[':
		out := ""
		for _, e := range elementsOf(raw) {
			out += "<" + item + ">" + inTags(e, item) + "</" + item + ">"
		}
		return out
	}
	return spelled(json.RawMessage(raw), "xml")
}
