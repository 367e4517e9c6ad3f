package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"regexp"
	"strings"
)

// member is a member of an object, its value as text.
type member struct{ key, value string }

// membersOf are the members of a JSON object.
func membersOf(object string) []member {
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var all []member
	for d.More() {
		key, err := d.Token()
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil {
			return nil
		}
		all = append(all, member{fmt.Sprint(key), string(v)})
	}
	return all
}

// object is where the arguments stand as a JSON object; false where the family writes none.
func (f *frame) object() (from, to int, ok bool) {
	var want any
	if json.Unmarshal([]byte(f.args), &want) != nil {
		return 0, 0, false
	}
	for i := range f.text {
		if f.text[i] != '{' {
			continue
		}
		var got any
		d := json.NewDecoder(strings.NewReader(f.text[i:]))
		if d.Decode(&got) == nil && reflect.DeepEqual(got, want) {
			return i, i + int(d.InputOffset()), true
		}
	}
	return 0, 0, false
}

// manners are the ways in which whole arguments are written in another notation.
var manners = map[string]func(f *frame, args string) string{
	"string":      func(f *frame, args string) string { f.each(quoted); return `"` + quoted(args) + `"` },
	"bad-string":  func(f *frame, args string) string { return `"` + args + `"` },
	"list":        func(f *frame, args string) string { return "[" + args + "]" },
	"two-lists":   func(f *frame, args string) string { return "[[" + args + "]]" },
	"wrapped":     func(f *frame, args string) string { return `{"arguments": ` + args + "}" },
	"input":       func(f *frame, args string) string { return `{"input": ` + args + "}" },
	"properties":  func(f *frame, args string) string { return `{"type": "object", "properties": ` + args + "}" },
	"parentheses": func(f *frame, args string) string { return "(" + args + ")" },
	"fence":       func(f *frame, args string) string { return "```json\n" + args + "\n```" },
	"braceless":   func(f *frame, args string) string { return args[1 : len(args)-1] },
	"python":      python,
	"json5":       func(f *frame, args string) string { return json5(f, args) },
	"backquotes":  backquotes,
	"lines":       func(f *frame, args string) string { return listed(f, args, "", "%s: %s", "\n", "", true) },
	"dashes":      func(f *frame, args string) string { return listed(f, args, "\n", "- %s: %s", "\n", "\n", true) },
	"kwargs":      func(f *frame, args string) string { return listed(f, args, "(", "%s=%s", ", ", ")", false) },
	"assigned":    func(f *frame, args string) string { return listed(f, args, "{", "%s = %s", ", ", "}", false) },
	"elements":    func(f *frame, args string) string { return listed(f, args, "", "<%[1]s>%[2]s</%[1]s>", "\n", "", true) },
	"pairs":       func(f *frame, args string) string { return listed(f, args, "[", `["%s", %s]`, ", ", "]", false) },
	"records": func(f *frame, args string) string {
		return listed(f, args, "[", `{"name": "%s", "value": %s}`, ", ", "]", false)
	},
	"flags": func(f *frame, args string) string { return listed(f, args, "", "--%s %s", " ", "", false) },
	"query": func(f *frame, args string) string { return listed(f, args, "?", "%s=%s", "&", "", true) },
}

// rewrite writes the whole arguments in another notation.
func rewrite(w way, _ *rand.Rand, f *frame) bool {
	manner := manners[w.with]
	if manner == nil || !f.whole {
		return false
	}
	from, to, ok := f.object()
	if !ok {
		return false
	}
	f.text = f.text[:from] + manner(f, f.text[from:to]) + f.text[to:]
	return true
}

// each respells every text.
func (f *frame) each(as func(written string) string) {
	for i, s := range f.written {
		f.written[i] = as(s)
	}
}

var (
	keyLike  = regexp.MustCompile(`"(\w+)"(\s*:)`)
	textLike = regexp.MustCompile(`"([\x{E000}-\x{E7FF}])"`)
	wordLike = regexp.MustCompile(`\b(true|false|null)\b`)
)

// python is the arguments as Python's repr prints them.
func python(f *frame, args string) string {
	f.each(func(string) string { return "" })
	for i, v := range f.texts {
		f.written[i] = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`).Replace(v.text)
	}
	args = textLike.ReplaceAllString(keyLike.ReplaceAllString(args, "'$1'$2"), "'$1'")
	return wordLike.ReplaceAllStringFunc(args, func(s string) string {
		return map[string]string{"true": "True", "false": "False", "null": "None"}[s]
	})
}

// json5 is the arguments as JavaScript writes objects.
func json5(f *frame, args string) string {
	python(f, args) // its escapes are JavaScript's, too
	args = textLike.ReplaceAllString(keyLike.ReplaceAllString(args, "$1$2"), "'$1'")
	return strings.TrimSuffix(args, "}") + ",}"
}

// backquotes puts every text between backquotes, as it is.
func backquotes(f *frame, args string) string {
	for i, v := range f.texts {
		f.written[i] = strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(v.text)
	}
	return textLike.ReplaceAllString(args, "`$1`")
}

// listed writes the members one after the other; raw: texts without quotes, as they are.
func listed(f *frame, args, open, each, between, end string, raw bool) string {
	var all []string
	for _, m := range membersOf(args) {
		v := m.value
		if raw && textLike.FindString(v) == v {
			v = strings.Trim(v, `"`)
			f.bare(v)
		}
		all = append(all, fmt.Sprintf(each, m.key, v))
	}
	return open + strings.Join(all, between) + end
}

// bare makes the text of a hole stand as it is.
func (f *frame) bare(hole string) {
	for _, r := range hole {
		if isHole(r) {
			f.written[r-firstHole] = f.texts[r-firstHole].text
		}
	}
}
