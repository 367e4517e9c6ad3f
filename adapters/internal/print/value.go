package print

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/jsontree"
)

// Append appends a JSON value to dst as this spelling writes it. Numbers and strings are
// normalized, because templates parse the value before they print it: a client's
// {"n":1.50,"s":"\u00e9"} is {"n": 1.5, "s": "é"} in the prompt. The order of members does not
// change, as in Python's dictionaries. If the JSON is invalid, only a part of it may be written.
func (s *Spelling) Append(dst []byte, value string) []byte {
	dst, _ = s.append(dst, value)
	return dst
}

// append appends the JSON value at the start of text in this spelling, and returns the text after
// it. It makes one pass and builds no tree, because a history with large files is printed again for
// every request. Invalid JSON ends the value early.
func (s *Spelling) append(dst []byte, text string) ([]byte, string) {
	text = scan.TrimSpace(text)
	if text == "" {
		return dst, ""
	}
	switch text[0] {
	case '{':
		return s.appendObject(dst, text[1:])
	case '[':
		return s.appendList(dst, text[1:])
	case '"':
		n := jsontree.StringEnd(text)
		return s.text(dst, text[:n]), text[n:]
	}
	n := strings.IndexAny(text, ",]} \t\r\n")
	if n < 0 {
		n = len(text)
	}
	switch word := text[:n]; word {
	case "true":
		dst = append(dst, s.True...)
	case "false":
		dst = append(dst, s.False...)
	case "null":
		dst = append(dst, s.Null...)
	default:
		dst = appendNumber(dst, word)
	}
	return dst, text[max(n, 1):]
}

// member is a printed member of an object, together with its key in small letters, by which members
// are sorted.
type member struct{ key, text string }

// appendObject appends an object to dst. The parameter text has the JSON of the object from behind
// its opening brace, and the result is dst and the text after the object. If members are sorted,
// that is done after they were printed, because looking ahead for their names would read each level
// of nested objects once more. The order is that of Jinja's dictsort, which ignores case and is
// stable.
func (s *Spelling) appendObject(dst []byte, text string) ([]byte, string) {
	dst = append(dst, s.Open...)
	some := false
	var members []member
	for {
		key, rest, ok := scan.NextMember(text)
		if text = rest; !ok {
			break
		}
		if s.NoNull && strings.HasPrefix(text, "null") {
			text = text[len("null"):]
			continue
		}
		if some && !s.Sorted {
			dst = append(dst, s.Comma...)
		}
		some = true
		from := len(dst)
		dst, text = s.appendMember(dst, key, text)
		if s.Sorted {
			members = append(members, member{strings.ToLower(scan.Unquote(key)),
				string(dst[from:])})
			dst = dst[:from]
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	for i, m := range members {
		if i > 0 {
			dst = append(dst, s.Comma...)
		}
		dst = append(dst, m.text...)
	}
	behind := s.None
	if some {
		behind = s.Tail
	}
	return append(append(dst, behind...), s.Close...), strings.TrimPrefix(text, "}")
}

// appendMember appends the member key, whose JSON value is at the start of text, and returns the
// text after the value. The spelling of a value depends on its kind, which the first byte of the
// value shows. (That byte does not distinguish kinds of numbers, but no spelling depends on these.)
// Between tags a number and the string of its digits look the same, so a reader needs the tool's
// schema. No family escapes a value between tags, except for minicpm5's CDATA, so </parameter> in a
// text is printed unchanged.
func (s *Spelling) appendMember(dst []byte, key, text string) ([]byte, string) {
	kind := schema.KindOf(text[:min(len(text), 1)])
	dst = append(s.key(dst, key), s.Type(kind)...)
	dst, text = s.For(kind).append(dst, text)
	if s.end != nil {
		dst = s.end(dst, key)
	}
	return dst, text
}

// appendList appends a list whose JSON is in text from its first element on, and returns the text
// after the list. A list whose elements are in tags has no brackets. So minimax-m3 prints an empty
// list as <tags></tags>, like an empty string, and only the schema tells a reader which it is.
func (s *Spelling) appendList(dst []byte, text string) ([]byte, string) {
	if text = scan.TrimSpace(text); s.Open == "" && strings.HasPrefix(text, "]") {
		return dst, text[1:] // only elements have tags, and there are none
	}
	dst = append(dst, s.List.Open...)
	for some := false; ; some = true {
		if text = scan.TrimSpace(strings.TrimPrefix(scan.TrimSpace(text), ",")); text == "" ||
			text[0] == ']' || text[0] == '}' {
			break
		}
		if some {
			dst = append(dst, s.List.Comma...)
		}
		dst, text = s.append(dst, text)
	}
	return append(dst, s.List.Close...), strings.TrimPrefix(text, "]")
}

// appendString appends a JSON string without needless escapes, as in Python's JSON: \u00e9 becomes
// é, and <\/p> becomes </p>. Half a surrogate pair becomes U+FFFD, because UTF-8 cannot express it.
func appendString(dst []byte, quoted string) []byte {
	if !strings.Contains(quoted, `\`) {
		return append(dst, quoted...)
	}
	return chat.AppendQuoted(dst, scan.Unquote(quoted))
}

// appendRaw appends the text of a string unchanged. Tags in it are not escaped, so the reader
// checks the text after a closing tag to decide whether the value ends there.
func appendRaw(dst []byte, quoted string) []byte { return append(dst, scan.Unquote(quoted)...) }

// appendCDATA appends the text of a string. If it contains <, & or a newline, it is in CDATA, as in
// minicpm5's template. A text with "]]>" in it cannot be expressed.
func appendCDATA(dst []byte, quoted string) []byte {
	text := scan.Unquote(quoted)
	if !strings.ContainsAny(text, "<&\n") {
		return append(dst, text...)
	}
	return append(append(append(dst, declaration.CDATAOpen...), text...), declaration.CDATAClose...)
}

// appendRepr appends a string as Python's repr prints it: in single quotation marks, or in double
// ones if it contains single and no double ones. Control characters without a short form become
// \u00xx, which JSON and Python can both read. Python would write \x00.
func appendRepr(dst []byte, quoted string) []byte {
	s, quote := scan.Unquote(quoted), byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	dst = append(dst, quote)
	for i := range len(s) {
		switch c := s[i]; {
		case c == quote || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < ' ' || c == 0x7f:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, quote)
}

// appendNumber appends a number as Python prints it. Integers are unchanged, because Python's
// integers have no limit. Other numbers get the fewest digits that give the same float64: 1.50
// becomes 1.5, 1e5 becomes 100000.0, and 1e25 becomes 1e+25. Python's repr uses an exponent from
// 1e16 on and below 1e-4, with at least two digits, as Go does: 1e-7 becomes 1e-07. A text that is
// not a number is appended unchanged.
func appendNumber(dst []byte, text string) []byte {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return append(dst, text...)
	}
	if size := max(f, -f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[start:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}
