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

// stack is the containers that are open, the innermost last.
type stack []level

// Enter opens a container whose opener stands elsewhere, or nowhere: the parenthesis of a Python
// call, which the recogniser has read, or a brace that was lost. The stack must hold it all the
// same: what may follow a string is asked of the stack.
func (r *Reader) Enter(kind byte, t *schema.Type) { r.open = append(r.open, level{kind, t}) }

// LeaveAll leaves every container. It is called where an attempt to read arguments begins anew:
// what a failed one left open would shift every level.
func (r *Reader) LeaveAll() { r.open = r.open[:0] }

// Inside reports whether a container is open.
func (r *Reader) Inside() bool { return len(r.open) > 0 }

// innermost returns what opened the container that is read, or 0 outside of all.
func (s stack) innermost() byte {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].kind
}

// containerEnds reports whether the container opened by kind ends here: at its own closer, which is
// stepped over; at an outer one's, at a mark or at the end of the text, where its own is missing;
// at another one that stands for it. A closer that closes nothing is skipped. A closer that is not
// the container's own is never an error: [wrongCloser] decides which of the three slips it is, by
// what follows it.
func (r *Reader) containerEnds(kind byte) bool {
	for {
		c := r.At(0)
		switch {
		case c == closerOf(kind):
			// {"city": "Rome"}, "days": 3}
			if c != '}' || len(r.open) != 1 || !r.ahead().closedEarly(r.Seen) {
				r.Pos++
				return true
			}
		case scan.IsCloser(c):
			// {"a": [1, 2}
			r.DoubtStray()
			means := r.ahead().wrongCloser(c)
			if means == ownMeant {
				r.Pos++
			}
			if means != surplus {
				r.Repaired("closers")
				return true
			}
		case c >= 0 && !r.IsMark(0):
			return false
		default:
			// {"a": {"b": [1, 2 and {"city": "Rome"</tool_call>: only its marks say that the call
			// is over
			if c >= 0 {
				r.Repaired("closers")
			}
			r.Unclosed = true
			r.DoubtStray()
			return true
		}
		r.Pos++
		r.Repaired("extra-closer")
		r.blanks()
	}
}

// closedEarly reports whether the outermost object goes on after its closer here: a comma follows,
// and a member that only its schema knows, and that it does not have yet. If a member that the
// schema does not know was read before, the new one may belong to another object as well. Only the
// schema can tell: {"ship": {"name": "N"}}, "note": "x"} with a parameter note goes on, and the
// member is taken in. The envelope's own names (name, id, type, input …) stay with the envelope,
// since {"name": "f", "arguments": {…}, "id": "1"} is in order and looks alike.
func (a *lookahead) closedEarly(seen []string) bool {
	defer a.out.UnseeEnd()()
	n := a.closersEnd(0)
	if a.At(n) != ',' {
		return false
	}
	n += 1 + a.Space(n+1)
	t := a.open[0].t
	key, value := a.KeyAt(n)
	if value == 0 || a.Quotes == nil && !a.StartsString(n) || !t.Has(key) || OfEnvelope(key) || slices.Contains(seen, key) { // keys are bare only where the family writes them so
		return false
	}
	a.out.doubt(slices.ContainsFunc(seen, func(key string) bool { return !t.Has(key) }))
	return true
}

// OfEnvelope reports whether a member can occur beside the arguments of a call. Such a member after
// a closer is taken for the call's, not for a parameter, unless the schema says otherwise.
func OfEnvelope(key string) bool {
	return NameKeys[key] || IdKeys[key] || ArgsKeys[key] || key == "type"
}

// DoubtStray notes a doubt, where a closer is missing or wrong, if a member was read in an object
// that does not know it, while one around does: it may belong there. {"where": {"city": "Rome",
// "days": 3} may lack a brace at its end or before days: both readings are valid JSON, and only one
// is what was meant. So the call becomes text (two-readings).
func (r *Reader) DoubtStray() { r.Out.doubt(r.strayKey) }

// aSet is the kind of container that braces without keys are.
// Its closer is that of an object, so it cannot go by its opening byte.
const aSet = 's'

// CallArgs is the kind of container that a Python call's parentheses are.
// Keys in them may be bare, with an equals sign, or missing altogether.
const CallArgs = 'f'

// closerOf returns the byte that closes what kind opened: a parenthesis for tuples and for the
// arguments of a Python call. A set is written {1, 2} in Python, so its kind is not the byte that
// opened it.
func closerOf(kind byte) int {
	switch kind {
	case '{', aSet:
		return '}'
	case '[':
		return ']'
	}
	return ')'
}

// meaning is what a closer means that is not the innermost container's own. There are three, and no
// fourth.
type meaning uint8

