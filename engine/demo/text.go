package demo

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/chat/schema"
)

// textFormats has, for each format of texts, a pattern and an example. Examples use names and
// addresses that are reserved for this (example.com, 192.0.2.0/24, 2001:db8::/32), so a tool that
// uses one reaches no real machine.
var textFormats = map[string]struct{ pattern, example string }{
	"date":      {`^\d{4}-\d\d-\d\d$`, "2026-01-01"},
	"date-time": {`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, "2026-01-01T00:00:00Z"},
	"time":      {`^\d\d:\d\d:\d\d(Z|[+-])`, "12:00:00Z"},
	"duration":  {`^P\d+[DWMY]$`, "P1D"},
	"email":     {`^[^@\s]+@[^@\s]+$`, "somebody@example.com"},
	"hostname":  {`^[a-z0-9-]+(\.[a-z0-9-]+)+$`, "example.com"},
	"uri":       {`^[a-z]+://\S+$`, "https://example.com/"},
	"url":       {`^[a-z]+://\S+$`, "https://example.com/"},
	"uuid": {`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`,
		"00000000-0000-4000-8000-000000000000"},
	"ipv4": {`^\d{1,3}(\.\d{1,3}){3}$`, "192.0.2.1"},
	"ipv6": {`^[0-9a-f:]*::?[0-9a-f:]*$`, "2001:db8::1"},
}

// textual has what a schema demands of a text: its length, pattern and format. Of several patterns
// or formats only the first is used.
type textual struct {
	least, most int // numbers of characters; most 0: no limit
	pattern     string
	format      string
	rule        *regexp.Regexp // the pattern compiled; nil: none, or Go cannot read it
}

// textualOf returns the demands that the schema p makes on a text. Patterns are those of
// JavaScript, rewritten for Go. A pattern that Go cannot compile is ignored, as it is when an
// answer is checked.
func textualOf(p *schema.Place) textual {
	s := textual{least: n(p.MinLength, 0), most: n(p.MaxLength, 0)}
	if len(p.Patterns) > 0 {
		s.pattern = schema.GoPattern(p.Patterns[0].Text)
		s.rule, _ = regexp.Compile(s.pattern)
	}
	if len(p.Formats) > 0 {
		s.format = p.Formats[0].Text
	}
	return s
}

// fits reports whether the text matches the pattern and the format in s and has an allowed length.
// An unknown format accepts any text, as in JSON Schema.
func (s textual) fits(text string) bool {
	n := utf8.RuneCountInString(text)
	if n < s.least || s.most > 0 && n > s.most || s.rule != nil && !s.rule.MatchString(text) {
		return false
	}
	form, known := textFormats[s.format]
	return !known || regexp.MustCompile(form.pattern).MatchString(text)
}

// made returns the text in the parameter wanted, changed as far as possible to fit the pattern, the
// format and the lengths in s. A pattern takes precedence over a format. Lengths are applied last,
// so a text that was cut to its length may no longer match the pattern.
func (s textual) made(wanted string) string {
	if s.rule != nil && !s.rule.MatchString(wanted) {
		if re, err := syntax.Parse(s.pattern, syntax.Perl); err == nil {
			wanted = sample(re.Simplify(), 0)
		}
	} else if form, known := textFormats[s.format]; known && !s.fits(wanted) {
		return form.example
	}
	chars := []rune(wanted)
	// a pattern without an end may match with its last character repeated
	for i := 0; len(chars) < s.least && len(chars) < maxQuoted; i++ {
		if last := len(chars) - 1; s.rule != nil && last >= 0 {
			chars = append(chars, chars[last])
		} else {
			chars = append(chars, 'x')
		}
	}
	if s.most > 0 && len(chars) > s.most {
		chars = chars[:s.most]
	}
	return string(chars)
}

// sample returns a text that the expression matches, or "" for one that is nested too deep. It uses
// the first alternative, the fewest repetitions, and a letter or a digit from a class.
func sample(re *syntax.Regexp, depth int) string {
	if depth > 2*maxFill {
		return ""
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(fromClass(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(sample(sub, depth+1))
		}
		return b.String()
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpPlus:
		return sample(re.Sub[0], depth+1)
	case syntax.OpRepeat:
		return strings.Repeat(sample(re.Sub[0], depth+1), re.Min)
	}
	return "" // an anchor, or an optional part
}

// fromClass returns a character of the class, if possible one that people would choose. For
// example, from [A-Z0-9] it chooses A and not 0.
func fromClass(ranges []rune) rune {
	for _, nice := range "aA1" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= nice && nice <= ranges[i+1] {
				return nice
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}

// text returns a string for the member with the given name. It uses a text of the member's kind
// from the user's message, or else the schema's example, or else a text that is clearly not a real
// value, such as "example title". It returns nil if the member is not required and the message has
// no such text.
func (f *finds) text(name string, p *schema.Place, required bool) []byte {
	s := textualOf(p)
	k := kindOfText(name, s.format)
	for _, list := range f.lists(k) {
		for i, found := range *list {
			// People write a day, but the format wants a time of that day.
			if k == dateText && s.format == "date-time" {
				found += "T00:00:00Z"
			}
			if s.fits(found) {
				*list = slices.Delete(*list, i, i+1)
				return quote(found)
			}
		}
	}
	switch {
	case k == longText && s.pattern == "":
		return quote(s.made(prose()))
	case !required:
		return nil
	}
	proposed := ""
	if v := example(p, schema.String); json.Unmarshal([]byte(v), &proposed) == nil &&
		s.fits(proposed) {
		return []byte(v)
	}
	switch k {
	case dateText:
		return quote(s.made("2026-01-01"))
	case askText:
		return quote(s.made(strings.TrimSpace(f.message[max(0, len(f.message)-200):])))
	}
	return quote(s.made("example " + name))
}

// The kinds of texts that a member's name asks for.
const (
	anyText = iota
	dateText
	pathText
	idText
	longText
	askText
)

// kindOfText returns the kind of text that a member's name, or its format, asks for. Only English
// names are known, because most tools that clients offer have such names: file_path, employeeId,
// query.
func kindOfText(name, format string) int {
	lower := strings.ToLower(name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(lower, p) })
	}
	switch {
	case has("date", "day"), strings.HasPrefix(format, "date"):
		return dateText
	case has("path", "file", "dir", "url"), strings.HasPrefix(format, "ur"):
		return pathText
	case lower == "id", strings.HasSuffix(lower, "_id"), strings.HasSuffix(name, "Id"),
		strings.HasSuffix(name, "ID"):
		return idText
	case slices.Contains([]string{"content", "text", "body", "code"}, lower):
		return longText
	case has("query", "question", "prompt", "message", "search", "task"):
		return askText
	}
	return anyText
}

// lists returns those lists of a message's parts (quotations, names, ids and so on) from which a
// text of the given kind may be taken. The best list comes first. A path may also be quoted, and an
// id may be a number.
func (f *finds) lists(kind int) []*[]string {
	switch kind {
	case dateText:
		return []*[]string{&f.dates}
	case pathText:
		return []*[]string{&f.paths, &f.quoted}
	case idText:
		return []*[]string{&f.ids, &f.quoted, &f.numbers}
	case longText:
		return []*[]string{&f.quoted}
	}
	return []*[]string{&f.quoted, &f.names, &f.ids}
}

// prose returns about a kilobyte of sentences. It is so long that a reader can see an argument
// being streamed, in 250 pieces and half a second. It has quotation marks and newlines, which must
// be escaped.
func prose() string {
	var b strings.Builder
	for n := 1; b.Len() < 1024; n++ {
		b.WriteString("This is line ")
		b.WriteString(strconv.Itoa(n))
		b.WriteString(
			" of a longer text: it says \"nothing\" much, but it says it piece by piece.\n")
	}
	return b.String()
}
