package derive

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolnorm/chat"
)

// rareBodies are ways of writing calls that were written down after the derivation, and not looked
// at while it was made.
var rareBodies = []func(d inventor, v *invented){
	func(d inventor, v *invented) { // ["get_weather", {"city": "Oslo"}]
		v.body = func(c chat.Call, _ int) string { return `["` + c.Name + `", ` + spelled(c.Args, "json") + "]" }
	},
	func(d inventor, v *invented) { // get_weather [["city", "Oslo"], ["days", 3]]
		v.body = func(c chat.Call, _ int) string {
			return c.Name + " [" + each(c.Args, ", ", func(k, s string) string { return `["` + k + `", ` + spelled(json.RawMessage(s), "json") + "]" }) + "]"
		}
	},
	func(d inventor, v *invented) { // <arg name="city" type="string">Oslo</arg>
		v.body = func(c chat.Call, _ int) string {
			return "<tool " + c.Name + ">" + each(c.Args, "", func(k, s string) string {
				return "\n<arg name=\"" + k + `" type="` + kindOf(s) + `">` + spelled(json.RawMessage(s), "raw") + "</arg>"
			}) + "\n</tool>"
		}
	},
	func(d inventor, v *invented) { // <get_weather><city>Oslo</city><tags><item>a</item></tags></get_weather>
		v.open, v.close = "<run>", "</run>"
		v.body = func(c chat.Call, _ int) string {
			return "<" + c.Name + ">" + inTags(string(c.Args), "item") + "</" + c.Name + ">"
		}
	},
	func(d inventor, v *invented) { // (get_weather (city "Oslo") (days 3))
		v.open, v.close = "(", ")"
		v.body = func(c chat.Call, _ int) string {
			return c.Name + each(c.Args, "", func(k, s string) string { return " (" + k + " " + spelled(json.RawMessage(s), "json") + ")" })
		}
	},
	func(d inventor, v *invented) { // [call.get_weather]\ncity = "Oslo"
		v.open, v.close = "[call.", "\n[end]"
		v.body = func(c chat.Call, _ int) string {
			return c.Name + "]" + each(c.Args, "", func(k, s string) string { return "\n" + k + " = " + spelled(json.RawMessage(s), "json") })
		}
	},
	func(d inventor, v *invented) { // get_weather{"city" => "Oslo"}
		v.body = func(c chat.Call, _ int) string {
			return c.Name + "{" + each(c.Args, ", ", func(k, s string) string { return `"` + k + `" => ` + spelled(json.RawMessage(s), "json") }) + "}"
		}
	},
	func(d inventor, v *invented) { // Tool: get_weather\nInput: {…}
		v.open, v.close = d.of("Tool: ", "USE ", "Action: "), ""
		v.first, v.last, v.between = "", "", "\n"
		v.body = func(c chat.Call, _ int) string { return c.Name + "\nInput: " + spelled(c.Args, "json") }
	},
	func(d inventor, v *invented) { // {city: "Oslo", days: 3} => get_weather
		v.body = func(c chat.Call, _ int) string {
			return "{" + each(c.Args, ", ", func(k, s string) string { return k + ": " + spelled(json.RawMessage(s), "json") }) + "} => " + c.Name
		}
	},
	func(d inventor, v *invented) { // get_weather --city "Oslo" --days 3
		v.open, v.close = "$ ", " ;;"
		v.body = func(c chat.Call, _ int) string {
			return c.Name + each(c.Args, "", func(k, s string) string { return " --" + k + " " + spelled(json.RawMessage(s), "json") })
		}
	},
	func(d inventor, v *invented) { // Oslo -> city; 3 -> days
		v.body = func(c chat.Call, _ int) string {
			return c.Name + ": " + each(c.Args, "; ", func(k, s string) string { return spelled(json.RawMessage(s), "json") + " -> " + k })
		}
	},
	func(d inventor, v *invented) { // | city | "Oslo" |
		v.body = func(c chat.Call, _ int) string {
			return "| tool | " + c.Name + " |\n|---|---|" + each(c.Args, "", func(k, s string) string { return "\n| " + k + " | " + spelled(json.RawMessage(s), "json") + " |" })
		}
	},
	func(d inventor, v *invented) { // get_weather with 2 arguments: city="Oslo", days=3
		v.body = func(c chat.Call, _ int) string {
			return c.Name + " with " + strconv.Itoa(len(membersOf(c.Args))) + " arguments: " + each(c.Args, ", ", func(k, s string) string { return k + "=" + spelled(json.RawMessage(s), "json") })
		}
	},
	func(d inventor, v *invented) { // {"index": 0, "id": "…", "get_weather": {…}}
		v.body = func(c chat.Call, n int) string {
			return fmt.Sprintf(`{"index": %d, "id": "%s", "%s": %s}`, n, c.ID, c.Name, spelled(c.Args, "json"))
		}
	},
	func(d inventor, v *invented) { // city is said twice: <city=city>
		v.body = func(c chat.Call, _ int) string {
			return c.Name + each(c.Args, "", func(k, s string) string { return "\n<" + k + "=" + k + ">" + spelled(json.RawMessage(s), "json") })
		}
	},
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
	rareBodies[n](d, v)
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
