package family

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters"
)

// place describes where a tool's name and JSON are in a reply, by the texts around and between
// them.
type place struct {
	placeholders       string // the placeholders: {name}{json} or {call}
	front, mid, behind string
}

// isWord reports whether a tag begins with a letter or digit. Such a tag must be at the beginning
// of a line.
func isWord(mark string) bool {
	c, _ := utf8.DecodeRuneInString(mark)
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

// constantLine finds out how calls are written, from replies in which the same text surrounds the
// name and the JSON of a call. It returns a line for a family's file that describes such calls, and
// the replies that fit the line. Text that is the same in all replies is taken for a tag. If there
// is only one reply, the line of it that contains the name is taken for the tag. If the replies
// write calls in several ways, the line describes the way that most of them use. If the parameter
// set can parse no such line as a declaration, both results are empty.
func constantLine(set *adapters.Set, replies []Reply) (line string, read []Reply) {
	groups := map[string][]place{}
	from := map[string][]Reply{}
	var order []string
	for _, r := range replies {
		p, ok := placeOf(r)
		if !ok {
			continue
		}
		key := p.placeholders + "\x00" + p.mid
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key], from[key] = append(groups[key], p), append(from[key], r)
	}
	for _, key := range order {
		made := lineOf(groups[key])
		f, err := set.Parse([]byte("format  x\nmodels  x*\n" + made))
		if err != nil {
			continue
		}
		all := true
		for _, r := range from[key] {
			all = all && len(callsIn(f, r)) > 0
		}
		if all && len(from[key]) > len(read) {
			line, read = made, from[key]
		}
	}
	return line, read
}

// placeOf returns the texts around the first call in a reply: a tool's name that is followed or
// surrounded by JSON. If there is no such name, ok is false.
func placeOf(r Reply) (p place, ok bool) {
	for _, t := range r.Tools {
		at := strings.Index(r.Raw, t.Name)
		if at < 0 {
			continue
		}
		for i := 0; i < len(r.Raw); i++ {
			if r.Raw[i] != '{' {
				continue
			}
			n := objectAt(r.Raw[i:])
			if n == 0 {
				continue
			}
			end, after := i+n, at+len(t.Name)
			switch {
			case i < at && after < end:
				return place{"{call}", r.Raw[:i], "", r.Raw[end:]}, true
			case i >= after:
				return place{"{name}{json}", r.Raw[:at], r.Raw[after:i], r.Raw[end:]}, true
			}
			i = end - 1 // an object for something else
		}
	}
	return p, false
}

// objectAt returns the length of the JSON object at the beginning of a text, or 0 if there is none.
func objectAt(text string) int {
	d := json.NewDecoder(strings.NewReader(text))
	var v map[string]json.RawMessage
	if d.Decode(&v) != nil {
		return 0
	}
	return int(d.InputOffset())
}

// lineOf returns the line of a family file that declares how calls are written. Around the call it
// has the texts that are the same at all the given places.
func lineOf(all []place) string {
	front, behind := all[0].front, all[0].behind
	for _, p := range all[1:] {
		front, behind = commonSuffix(front, p.front), commonPrefix(behind, p.behind)
	}
	front = strings.TrimLeft(lastLines(front, len(all) > 1), " \t\n")
	ends := true // whether the replies end after the mark
	for _, p := range all {
		ends = ends && strings.TrimSpace(p.behind) == strings.TrimSpace(behind)
	}
	behind = firstLines(behind, ends && len(all) > 1)
	mid := example(all[0].mid)
	placeholders := strings.Replace(all[0].placeholders, "{name}{json}", "{name}"+mid+"{json}", 1)
	if isWord(front) {
		return "call    \\n" + example(front) + placeholders + example(strings.TrimRight(behind, "\n")) +
			"\\n\n"
	}
	return "call    " + example(front) + placeholders +
		example(strings.TrimRight(behind, " \t\n")) + "\n"
}

// example returns a text as a declaration writes it: an opening brace is doubled, and a newline is
// \n.
func example(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "{", "{{"), "\n", `\n`)
}

// lastLines returns the end of a text: its last line, and the lines before it that look like tags
// and not like words. The parameter common is true if several replies have the text in common. If
// it is false, only what follows the last sentence is returned.
func lastLines(text string, common bool) string {
	start := len(text)
	for start > 0 {
		at := strings.LastIndexByte(text[:start-1], '\n') + 1
		line := strings.TrimSpace(text[at:start])
		if start < len(text) && (line == "" || isWord(line)) {
			break
		}
		if !common {
			if i := strings.LastIndexAny(line, ".!?"); i >= 0 && i+1 < len(line) &&
				line[i+1] == ' ' {
				return strings.TrimLeft(text[at:][strings.LastIndexAny(text[at:], ".!?")+1:], " ")
			}
		}
		start = at
	}
	return text[start:]
}

// firstLines returns the beginning of a text: its first line, and the lines after it that look like
// tags. The parameter ends is true if every reply ends with the text; then firstLines returns the
// whole text.
func firstLines(text string, ends bool) string {
	if ends {
		return text
	}
	out := ""
	for line := range strings.Lines(text) {
		if bare := strings.TrimSpace(line); bare != "" && isWord(bare) && out != "" ||
			strings.Contains(bare, " ") {
			break
		}
		out += line
	}
	return out
}

// commonPrefix returns the longest common prefix of two texts that does not split a character.
func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// commonSuffix returns the longest common suffix of two texts that does not split a character.
func commonSuffix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return a[len(a)-n:]
}
