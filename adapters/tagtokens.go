package adapters

import (
	"toolnorm/adapters/internal/scan"
)

// tagKind is the role of a tag in a call.
type tagKind uint8

const (
	valueTag tagKind = iota // closes a value
	closeTag                // closes the call, or a part of it
	innerTag                // closes a part of an argument's head
	headTag                 // begins an argument
	openTag                 // opens what a tag of the kinds above closes
)

// tagToken is a tag in the text that is searched.
type tagToken struct {
	at, end int
	kind    tagKind
	n       int       // the index of the call's closer, for a closeTag
	cost    int       // the cost of its damage; 0: it is whole
	asText  int       // the cost of taking it for text
	name    string    // the name of the element that it opens or closes, for nesting
	opens   bool      // it opens that element
	pair    int       // the token that closes the element; 0: none
	heads   []headHit // the possible heads, for a headTag
	dressed bool      // it is in another dress, see tagdress.go
	key     string    // the parameter whose name it has, or ""
}

// scan finds the tags of the text, and pairs opening tags with closing tags. A closing tag belongs
// to the nearest opening tag of its name. Opening tags between the two that are never closed are
// mentions. The text is read to the end of the reply, because the later closing tags show most
// about the earlier ones.
func (s *tagSearch) scan() {
	d := s.d
	for i := 0; i < maxTagText; {
		c := d.At(i)
		if c < 0 {
			break
		}
		if _, angle := dressesIn(d).otherAngle(i); !s.f.p.Family.CloseBytes[c] && angle == "" {
			i++
			continue
		}
		if t, ok := s.tokenAt(i); ok {
			t.asText = s.textCost(t)
			s.tokens = append(s.tokens, t)
			i = t.end
			continue
		}
		i++
	}
	var open []int
	s.opened = make([]int, len(s.tokens))
	for k := range s.tokens {
		t := &s.tokens[k]
		if t.opens {
			open = append(open, k)
			continue
		}
		for n := len(open) - 1; n >= 0 && t.name != ""; n-- {
			if s.tokens[open[n]].name == t.name {
				s.tokens[open[n]].pair = k
				s.opened[k] = open[n] + 1
				open = open[:n]
				break
			}
		}
	}
	s.rest = make([]int, len(s.tokens)+1)
	for k := len(s.tokens) - 1; k >= 0; k-- {
		t := &s.tokens[k]
		if s.rest[k] = t.asText + s.rest[k+1]; t.pair > 0 {
			s.rest[k] = min(s.rest[k], s.rest[t.pair+1])
		}
	}
}

// textCost returns the cost of taking a tag for text. It is low inside a line, where people write
// about tags: "Close it with </parameter> and go on". It is high for a tag that is alone on its
// line or beside another tag, where models write tags. This is judged by the text before an opening
// tag, and by the text after a closing tag.
func (s *tagSearch) textCost(t tagToken) int {
	d := s.d
	if t.opens || t.kind == headTag {
		i := t.at
		for i > t.at-32 && (d.before(i) == ' ' || d.before(i) == '\t') {
			i--
		}
		if c := d.before(i); c == '\n' || c == '>' || c < 0 {
			return textCost
		}
		return mentionCost
	}
	n := t.end
	for n < t.end+8 && (d.At(n) == ' ' || d.At(n) == '\t' || d.At(n) == '\r') {
		n++
	}
	switch c := d.At(n); {
	case c == '\n' || c == '<' || c == '\\' || c < 0 && d.before(t.at) == '\n':
		return textCost
	}
	return mentionCost
}

// before returns the byte before offset i, or -1 if that byte is no longer in the buffer.
func (ta *tagsAhead) before(i int) int {
	if ta.Pos+i <= ta.Base {
		return -1
	}
	return int(ta.Slice(ta.Pos+i-1, ta.Pos+i)[0])
}

