package form

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// stop is a function that reports whether a value can end at the offset i, because the object, list
// or call around the value can continue or end at i.
type stop func(i int) bool

// maxDepth bounds how deeply values may be nested.
const maxDepth = 64

// args reads the arguments of a call at offset i, where the example has {args}, and returns the
// offset after them. The parameter rest is the rest of the example. It returns false if the text
// does not match, or if there are no arguments and the form does not allow that.
func (r *reader) args(i int, rest []Part) (int, bool) {
	ends := func(i int) bool { return r.closesAt(i, r.Args.Close, rest) }
	if len(rest) == 0 && r.Args.Open == "" && r.Takes(r.call.Name, "") &&
		r.has(i, r.Calls.Between) && r.callAt(i+len(r.Calls.Between)) {
		return i, true // name = "get_time" is the next call, and no argument of an unknown name
	}
	if next, ok := r.argsFrom(i, ends); ok {
		return next, true
	}
	return i, ends(i) && len(r.Call) < 2 && r.Args.Open == "" // none
}

// closesAt reports whether the text end, such as a closing bracket, is at offset i, and the
// remaining parts of the example (rest) can follow it.
func (r *reader) closesAt(i int, end string, rest []Part) bool {
	return r.has(i, end) && r.follows(i+len(end), rest)
}

// argsFrom reads one or more arguments at offset i, up to where the function ends returns true, and
// returns the offset after them. The result is false if the text does not match.
func (r *reader) argsFrom(i int, ends stop) (int, bool) {
	i, ok := r.lit(i, r.Args.Open)
	for ok {
		var m Member
		if i, m.Key, ok = r.key(i, r.Arg, func(key string) bool {
			return r.Takes(r.call.Name, key)
		}); !ok || r.call.known(m.Key) {
			return 0, false
		}
		r.keys = append(r.keys[:0], m.Key)
		behind := r.behind(r.Arg, m.Key)
		goesOn := func(i int) bool {
			if !r.has(i, behind) {
				return false
			}
			i += len(behind)
			return ends(i) || r.has(i, r.Args.Between) && r.keyAt(i+len(r.Args.Between), r.Arg)
		}
		if m.Value, m.Raw, i, ok = r.value(i, goesOn); !ok {
			return 0, false
		}
		if i, ok = r.lit(i, behind); !ok {
			return 0, false
		}
		r.call.Args = append(r.call.Args, m)
		if ends(i) && !(r.has(i, r.Args.Between) && r.keyAt(i+len(r.Args.Between), r.Arg)) {
			return r.lit(i, r.Args.Close)
		}
		i, ok = r.lit(i, r.Args.Between)
	}
	return 0, false
}

// key reads an argument's example up to its value. It returns the offset of the value, and the key.
// It returns false if the text does not match, or if the function takes returns false for the key.
func (r *reader) key(i int, e Example, takes func(string) bool) (int, string, bool) {
	key, ok := "", true
	for n, p := range e {
		switch p.Placeholder {
		case "":
			i, ok = r.lit(i, p.Lit)
		case "indent":
			i, ok = r.lit(i, r.pad)
		case "type":
			i, _, ok = r.word(i, e[n+1:])
		case "key":
			if key != "" { // once more
				i, ok = r.lit(i, key)
			} else if i, key, ok = r.word(i, e[n+1:]); ok && (!plainKey(key) || !takes(key)) {
				return 0, "", false
			}
		case "value":
			if key == "" && e.has("key") {
				return r.keyBehind(i, e[n+1:], takes)
			}
			return i, key, true
		}
		if !ok {
			return 0, "", false
		}
	}
	return 0, "", false
}

// keyBehind reads the name of an argument that follows its value. The value is at offset i and must
// have quotation marks or brackets. It returns the value's offset and the name. It returns false if
// the text does not match, or if takes returns false for the name.
func (r *reader) keyBehind(i int, e Example, takes func(string) bool) (int, string, bool) {
	_, end, ok := r.literal(i)
	if !ok || len(e) < 2 || e[0].Placeholder != "" || e[1].Placeholder != "key" {
		return 0, "", false
	}
	if end, ok = r.lit(end, e[0].Lit); !ok {
		return 0, "", false
	}
	n := 0
	for scan.IsName(r.At(end + n)) {
		n++
	}
	key := r.slice(end, end+n)
	return i, key, n > 0 && takes(key)
}

// keyAt reports whether an argument of the called tool can begin at offset i, in the way that the
// example e shows.
func (r *reader) keyAt(i int, e Example) bool {
	cut := r.cut
	_, _, ok := r.key(i, e, func(key string) bool { return r.Takes(r.call.Name, key) })
	r.cut = cut
	return ok
}

