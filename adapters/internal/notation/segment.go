package notation

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// member is a parameter with its value in a text.
type member struct {
	conn  string // the signs between the parameter and its value, without blanks
	value string // as strict JSON
	end   int    // where the value ends
	bare  bool   // the value has no quotation marks and no brackets, so signs end it
	sep   string // the sign before the next parameter, which was cut off the value
	text  string // the value as it is written
	inner bool   // the value is an object with members of its own
	open  bool   // the value is bare, and neither the end of its own line nor a sign ends it
}

// segment reads a text in which the given keys name the parameters, and returns their values as an
// object. It returns false if a value cannot be read, or if the text between keys and values has
// words that do not belong to a call.
func (r *reader) segment(keys []key) (string, bool) {
	if len(keys) == 0 {
		return "", false
	}
	members, values := make([]member, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		next := len(r.text)
		if i+1 < len(keys) {
			next = r.from(keys[i+1].at)
		}
		m, ok := r.member(k, next)
		if !ok {
			return "", false
		}
		members[i], values[i] = m, m.value
	}
	if !r.alike(members) || !r.left(keys, members) {
		return "", false
	}
	r.plain = members[0].conn == "" && !strings.Contains(r.text, "\n") &&
		!r.signed(keys[0].at) && slices.ContainsFunc(members, func(m member) bool { return m.bare })
	return r.object(keys, values)
}

// from returns the position in the text where a key begins. The parameter at is the token with its
// name. In a key like address.city, for the parameter city of an object address, the position is
// that of address.
func (r *reader) from(at int) int {
	if at > 0 && r.tokens[at-1].kind == aSign && strings.HasSuffix(r.tokens[at-1].inner, ".") {
		return r.tokens[at-1].from
	}
	return r.tokens[at].from
}

// signed reports whether the token before the token with index at is a sign, such as a bracket or a
// dash. The token at is the name of a parameter.
func (r *reader) signed(at int) bool { return at > 0 && r.tokens[at-1].kind == aSign }

// alike reports whether all parameters are written in the same way: with the same sign before the
// values, and with the same sign between one parameter and the next. If only the end of the text
// ends the last value, that value must not contain the sign between parameters or, if there is no
// such sign, have several words. A value that the user has written may have both.
func (r *reader) alike(members []member) bool {
	sep := ""
	members = slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.inner })
	if len(members) == 0 {
		return true
	}
	for _, m := range members {
		if m.conn != members[0].conn || m.sep != "" && sep != "" && sep != m.sep {
			return false
		}
		if m.sep != "" {
			sep = m.sep
		}
	}
	last := members[len(members)-1]
	sign := strings.TrimSpace(sep)
	return !last.open || r.said(last.text) || sign == "" && !strings.Contains(last.text, " ") ||
		sign != "" && !strings.Contains(last.text, sign)
}

// member reads the value of a parameter in the text up to the position next. It returns false if
// there is no value, or if the value is not clear or does not fit the schema.
func (r *reader) member(k key, next int) (m member, ok bool) {
	typ := r.typ.Prop(k.name)
	several := lines{r, k, next, typ}
	if value, end, ok := several.block(); ok {
		return member{conn: ":", value: value, end: end}, true
	}
	j, conn := r.connector(k.at+1, next)
	if j >= len(r.tokens) || r.tokens[j].from >= next {
		return m, false
	}
	if list, end, ok := r.bullets(k.at+1, next, typ); ok {
		return member{conn: strings.TrimRight(conn, "-*•"), value: list, end: end}, true
	}
	// ["a", "b"], {"a": 1}
	if at := r.opens(j, k.at); at >= 0 {
		from := r.tokens[at].from
		if value, size, ok := r.structured(r.text[from:next], typ); ok {
			return member{conn: strings.TrimRight(conn, "[{"), value: value,
				end: from + size}, true
		}
	}
	if m, ok := several.nested(); ok {
		return m, true
	}
	if list, end, ok := several.elements(); ok {
		return member{conn: conn[:strings.Index(conn, ">")+1], value: list, end: end}, true
	}
	if t := r.tokens[j]; t.kind == aText {
		value, ok := r.literal(t.inner, typ, r.text[t.from:t.to])
		return member{conn: conn, value: value, end: t.to}, ok
	}
	from, conn, ok := r.begins(j, k.at, conn)
	if !ok {
		return m, false
	}
	text, sep, ok := r.bare(k, from, next, conn)
	// the blanks before a value on a line of its own may belong to it
	if !ok || r.indented(k.at, from) && !r.said(text) {
		return m, false
	}
	plain := text
	if conn == "=" && query.MatchString(r.text) {
		if plain, ok = unquery(text); !ok {
			return m, false
		}
	}
	value, ok := r.literal(plain, typ, plain)
	end := from + len(text)
	behind := strings.TrimLeft(r.text[end:next], " \t\r")
	return member{conn: conn, value: value, end: end, bare: true, sep: sep, text: text,
		open: sep == "" && strings.TrimSpace(behind) == "" && !r.lineBegins(k.at)}, ok
}

// indented reports whether a value is on another line than its key and has blanks before it.
func (r *reader) indented(keyAt, from int) bool {
	front := r.text[r.tokens[keyAt].to:from]
	at := strings.LastIndexByte(front, '\n')
	return at >= 0 && len(front) > at+1 && strings.TrimSpace(front[at:]) == ""
}

// query matches the beginning of the parameters in a URL.
var query = regexp.MustCompile(`\S\?[\w.-]+=\S`)

// unquery returns a value of a URL's query without its escapes, such as "New York" for New%20York.
// It returns false if an escape is invalid, or if the value has a blank or a plus sign, because in
// a URL a plus sign can stand for a blank or for itself.
func unquery(text string) (string, bool) {
	plain, err := url.PathUnescape(text)
	return plain, err == nil && !strings.ContainsAny(text, "+ ")
}

