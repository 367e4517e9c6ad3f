package lenient

import (
	"encoding/json"
	"regexp"
	"strings"

	"toolnorm/adapters/internal/repair"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// listing is one way to write members without quotation marks around the keys, such as lines or
// flags. It contains the texts around keys and values.
type listing struct {
	first, next string // before the first key, and before each other key
	behind      string // between a key and its value
	end         string // after the last value
	other       *regexp.Regexp
}

// listings are the notations that models use by mistake: lines, lines with dashes, a program's
// flags, a query. The field other matches a text that looks like a member but is not a parameter of
// the tool. A value that contains such a text is refused, because the text may or may not belong to
// the value.
var listings = []listing{
	{"", "\n", ": ", "", regexp.MustCompile(`\n\w+\s*(?:[:=]\s|：)`)},
	{"- ", "\n- ", ": ", "\n", regexp.MustCompile(`\n- \w+\s*(?:[:=]\s|：)`)},
	{"--", " --", " ", "", regexp.MustCompile(` --\w`)},
	{"?", "&", "=", "", regexp.MustCompile(`&\w+\s*[=:：]`)},
}

// listed is a member that was found in a text, with its value at text[from:to].
type listed struct {
	key      string
	from, to int
}

// Listed reads arguments at the beginning of a text that are in a notation of no model family:
// parameters of t, each at most once, as lines, as XML elements, as flags or as a query. It returns
// them as JSON with the offset after them. Closing brackets after them are not read. ok is false if
// there are no such arguments, or if a value may end in two places.
func Listed(text string, t *schema.Type) (args string, end int, ok bool) {
	if strings.HasPrefix(text, "<") {
		members, end := elements(text, t)
		args, ok = object(text, members, t)
		behind := strings.TrimLeft(text[end:], " \r\n\t")
		return args, end, ok && len(members) > 0 &&
			(behind == "" || strings.IndexByte("}]),;`\"", behind[0]) >= 0)
	}
	for k := range listings {
		l := &listings[k]
		members, end := l.members(text, t)
		if len(members) == 0 {
			continue
		}
		for _, m := range members {
			if l.other.MatchString(text[m.from:m.to]) {
				return "", 0, false
			}
		}
		args, ok = object(text, members, t)
		return args, end, ok
	}
	return "", 0, false
}

// members returns the members at the beginning of a text that are written in the way l describes,
// and the offset after the last one. It returns nil if there are none, if a key occurs twice, or if
// the end of the last value is uncertain.
func (l *listing) members(text string, t *schema.Type) (all []listed, end int) {
	if !strings.HasPrefix(text, l.first) {
		return nil, 0
	}
	seen := map[string]bool{}
	for i := 0; i < len(text); i++ {
		front := l.next
		if i == 0 {
			front = l.first
		}
		rest, ok := strings.CutPrefix(text[i:], front)
		n := 0
		for ok && n < len(rest) && scan.IsWord(int(rest[n])) {
			n++
		}
		if ok = ok && n > 0 && t.Has(rest[:n]) && strings.HasPrefix(rest[n:], l.behind); !ok {
			if i == 0 {
				return nil, 0
			}
			continue
		}
		if seen[rest[:n]] {
			return nil, 0
		}
		seen[rest[:n]] = true
		if len(all) > 0 {
			all[len(all)-1].to = i
		}
		i += len(front) + n + len(l.behind)
		all = append(all, listed{rest[:n], i, len(text)})
		i--
	}
	if len(all) == 0 {
		return nil, 0
	}
	last := &all[len(all)-1]
	if d := json.NewDecoder(strings.NewReader(text[last.from:])); d.Decode(new(any)) == nil &&
		strings.Trim(text[last.from+int(d.InputOffset()):], "}] \n") == "" {
		last.to = last.from + int(d.InputOffset())
		return all, last.to
	}
	value := strings.TrimRight(strings.TrimSpace(text[last.from:]), "}] \n")
	last.to = last.from + strings.Index(text[last.from:], value) + len(value)
	last.to += ownClosers(value, text[last.to:])
	behind, ok := strings.CutPrefix(text[last.to:], l.end)
	if !ok || behind != "" && !scan.IsCloser(int(behind[0])) {
		return nil, 0
	}
	return all, last.to
}

// elements returns the members at the beginning of a text that are written as XML elements named
// after parameters, and the offset after them. It returns nil if there are none, or if one occurs
// twice or has no clear end.
func elements(text string, t *schema.Type) (all []listed, end int) {
	for {
		at := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " \r\n\t"))
		rest, opened := strings.CutPrefix(text[at:], "<")
		key, rest, closed := strings.Cut(rest, ">")
		if !opened || !closed || !t.Has(key) {
			return all, end
		}
		closer := "</" + key + ">"
		if strings.Count(text, closer) != 1 || strings.Count(text, "<"+key+">") != 1 {
			return nil, 0
		}
		from := len(text) - len(rest)
		to := strings.Index(text, closer)
		if to < from {
			return nil, 0
		}
		end = to + len(closer)
		if inside, ok := strings.CutPrefix(text[from:to], "<![CDATA["); ok &&
			strings.HasSuffix(inside, "]]>") {
			from, to = from+len("<![CDATA["), to-len("]]>")
		}
		all = append(all, listed{key, from, to})
	}
}