// tokenAt returns the tag at offset i, or false if there is none. A whole tag takes precedence over
// a damaged one: <tool_call> opens a call, though it could be </tool_call> without its slash. Only
// a <parameter> alone, which the family never writes, is returned as both: an opening tag, and a
// value's closing tag without its slash.
func (s *tagSearch) tokenAt(i int) (tagToken, bool) {
	d, f := s.d, s.f
	var near tagToken
	try := func(kind tagKind, n int, form tagForm) bool {
		end, cost, ok := d.tagAt(i, form)
		if ok && (near.end == 0 || cost < near.cost) {
			near = tagToken{at: i, end: end, kind: kind, n: n, cost: cost, name: form.name}
			near.dressIn(dressesIn(d), &form)
		}
		return ok && cost == 0
	}
	for n, form := range f.values {
		if try(valueTag, n, form) {
			return near, true
		}
	}
	for n, form := range f.closes {
		if try(closeTag, n, form) {
			return near, true
		}
	}
	for n, form := range f.inner {
		if try(innerTag, n, form) {
			return near, true
		}
	}
	if heads := d.headsAt(f, i); len(heads) > 0 && heads[0].end > i &&
		(near.end == 0 || heads[0].cost <= near.cost) {
		return tagToken{at: i, end: heads[0].end, kind: headTag, cost: heads[0].cost,
			name: f.values[0].name, opens: true, heads: heads}, true
	}
	if end, name := s.opener(i); end > 0 {
		if near.end == 0 {
			return tagToken{at: i, end: end, kind: openTag, name: name, opens: true}, true
		}
		if near.opens = name == near.name; near.opens && near.kind != valueTag {
			near.kind, near.cost = openTag, 0
		}
	}
	return near, near.end > 0
}

// opener returns the offset after a tag at offset i that opens an element, and the element's name,
// if one of the family's closing tags has that name. It returns 0 if there is no such tag. For
// example, <parameter name="x"> in an XML document opens an element that </parameter> closes,
// though the call's own arguments are written <parameter=x>.
func (s *tagSearch) opener(i int) (end int, name string) {
	d, f := s.d, s.f
	if d.At(i) != '<' {
		return 0, ""
	}
	for _, list := range [][]tagForm{f.values, f.closes, f.inner} {
		for _, form := range list {
			if form.name == "" || !d.Has(i+1, form.name) {
				continue
			}
			end := i + 1 + len(form.name)
			if c := d.At(end); c != '>' && c != '=' && c != ':' && !scan.IsSpace(c) {
				continue
			}
			n := d.Run(end, 256, func(c int) bool {
				return c >= 0 && c != '>' && c != '<' && c != '\n'
			})
			if d.At(end+n) == '>' && n > 0 && d.before(end+n) == '/' {
				continue // <parameter/>
			}
			if d.At(end+n) == '>' {
				n++
			}
			return end + n, form.name
		}
	}
	return 0, ""
}

// endsInside reports whether a value seems to end between the tokens from and to: one of them
// closes a value, and a parameter of the tool that has no value yet follows it. An opening tag
// whose closing tag is missing must not extend over such a parameter.
func (s *tagSearch) endsInside(v tagState, from, to int) bool {
	for key, before := range s.borders {
		if before[to] > before[from] && s.fresh(v, key) {
			return true
		}
	}
	return false
}

// countBorders counts, for each parameter and up to each token, how often the closing tag of a
// value is followed by the opening tags of that parameter. The counts are running sums, so the
// count for a part of the text is one subtraction.
func (s *tagSearch) countBorders() {
	s.borders = map[string][]int{}
	for k := 0; k+1 < len(s.tokens); k++ {
		t, next := &s.tokens[k], &s.tokens[k+1]
		if t.kind != valueTag || next.kind != headTag || t.cost+next.cost > 0 ||
			!s.f.typ.Has(next.heads[0].key) || !s.blank(t.end, next.at) {
			continue
		}
		key := next.heads[0].key
		if s.borders[key] == nil {
			s.borders[key] = make([]int, len(s.tokens))
		}
		s.borders[key][k] = 1
	}
	for _, list := range s.borders {
		for k := 1; k < len(list); k++ {
			list[k] += list[k-1]
		}
	}
}

// again reports whether the tag t looks like the tag directly before the value of h. For example,
// that tag is <arg_value> in <arg_key>city</arg_key><arg_value>Oslo. It returns false if that tag
// has at most three characters.
func (s *tagSearch) again(h head, t *tagToken) bool {
	for k, arg := range s.f.p.Family.Args {
		if steps := s.f.heads[k]; arg == h.p && len(steps[len(steps)-1].text) > 3 {
			end, _, ok := s.d.tagAt(t.at, steps[len(steps)-1].tagForm)
			return ok && end == t.end
		}
	}
	return false
}

// comment returns the size of a comment at offset i, or 0 if there is none or it contains tags.
func (s *tagSearch) comment(i int) int {
	size := s.d.Comment(i)
	if k := s.from(i); k < len(s.tokens) && s.tokens[k].at < i+size {
		return 0
	}
	return size
}
