package lenient

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

// Enter opens a container whose opener stands elsewhere, or nowhere.
func (r *Reader) Enter(kind byte, t *schema.Type) { r.stack = append(r.stack, level{kind, t}) }

// LeaveAll leaves every container.
func (r *Reader) LeaveAll() { r.stack = r.stack[:0] }

// Inside reports whether a container is open.
func (r *Reader) Inside() bool { return len(r.stack) > 0 }

// innermost is what opened the container that is read, 0 outside of all.
func (r *Reader) innermost() byte {
	if len(r.stack) == 0 {
		return 0
	}
	return r.stack[len(r.stack)-1].kind
}

// containerEnds says whether the container opened by kind ends here: at its own closer, which is stepped over; at an outer
// one's, at a mark or at the end of the text, where its own is missing; at another one that stands for it. A closer that
// closes nothing is skipped.
func (r *Reader) containerEnds(kind byte) bool {
	for {
		c := r.At(0)
		switch {
		case c == closerOf(kind) && c == '}' && len(r.stack) == 1 && r.closedEarly():
			r.Pos++
			r.Repaired("extra-closer")
			r.blanks()
		case c == closerOf(kind):
			r.Pos++
			return true
		case c < 0:
			r.Unclosed = true
			r.DoubtStray()
			return true
		case scan.IsCloser(c):
			means := r.wrongCloser(c)
			if means == outerMissing {
				r.Repaired("closers")
				return true
			}
			r.Pos++
			if means == ownMeant {
				r.Repaired("closers")
				return true
			}
			r.Repaired("extra-closer")
			r.blanks()
		default:
			if r.IsMark(0) {
				r.Unclosed = true
				r.DoubtStray()
				r.Repaired("closers")
				return true
			}
			return false
		}
	}
}

// closedEarly says whether the outermost object goes on behind its closer here: a member that only its schema knows, and that
// it does not have yet, stands behind a comma. With a member that the schema does not know in front, that may belong to
// another object as well.
func (r *Reader) closedEarly() bool {
	c := r.Out
	defer func(seen int) { c.endAt = seen }(c.endAt) // looking ahead is not having read
	n := 1
	for n < scan.MaxSpace && (scan.IsSpace(r.At(n)) || r.At(n) == '}' || r.At(n) == ']') {
		n++
	}
	if r.At(n) != ',' {
		return false
	}
	n += 1 + r.Space(n+1)
	t := r.stack[0].t
	key, ok := r.KeyAt(n)
	if !ok || r.Quotes == nil && !r.StartsString(n) || !t.Has(key) || OfEnvelope(key) || slices.Contains(r.Seen, key) {
		return false
	}
	r.Out.Doubt = r.Out.Doubt || slices.ContainsFunc(r.Seen, func(seen string) bool { return !t.Has(seen) })
	return true
}

// OfEnvelope says whether a member can stand beside the arguments of a call.
func OfEnvelope(key string) bool {
	return NameKeys[key] || IdKeys[key] || ArgsKeys[key] || key == "type"
}

// DoubtStray is called where a closer is missing or wrong: a member that stands in an object which does not know it, while
// one around does, may belong there.
func (r *Reader) DoubtStray() {
	if r.Out != nil {
		r.Out.Doubt = r.Out.Doubt || r.strayKey
	}
}

// aSet is the kind of container that braces without keys are.
const aSet = 's'

// CallArgs is the kind of container that a Python call's parentheses are.
const CallArgs = 'f'

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
func (r *Reader) wrongCloser(c int) meaning {
	r.DoubtStray()
	top, outer := len(r.stack)-1, r.openedBy(c)
	n, run := 1+r.Space(1), []int(nil)
	for ; scan.IsCloser(r.At(n)) && len(run) < maxRun; n += 1 + r.Space(n+1) {
		run = append(run, r.At(n))
	}
	if r.At(n) != ',' {
		switch {
		case outer >= 0:
			return outerMissing
		case top > 0:
			return ownMeant
		}
		return surplus
	}
	for r.At(n) == ',' {
		n += 1 + r.Space(n+1)
	}
	order, at := []meaning{ownMeant, outerMissing, surplus}, map[meaning]int{ownMeant: top - 1, outerMissing: outer - 1, surplus: top}
	if r.doubled(c) {
		order = []meaning{surplus, ownMeant, outerMissing}
	}
	best, score := order[0], -1
	tie := false
	for _, m := range order {
		s := 0
		if m != outerMissing || outer >= 0 {
			if at, fits := r.behindRun(at[m], run); fits {
				s = r.suits(n, at)
			}
		}
		if s > score {
			best, score, tie = m, s, false
		} else if s == score {
			tie = true
		}
	}
	r.Out.Doubt = r.Out.Doubt || tie || score == 0
	return best
}

