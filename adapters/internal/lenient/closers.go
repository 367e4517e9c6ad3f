package lenient

import (
	"slices"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// level is an open container, such as an object or a list.
type level struct {
	kind byte         // the byte that opened it, or aSet or CallArgs
	t    *schema.Type // its type in the schema; nil if unknown
}

// stack lists the open containers, the innermost last.
type stack []level

// Enter records that a container is open without reading its opening bracket. Either the bracket
// was read elsewhere, as the parenthesis of a Python call is, or it is missing. The record is
// needed because the open containers decide which text may follow a string.
func (r *Reader) Enter(kind byte, t *schema.Type) { r.open = append(r.open, level{kind, t}) }

// LeaveAll empties the list of open containers without reading anything. It is called before a new
// attempt to read arguments, because containers from a failed attempt would still count as open.
func (r *Reader) LeaveAll() { r.open = r.open[:0] }

// Inside reports whether a container is open.
func (r *Reader) Inside() bool { return len(r.open) > 0 }

// innermost returns the kind of the innermost open container, or 0 if none is open.
func (s stack) innermost() byte {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].kind
}

// containerEnds reports whether the innermost container, which is of the given kind, ends at the
// current position. It ends at its own closing bracket, or at a wrong one in its place, and either
// is consumed. It also ends, without its closing bracket, before that of an outer container, before
// a closing tag such as </tool_call>, or at the end of the text. A surplus closing bracket is
// skipped. After a wrong closing bracket, wrongCloser decides by the text which case it is.
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
			// {"a": {"b": [1, 2 and {"city": "Rome"</tool_call>: only a closing tag shows that the
			// call has ended
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

// closedEarly reports whether the closing brace at the current position comes too early for the
// outermost object. That is so if a comma follows it, and then a member that the object's schema
// has and that was not read yet (it is not in seen). Only the schema can show this: if the tool has
// a parameter note, {"ship": {"name": "N"}}, "note": "x"} continues, and note becomes a member. If
// a member unknown to the schema was read before, the new one may belong to another object as well,
// which is a doubt (see Output.Doubt). Names of members that occur beside the arguments (name, id,
// type, input …) do not count, because {"name": "f", "arguments": {…}, "id": "1"} has no defect and
// looks the same. A member with a comment beside its key is only a doubt.
func (a *lookahead) closedEarly(seen []string) bool {
	defer a.out.UnseeEnd()()
	n := a.closersEnd(0)
	if a.At(n) != ',' {
		return false
	}
	n += 1 + a.Space(n+1)
	first := n
	for a.Comment(n) > 0 {
		n += a.Comment(n)
		n += a.Space(n)
	}
	t := a.open[0].t
	k := a.lookForKey(n)
	key := k.text
	// bare keys count only in families that write them
	if a.Quotes == nil && !a.StartsString(n) || !t.Has(key) || OfEnvelope(key) ||
		slices.Contains(seen, key) {
		return false
	}
	if k.value == 0 || n > first {
		a.out.doubt(true) // a comment is before the member or in it
		return false
	}
	a.out.doubt(slices.ContainsFunc(seen, func(key string) bool { return !t.Has(key) }))
	return true
}

// OfEnvelope reports whether a member named key can occur beside the arguments of a call, as "name"
// or "id" do. After a closing bracket such a member is taken for a member of the call and not for a
// parameter, unless the schema says otherwise.
func OfEnvelope(key string) bool {
	return NameKeys[key] || IdKeys[key] || ArgsKeys[key] || key == "type"
}

// DoubtStray notes a doubt (see Output.Doubt) if a member may belong to an outer object, because
// only the outer object's schema has the member. It is called where a closing bracket is missing or
// wrong. For example, {"where": {"city": "Rome", "days": 3} may lack a brace at its end or before
// days. The JSON is valid with either brace, but only one was meant, so the call becomes text
// (two-readings).
func (r *Reader) DoubtStray() { r.Out.doubt(r.strayKey) }

