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

// Append writes a JSON value in the spelling. What could be spelled in several ways comes out in
// one, since templates parse the value before they print it: a client's {"n":1.50,"s":"\u00e9"} is
// {"n": 1.5, "s": "é"} in the prompt. The order of members stays, as in Python's dictionaries. Text
// that is no JSON is not refused: what comes of it is a part of it, and fuzzing holds that nothing
// fails. A history is printed with each turn, so this is one of the few places where copying would
// be felt.
func (s *Spelling) Append(dst []byte, value string) []byte {
	dst, _ = s.append(dst, value)
	return dst
}

// append writes the value that text begins with and answers the text behind it. One pass without an
// intermediate tree keeps a history of large files cheap: it is printed again with every turn. Text
// that is no JSON ends the value early.
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

// member is a member as it is written, for those that are put in order afterwards.
type member struct{ key, text string }

// appendObject writes an object, whose brace was read. Members that must be sorted are written
// first and moved then: looking ahead for their names would read each level of nested objects once
// more. They come in the order of their names, those of one name in their own, as with Jinja's
// dictsort: it ignores case.
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
			members = append(members, member{strings.ToLower(scan.Unquote(key)), string(dst[from:])})
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

// appendMember writes a member, whose name was read, and answers the text behind its value. A kind
// shows in the first byte of a value, but for that of a number, and no spelling tells numbers
// apart. A number and the string of its digits look the same between tags; reading tells them apart
// by the tool's schema. But for minicpm5's CDATA no family escapes a value between tags:
// </parameter> in a text is printed as it is.
func (s *Spelling) appendMember(dst []byte, key, text string) ([]byte, string) {
	kind := schema.KindOf(text[:min(len(text), 1)])
	dst = append(s.key(dst, key), s.Type(kind)...)
	dst, text = s.For(kind).append(dst, text)
	if s.end != nil {
		dst = s.end(dst, key)
	}
	return dst, text
}

// appendList writes a list, whose bracket was read. Where tags stand around the elements nothing
// stands around none: an empty list of minimax-m3 is <tags></tags>, which is read by the schema. M3
// cannot tell an empty list from an empty string or a null in a list; its reader asks the schema.
func (s *Spelling) appendList(dst []byte, text string) ([]byte, string) {
	if text = scan.TrimSpace(text); s.Open == "" && strings.HasPrefix(text, "]") {
		return dst, text[1:] // tags stand around elements, and there are none
	}
	dst = append(dst, s.List.Open...)
	for some := false; ; some = true {
		if text = scan.TrimSpace(strings.TrimPrefix(scan.TrimSpace(text), ",")); text == "" || text[0] == ']' || text[0] == '}' {
			break
		}
		if some {
			dst = append(dst, s.List.Comma...)
		}
		dst, text = s.append(dst, text)
	}
	return append(dst, s.List.Close...), strings.TrimPrefix(text, "]")
}

// appendString writes a JSON string without needless escapes: \u00e9 is é, \/ is /. Half a
// surrogate pair is U+FFFD, since no UTF-8 says it. A slash may be escaped in JSON and is not in
// Python's, so <\/p> is </p> in a prompt.
func appendString(dst []byte, quoted string) []byte {
	if !strings.Contains(quoted, `\`) {
		return append(dst, quoted...)
	}
	return chat.AppendQuoted(dst, scan.Unquote(quoted))
}

// appendRaw writes a string as it is, marks and all: nothing escapes a mark in a tag, so a value
// that holds the tag's own end is read back shorter. The reader looks at what follows an end before
// it believes it.
func appendRaw(dst []byte, quoted string) []byte { return append(dst, scan.Unquote(quoted)...) }

// appendCDATA writes a string, in CDATA when it holds what could end the value that it is.
// minicpm5's template does so when a text holds <, & or a newline. A text with "]]>" in it cannot
// be said.
func appendCDATA(dst []byte, quoted string) []byte {
	text := scan.Unquote(quoted)
	if !strings.ContainsAny(text, "<&\n") {
		return append(dst, text...)
	}
	return append(append(append(dst, declaration.CDATAOpen...), text...), declaration.CDATAClose...)
}

// appendRepr writes a string as Python's repr does: in single quotes, or in double ones when it has
// single ones and no double ones. Control characters without a short form are \u00xx, as in JSON:
// Python would write \x00, and readers of both take this one.
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

// appendNumber writes a number as Python prints it: a whole one as it stands, since Python's have
// no limit, any other with the fewest digits that give the same 64 bits: 1.50 is 1.5, 1e5 is
// 100000.0, 1e25 is 1e+25. repr takes an exponent from 1e16 on and below 1e-4. An integer of twenty
// digits stays as it is, which a float64 could not say. An exponent has two digits at least in both
// languages: 1e-7 is 1e-07.
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
