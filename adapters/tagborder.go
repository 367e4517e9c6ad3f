package adapters

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// A reading may assume that a tag of a call was left out. If something that looks like a tag is at
// that place, the reading is not certain: </param> before </function> closes the value, or belongs
// to it. The call is then in doubt. Damage of a known kind is repaired (see nearly).

// maxBorder bounds, in bytes, how much of a value is looked at next to a missing tag. At least this
// much of the text is always kept in the buffer.
const maxBorder = lookBack / 2

// Patterns of a text at the end of a value that may be a damaged closer, and of a text at the start
// of a value that may be the rest of a damaged head.
var (
	bracketTag = regexp.MustCompile(
		`[«‹]\s*/[^«»‹›\n]*[»›]$|[\[({]\s*[/\\][^\[\](){}\n]*[\])}]$|[\[({][^\[\](){}\n]*/[\])}]$`)
	otherAngle   = regexp.MustCompile(`(?:＞|&gt;|›|〉)$`)
	emptyElement = regexp.MustCompile(`^<(?:br|hr|img|input|meta|link)\b[^<>]*>$`)
	halfTag      = regexp.MustCompile(`<[/\\][^<>\s]*$`)
	otherBegin   = regexp.MustCompile(
		`^(?:</|＜|&lt;|‹|〈|\[\w+\]|<!\[|[:=])|^[^<\n]{0,40}>|^\w{1,2}<\w+>`)
	otherHead = regexp.MustCompile(`^[^<\n]{0,80}[^\s=-]>`)
	element   = regexp.MustCompile(`^<([^<>/\s=:]+)`)
)

// endsInTag reports whether a text seems to end in a tag. It returns false if that tag closes an
// element that the text itself opens.
func endsInTag(text string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	if otherAngle.MatchString(text) || halfTag.MatchString(text) || bracketTag.MatchString(text) {
		return true
	}
	if !strings.HasSuffix(text, ">") {
		return false
	}
	last := text[max(strings.LastIndexByte(text, '<'), 0):]
	if last == "</>" { // of a fragment
		return !strings.Contains(strings.ReplaceAll(text, " <> ", ""), "<>")
	}
	if name, ok := strings.CutPrefix(last, "</"); ok {
		return !opens(text, strings.TrimSuffix(name, ">"))
	}
	return !emptyElement.MatchString(last) && !strings.HasSuffix(last, "-->")
}

// opens reports whether the text contains an opening tag of the given name, with or without
// attributes, such as <name> or <name id="1">.
func opens(text, name string) bool {
	for {
		_, rest, ok := strings.Cut(text, "<"+name)
		if !ok || rest == "" {
			return false
		}
		if !scan.IsName(int(rest[0])) {
			return true
		}
		text = rest
	}
}

// beginsWithTag reports whether a text seems to begin with a tag. It returns false if that tag
// opens an element that the text itself closes.
func beginsWithTag(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	if otherBegin.MatchString(text) {
		return true
	}
	m := element.FindStringSubmatch(text)
	if m == nil || m[1][0] == '!' || m[1][0] == '?' || strings.Contains(text, "</"+m[1]) {
		return false
	}
	head, _, _ := strings.Cut(text, ">")
	return !emptyElement.MatchString(head + ">")
}

// borderless reports whether r, one way to divide a call into arguments, is uncertain about the
// place where some value begins or ends: it assumes that a tag is missing or damaged, although
// something that looks like a tag is there.
func (s *tagSearch) borderless(r tagReading) bool {
	slip := r.cost%quarter > 0 || s.slip || s.f.strange(r)
	for a := r.args; a != nil; a = a.prev {
		from := a.from
		if from == 0 && a.prev == nil {
			from = s.start
		}
		tail := string(s.d.Slice(s.d.Pos+max(from, a.to-maxBorder), s.d.Pos+a.to))
		if a.doubt || slip && a.to > from && s.d.before(a.to) == '<' || s.tagInside(a, slip) ||
			a.loose && (endsInTag(tail) || endsInHalf(tail, a.own.Trimmed().Plain()) ||
				endsInName(tail, a.own.Trimmed().Plain()) || s.signInFront(a)) {
			return true
		}
		if a.guessed && (r.cost%quarter > 1 || s.headInside(a)) || s.openedAgain(a, from) ||
			a.prev != nil && s.seen(a.prev, a.key) {
			return true
		}
		if a.opened && a.to > a.from && s.letterLost(a) {
			return true
		}
		front := s.d.Slice(s.d.Pos+a.from, s.d.Pos+min(a.to, a.from+maxBorder))
		if a.opened && (beginsWithTag(string(front)) || s.openerBehind(a)) {
			return true
		}
	}
	return false
}