// behind returns the text that follows {value} in the example e. If {key} occurs in that text, it
// is replaced by the parameter key.
func (r *reader) behind(e Example, key string) (text string) {
	at := slices.IndexFunc(e, func(p Part) bool { return p.Placeholder == "value" })
	for _, p := range e[at+1:] {
		if text += p.Lit; p.Placeholder == "key" {
			text += key
		}
	}
	return text
}

// value reads a value at offset i, and returns it with the offset after it. Without quotation marks
// or brackets, it ends at the first offset at which goesOn is true. raw is true for a text whose
// type is not known. ok is false if there is no value, or if its end is not found or uncertain.
func (r *reader) value(i int, goesOn stop) (value string, raw bool, end int, ok bool) {
	if r.Values == "nested" && r.depth < maxDepth {
		if value, end, ok = r.container(i, goesOn); ok {
			return value, false, end, true
		}
	}
	if len(r.Block) > 0 {
		cut := r.cut
		if value, end, ok = r.block(i); ok && goesOn(end) {
			return value, false, end, true
		}
		r.cut = cut
	}
	if i, ok = r.lit(i, r.Plain); !ok {
		return "", false, 0, false
	}
	quoted := r.Strings == "json" || r.Strings == "python" || r.Quote != ""
	if r.Escape == "" && quoted && (r.Quote == "" || !r.has(i, r.Quote)) {
		value, end, ok = r.literal(i)
		return value, false, end, ok && goesOn(end)
	}
	if r.Escape == "" && r.Quote != "" {
		value, end, ok = r.until(i+len(r.Quote), func(i int) bool {
			return r.has(i, r.Quote) && goesOn(i+len(r.Quote))
		})
		return string(chat.AppendQuoted(nil, value)), false, end + len(r.Quote), ok
	}
	if value, end, ok = r.until(i, goesOn); ok {
		value, ok = r.unescaped(value)
	}
	if ok && quoted {
		value, ok = lenient.WholeLiteral(value)
	}
	return value, !quoted, end, ok
}

// until returns the text from offset i to the first offset at which the function goesOn returns
// true, and that offset. ok is false if there is none. It is also false if the opening of a call is
// in the text, because the end that was found may then belong to that call.
func (r *reader) until(i int, goesOn stop) (text string, end int, ok bool) {
	open, begun := strings.TrimSpace(r.Call[0][0].Lit), false
	for end = i; !goesOn(end); end++ {
		if r.At(end) < 0 || r.left <= 0 {
			r.cut = true
			return "", 0, false
		}
		begun = begun || r.begunAt(end)
	}
	text, r.raw = r.slice(i, end), true
	return text, end, !begun && (!strong(open) || !strings.Contains(text, open))
}

// unescaped removes the escapes of the form from a text. It returns false if the text is not
// correctly escaped.
func (r *reader) unescaped(text string) (string, bool) {
	switch r.Escape {
	case "xml":
		return html.UnescapeString(text), !strings.ContainsAny(text, "<>")
	case "url":
		plain, err := url.QueryUnescape(text)
		return plain, err == nil
	}
	return text, true
}

// block reads a text of several indented lines at offset i, and returns it as a JSON string with
// the offset after it. An empty line may lack its indentation. ok is false if there is none.
func (r *reader) block(i int) (value string, end int, ok bool) {
	head, front, _ := strings.Cut(r.Block[0].Lit, "\n")
	if i, ok = r.lit(i, head); !ok {
		return "", 0, false
	}
	front = "\n" + front + r.pad
	var lines []string
	for blank := 0; ; {
		switch {
		case r.has(i, front):
			lines = append(lines, make([]string, blank)...)
			end, blank = i+len(front), 0
			for r.At(end) >= 0 && r.At(end) != '\n' {
				end++
			}
			lines = append(lines, r.slice(i+len(front), end))
			i = end
		case r.has(i, "\n\n"):
			i, blank = i+1, blank+1
		default:
			r.cut = r.cut || r.At(i) < 0
			return string(chat.AppendQuoted(nil, strings.Join(lines, "\n"))), end, len(lines) > 0
		}
	}
}

// container reads an object or a list in the form's own notation at offset i, and returns it as
// JSON with the offset after it. Values in it without quotation marks are texts, unless they are
// numbers, true, false or null. ok is false if there is no such object or list, or if the tool's
// schema allows none here.
func (r *reader) container(i int, goesOn stop) (value string, end int, ok bool) {
	r.depth++
	defer func() { r.depth-- }()
	cut := r.cut
	// the list comes first, because <item> is not the name of a member
	if r.Fits(r.call.Name, r.keys, "[]") {
		if value, end, ok = r.members(i, r.List, r.Element, r.Step, goesOn); ok {
			return "[" + value + "]", end, true
		}
	}
	r.cut = cut
	if r.Fits(r.call.Name, r.keys, "{}") {
		if value, end, ok = r.members(i, r.Object, r.Member, r.Indent, goesOn); ok {
			return "{" + value + "}", end, true
		}
	}
	r.cut = cut
	return "", 0, false
}

