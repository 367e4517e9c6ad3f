package adapters

import (
	"regexp"
	"strings"

	"toolnorm/chat/schema"
)

// Where a tag of a call was left out, nothing that looks like one may stand in its place: </param>
// in front of </function> closes the value, or belongs to it. Nobody knows which, so the call is in
// doubt. Damage that can be named is repaired (nearly).

// maxBorder bounds how much of a value is looked at beside a tag that is missing, in bytes. So much
// of the text is always kept.
const maxBorder = lookBack / 2

// What ends a value that may have lost its closer, and what begins one whose head is damaged.
var (
	bracketTag   = regexp.MustCompile(`[\[({]\s*[/\\][^\[\](){}\n]*[\])}]$|[\[({][^\[\](){}\n]*/[\])}]$`)
	otherAngle   = regexp.MustCompile(`(?:＞|&gt;|›|〉)$`)
	emptyElement = regexp.MustCompile(`^<(?:br|hr|img|input|meta|link)\b[^<>]*>$`)
	halfTag      = regexp.MustCompile(`<[/\\][^<>\s]*$`)
	otherBegin   = regexp.MustCompile(`^(?:</|＜|&lt;|‹|〈|\[\w+\]|<!\[|[:=])|^[^<\n]{0,40}>|^\w{1,2}<\w+>`)
	element      = regexp.MustCompile(`^<([^<>/\s=:]+)`)
)

// endsInTag reports whether a tag seems to stand at the end of a text. An element that the text opens and closes is none.
func endsInTag(text string) bool {
	text = strings.TrimRight(text, " \t\r\n")
	if otherAngle.MatchString(text) || halfTag.MatchString(text) || bracketTag.MatchString(text) {
		return true
	}
	if !strings.HasSuffix(text, ">") {
		return false
	}
	last := text[max(strings.LastIndexByte(text, '<'), 0):]
	if name, ok := strings.CutPrefix(last, "</"); ok {
		return !strings.Contains(text, "<"+strings.TrimSuffix(name, ">"))
	}
	return !emptyElement.MatchString(last) && !strings.HasSuffix(last, "-->")
}

// beginsWithTag reports whether a tag seems to stand at the beginning of a text. An element that the text closes is none.
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

// borderless reports whether a reading takes a tag for missing or damaged, and has what looks like one in its place.
func (s *tagSearch) borderless(r tagReading) bool {
	for a := r.args; a != nil; a = a.prev {
		from := a.from
		if from == 0 && a.prev == nil {
			from = s.start
		}
		tail := string(s.d.Slice(s.d.Pos+max(from, a.to-maxBorder), s.d.Pos+a.to))
		if a.doubt || s.tagInside(a) || a.loose && (endsInTag(tail) || endsInHalf(tail, a.own.Trimmed().Plain()) || s.signInFront(a)) {
			return true
		}
		if a.opened && a.to > a.from && s.letterLost(a) {
			return true
		}
		if a.opened && beginsWithTag(string(s.d.Slice(s.d.Pos+a.from, s.d.Pos+min(a.to, a.from+maxBorder)))) {
			return true
		}
	}
	return false
}

// endsInHalf reports whether a text ends in the first half of a closer, or more of it.
func endsInHalf(text, closer string) bool {
	text, closer = strings.ReplaceAll(strings.TrimSpace(text), "｜", "|"), strings.ReplaceAll(closer, "｜", "|")
	for n := len(closer) - 1; n >= max(4, len(closer)/2); n-- {
		if strings.HasSuffix(text, closer[:n]) {
			return true
		}
	}
	return false
}

// letterLost reports whether the head of an argument and its value share a sign that may belong to either: <arg_valu>e… has
// lost a letter, or two have changed places, and <arg_value]… has lost a sign, or another one stands for it.
func (s *tagSearch) letterLost(a *tagArg) bool {
	text := a.p.Parts[a.p.Hole("value")-1].Lit.Trimmed().Plain()
	if text == "" {
		return false
	}
	first, before := s.d.At(a.from), s.d.before(a.from)
	if len(text) > 3 && first == int(text[len(text)-2]) {
		return true
	}
	return before != int(text[len(text)-1]) && s.f.typ.Prop(a.key).Allows(schema.String) && first >= 0 && strings.IndexByte("[](){}|:=\"'", byte(first)) >= 0
}

// signInFront reports whether a sign stands in front of the damaged closer of a value, which may stand for one of its own.
func (s *tagSearch) signInFront(a *tagArg) bool {
	k := s.from(a.to)
	if k == len(s.tokens) || s.tokens[k].kind != valueTag || s.tokens[k].cost == 0 {
		return false
	}
	at := s.tokens[k].at
	c, begin := s.d.before(at), int(a.own.Trimmed().Plain()[0])
	if s.d.At(at) == begin {
		return c == begin
	}
	return c >= 0 && s.f.typ.Prop(a.key).Allows(schema.String) && strings.IndexByte("[](){}|/\\", byte(c)) >= 0
}

// tagInside reports whether a value holds a tag of its family that may be one of the call's: its own head once more, a closer
// without its opener in front of another tag or of the value's end, or an opener without its closer where the value's own is
// missing.
func (s *tagSearch) tagInside(a *tagArg) bool {
	for k := s.from(a.from); k < len(s.tokens) && s.tokens[k].at < a.to; k++ {
		t := &s.tokens[k]
		if t.opens {
			own := t.kind == headTag && t.heads[0].key == a.key || t.kind == openTag && s.again(a.head, t)
			if own && s.blank(a.from, t.at) || a.loose && t.pair == 0 && t.asText == textCost && t.cost == 0 {
				return true
			}
			continue
		}
		if t.cost == 0 && !s.paired[k] && s.isBorder(a, k) {
			return true
		}
	}
	return false
}

// isBorder reports whether a closer inside a value stands where the value may have ended.
func (s *tagSearch) isBorder(a *tagArg, k int) bool {
	t := &s.tokens[k]
	n := t.end + s.d.Elastic(t.end)
	another := func(kind tagKind) bool {
		return k+1 < len(s.tokens) && s.tokens[k+1].at == n && s.tokens[k+1].kind == kind && s.tokens[k+1].cost == 0
	}
	switch {
	case t.kind == closeTag:
		return another(headTag) && s.f.typ.Has(s.tokens[k+1].heads[0].key) && s.tokens[k+1].heads[0].key != a.key
	case t.kind != valueTag:
		return false
	}
	return n >= a.to || another(valueTag) || s.d.At(n) == '<' && s.d.At(n+1) != '/' || a.loose && a.to-n < 4
}