// connector reads the text between a parameter and its value: signs, words such as "value", and
// before such a word the closing tag of the name, as in <key>city</key><value>. It returns the
// index of the first token that may belong to the value, and the signs. The index is len(r.tokens)
// if no value can follow.
func (r *reader) connector(j, next int) (int, string) {
	conn, closed := "", false
	for ; j < len(r.tokens) && r.tokens[j].from < next; j++ {
		t := r.tokens[j]
		switch {
		case t.kind == aSign:
			conn += t.inner
		case t.kind == aWord && r.closes(j) && roleOf(t.inner)&structural != 0:
			closed = true
		case t.kind == aWord || t.kind == aText:
			size := r.between(j)
			// <key>city</key>Paris
			if size == 0 && closed || t.kind == aText && size > 0 && strings.Contains(conn, "}") {
				return len(r.tokens), conn
			}
			if size == 0 {
				return j, conn
			}
			conn, closed = conn+t.inner, false
			j += size - 1
		}
	}
	return j, conn
}

// between returns the number of tokens, from token j on, that link a parameter to its value.
// Examples are "value" with the sign after it in value=Paris, "is", and type="string". It returns 0
// if token j can itself be the value.
func (r *reader) between(j int) int {
	word := strings.ToLower(r.tokens[j].inner)
	follows := func(n int, k kind) bool { return j+n < len(r.tokens) && r.tokens[j+n].kind == k }
	sign := follows(1, aSign) && strings.Contains("=:>", r.tokens[j+1].inner)
	switch {
	case word == "type" && sign && (follows(2, aText) || follows(2, aWord)) &&
		typeNames[strings.ToLower(r.tokens[j+2].inner)]:
		return 3
	case roles[word]&valueWord == 0,
		r.tokens[j].kind == aText && !(follows(1, aSign) && r.tokens[j+1].inner == ":"):
		return 0
	case sign:
		return 1
	case (word == "is" || word == "equals" || word == "ist") && follows(1, aSpace):
		return 1
	}
	return 0
}

// typeNames are the names of types of values.
var typeNames = map[string]bool{"string": true, "str": true, "int": true, "integer": true,
	"number": true, "float": true, "bool": true, "boolean": true, "array": true, "list": true,
	"object": true, "json": true, "text": true}

// opens looks for brackets that open a list or an object directly before token j. It looks back no
// further than the key at token keyAt. Only blanks and line breaks may be between the brackets and
// token j. It returns the index of the first of them, such as the [ in [{"a": 1}], or -1 if there
// are none.
func (r *reader) opens(j, keyAt int) int {
	first := -1
	for i := j - 1; i > keyAt; i-- {
		switch t := r.tokens[i]; {
		case t.inner == "[" || t.inner == "{":
			first = i
		case t.kind != aSpace && t.kind != aBreak:
			return first
		}
	}
	return first
}

// ofValues are signs with which a value may begin.
const ofValues = "/.~#@$€£¥+-\\^"

// inFront are signs that may come before a value and never belong to it.
const inFront = ":=<>([{]|«⟦⟨【「→⇒➜➔➡←：＝・·├└─│»›▸▶➤•,;-.~"

// connectors are the signs that may be between a parameter and its value.
var connectors = []string{":=", "=>", "->", "-->", "==>", "::", "==", "~>", ":", "=", "→", "⇒", "➜",
	"➔", "➡", "←", "<-", "|", ">", "»", "：", "＝", "├", "│", "~", "«"}

// begins returns the position of a value without quotation marks whose first word is token j. It
// also returns the signs between the key and that position. Signs directly before the word may
// belong to the value or to the notation. It returns false if that cannot be known.
func (r *reader) begins(j, keyAt int, conn string) (int, string, bool) {
	k := j
	for k-1 > keyAt && r.tokens[k-1].kind == aSign {
		k--
	}
	cluster := r.text[r.tokens[k].from:r.tokens[j].from]
	// (1 + 2) * 3
	if i := strings.LastIndexAny(cluster, "([") + 1; i > 0 && i == len(cluster) {
		from := r.tokens[j].from - 1
		if size := balanced(r.text[from:]); size > 0 && r.goesOn(from+size) {
			return from, strings.TrimSuffix(conn, cluster[i-1:]), k-1 > keyAt || len(cluster) > 1
		}
	}
	if cluster == "" {
		return r.tokens[j].from, conn, true
	}
	front := strings.TrimLeft(cluster, inFront)
	if strings.Trim(front, ofValues) != "" {
		return 0, "", false // a sign of the value or of the notation: that is unknown
	}
	if k-1 > keyAt { // there is a blank in front of the signs
		if strings.Trim(cluster, ofValues) == "" {
			front = cluster
		}
		return r.tokens[j].from - len(front), strings.TrimSuffix(conn, front), true
	}
	if strings.TrimRight(cluster, ofValues) == cluster {
		return r.tokens[j].from, conn, true
	}
	sign := ""
	for _, c := range connectors {
		if strings.HasPrefix(cluster, c) && len(c) > len(sign) {
			sign = c
		}
	}
	if sign == "" || strings.Trim(cluster[len(sign):], ofValues) != "" {
		return 0, "", false
	}
	return r.tokens[k].from + len(sign), strings.TrimSuffix(conn, cluster[len(sign):]), true
}

// goesOn reports whether the text has a word at the offset at, on the same line. Blanks and
// arithmetic operators before the word are skipped.
func (r *reader) goesOn(at int) bool {
	line, _, _ := strings.Cut(r.text[at:], "\n")
	line = strings.TrimLeft(line, " +-*/%^=.")
	return line != "" && isWord(firstRune(line))
}