// aSet is the kind of a set, which is braces without keys. It has its own constant because objects
// have the same braces.
const aSet = 's'

// CallArgs is the kind of the parentheses of a Python call. Keys in them may have no quotation
// marks, be followed by an equals sign, or be missing.
const CallArgs = 'f'

// closerOf returns the closing bracket of a kind of container. Tuples and the arguments of a Python
// call end with a parenthesis.
func closerOf(kind byte) int {
	switch kind {
	case '{', aSet:
		return '}'
	case '[':
		return ']'
	}
	return ')'
}

// meaning is what a closing bracket may stand for if it does not belong to the innermost container.
// It may stand for that container's own bracket, for the end of an outer one, or for nothing.
type meaning uint8

const (
	ownMeant     meaning = iota // it was written in place of the right one
	outerMissing                // it closes an outer container, so inner closers are missing
	surplus                     // it closes nothing
)

// wrongCloser returns what the closing bracket c at the current position stands for, if it does not
// close the innermost container. If another member follows, the bracket has the meaning that puts
// this member into a container whose schema has it. If two meanings do so, that is a doubt (see
// Output.Doubt). The text after the bracket is better evidence than a fixed rule such as "the
// nearest container that fits", which can give valid but wrong arguments. In {"a": [1, 2}, "b": 3}
// the member b can neither be in the list nor come after the object, so the brace replaced the
// list's bracket. If nothing follows, the closing bracket ends the nearest outer container of its
// kind.
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
	best, score, tie := ownMeant, 0, true // no meaning suits: a doubt
	if a.Slice(a.Pos-1, a.Pos)[0] == byte(c) {
		best = surplus // "]]": the second was repeated by mistake
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

// openedBy returns the index of the innermost container that the closing bracket c closes, or -1 if
// there is none. The parameter open says how many of the containers are considered, beginning with
// the outermost. Sets have braces, and Python calls have parentheses, see closerOf.
func (s stack) openedBy(c, open int) int {
	open--
	for open >= 0 && closerOf(s[open].kind) != c {
		open--
	}
	return open
}

// suitsBehind grades how well the text at offset i suits the open containers after the closing
// brackets and commas at its beginning; see suits for the grades. The parameter open is the number
// of containers that are open at offset i. The result is 0 if one of the closing brackets does not
// belong to the innermost container. Repeated commas are skipped.
func (a *lookahead) suitsBehind(i, open int) int {
	if open < 0 {
		return 0 // the closing bracket closes no container
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

// suits grades how well the text at offset i, after a comma, suits an open container. The parameter
// at is the container's index, and a negative index means the object around the arguments. The
// grade is 0 if the text cannot be in the container, 1 if the container accepts anything, and 2 if
// its schema has the member. A member that the schema does not list suits only an object without
// listed members, although open schemas allow any member. Otherwise every member would suit every
// object.
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
	return 1 // its schema is unknown
}

// listLost reports whether a key follows where an element of a list is expected, so the list's
// closing bracket is missing. The caller must then end the list. In {"tags": ["a", "b", "days": 3}
// the list ends before days, and the outer object gets the member. If the elements are objects with
// such a member, as in [{"do": "x"}, "do": "y"], braces may be missing instead, which is a doubt
// (see Output.Doubt). If the result is true, the repair "closers" is recorded.
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

// knows reports whether the schema of one of the open containers has the key. A quotation mark
// before such a key ends a string, even if the comma between them is missing.
func (s stack) knows(key string) bool {
	return slices.ContainsFunc(s, func(l level) bool { return l.t.Has(key) })
}

// knownInside reports whether the schema of one of the members in seen has the key. If so, that
// member's object may have been closed too early. For example, if the parameter where has a member
// zip, the inner brace in {"where": {"city": "Rome"}, "zip": "1"} may be too early, although the
// JSON is valid.
func knownInside(t *schema.Type, key string, seen []string) bool {
	return t.HasInside(key, seen)
}