const (
	ownMeant     meaning = iota // it stands for the container's own
	outerMissing                // it closes an outer container, those inside have lost theirs
	surplus                     // it closes nothing
)

// wrongCloser decides what the closer c here means, which is not that of the innermost container.
// Where a further member or element follows, it is the meaning that puts this into a container that
// knows it; two of these are a doubt. A fixed rule, as "the nearest container that fits", gives
// valid arguments nobody meant. What follows is the better witness: in {"a": [1, 2}, "b": 3} the
// member b cannot stand in the list, and behind the object there is no place for it, so the brace
// stood for the list's bracket. With nothing behind it, the nearest outer container of that kind
// ends.
func (a *lookahead) wrongCloser(c int) meaning {
	top, outer := len(a.open)-1, a.open.openedBy(c, len(a.open))
	if a.At(a.closersEnd(0)) != ',' {
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
	best, score, tie := ownMeant, 0, true // nothing suits: a doubt
	if a.Slice(a.Pos-1, a.Pos)[0] == byte(c) {
		best = surplus // "]]": the second is a slip of the finger, the first was right
	}
	for m, open := range []int{ownMeant: top, outerMissing: outer, surplus: top + 1} {
		s := a.suitsBehind(1, open)
		tie = s == score || tie && s < score
		if s > score {
			best, score = meaning(m), s
		}
	}
	a.out.doubt(tie)
	return best
}

// openedBy returns the index of the innermost container that c closes among the open outermost
// ones, or -1. A set counts by its brace, a Python call by its parenthesis; see closerOf.
func (s stack) openedBy(c, open int) int {
	open--
	for open >= 0 && closerOf(s[open].kind) != c {
		open--
	}
	return open
}

// suitsBehind returns how well the text after the closers and commas at offset i suits the
// container that is open there; open is how many are open at offset i. Each closer must be that of
// the innermost one; doubled commas say nothing more. See suits for the values.
func (a *lookahead) suitsBehind(i, open int) int {
	if open < 0 {
		return 0 // c closes no container
	}
	for i += a.Space(i); scan.IsCloser(a.At(i)); i += 1 + a.Space(i+1) {
		if open > 0 && closerOf(a.open[open-1].kind) != a.At(i) {
			return 0
		}
		open = max(open-1, 0)
	}
	for a.At(i) == ',' {
		i += 1 + a.Space(i+1)
	}
	return a.suits(i, open-1)
}

// suits returns how well the text at offset i, after a comma, suits an open container: 0 not at
// all, 1 as anything would, 2 as its schema says. Below all containers is the envelope. A member
// that the schema does not name suits only an object without listed members: open schemas let
// anything in, and anything would then suit everywhere.
func (a *lookahead) suits(i, at int) int {
	key, value := a.KeyAt(i)
	if at < 0 {
		if OfEnvelope(key) {
			return 1
		}
		return 0
	}
	l := a.open[at]
	known, fits := len(l.t.Members()) > 0, l.t.Has(key)
	object := l.kind == '{' || l.kind == CallArgs
	if !object {
		known, fits = l.t.Item().Known(), (a.At(i) == '{') == l.t.Item().Allows(schema.Object)
	}
	switch {
	case object != (value > 0), known && !fits:
		// a key in a list, or a bare value in an object
		return 0
	case known:
		return 2
	}
	return 1 // nothing is known of it, and nothing speaks against it
}

// listLost reports whether a member of an object around the list is written here in the place of an
// element: the list's closer is missing. {"tags": ["a", "b", "days": 3}: days is a key, and a list
// has none. The list ends before it, and the object around takes the member. Where its elements are
// objects with such a member, [{"do": "x"}, "do": "y"] may lack braces instead: that is a doubt.
func (r *Reader) listLost(t *schema.Type) bool {
	key, value := r.KeyAt(0)
	if value == 0 || len(r.open) < 2 {
		return false
	}
	best := 0
	for at := 0; at < len(r.open) && best == 0; at++ {
		best = r.ahead().suits(0, at)
	}
	r.Out.doubt(best == 0 || t.Item().Has(key)) // an object whose braces are missing, perhaps
	r.Repaired("closers")
	return true
}

// knows reports whether the schema of one of the containers knows a key; lists have no keys. A
// quote before a key that any open container knows is the end of a string, even where the comma
// between them is missing.
func (s stack) knows(key string) bool {
	return slices.ContainsFunc(s, func(l level) bool { return l.t.Has(key) })
}

// knownInside reports whether the schema of one of the members that were read knows a key: their
// object may have ended too early. {"where": {"city": "Rome"}, "zip": "1"}, where zip belongs to
// where, is valid JSON and may yet have its brace too early.
func knownInside(t *schema.Type, key string, seen []string) bool {
	return t.HasInside(key, seen)
}