// strange reports whether r, one way to divide the rest of a call into values, has an argument that
// is not a parameter of the tool. The tag of such an argument may be part of a text.
func (f *tagForms) strange(r tagReading) bool {
	for a := r.args; a != nil; a = a.prev {
		if len(f.keys) > 0 && !f.typ.Has(a.key) {
			return true
		}
	}
	return false
}

// headInside reports whether the value a, whose opening tags are missing, begins with a text that
// may be a part of these tags, or with blanks that may belong to them.
func (s *tagSearch) headInside(a *tagArg) bool {
	text, _, _ := strings.Cut(
		string(s.d.Slice(s.d.Pos+a.from, s.d.Pos+min(a.to, a.from+maxAside+maxAside))), "\n")
	last := a.p.Parts[a.p.Index("value")-1].Lit.Trimmed().Plain()
	c := s.d.before(a.from)
	word := dressOf(a.p.Parts[0].Lit.Trimmed().Plain()).word
	return s.openerBehind(a) || len(word) > 2 && strings.Contains(text, word[1:]) ||
		strings.HasPrefix(text, "<") ||
		len(last) > 3 && strings.Contains(text, last[strings.LastIndexByte(last, '<')+1:]) ||
		otherHead.MatchString(text) || c == ' ' || c == '\t'
}

// openedAgain reports whether a value, which begins at offset from, repeats at its beginning the
// last of the tags before it, as in <|sep|> <|sep|>.
func (s *tagSearch) openedAgain(a *tagArg, from int) bool {
	last := a.p.Parts[a.p.Index("value")-1].Lit.Trimmed().Plain()
	at := strings.LastIndexByte(last, '<')
	if s.d.Pos+from < s.d.Base {
		return false
	}
	from += s.d.Space(from)
	return at >= 0 && len(last)-at > 3 && from < a.to && s.d.Has(from, last[at:])
}

// openerBehind reports whether a value begins, or nearly begins, with its own key or with the last
// of its opening tags, which are damaged. For example, <arg_key>city</arg_key>: <arg_value> has the
// tag after the colon, and city: Oslo has the key.
func (s *tagSearch) openerBehind(a *tagArg) bool {
	text := strings.TrimSpace(string(s.d.Slice(s.d.Pos+a.from, s.d.Pos+min(a.to, a.from+maxAside))))
	last := a.p.Parts[a.p.Index("value")-1].Lit.Trimmed().Plain()
	if at := strings.LastIndexByte(last, '<'); at >= 0 && len(last)-at > 3 &&
		strings.Contains(text, strings.TrimRight(last[at+1:], ">")) {
		return true
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, "\"'`*[(-<= "), a.key)
	return ok && (rest == "" || !scan.IsWord(int(rest[0])))
}

// endsInHalf reports whether a text ends in the first half, or more, of a closing tag, but not in
// the whole tag.
func endsInHalf(text, closer string) bool {
	text, closer = strings.ReplaceAll(strings.TrimSpace(text), "｜", "|"),
		strings.ReplaceAll(closer, "｜", "|")
	for n := len(closer) - 1; n >= max(4, len(closer)/2); n-- {
		if strings.HasSuffix(text, closer[:n]) {
			return true
		}
	}
	return false
}

// endsInName reports whether a text ends in the slash and the name of a closing tag, in brackets of
// any kind, as in «/parameter».
func endsInName(text, closer string) bool {
	text = unescapeAngles.Replace(strings.TrimSpace(text))
	name := lastWord.FindString(
		strings.TrimRight(strings.ReplaceAll(closer, declaration.SuffixPlaceholder, ""), ">|｜"))
	at := strings.LastIndex(text, name)
	if len(name) < 4 || at < 0 || !nameEnd.MatchString(text[at+len(name):]) {
		return false
	}
	return strings.ContainsAny(text[max(at-16, 0):at], "/\\")
}

// The patterns of endsInName: the name of a closer, and the text that may follow that name.
var (
	lastWord = regexp.MustCompile(`\w+$`)
	nameEnd  = regexp.MustCompile(`^(?:[:=][\w-]{0,32})?[^\w\s]{0,4}$`)
)

