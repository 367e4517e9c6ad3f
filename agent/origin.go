package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/tools"
)

// origin is a text, such as the result of a tool, from which a value in a call may have been taken.
type origin struct{ from, text string }

// origins returns what the user has said, and the texts of others. These are the results of tools,
// and earlier answers, since an answer may repeat a result.
func (r *run) origins() (said string, others []origin) {
	for _, m := range r.turns {
		switch {
		case m.Role == chat.ToolRole, slices.Contains(r.ask.Results, m.Content):
			others = append(others, origin{"the result of " + cmp.Or(m.Name, "a tool"),
				folded(m.Content)})
		case m.Role == chat.Assistant:
			others = append(others, origin{"an earlier answer", folded(m.Content)})
		default:
			said += folded(m.Content) + "\n"
		}
	}
	for _, f := range r.facts {
		others = append(others, origin{"the result of " + f.call.Name, folded(f.text)})
	}
	return said, others
}

// borrowed returns the values of a call that occur in results of tools or in earlier answers, and
// not in what the user has said. Words of the tool's own schema are not listed.
func (r *run) borrowed(c chat.Call, t tools.Tool) (all []Borrowed) {
	said, others := r.origins()
	own := folded(string(t.Schema))
	for _, piece := range piecesOf(c.Args) {
		text := folded(piece)
		if text == "" || holds(said, text) || strings.Contains(own, `"`+text+`"`) {
			continue
		}
		at := slices.IndexFunc(others, func(o origin) bool { return holds(o.text, text) })
		within := func(b Borrowed) bool { return strings.Contains(b.Value, piece) }
		if at >= 0 && !slices.ContainsFunc(all, within) {
			all = append(all, Borrowed{piece, others[at].from})
		}
	}
	return all
}

// wordsInRun is how many consecutive words are taken for a quotation.
const wordsInRun = 5

// piecesOf returns the values of arguments, and the parts of long texts that carry information:
// addresses, paths, numbers, and sequences of words. Whole values come before their parts.
// Arguments that are not JSON are treated as one text.
func piecesOf(args json.RawMessage) (all []string) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return partsOf(string(args)) // the registry may be able to read it nevertheless
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case json.Number:
			if len(v) > 1 {
				all = append(all, v.String())
			}
		case string:
			all = append(all, partsOf(v)...)
		}
	}
	walk(v)
	return all
}

// partsOf returns a text and those of its parts that carry information, such as paths and numbers.
// A text of a single character is not returned itself.
func partsOf(text string) (all []string) {
	if utf8.RuneCountInString(text) > 1 {
		all = append(all, text)
	}
	words := strings.Fields(text)
	for i := 0; i+wordsInRun <= len(words) && len(words) > wordsInRun; i++ {
		all = append(all, strings.TrimFunc(strings.Join(words[i:i+wordsInRun], " "), isSign))
	}
	for _, w := range words {
		w = strings.TrimFunc(w, isSign)
		if len(w) > 1 && strings.ContainsAny(w, "@/\\.:0123456789") {
			all = append(all, w)
		}
	}
	return all
}

// isSign reports whether a character is punctuation or a symbol.
func isSign(c rune) bool { return unicode.IsPunct(c) || unicode.IsSymbol(c) }

// folded returns a text in lower case, with JSON escapes decoded and each run of white space as one
// blank. Invisible characters are removed, because a model copies a value with or without them.
func folded(text string) string {
	text = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ", `\t`, " ", `\/`, "/").Replace(text)
	visible := func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return unicode.ToLower(c)
	}
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// holds reports whether a text contains another as a whole, so that 1500 does not contain 500. The
// borders of words are checked only for ASCII, since words of some other scripts are not separated
// by blanks.
func holds(text, part string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		i += from
		if j := i + len(part); (i == 0 || !joined(text[i-1], part[0])) &&
			(j == len(text) || !joined(part[len(part)-1], text[j])) {
			return true
		}
		from = i + 1
	}
}

// joined reports whether two adjacent bytes belong to one word.
func joined(a, b byte) bool { return isWord(a) && isWord(b) }

// isWord reports whether a byte is an ASCII letter or digit.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// code matches an identifier of letters and a number, such as EMP001.
var code = regexp.MustCompile(`^\pL{1,12}[-_]?\d{1,12}$`)

// codesIn matches identifiers in a text.
var codesIn = regexp.MustCompile(`\b[A-Za-z]{1,12}[-_]?\d{2,12}\b`)