// maxRun bounds how many closers in a row are looked at, so that time is linear.
const maxRun = 8

// behindRun is the container that is open behind further closers, each of which must be that of the one before it.
func (r *Reader) behindRun(at int, run []int) (int, bool) {
	for _, c := range run {
		if at >= 0 && closerOf(r.stack[at].kind) != c {
			return at, false
		}
		at = max(at-1, -1)
	}
	return at, true
}

// doubled says whether the closer c here stands directly behind another of its kind.
func (r *Reader) doubled(c int) bool {
	return r.Pos > r.Base && int(r.Slice(r.Pos-1, r.Pos)[0]) == c
}

// openedBy is the innermost container that c closes, -1 when there is none.
func (r *Reader) openedBy(c int) int {
	i := len(r.stack) - 1
	for i >= 0 && closerOf(r.stack[i].kind) != c {
		i--
	}
	return i
}

// suits says how well what stands at offset i, behind a comma, suits an open container: 0 not at all, 1 as anything would, 2
// as its schema says. Below all containers is the envelope.
func (r *Reader) suits(i, at int) int {
	key, isKey := r.KeyAt(i)
	if at < 0 {
		if OfEnvelope(key) {
			return 1
		}
		return 0
	}
	l := r.stack[at]
	object := l.kind == '{' || l.kind == CallArgs
	switch {
	case object != isKey:
		return 0
	case object && l.t.Has(key):
		return 2
	case object && len(l.t.Members()) > 0:
		return 0
	case !object && l.t.Item().Known():
		if !l.t.Item().Allows(kindAt(r.At(i))) {
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

// KeyAt is the key at offset i behind which a colon stands.
func (r *Reader) KeyAt(i int) (string, bool) {
	q, quoted := r.QuoteAt(i)
	from := i + len(q.Open)
	n := from
	for n < from+MaxKey && r.At(n) >= 0 && (quoted && !r.Has(n, q.Close) || !quoted && (scan.IsWord(r.At(n)) || r.At(n) == '-')) {
		if quoted && r.At(n) == '\\' { // what is escaped ends no string
			n++
		}
		n++
	}
	end := n
	if quoted {
		if !r.Has(n, q.Close) {
			return "", false
		}
		n += len(q.Close)
	}
	n += r.Space(n)
	if c := r.At(n); end == from || c != ':' && c != '=' && !r.Has(n, "：") {
		return "", false
	}
	return string(r.Slice(r.Pos+from, r.Pos+end)), true
}

// listLost says whether a member of an object around the list stands here in the place of an element: the list's closer is
// missing.
func (r *Reader) listLost(t *schema.Type) bool {
	key, ok := r.KeyAt(0)
	if !ok || len(r.stack) < 2 {
		return false
	}
	best := 0
	for at := 0; at < len(r.stack) && best == 0; at++ {
		best = r.suits(0, at)
	}
	if best == 0 || t.Item().Has(key) {
		r.Out.Doubt = true // an object whose braces are missing, perhaps
	}
	r.Repaired("closers")
	return true
}

// suitsAny says whether the schema of an open container knows a key.
func (r *Reader) suitsAny(key string) bool {
	return len(r.stack) > 0 && (r.stack[len(r.stack)-1].t.Has(key) || r.knownOutside(key))
}

// knownInside says whether the schema of one of the members that were read knows a key: their object ended too early, perhaps.
func knownInside(t *schema.Type, key string, seen []string) bool {
	return slices.ContainsFunc(seen, func(member string) bool { return t.Prop(member).Has(key) })
}

// knownOutside says whether the schema of a container around the innermost one knows a key.
func (r *Reader) knownOutside(key string) bool {
	for _, l := range r.stack[:len(r.stack)-1] {
		if l.kind != '[' && l.t.Has(key) {
			return true
		}
	}
	return false
}
