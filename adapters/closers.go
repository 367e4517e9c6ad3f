package adapters

import (
	"slices"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// level is a container that is open.
type level struct {
	kind byte         // what opened it
	t    *schema.Type // what it is by the schema
}

// innermost is what opened the container that is read, 0 outside of all.
func (d *argReader) innermost() byte {
	if len(d.stack) == 0 {
		return 0
	}
	return d.stack[len(d.stack)-1].kind
}

// containerEnds says whether the container opened by kind ends here: at its own closer, which is stepped over; at an outer
// one's, at a mark or at the end of the text, where its own is missing; at another one that stands for it. A closer that
// closes nothing is skipped.
func (d *argReader) containerEnds(kind byte) bool {
	for {
		c := d.At(0)
		switch {
		case c == closerOf(kind) && c == '}' && len(d.stack) == 1 && d.closedEarly():
			d.Pos++
			d.repaired("extra-closer")
			d.blanks()
		case c == closerOf(kind):
			d.Pos++
			return true
		case c < 0:
			d.unclosed = true
			d.doubtStray()
			return true
		case scan.IsCloser(c):
			means := d.wrongCloser(c)
			if means == outerMissing {
				d.repaired("closers")
				return true
			}
			d.Pos++
			if means == ownMeant {
				d.repaired("closers")
				return true
			}
			d.repaired("extra-closer")
			d.blanks()
		default:
			if d.isMark(0) {
				d.unclosed = true
				d.doubtStray()
				d.repaired("closers")
				return true
			}
			return false
		}
	}
}

// closedEarly says whether the outermost object goes on behind its closer here: a member that only its schema knows, and that
// it does not have yet, stands behind a comma. With a member that the schema does not know in front, that may belong to
// another object as well.
func (d *argReader) closedEarly() bool {
	c := d.call
	defer func(seen int) { c.endAt = seen }(c.endAt) // looking ahead is not having read
	n := 1
	for n < scan.MaxSpace && (scan.IsSpace(d.At(n)) || d.At(n) == '}' || d.At(n) == ']') {
		n++
	}
	if d.At(n) != ',' {
		return false
	}
	n += 1 + d.Space(n+1)
	t := d.stack[0].t
	key, ok := d.keyAt(n)
	if !ok || d.quotes == nil && !d.startsString(n) || !t.Has(key) || ofEnvelope(key) || slices.Contains(d.seen, key) {
		return false
	}
	d.call.doubt = d.call.doubt || slices.ContainsFunc(d.seen, func(seen string) bool { return !t.Has(seen) })
	return true
}

// ofEnvelope says whether a member can stand beside the arguments of a call.
func ofEnvelope(key string) bool {
	return nameKeys[key] || idKeys[key] || argsKeys[key] || key == "type"
}

// doubtStray is called where a closer is missing or wrong: a member that stands in an object which does not know it, while
// one around does, may belong there.
func (d *argReader) doubtStray() {
	if d.call != nil {
		d.call.doubt = d.call.doubt || d.strayKey
	}
}

// aSet is the kind of container that braces without keys are.
const aSet = 's'

func closerOf(kind byte) int {
	switch kind {
	case '{', aSet:
		return '}'
	case '[':
		return ']'
	}
	return ')'
}

// What a closer means that is not the innermost container's own.
type meaning uint8

const (
	outerMissing meaning = iota // it closes an outer container, those inside have lost theirs
	ownMeant                    // it stands for the container's own
	surplus                     // it closes nothing
)

// wrongCloser decides what the closer c here means, which is not that of the innermost container. Where a further member or
// element follows, it is the meaning that puts this into a container that knows it; two of these are a doubt.
func (d *argReader) wrongCloser(c int) meaning {
	d.doubtStray()
	top, outer := len(d.stack)-1, d.openedBy(c)
	n, run := 1+d.Space(1), []int(nil)
	for ; scan.IsCloser(d.At(n)) && len(run) < maxRun; n += 1 + d.Space(n+1) {
		run = append(run, d.At(n))
	}
	if d.At(n) != ',' {
		switch {
		case outer >= 0:
			return outerMissing
		case top > 0:
			return ownMeant
		}
		return surplus
	}
	for d.At(n) == ',' {
		n += 1 + d.Space(n+1)
	}
	order, at := []meaning{ownMeant, outerMissing, surplus}, map[meaning]int{ownMeant: top - 1, outerMissing: outer - 1, surplus: top}
	if d.doubled(c) {
		order = []meaning{surplus, ownMeant, outerMissing}
	}
	best, score := order[0], -1
	tie := false
	for _, m := range order {
		s := 0
		if m != outerMissing || outer >= 0 {
			if at, fits := d.behindRun(at[m], run); fits {
				s = d.suits(n, at)
			}
		}
		if s > score {
			best, score, tie = m, s, false
		} else if s == score {
			tie = true
		}
	}
	d.call.doubt = d.call.doubt || tie || score == 0
	return best
}

// maxRun bounds how many closers in a row are looked at, so that time is linear.
const maxRun = 8

// behindRun is the container that is open behind further closers, each of which must be that of the one before it.
func (d *argReader) behindRun(at int, run []int) (int, bool) {
	for _, c := range run {
		if at >= 0 && closerOf(d.stack[at].kind) != c {
			return at, false
		}
		at = max(at-1, -1)
	}
	return at, true
}

// doubled says whether the closer c here stands directly behind another of its kind.
func (d *argReader) doubled(c int) bool {
	return d.Pos > d.Base && int(d.Slice(d.Pos-1, d.Pos)[0]) == c
}

// openedBy is the innermost container that c closes, -1 when there is none.
func (d *argReader) openedBy(c int) int {
	i := len(d.stack) - 1
	for i >= 0 && closerOf(d.stack[i].kind) != c {
		i--
	}
	return i
}

// suits says how well what stands at offset i, behind a comma, suits an open container: 0 not at all, 1 as anything would, 2
// as its schema says. Below all containers is the envelope.
func (d *argReader) suits(i, at int) int {
	key, isKey := d.keyAt(i)
	if at < 0 {
		if ofEnvelope(key) {
			return 1
		}
		return 0
	}
	l := d.stack[at]
	object := l.kind == '{' || l.kind == callArgs
	switch {
	case object != isKey:
		return 0
	case object && l.t.Has(key):
		return 2
	case object && len(l.t.Members()) > 0:
		return 0
	case !object && l.t.Item().Known():
		if !l.t.Item().Allows(kindAt(d.At(i))) {
			return 0
		}
		return 2
	}
	return 1
}

// kindAt is the type of a value that begins with c, as far as that says it.
func kindAt(c int) schema.Kinds {
	switch {
	case c == '{':
		return schema.Object
	case c == '[' || c == '(':
		return schema.Array
	case c == '-' || c >= '0' && c <= '9':
		return schema.Integer | schema.Number
	case scan.IsQuote(c):
		return schema.String
	}
	return schema.Boolean | schema.Null | schema.String
}

// keyAt is the key at offset i behind which a colon stands.
func (d *argReader) keyAt(i int) (string, bool) {
	q, quoted := d.quoteAt(i)
	from := i + len(q.open)
	n := from
	for n < from+maxKey && d.At(n) >= 0 && (quoted && !d.Has(n, q.close) || !quoted && (scan.IsWord(d.At(n)) || d.At(n) == '-')) {
		if quoted && d.At(n) == '\\' { // what is escaped ends no string
			n++
		}
		n++
	}
	end := n
	if quoted {
		if !d.Has(n, q.close) {
			return "", false
		}
		n += len(q.close)
	}
	n += d.Space(n)
	if c := d.At(n); end == from || c != ':' && c != '=' && !d.Has(n, "：") {
		return "", false
	}
	return string(d.Slice(d.Pos+from, d.Pos+end)), true
}

// listLost says whether a member of an object around the list stands here in the place of an element: the list's closer is
// missing.
func (d *argReader) listLost(t *schema.Type) bool {
	key, ok := d.keyAt(0)
	if !ok || len(d.stack) < 2 {
		return false
	}
	best := 0
	for at := 0; at < len(d.stack) && best == 0; at++ {
		best = d.suits(0, at)
	}
	if best == 0 || t.Item().Has(key) {
		d.call.doubt = true // an object whose braces are missing, perhaps
	}
	d.repaired("closers")
	return true
}

// suitsAny says whether the schema of an open container knows a key.
func (d *argReader) suitsAny(key string) bool {
	return len(d.stack) > 0 && (d.stack[len(d.stack)-1].t.Has(key) || d.knownOutside(key))
}

// knownInside says whether the schema of one of the members that were read knows a key: their object ended too early, perhaps.
func knownInside(t *schema.Type, key string, seen []string) bool {
	return slices.ContainsFunc(seen, func(member string) bool { return t.Prop(member).Has(key) })
}

// knownOutside says whether the schema of a container around the innermost one knows a key.
func (d *argReader) knownOutside(key string) bool {
	for _, l := range d.stack[:len(d.stack)-1] {
		if l.kind != '[' && l.t.Has(key) {
			return true
		}
	}
	return false
}