// members reads the members of an object or the elements of a list at offset i. It returns them as
// JSON, with the offset after the object or list. The example e shows one member, s has the texts
// around them, and step indents their values. ok is false if the text does not match.
func (r *reader) members(i int, s Series, e Example, step string, goesOn stop) (all string, end int,
	ok bool) {
	var parts []string
	pad, place := r.pad, len(r.keys)
	defer func() { r.keys, r.pad = r.keys[:place], pad }()
	any := func(string) bool { return true }
	i, ok = r.lit(i, s.Open)
	for ok {
		var key, value string
		r.pad = pad
		if i, key, ok = r.key(i, e, any); !ok {
			return "", 0, false
		}
		behind := r.behind(e, key)
		next := func(i int) bool {
			if !r.has(i, s.Between) {
				return false
			}
			defer func(now string) { r.pad = now }(r.pad)
			r.pad = pad
			at, _, ok := r.key(i+len(s.Between), e, any)
			return ok && (e.has("key") || r.innermost(at, place))
		}
		inside := func(i int) bool {
			if !r.has(i, behind) {
				return false
			}
			i += len(behind)
			return next(i) || r.has(i, s.Close) && goesOn(i+len(s.Close))
		}
		r.keys = append(r.keys[:place], key)
		r.pad = pad + step
		var raw bool
		if value, raw, i, ok = r.value(i, inside); !ok {
			return "", 0, false
		}
		if raw {
			value = r.typed(value)
		}
		if e.has("key") {
			value = string(chat.AppendQuoted(nil, key)) + ": " + value
		}
		parts = append(parts, value)
		i += len(behind)
		if !next(i) {
			return strings.Join(parts, ", "), i + len(s.Close), true
		}
		i += len(s.Between)
	}
	return "", 0, false
}

// innermost reports whether the element with the value at offset i belongs to the innermost of
// several nested lists that have the same indentation. That list is at r.keys[:place] in the
// arguments. The tool's schema decides. If it allows the element in several of the lists or in
// none, the calls are in doubt.
func (r *reader) innermost(i, place int) bool {
	lists := 1
	for r.flat && lists < place && r.keys[place-lists] == "" {
		lists++
	}
	if lists == 1 {
		return true
	}
	kind, fits, inner := r.kindAt(i), 0, false
	for n := range lists {
		if r.Fits(r.call.Name, append(slices.Clone(r.keys[:place-n]), ""), kind) {
			fits, inner = fits+1, inner || n == 0
		}
	}
	r.vague = r.vague || fits != 1
	return inner
}

// kindAt returns a JSON value of the same kind as the value of the element at offset i: [] for a
// list, {} for an object, and otherwise the value itself, or "" if it is unknown.
func (r *reader) kindAt(i int) string {
	any := func(string) bool { return true }
	if _, _, ok := r.key(i, r.Element, any); ok {
		return "[]"
	}
	if _, _, ok := r.key(i, r.Member, any); ok {
		return "{}"
	}
	value := ""
	if i, ok := r.lit(i, r.Plain); ok {
		value, _, _ = r.literal(i)
	}
	return value
}

// plainKey reports whether a word can be a name without quotation marks, because it has only
// letters, digits and a few signs.
func plainKey(key string) bool {
	return strings.IndexFunc(key, func(r rune) bool {
		if r < utf8.RuneSelf {
			return !scan.IsName(int(r)) && r != '$' && r != '@'
		}
		return !unicode.In(r, unicode.L, unicode.M, unicode.N)
	}) < 0
}

// typed returns a text as JSON of the type that the tool's schema demands where the text was read.
// Without a type it is a number, true, false or null if it is one, and otherwise a string.
func (r *reader) typed(text string) string {
	if v, ok := r.Typed(r.call.Name, r.keys, text); ok {
		return v
	}
	if v, ok := lenient.LiteralWord(text); ok {
		return v
	}
	return string(chat.AppendQuoted(nil, text))
}

// quoted reads arguments that are an object in a JSON string, as in "{\"city\": \"Rome\"}", and
// returns the offset after the string. It returns false if there is no such string.
func (r *reader) quoted(i int) (int, bool) {
	text, end, ok := r.literal(i)
	if !ok || text[0] != '"' {
		return 0, false
	}
	object, ok := lenient.WholeLiteral(scan.Unquote(text))
	if !ok || object[0] != '{' {
		return 0, false
	}
	r.call.JSON = object
	return end, true
}