// object returns the given members of a text as a JSON object. ok is false if there are no members,
// if the object does not fit the type, or if it is uncertain where a string begins or ends. That is
// so for a string that is in quotation marks, begins or ends with white space, or has a bracket
// without a partner.
func object(text string, members []listed, t *schema.Type) (args string, ok bool) {
	var out strings.Builder
	for i, m := range members {
		value, typ := text[m.from:m.to], t.Prop(m.key)
		trimmed := strings.TrimSpace(value)
		asJSON := json.Valid([]byte(trimmed))
		switch {
		case asJSON && trimmed[0] != '"' && !typ.Allows(schema.String),
			asJSON && trimmed[0] == '"' && strings.HasPrefix(text, "--"):
			value = trimmed
		case !typ.Only(schema.String) || trimmed != value || value == "" ||
			asJSON && trimmed[0] == '"' || swallowed(value, nil) ||
			text[0] != '<' && holdsEnd(value) || strings.HasPrefix(text, "--"):
			return "", false
		default:
			value = schema.Quote(value)
		}
		out.WriteString([]string{"{", ","}[min(i, 1)] + schema.Quote(m.key) + ":" + value)
	}
	args = out.String() + "}"
	return args, len(members) > 0 && Fits(args, t)
}

// aside matches a comma and the beginning of a comment after it, or dots at the end.
var aside = regexp.MustCompile(`,\s*(//|#|--|/\*|<!--)|,\s*\.\.\.$`)

// holdsEnd reports whether a value without a closing tag seems to go beyond the end of its
// arguments. It does if it closes more brackets than it opens, ends with a comma, or has a comment
// after a comma.
func holdsEnd(value string) bool {
	return repair.ClosesMore(value) || strings.HasSuffix(value, ",") || aside.MatchString(value)
}

// ownClosers returns how many of the closing brackets at the beginning of behind belong to the
// value, because they close brackets in it. The parameter behind is the text after the value. If
// the value itself begins with a bracket, the result is 0, because the value may be an object.
func ownClosers(value, behind string) (n int) {
	if value == "" || value[0] == '{' || value[0] == '[' {
		return 0
	}
	var open []byte // closers of the open brackets, the innermost last
	closes := func(c byte) bool {
		last := len(open) - 1
		if last < 0 || open[last] != c {
			return false
		}
		open = open[:last]
		return true
	}
	for i := 0; i < len(value); i++ {
		if c := value[i]; c == '{' || c == '[' {
			open = append(open, byte(closerOf(c)))
		} else {
			closes(c)
		}
	}
	for n < len(behind) && closes(behind[n]) {
		n++
	}
	return n
}
