package adapters

import (
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// tagForms holds the single tags of a call that is written in tags, such as <parameter=city> and
// </parameter>. Each tag is held as text, too, so that a damaged tag in a reply can be compared
// with it.
type tagForms struct {
	p      *declaration.Pattern // the call's own pattern
	typ    *schema.Type         // its tool's parameters
	keys   []string             // the names of the parameters
	values []tagForm            // the closer of a value, for each form of an argument
	closes []tagForm            // the closers of the call, in order
	inner  []tagForm            // closing tags in the head of an argument: </arg_key>
	heads  [][]headStep         // the heads of arguments, one for each form
}

// tagForm is one tag: as the declaration matches it, and as plain text. Whole tags are compared by
// their literals, which accept other white space and quotes at no cost. Only a text that does not
// match the literals is compared character by character.
type tagForm struct {
	lit  declaration.Literal
	text string
	name string // of </name>; "" if the tag has another form

	suffix bool // a suffix may precede its end

	dress dress
	of    *tagForms // of the closer of a value: the tags of its call
}

// headStep is a step in reading the tags before an argument's value: a single tag, or the place of
// the key or the type between two tags.
type headStep struct {
	tagForm
	placeholder string
}

// headHit is a possible start of an argument: its tags up to the value, as they were found in the
// text. The tags may be damaged, which has a cost. One place may have several hits with different
// keys, if the damage leaves more than one possible.
type headHit struct {
	head
	cost int
}

// newTagForms returns the tags of a call's pattern. It is called when a call is first examined
// closely, because clean replies never need these tags.
func newTagForms(p *declaration.Pattern, t *schema.Type) *tagForms {
	f := &tagForms{p: p, typ: t, keys: t.Members()}
	for _, arg := range p.Family.Args {
		closer := formOf(arg.Parts[len(arg.Parts)-1].Lit)
		closer.of, closer.dress.keys, closer.dress.names = f, f.keys, true
		f.values = append(f.values, closer)
		var steps []headStep
		for k, part := range arg.Parts[:arg.Index("value")] {
			if part.Placeholder != "" {
				steps = append(steps, headStep{placeholder: part.Placeholder})
				continue
			}
			for _, l := range part.Lit.Pieces() {
				step := headStep{tagForm: formOf(l)}
				step.dress.names = true
				steps = append(steps, step)
				if k > 0 && step.name != "" {
					f.inner = append(f.inner, step.tagForm)
				}
			}
		}
		f.heads = append(f.heads, steps)
	}
	for _, l := range p.Close {
		f.closes = append(f.closes, formOf(l))
	}
	return f
}

// formOf returns a literal as a tag, without the line breaks at its edges. Those are left to the
// rules for values, by which one line break belongs to the tag.
func formOf(l declaration.Literal) tagForm {
	f := tagForm{lit: l.Trimmed()}
	f.text = f.lit.Plain()
	f.dress = dressOf(f.text)
	for _, u := range f.lit.Units {
		f.suffix = f.suffix || u.Kind == declaration.Suffix && strings.HasSuffix(f.text, ">")
	}
	if name, ok := strings.CutPrefix(f.text, "</"); ok {
		f.name = strings.TrimSuffix(name, ">")
	}
	return f
}

// The costs of readings. They are in quarters of a slip, and the lowest byte counts the slips.
// Taking a tag for text costs more at a place where the call could have a tag than inside a line.
const (
	quarter  = 1 << 8
	slipCost = 4*quarter + 1 // a tag left out, doubled, damaged, or in the place of another
	halfCost = 2*quarter + 1 // an outer closer left out after an inner one
	// the head of an argument left out: its value may as well belong to the previous value
	lostCost = 6*quarter + 1
	// a parameter that the tool does not have, which is not a slip: many tools take others
	strangeCost = 6 * quarter
	junkCost    = 5*quarter + 1   // words between two tags mean nothing
	asideCost   = quarter         // a comment
	mentionCost = 2 * quarter     // a tag inside a line is text
	textCost    = 6 * quarter     // a tag at a border is text
	cutCost     = 8 * quarter     // the text ends inside a value
	misfitCost  = 6 * quarter     // a value does not fit its parameter
	leftCost    = 24 * quarter    // complete closers are left over after the call
	tagMargin   = 7 * quarter / 4 // a reading within this cost of the best one is a second reading
	// readings that cost this much more than the best are not followed
	tagWindow = 12 * quarter
)

// tagAt returns the offset after the tag f at offset i, and its cost: 0 for a whole tag, and
// slipCost for a tag in which one thing is wrong. It returns false if there is no such tag, or if
// two things are wrong: models do not make two errors in a tag, and two could turn one tag into
// another.
func (ta *tagsAhead) tagAt(i int, f tagForm) (end, cost int, ok bool) {
	if n, a := ta.marks.literal(i, f.lit); a == matched {
		// </parameter>>
		if strings.HasSuffix(f.text, ">") && len(f.text) > 2 && ta.At(n) == '>' {
			return n + 1, slipCost, true
		}
		return n, 0, true
	}
	if n, _ := dressesIn(ta).dressed(i, &f); n > 0 {
		return n, slipCost, true
	}
	if n := ta.nearly(i, ta.withSuffix(i, f)); n > 0 {
		return n, slipCost, true
	}
	return i, 0, false
}

// withSuffix returns the text of the tag f with the suffix that is at offset i, as in
// </arg_key:opensource>. It returns the text unchanged if the family has no suffixes or none is
// there.
func (ta *tagsAhead) withSuffix(i int, f tagForm) string {
	if !f.suffix {
		return f.text
	}
	n := i + ta.Run(i, len(f.text)+1, func(c int) bool {
		return c >= 0 && c != ':' && c != '>' && c != '\n'
	})
	if ta.At(n) != ':' {
		return f.text
	}
	size := ta.Run(n, declaration.MaxSuffix, func(c int) bool {
		return c == ':' || scan.IsWord(c) || c == '-'
	})
	if c := ta.At(n + size); c != '>' && c != '<' && c != '\n' {
		return f.text
	}
	return strings.TrimSuffix(f.text, ">") + string(ta.Slice(ta.Pos+n, ta.Pos+n+size)) + ">"
}

// nearly compares the text at offset i with the text of a tag, in which one thing may be wrong. It
// returns the offset after the tag, or 0 if the tag is not there. The first byte that differs and
// the bytes after it show what is wrong: another case, a character that is missing, doubled or
// replaced, two characters that have changed places, or a surplus blank. A doubled first character
// is not an error: in "1 <</parameter>" the value ends with a < of its own.
func (ta *tagsAhead) nearly(i int, text string) int {
	if len(text) < 4 {
		return 0
	}
	k := 0
	for k < len(text) && ta.At(i+k) == int(text[k]) {
		k++
	}
	if k == len(text) {
		return i + k
	}
	for k > 0 && !utf8.RuneStart(text[k]) {
		k--
	}
	c := ta.At(i + k)
	_, size := utf8.DecodeRuneInString(text[k:])
	_, before := utf8.DecodeLastRuneInString(text[:k])
	switch {
	// two have changed places
	case k > 0 && k+1 < len(text) && c == int(text[k+1]) && ta.At(i+k+1) == int(text[k]) &&
		ta.Has(i+k+2, text[k+2:]):
		return i + len(text)
	// the character that comes next is missing
	case k+size < len(text) && ta.Has(i+k, text[k+size:]):
		return i + k + len(text) - k - size
	// a character is doubled, or a blank is surplus
	case k > 1 && ta.Has(i+k, text[k-before:k]) && ta.Has(i+k+before, text[k:]):
		return i + len(text) + before
	case k > 0 && scan.IsSpace(c) && ta.Has(i+k+1, text[k:]):
		return i + len(text) + 1
	// another character is in its place
	case k > 0 && c >= 0 && k+size < len(text) && ta.Has(i+k+runeSize(c), text[k+size:]):
		return i + k + runeSize(c) + len(text) - k - size
	case k > 1 && text[1] == '/' && c >= 0 && k+size == len(text) &&
		(scan.IsWord(c) || strings.IndexByte("]})|-.", byte(c)) >= 0) && ta.At(i+k+1) != '>' &&
		!scan.IsWord(ta.At(i+k+1)):
		return i + len(text)
	case k > 3 && k+size == len(text) && strings.HasSuffix(text, "|>") && c > ' ' &&
		ta.At(i+k+runeSize(c)) == '<':
		return i + k + runeSize(c)
	// the last character is missing
	case k+size == len(text) && k > 3 && !scan.IsWord(c) && c != '-' && c != '.':
		return i + k
	}
	if c < 0 || c|0x20 != int(text[k])|0x20 {
		return 0
	}
	for n := k; n < len(text); n++ {
		if c := ta.At(i + n); c != int(text[n]) && (!isLetter(c) || c|0x20 != int(text[n])|0x20) {
			return 0
		}
	}
	return i + len(text)
}

// runeSize returns the size in bytes of the character that begins with the byte c.
func runeSize(c int) int {
	switch {
	case c >= 0xF0:
		return 4
	case c >= 0xE0:
		return 3
	case c >= 0xC0:
		return 2
	}
	return 1
}

// isLetter reports whether c, a byte or a negative number at the end of the text, is an ASCII
// letter. Marks are written in ASCII, except for their bars, so the case of other letters does not
// matter.
func isLetter(c int) bool { return c >= 0 && c < 0x80 && scan.IsLetter(byte(c)) }

// maxNear bounds the number of parameters that a damaged key may mean. If there are more, it means
// none of them.
const maxNear = 4

// headsAt returns what may begin an argument at offset i: tags with any key that are whole, or else
// damaged tags with a key that is a parameter of the tool. It returns nil if there are none. In
// whole tags, a key that is not a parameter has a cost. If that key is a parameter's name with one
// character lost, the parameter is returned as well, at a lower cost. A whole key that is a
// parameter is the only result.
func (ta *tagsAhead) headsAt(f *tagForms, i int) []headHit {
	var all []headHit
	if h, a := ta.argHead(f.p.Family, i); a == matched && !strings.ContainsAny(h.key, "<>\"\n") {
		all = append(all, headHit{h, 0})
		if len(f.keys) > 0 && !f.typ.Has(h.key) {
			all[0].cost = strangeCost
		}
		for _, key := range f.keys {
			if all[0].cost > 0 && lenient.OneOff(h.key, key) {
				h.key = key
				if all = append(all, headHit{h, slipCost}); len(all) > maxNear {
					return all[:1]
				}
			}
		}
		return all
	}
	for k, steps := range f.heads {
		for _, key := range f.keys {
			end, wire, cost := ta.headBySteps(f, steps, key, i, 2)
			if cost == 0 {
				continue
			}
			arg := f.p.Family.Args[k]
			last := arg.Parts[arg.Index("value")-1].Lit
			if n := len(last.Units); n > 0 && last.Units[n-1].Kind == declaration.OneNewline &&
				ta.At(end) == '\n' {
				end++
			}
			h := head{p: arg, own: arg.Parts[len(arg.Parts)-1].Lit, key: key, wire: wire, end: end}
			all = append(all, headHit{h, cost})
		}
	}
	slices.SortStableFunc(all, func(a, b headHit) int { return a.cost - b.cost })
	for n := range all {
		if all[n].cost > all[0].cost {
			return all[:n]
		}
	}
	return all
}

// headBySteps finds the tags before a parameter's value if they are damaged, so that argHead does
// not find them. For example, GLM's have four pieces, <arg_key>, the key, </arg_key> and
// <arg_value>, and a model may leave out, double or swap any of them. The parameter slips is the
// number of pieces that may be damaged, missing or replaced; at least one must be correct. It
// returns the offset after the tags, the type that they give, and the cost, which is 0 if they are
// not there.
func (ta *tagsAhead) headBySteps(f *tagForms, steps []headStep, key string, i, slips int) (
	end int, wire string, cost int) {
	whole, lost := 0, false
	for n, s := range steps {
		at := i + ta.Elastic(i)
		if n == 0 {
			at = i
		}
		var c int
		switch {
		case s.placeholder == "key":
			if !ta.Has(at, key) {
				return 0, "", 0
			}
			end = at + len(key)
		case s.placeholder != "":
			end = at + ta.Run(at, 32, func(c int) bool { return isLetter(c) })
			wire = string(ta.Slice(ta.Pos+at, ta.Pos+end))
		default:
			end, c = ta.stepAt(f, s, at, i)
			// name=="path"
			if near := ta.nearly(at, s.text); near > 0 && n+1 < len(steps) &&
				steps[n+1].placeholder == "key" && !ta.Has(end, key) {
				end, c = near, slipCost
			}
			if c == 0 {
				whole++
			} else if n > 1 && n == len(steps)-1 && steps[n-1].placeholder == "key" {
				// the angle of a tag in another dress: that is one slip, unless the head has more
				// pieces, as DSML's string="true", which the value would be taken for
				if size := dressesIn(ta).behindKey(at); size > 0 {
					end, c, whole = at+size, max(slipCost-cost, 0), whole+1
				}
			}
		}
		// the same tag again
		if n, _, ok := ta.tagAt(end+ta.Elastic(end), s.tagForm); ok && len(s.text) > 3 &&
			s.placeholder == "" && end > at {
			end, c = n, max(c, slipCost)
		}
		if c > 0 {
			slips, cost = slips-1, cost+c
		}
		if slips < 0 {
			return 0, "", 0
		}
		lost = end == i && n > 0
		i = end
	}
	if whole == 0 {
		return 0, "", 0
	}
	if lost && ta.At(i) == '\n' { // the line break before the missing tag
		i++
	}
	return i, wire, max(cost, slipCost)
}

// stepAt matches one of the tags before a value at the offset at. It returns the offset after the
// tag, and the cost of its damage. The tag may be whole, damaged or cut in half, or another closing
// tag may be in its place. If the tag is missing, the returned offset is the parameter bare, which
// is before the white space in front of the tag. It never fails, so the caller limits the number of
// missing tags.
func (ta *tagsAhead) stepAt(f *tagForms, s headStep, at, bare int) (end, cost int) {
	if n, c, ok := ta.tagAt(at, s.tagForm); ok {
		return n, c
	}
	// <<arg_value>
	if n, a := ta.marks.literal(at+1, s.lit); a == matched && ta.At(at) == int(s.text[0]) {
		return n, slipCost
	}
	if s.name != "" {
		for _, v := range f.values {
			if n, _, ok := ta.tagAt(at, v); ok {
				return n, slipCost
			}
		}
	}
	// <parametercity>, <arg_valueOslo: the last character is missing before a word
	if n := len(s.text) - 1; n > 3 && s.name == "" && ta.Has(at, s.text[:n]) {
		return at + n, slipCost
	}
	// name="city> has lost a quote
	if len(s.text) < 4 && len(s.text) > 1 {
		for k := range s.text {
			if rest := s.text[:k] + s.text[k+1:]; ta.Has(at, rest) {
				return at + len(rest), slipCost
			}
		}
	}
	return bare, slipCost
}
