package main

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/pyexpr"
	"toolnorm/internal/pyexpr/py"
)

// The notations in which families write arguments.
const (
	jsonArgs   = "json"
	tagArgs    = "tags"
	pythonArgs = "python"
	bareArgs   = "bare keys"
)

// family describes how the models of one family write a call: the form in which toolnorm decodes
// their calls, and the notation of the arguments, such as JSON or tags.
type family struct {
	*adapters.Format
	notation string
	mark     string // the quote of bare keys
	open     string // for tags: the text up to the first key, for a tool called zqn
	mids     []string
	next     string // for tags: the text between a value and the next key
	end      string // for tags: the text after the last value
}

const (
	probeKey  = "zqk"
	probeText = "\ue7fe"
)

// newFamily returns the family of a format. From a call that the format writes it finds out the
// notation of the arguments, for example JSON or Python.
func newFamily(f *adapters.Format) *family {
	render := func(args string) string {
		return string(f.Append(nil, chat.Call{Name: "zqn", Args: json.RawMessage(args)}))
	}
	one := render(`{"` + probeKey + `": "` + probeText + `"}`)
	before, rest, _ := strings.Cut(one, probeKey)
	mid, end, _ := strings.Cut(rest, probeText)
	g := &family{Format: f}
	switch {
	case strings.ContainsAny(mid, `"'`) && strings.Trim(mid, `"': `) == "":
		g.notation = jsonArgs
	case strings.HasSuffix(before, "("):
		g.notation = pythonArgs
	case strings.HasPrefix(mid, ":"):
		g.notation, g.mark = bareArgs, strings.TrimSpace(mid[1:])
	default:
		g.notation, g.end = tagArgs, end
		g.open = before
		two := render(`{"` + probeKey + `": "` + probeText + `", "zql": "x"}`)
		_, g.next, _ = strings.Cut(two, probeText)
		g.next, _, _ = strings.Cut(g.next, "zql")
		for _, v := range []string{`"` + probeText + `"`, "7", "true", "null", "[1]", "{}"} {
			_, rest, _ := strings.Cut(render(`{"`+probeKey+`": `+v+`}`), probeKey)
			written := strings.Trim(v, `"`)
			if m, ok := strings.CutSuffix(rest, written+end); ok {
				g.mids = append(g.mids, m)
			}
		}
	}
	return g
}

// strict returns the arguments of the call in text, as JSON, if the text has exactly the family's
// form. Otherwise it returns false. The frame whole is the call without slips; except for the
// arguments, the text must be equal to it.
func (g *family) strict(whole *frame, text string) (string, bool) {
	switch g.notation {
	case jsonArgs:
		from, to, ok := whole.object()
		if !ok { // in Python's quotes
			from = whole.from() + strings.IndexByte(whole.text[whole.from():], '{')
			to = strings.LastIndexByte(whole.text, '}')
			args, ok := between(text, whole.text[:from], whole.text[to:], from < to)
			if ok {
				args, ok = g.toJSON(args)
			}
			return args, ok && json.Valid([]byte(args))
		}
		args, ok := between(text, whole.text[:from], whole.text[to:], ok)
		return args, ok && json.Valid([]byte(args))
	case tagArgs:
		return g.strictTags(whole, text)
	}
	from, to := whole.from(), strings.LastIndexAny(whole.text, ")}")
	if to < from {
		return "", false
	}
	args, ok := between(text, whole.text[:from], whole.text[to+1:], true)
	if !ok || args == "" {
		return "", false
	}
	if g.notation == pythonArgs {
		if len(args) < 2 || args[0] != '(' || args[len(args)-1] != ')' {
			return "", false
		}
		if read, ok := g.toJSON("{" + args[1:len(args)-1] + "}"); ok && json.Valid([]byte(read)) {
			return read, true
		}
		return evaluate("dict" + args) // three quotes, strings side by side
	}
	args, ok = g.toJSON(args)
	return args, ok && json.Valid([]byte(args))
}

// evaluate returns the value of a Python expression as JSON. It returns false if the expression is
// invalid or its value is not a dict.
func evaluate(expression string) (string, bool) {
	p, err := pyexpr.Compile(expression, nil)
	if err != nil {
		return "", false
	}
	v, err := p.Run(context.Background(), nil, py.Limits{})
	return v.JSON, err == nil && v.Type == "dict"
}

