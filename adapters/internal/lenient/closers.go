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

// Enter opens a container whose opener stands elsewhere, or nowhere: the parenthesis of a Python call, which the recogniser
// has read, or a brace that was lost. The stack must hold it all the same: what may follow a string is asked of the stack.
func (r *Reader) Enter(kind byte, t *schema.Type) { r.stack = append(r.stack, level{kind, t}) }

// LeaveAll leaves every container.
// It is called where an attempt to read arguments begins anew: what a failed one left open would shift every level.
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
// A closer that is not the container's own is never an error: [wrongCloser] decides which of the three slips it is, by
// what stands behind it.
func (r *Reader) containerEnds(kind byte) bool {
	for {
		c := r.At(0)
		switch {
		case c == closerOf(kind) && c == '}' && len(r.stack) == 1 && r.closedEarly():
			// {"city": "Rome"}, "days": 3}
			r.Pos++
			r.Repaired("extra-closer")
			r.blanks()
		case c == closerOf(kind):
			r.Pos++
			return true
		case c < 0:
			// {"a": {"b": [1, 2
			r.Unclosed = true
			r.DoubtStray()
			return true
		case scan.IsCloser(c):
			// {"a": [1, 2}
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
			// {"city": "Rome"</tool_call>: only its marks say that the call is over
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
// Only the schema can tell: {"ship": {"name": "N"}}, "note": "x"} with a parameter note goes on, and the member is taken in.
// The envelope's own names (name, id, type, input …) stay with the envelope, since {"name": "f", "arguments": {…}, "id": "1"}
// is in order and looks alike.
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
	key, value := r.KeyAt(n)
	if value == 0 || r.Quotes == nil && !r.StartsString(n) || !t.Has(key) || OfEnvelope(key) || slices.Contains(r.Seen, key) { // keys are bare only where the family writes them so
		return false
	}
	r.Out.Doubt = r.Out.Doubt || slices.ContainsFunc(r.Seen, func(seen string) bool { return !t.Has(seen) })
	return true
}

// OfEnvelope says whether a member can stand beside the arguments of a call.
// Such a member behind a closer is believed to be the call's, not a parameter's, unless the schema says otherwise.
func OfEnvelope(key string) bool {
	return NameKeys[key] || IdKeys[key] || ArgsKeys[key] || key == "type"
}

// DoubtStray is called where a closer is missing or wrong: a member that stands in an object which does not know it, while
// one around does, may belong there.
// {"where": {"city": "Rome", "days": 3} may lack a brace at its end or in front of days: both readings are valid JSON, and
// only one is what was meant. So the call becomes text (two-readings).
func (r *Reader) DoubtStray() {
	if r.Out != nil {
		r.Out.Doubt = r.Out.Doubt || r.strayKey
	}
}

// aSet is the kind of container that braces without keys are.
// Its closer is that of an object, so it cannot go by its opening byte.
const aSet = 's'

// CallArgs is the kind of container that a Python call's parentheses are.
// Keys in them may be bare, with an equals sign, or missing altogether.
const CallArgs = 'f'

// closerOf is the byte that closes what kind opened; a parenthesis for tuples and for the arguments of a Python call.
// A set is written {1, 2} in Python, so its kind is not the byte that opened it.
func closerOf(kind byte) int {
	switch kind {
	case '{', aSet:
		return '}'
	case '[':
		return ']'
	}
	return ')'
}

// meaning is what a closer means that is not the innermost container's own. There are three, and no fourth.
type meaning uint8

const (
	outerMissing meaning = iota // it closes an outer container, those inside have lost theirs
	ownMeant                    // it stands for the container's own
	surplus                     // it closes nothing
)

// wrongCloser decides what the closer c here means, which is not that of the innermost container. Where a further member or
// element follows, it is the meaning that puts this into a container that knows it; two of these are a doubt.
// A fixed rule, as "the nearest container that fits", gives valid arguments nobody meant. What follows is the better
// witness: in {"a": [1, 2}, "b": 3} the member b cannot stand in the list, and behind the object there is no place for it,
// so the brace stood for the list's bracket. With nothing behind it, the nearest outer container of that kind ends.
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
			// {"a": [1, 2}: the brace is the object's, the bracket was lost
			return outerMissing
		case top > 0:
			// {"a": [1, 2)}: no parenthesis is open, so it was meant for the list
			return ownMeant
		}
		return surplus // [1, 2)
	}
	for r.At(n) == ',' { // doubled commas say nothing more
		n += 1 + r.Space(n+1)
	}
	order, at := []meaning{ownMeant, outerMissing, surplus}, map[meaning]int{ownMeant: top - 1, outerMissing: outer - 1, surplus: top}
	if r.doubled(c) {
		// "]]" in front of a further element: the second is a slip of the finger, the first was right
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
// A longer run is read as if nothing followed it.
const maxRun = 8

// behindRun is the container that is open behind further closers, each of which must be that of the one before it.
// at is the index in the stack, -1 outside of all containers.
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
// A set counts by its brace, a Python call by its parenthesis; see closerOf.
func (r *Reader) openedBy(c int) int {
	i := len(r.stack) - 1
	for i >= 0 && closerOf(r.stack[i].kind) != c {
		i--
	}
	return i
}

// suits says how well what stands at offset i, behind a comma, suits an open container: 0 not at all, 1 as anything would, 2
// as its schema says. Below all containers is the envelope.
// A member that the schema does not name suits an object without listed members only: open schemas let anything in, and
// anything would then suit everywhere.
func (r *Reader) suits(i, at int) int {
	key, value := r.KeyAt(i)
	if at < 0 {
		if OfEnvelope(key) {
			return 1
		}
		return 0
	}
	l := r.stack[at]
	object := l.kind == '{' || l.kind == CallArgs
	switch {
	case object != (value > 0):
		// a key in a list, or a bare value in an object
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
	return 1 // nothing is known of it, and nothing speaks against it
}

// kindAt is the type of a value that begins with c, as far as that says it.
// A letter may begin true, null, or a word that has lost its quotes, so it is all three.
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

// listLost says whether a member of an object around the list stands here in the place of an element: the list's closer is
// missing.
// {"tags": ["a", "b", "days": 3}: days is a key, and a list has none. The list ends in front of it, and the object around
// takes the member. Where its elements are objects with such a member, [{"do": "x"}, "do": "y"] may lack braces instead:
// that is a doubt.
func (r *Reader) listLost(t *schema.Type) bool {
	key, value := r.KeyAt(0)
	if value == 0 || len(r.stack) < 2 {
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

// known says whether the schema of one of the containers knows a key; lists have none. A quote in front of a key that one of
// all that are open knows is the end of a string, even where the comma between them is missing.
func known(key string, in []level) bool {
	return slices.ContainsFunc(in, func(l level) bool { return l.t.Has(key) })
}

// knownInside says whether the schema of one of the members that were read knows a key: their object ended too early, perhaps.
// {"where": {"city": "Rome"}, "zip": "1"}, where zip belongs to where, is valid JSON and may yet be a brace too early.
func knownInside(t *schema.Type, key string, seen []string) bool {
	return slices.ContainsFunc(seen, func(member string) bool { return t.Prop(member).Has(key) })
}