// unasked returns a note that the model reads after a result, or "". The note lists identifiers in
// the question that have not been looked up, if other identifiers of the same kind have been. A
// small model that must compare two things looks up only the first and guesses the rest.
func (r *run) unasked() string {
	calls := ""
	for _, f := range r.facts {
		calls += folded(string(f.call.Args)+" "+f.text) + "\n"
	}
	var done, left []string
	for _, id := range codesIn.FindAllString(r.saidLast(), -1) {
		switch {
		case holds(calls, folded(id)):
			done = append(done, kindOf(id))
		case !slices.Contains(left, id):
			left = append(left, id)
		}
	}
	left = slices.DeleteFunc(left, func(id string) bool {
		return !slices.Contains(done, kindOf(id))
	})
	if len(left) == 0 {
		return ""
	}
	return "\n(The question also names " + strings.Join(left, ", ") +
		", which has not been looked up yet.)"
}

// kindOf returns the kind of an identifier: the identifier in lower case, without the digits,
// hyphens and underscores at its end.
func kindOf(id string) string { return strings.ToLower(strings.TrimRight(id, "-_0123456789")) }

// madeUp returns what a model reads instead of a result if its call uses an identifier that is in
// no message of the user and in no result. Small models invent an identifier when they know only a
// name. madeUp returns "" for other calls, and for tools that write, since these may need new
// identifiers. It also returns "" when the model repeats the call, so the second attempt runs.
func (r *run) madeUp(c chat.Call, t tools.Tool) string {
	if !r.tools.reads(c.Name) || r.doubted[c.Key()] || len(r.tools.list) < 2 {
		return ""
	}
	var args map[string]any
	if json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
	said, others := r.origins()
	properties := schema.Parse(t.Schema).Written()
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value, _ := args[name].(string)
		known := func(o origin) bool { return holds(o.text, folded(value)) }
		if !code.MatchString(value) || holds(said, folded(value)) ||
			!slices.Contains(properties.Required(), name) {
			continue
		}
		if slices.ContainsFunc(others, known) {
			if why := pickedOut(r, name, value); why != "" {
				return why
			}
			continue
		}
		if strings.Contains(string(t.Schema), `"enum"`) ||
			strings.Contains(string(t.Schema), `"const"`) {
			continue // the value may be one of those that the schema lists
		}
		doubt(r, c.Key())
		return fmt.Sprintf(
			"Error: nobody has said %q: it stands neither in the question nor in a result. Find out the right %s first, by another tool.", value, name)
	}
	return ""
}

// doubt records that the model has read a warning in place of a call's result, so that the model is
// not warned again. The parameter key is the call's Key, or "" for the warning of pickedOut, which
// comes only once in a run.
func doubt(r *run, key string) {
	if r.doubted == nil {
		r.doubted = map[string]bool{}
	}
	r.doubted[key] = true
}

// pickedOut returns a warning that the model reads in place of a call's result, or "" if there is
// no reason for one. The reason is a call with the value of one entry of a long list, although the
// question names no entry. Models often take the first entry if the list does not answer the
// question. The warning names other tools, which do not take this parameter and may have the
// answer. It comes only once in a run, and only if there are such tools.
func pickedOut(r *run, parameter, value string) string {
	if r.doubted[""] || len(r.facts) == 0 {
		return ""
	}
	last := r.facts[len(r.facts)-1]
	note := r.pointed(last.text)
	if note == "" || strings.Contains(note, pointing) || !holds(folded(last.text), folded(value)) {
		return ""
	}
	var others []string
	for _, t := range r.tools.list {
		ran := slices.ContainsFunc(r.facts, func(f fact) bool { return f.call.Name == t.Name })
		if !ran && r.tools.reads(t.Name) && !schema.Compile(t.Schema).Has(parameter) &&
			len(others) < mostPointed {
			others = append(others, t.Name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	doubt(r, "")
	if len(others) == 1 && !r.pressed {
		r.forcing, r.pressed = others[0], true
	}
	return fmt.Sprintf(
		"Error: why %s? The question does not name it. If the list does not answer the question, call another tool: %s.", value, strings.Join(others, ", "))
}

// saidLast returns the user's last message, or "" if there is none.
func (r *run) saidLast() (text string) {
	for _, m := range r.ask.Request.Messages {
		if m.Role == chat.User {
			text = m.Content
		}
	}
	return text
}