// between returns the part of a text that lies between head, with which the text must begin, and
// tail, with which it must end. It returns false if the text does not begin and end so, or if the
// parameter ok is false. A caller that had to search for head and tail passes in ok whether it
// found them.
func between(text, head, tail string, ok bool) (string, bool) {
	rest, begins := strings.CutPrefix(text, head)
	middle, ends := strings.CutSuffix(rest, tail)
	return middle, ok && begins && ends
}

// strictTags returns, as JSON, the arguments that are written as tags in text. It reads only the
// family's own form, in which a value ends at the first closing tag. It returns false if the text
// does not have that form. The frame whole is the call without mistakes.
func (g *family) strictTags(whole *frame, text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, strings.ReplaceAll(g.open, "zqn", whole.tool.Name))
	if !ok || len(g.mids) == 0 {
		return "", false
	}
	var members []string
	for {
		key, behind := g.key(rest)
		if key == "" {
			return "", false
		}
		v, more, found := strings.Cut(behind, g.next)
		last, isEnd := strings.CutSuffix(behind, g.end)
		if !found || isEnd && len(last) < len(v) {
			if !isEnd {
				return "", false
			}
			v, more = last, ""
		}
		members = append(members, `"`+quoteInner(key)+`":`+g.inTag(whole.tool.shape.Properties[key], v))
		if more == "" {
			return "{" + strings.Join(members, ",") + "}", true
		}
		rest = more
	}
}

// key returns the key at the beginning of a text, and the text behind the separator that follows
// the key. The family may have several separators between a key and its value; if more than one of
// them matches, the longest is used. key returns "" if there is no key.
func (g *family) key(text string) (key, behind string) {
	for _, mid := range g.mids {
		k, b, ok := strings.Cut(text, mid)
		if ok && !strings.ContainsAny(k, "<>\"\n|") && (key == "" || len(b) < len(behind)) {
			key, behind = k, b
		}
	}
	return key, behind
}

// inTag returns as JSON the text v that a model wrote between an opening and a closing tag. The
// result is a JSON string if the schema s allows a string, if s is nil, or if v is no other value,
// such as a number.
func (g *family) inTag(s *shape, v string) string {
	if s != nil && !s.text() {
		trimmed := strings.TrimSpace(v)
		if json.Valid([]byte(trimmed)) {
			return trimmed
		}
		if as, ok := g.toJSON(trimmed); ok && json.Valid([]byte(as)) {
			return as
		}
	}
	return `"` + quoteInner(v) + `"`
}

// toJSON returns s as JSON. It accepts literals of Python and keys without quotes. It returns false
// if s contains anything else.
func (g *family) toJSON(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case g.mark != "" && g.mark != `"` && strings.HasPrefix(s[i:], g.mark):
			text, _, ok := strings.Cut(s[i+len(g.mark):], g.mark)
			if !ok {
				return "", false
			}
			b.WriteString(`"` + quoteInner(text) + `"`)
			i += len(text) + 2*len(g.mark)
		case c == '"' || c == '\'':
			end := i + 1
			for end < len(s) && s[end] != c {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				return "", false
			}
			b.WriteString(`"` + quoteInner(unescape(s[i+1:end])) + `"`)
			i = end + 1
		case isWord(c) && c > '9':
			end := i
			for end < len(s) && isWord(s[end]) {
				end++
			}
			word := s[i:end]
			i = end
			if end < len(s) && (s[end] == '=' || s[end] == ':') {
				b.WriteString(`"` + word + `":`)
				i++
				continue
			}
			word = strings.NewReplacer("True", "true", "False", "false", "None", "null").Replace(
				word)
			b.WriteString(word)
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
}

// isWord reports whether c may be part of a name.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// unescape returns the text of a Python string literal without its quotes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch at := strings.IndexByte(`ntr\'"bf`, s[i]); {
		case at >= 0:
			b.WriteByte("\n\t\r\\'\"\b\f"[at])
		case s[i] == 'u' && i+4 < len(s):
			if n, err := strconv.ParseUint(s[i+1:i+5], 16, 32); err == nil {
				b.WriteRune(rune(n))
				i += 4
			}
		default:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