// unescapeAngles replaces JSON's escapes of angle brackets by the brackets.
var unescapeAngles = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u003C`, "<", `\u003E`, ">",
	`\x3c`, "<", `\x3e`, ">")

// letterLost reports whether the first character of a value may belong to the damaged opening tag
// before it, or the tag's last character to the value. In <arg_valu>e… a letter is missing, or two
// characters have changed places; in <arg_value]… a character is missing, or another has replaced
// it.
func (s *tagSearch) letterLost(a *tagArg) bool {
	text := a.p.Parts[a.p.Index("value")-1].Lit.Trimmed().Plain()
	if text == "" {
		return false
	}
	first, before := s.d.At(a.from), s.d.before(a.from)
	if a.onLines() && before != '\n' && s.d.At(a.from+1) == '\n' {
		return true // <parameter=channe>l
	}
	if len(text) > 3 && first == int(text[len(text)-2]) || first == '"' || s.d.Has(a.from, "”") {
		return true
	}
	return before != int(text[len(text)-1]) && !dressesIn(s.d).dressedEnd(a.from) &&
		s.f.typ.Prop(a.key).Allows(schema.String) &&
		first >= 0 &&
		(first == '_' || first > ' ' && first < 0x80 && !scan.IsWord(first))
}

// signInFront reports whether the character before a value's damaged closing tag may be a part of
// that tag and not of the value.
func (s *tagSearch) signInFront(a *tagArg) bool {
	k := s.from(a.to)
	if k == len(s.tokens) || s.tokens[k].kind != valueTag || s.tokens[k].cost == 0 ||
		s.tokens[k].dressed {
		return false
	}
	at := s.tokens[k].at
	c, begin := s.d.before(at), int(a.own.Trimmed().Plain()[0])
	if s.d.At(at) == begin {
		return c == begin || c == '/' || c == int(a.own.Trimmed().Plain()[1])
	}
	return c > ' ' && s.f.typ.Prop(a.key).Allows(schema.String)
}

// nested reports whether tag k, which is inside the value of the argument a, opens or closes
// something inside that value.
func (s *tagSearch) nested(a *tagArg, k int) bool {
	t := &s.tokens[k]
	if t.opens {
		return t.pair > 0 && s.tokens[t.pair].at < a.to
	}
	return s.opened[k] > 0 && s.tokens[s.opened[k]-1].at >= a.from
}

// tagInside reports whether a value contains a tag that may belong to the call. Such a tag repeats
// the tag before the value, begins a parameter that has no value, or closes something that was not
// opened, before another tag or the value's end. If the parameter slip is true, the call has a
// damaged tag; then every tag at a place where the call could have one may belong to the call. Tags
// that nest in the value are text.
func (s *tagSearch) tagInside(a *tagArg, slip bool) bool {
	for k := s.from(a.from); k < len(s.tokens) && s.tokens[k].at < a.to; k++ {
		t := &s.tokens[k]
		if own := t.kind == headTag && t.heads[0].key == a.key ||
			t.kind == openTag && s.again(a.head, t); own &&
			(s.blank(a.from, t.at) || t.kind == openTag && t.asText == textCost) {
			return true
		}
		if s.nested(a, k) {
			if !t.opens && t.kind == valueTag && s.tokens[s.opened[k]-1].asText == mentionCost &&
				(a.loose || openerAt(s, k+1, t.end)) {
				return true // the closer is the value's own, and the opener is a mention
			}
			continue
		}
		switch {
		case t.kind == closeTag && t.end+s.d.Elastic(t.end) >= a.to:
			return true
		case t.cost%quarter > 0:
		case t.kind == headTag:
			if slip || t.asText == textCost && s.f.typ.Has(t.heads[0].key) &&
				t.heads[0].key != a.key {
				return true
			}
		case t.opens:
			if a.loose && t.asText == textCost || slip && t.end+s.d.Elastic(t.end) >= a.to {
				return true
			}
		case t.kind == valueTag && t.asText == textCost && atFront(s, a, t.at) ||
			s.isBorder(a, k) || slip && (t.asText == textCost || s.blank(a.from, t.at)):
			return true
		}
	}
	return false
}

// atFront reports whether only white space is between the beginning of the value of the argument a
// and the given offset.
func atFront(s *tagSearch, a *tagArg, offset int) bool {
	from := a.from
	if from == 0 && a.prev == nil {
		from = s.start
	}
	return s.d.Pos+from >= s.d.Base && s.blank(from, offset)
}

// openerAt reports whether tag k opens something, and only white space is between the given offset
// and that tag.
func openerAt(s *tagSearch, k, offset int) bool {
	return k < len(s.tokens) && s.tokens[k].opens && s.blank(offset, s.tokens[k].at)
}

// isBorder reports whether tag k is a closing tag inside the value of the argument a, at a place
// where the value may have ended.
func (s *tagSearch) isBorder(a *tagArg, k int) bool {
	t := &s.tokens[k]
	n := t.end + s.d.Elastic(t.end)
	another := func(kind tagKind) bool {
		return k+1 < len(s.tokens) && s.tokens[k+1].at == n && s.tokens[k+1].kind == kind &&
			s.tokens[k+1].cost == 0
	}
	switch {
	case t.kind == closeTag:
		return another(headTag) && s.f.typ.Has(s.tokens[k+1].heads[0].key) &&
			s.tokens[k+1].heads[0].key != a.key
	case t.kind != valueTag:
		return false
	}
	_, section := s.d.marks.sectionEnds(n, s.f.p.Family)
	return n >= a.to || section || another(valueTag) || s.d.At(n) == '<' && s.d.At(n+1) != '/' ||
		a.loose && a.to-n < 4
}
