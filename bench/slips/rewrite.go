package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"regexp"
	"strings"
)

// member is a member of an object, with its value as JSON text.
type member struct{ key, value string }

// membersOf returns the members of a JSON object, or nil if it is not valid.
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

// object returns the range of f.text that is the JSON object with the arguments of the call. It
// returns false if the text has no such object, because the family writes arguments in another way.
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

// layout is a notation that writes the arguments of a call as a list, each with its name: "a=1,
// b=2".
type layout struct {
	open, each, between, end string
	raw                      bool // texts are written without quotes and escapes
}

// layouts are the notations of this kind, by name.
var layouts = map[string]layout{
	"lines":    {"", "%s: %s", "\n", "", true},
	"dashes":   {"\n", "- %s: %s", "\n", "\n", true},
	"kwargs":   {"(", "%s=%s", ", ", ")", false},
	"assigned": {"{", "%s = %s", ", ", "}", false},
	"elements": {"", "<%[1]s>%[2]s</%[1]s>", "\n", "", true},
	"pairs":    {"[", `["%s", %s]`, ", ", "]", false},
	"records":  {"[", `{"name": "%s", "value": %s}`, ", ", "]", false},
	"flags":    {"", "--%s %s", " ", "", false},
	"query":    {"?", "%s=%s", "&", "", true},
}

// wrappers are texts around the arguments, with %s in the place of these.
var wrappers = map[string]string{
	"bad-string":  `"%s"`,
	"list":        "[%s]",
	"two-lists":   "[[%s]]",
	"wrapped":     `{"arguments": %s}`,
	"input":       `{"input": %s}`,
	"properties":  `{"type": "object", "properties": %s}`,
	"parentheses": "(%s)",
	"fence":       "```json\n%s\n```",
}

// spellings are functions that return the arguments with their texts spelled in another way.
var spellings = map[string]func(f *frame, args string) string{
	"string":     quoteTwice,
	"braceless":  func(_ *frame, args string) string { return args[1 : len(args)-1] },
	"python":     python,
	"json5":      json5,
	"backquotes": backquotes,
}

// inManner returns args, a JSON object, as a model would write it in the notation called name, such
// as "kwargs" or "python". It returns false if there is no notation of that name.
func (f *frame) inManner(name, args string) (string, bool) {
	if l, ok := layouts[name]; ok {
		return f.listed(args, l), true
	}
	if w, ok := wrappers[name]; ok {
		return strings.Replace(w, "%s", args, 1), true
	}
	if spell := spellings[name]; spell != nil {
		return spell(f, args), true
	}
	return "", false
}

// quoteTwice returns the arguments as a JSON string that contains them.
func quoteTwice(f *frame, args string) string {
	f.each(quoteInner)
	return `"` + quoteInner(args) + `"`
}

// rewrite replaces the arguments of a call by the same arguments in another notation, which w.with
// names. It returns false if the call was changed before, or if its arguments are not a JSON
// object.
func rewrite(w way, _ *rand.Rand, f *frame) bool {
	if !f.whole {
		return false
	}
	from, to, ok := f.object()
	if !ok {
		return false
	}
	args, ok := f.inManner(w.with, f.text[from:to])
	if ok {
		f.text = f.text[:from] + args + f.text[to:]
	}
	return ok
}

// each replaces each text of the call, in the form in which the family writes it, by what the
// function as returns for it.
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

// python returns args, a JSON object, as Python prints a dict: {'a': True, 'b': None}. In args a
// character stands for each text of the call. python writes the texts themselves to f.written, with
// backslashes, single quotes, newlines and tabs escaped.
func python(f *frame, args string) string {
	for i, v := range f.texts {
		f.written[i] = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`).Replace(
			v.text)
	}
	args = textLike.ReplaceAllString(keyLike.ReplaceAllString(args, "'$1'$2"), "'$1'")
	return wordLike.ReplaceAllStringFunc(args, func(s string) string {
		return map[string]string{"true": "True", "false": "False", "null": "None"}[s]
	})
}

// json5 returns args, a JSON object, as JavaScript writes objects: keys without quotes, texts in
// single quotes, and a comma at the end. In the texts of f it escapes backslashes, single quotes,
// newlines and tabs.
func json5(f *frame, args string) string {
	python(f, args) // its escapes are JavaScript's, too
	args = textLike.ReplaceAllString(keyLike.ReplaceAllString(args, "$1$2"), "'$1'")
	return strings.TrimSuffix(args, "}") + ",}"
}

// backquotes returns the arguments with every text between backquotes. In the texts it escapes only
// backslashes and backquotes.
func backquotes(f *frame, args string) string {
	for i, v := range f.texts {
		f.written[i] = strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(v.text)
	}
	return textLike.ReplaceAllString(args, "`$1`")
}

// listed returns args, a JSON object, in another notation, which lists the object's keys and
// values: "a=1, b=2". The parameter l says how the notation separates them.
func (f *frame) listed(args string, l layout) string {
	var all []string
	for _, m := range membersOf(args) {
		v := m.value
		if l.raw && textLike.FindString(v) == v {
			v = strings.Trim(v, `"`)
			f.bare(v)
		}
		all = append(all, fmt.Sprintf(l.each, m.key, v))
	}
	return l.open + strings.Join(all, l.between) + l.end
}

// bare removes quotes and escapes from some texts of the call. In the frame a private character
// stands for each text. The parameter placeholder contains the characters of those texts that are
// to be changed.
func (f *frame) bare(placeholder string) {
	for _, r := range placeholder {
		if isPlaceholder(r) {
			f.written[r-firstPlaceholder] = f.texts[r-firstPlaceholder].text
		}
	}
}
