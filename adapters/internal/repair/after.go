package repair

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// afterReader adds to the search the ways to read the text after a key or after a value in a
// container.
type afterReader struct {
	here
	envelope func(key string) bool // see Args; nil if there is no envelope
}

// between reads the text between a key and its value. A comma in place of the colon may also mean
// that the container is a set. If both are possible, both readings are added to the search.
func (x *afterReader) between() {
	c := x.at(x.n.Pos)
	to := keep(x.n, x.n.Pos)
	to.Mode = modeValue
	to.Flags &^= line
	size := x.colon(x.n.Pos)
	python := x.n.Stack.Kind == aCall
	to.Pos += size
	to.Flags &^= colonRead
	if size == 0 && x.n.Flags&colonRead == 0 && len(typeOf(x.n.Stack.Want).Members()) == 0 &&
		x.stringAhead(x.blank(x.n.Pos+pick(c == ',', 1, 0))) {
		to.Flags |= unsure // perhaps two elements of a list without brackets
	}
	switch {
	case x.n.Flags&colonRead != 0:
		to.Pos = x.n.Pos
		x.step(0, to, ":")
	case x.over(x.n.Pos):
	case size > 1:
		x.step(to.first(habitWide, small), to, ":")
	case size > 0:
		cost := 0
		if c == '=' != python {
			if cost = to.habit(habitEquals); python {
				cost = min(cost, small)
			}
		}
		if c == '=' && x.at(to.Pos) == '>' {
			to.Pos++
		}
		if python && c == '=' && x.at(to.Pos) == '=' {
			to.Pos++ // in other places a comparison
			cost = slip
		}
		x.step(cost, to, ":")
	case x.has(x.n.Pos, "->"):
		to.Pos += 2
		x.step(to.habit(habitEquals), to, ":")
	case scan.IsQuote(c):
		x.step(likely, keep(x.n, x.n.Pos+1)) // a surplus quote, or that of the value
		x.step(slip, to, ":")
	case c == ',' || c == ';':
		to.Pos++
		x.step(slip, to, ":")
	// str(x)
	case !scan.IsCloser(c) && (c != '(' || x.n.Pos == 0 || !scan.IsWord(int(x.text[x.n.Pos-1]))):
		x.step(slip, to, ":")
	}
}

// after reads the text after a value in a container, and adds to the search a step for correct text
// and for each possible slip. In Python the value may be the beginning of an expression, whose rest
// must not be skipped.
func (x *afterReader) after() {
	c, next := x.at(x.n.Pos), x.n.next(x.n.Pos+1)
	here := next
	here.Pos = x.n.Pos
	behind := x.blank(x.n.Pos + 1)
	here2 := keep(x.n, x.n.Pos+1)
	expression := x.python && !x.namedBehind()
	switch {
	case x.over(x.n.Pos):
		m := *x.n
		m.Flags |= unclosed
		m.pop(x.s, 0, habit)
		return
	case c == ',':
		x.comma(next, behind)
		return
	case closes(x.n.Stack, c):
		m := *x.n
		if x.n.Stack.Kind == aSet && c == ']' &&
			!typeOf(x.n.Stack.Want).Only(schema.Array|schema.Null) {
			m.Flags |= unsure // perhaps one list with a doubled bracket
		}
		m.pop(x.s, 1, 0)
		x.early(behind)
		return
	case scan.IsCloser(c):
		x.n.pop(x.s, 0, slip) // the container's own closer is missing
		x.n.pop(x.s, 1, slip) // it is in place of the container's own
		same := x.n.Pos > 0 && x.text[x.n.Pos-1] == byte(c)
		x.step(pick(same, likely, slip), keep(x.n, x.n.Pos+1))
		return
	case c == ';' && !expression:
		x.step(next.habit(habitSemicolons), next, ",")
	case x.wide(next):
	case !expression && c > ' ' && strings.IndexByte(":=.|/&+", byte(c)) >= 0:
		x.step(slip, next, ",")
	case !expression && x.has(x.n.Pos, "and "):
		next.Pos += len("and")
		x.step(slip, next, ",")
	case scan.IsQuote(c) && x.likelyEnd(x.n.Pos+1, x.n.Stack) == 2:
		if before := x.at(x.n.Pos - 1); before != c && scan.IsQuote(before) {
			here2.Flags |= unsure // perhaps a quote of the text, whose opening one is missing
		}
		x.step(here2.doubled(), here2) // a surplus quote
	}
	if x.python { // perhaps the rest of an expression
		if size := len(note.FindString(x.text[x.n.Pos:])); size > 0 && x.n.Flags&line == 0 {
			x.step(slip+small, keep(x.n, x.n.Pos+size))
		}
		if x.stringAhead(x.n.Pos) || x.line() {
			x.commaLost(here)
		}
		x.closerLost(x.n.Pos)
		return
	}
	x.junk()
	x.closerLost(x.n.Pos)
	x.commaLost(here)
}

// wide reads a full-width comma or closing bracket, and reports whether there is one. If so, it
// adds to the search the reading that goes on after that sign. The parameter next is the state
// after a comma.
func (x *afterReader) wide(next Place) bool {
	if size := len(wideCloser(x.n.Stack)); x.has(x.n.Pos, wideCloser(x.n.Stack)) {
		m := *x.n
		m.pop(x.s, size, small)
		return true
	}
	size := wideComma(x.text, x.n.Pos)
	if size > 0 {
		next.Pos += size - 1
		x.step(next.first(habitWide, small), next, ",")
	}
	return size > 0
}

// wideCloser returns the full-width closing bracket of a container.
func wideCloser(l *Level) string {
	switch l.Kind {
	case anObject:
		return "｝"
	case aCall, aTuple:
		return "）"
	}
	return "］"
}

// note matches a remark in parentheses after a value, which is not an expression.
var note = regexp.MustCompile(`^\([a-z][a-z ]{0,40}\)`)

// namedBehind reports whether the sign at the current place, or the word "and" there, is followed
// by a named argument or a member with a quoted key. In an expression such as a + b neither
// follows.
func (x *afterReader) namedBehind() bool {
	i := x.n.Pos + 1
	if x.has(x.n.Pos, "and ") {
		i = x.n.Pos + len("and")
	}
	key, quoted := x.keyAhead(x.blank(i))
	return key != "" && (quoted || knows(x.n.Stack, key))
}

// line reports whether a line break comes before the current place, or a key is there.
func (x *afterReader) line() bool {
	key, _ := x.keyAhead(x.n.Pos)
	return x.n.Flags&line != 0 || key != ""
}

// doubled returns the cost of reading a quotation mark as surplus. Only the first one has the full
// cost, because a writer who doubles one quotation mark doubles others.
func (p *Place) doubled() int { return p.first(habitDoubled, likely-trifle) + trifle }

// maxJunk bounds the text that junk skips, in bytes.
const maxJunk = 64

// junk adds to the search the reading in which the text after a value has no meaning and is skipped
// up to the next comma, closing bracket or line break, as in {"a": "x" (a note), "b": 1}. It never
// skips a double quotation mark or an opening bracket, because they begin something.
func (x *afterReader) junk() {
	if x.n.Pos > 0 && scan.IsWord(int(x.text[x.n.Pos-1])) { // 1/3 is not a number and a remark
		return
	}
	for i := x.n.Pos; i < x.n.Pos+maxJunk && !x.over(i); i++ {
		c := x.at(i)
		if c == '"' || c == '{' || c == '[' {
			return
		}
		if i > x.n.Pos && (c == ',' || c == ';' || c == '\n' || scan.IsCloser(c) && c != ')') {
			to := keep(x.n, i)
			if x.at(x.n.Pos) != '(' {
				to.Flags |= unsure // it may be a part of the value, or change it
			}
			x.step(slip+small, to)
			return
		}
	}
}

// next returns the state in which the next member or element of the innermost container is read, at
// the offset pos of the text.
func (n *Node) next(pos int) Place {
	p := n.to(pos, modeNext)
	switch n.Stack.Kind {
	case aCall:
		p.Flags = p.Flags&^uint64(positionAll) | (p.Flags+position)&positionAll
	case anObject:
	default:
		p.Mode, p.Want = modeValue, typeOf(n.Stack.Want).Item()
	}
	return p
}

// comma reads a comma and adds to the search what may follow it: a member, or the container's end.
// If the closing bracket of an inner container is missing, a member of the outer object may follow.
// Dots that mean "and so on" are skipped with their comma. The parameter next is the state after
// the comma, and behind is the offset after the comma and blanks.
func (x *afterReader) comma(next Place, behind int) {
	c := x.at(behind)
	if x.has(behind, "...") { // and so on
		x.step(small, keep(x.n, behind+3))
	}
	if scan.IsCloser(c) {
		// a trailing one
		x.step(pick(x.n.Stack.Kind == aTuple || x.n.Stack.Kind == aCall, 0, small),
			keep(x.n, x.n.Pos+1))
		if c == ']' && typeOf(next.Want).Only(schema.Array|schema.Null) {
			x.step(0, next, ",") // [[1], ]]: an empty list without its opener
		}
		return
	}
	if c == ',' {
		x.step(habit, keep(x.n, x.n.Pos+1)) // doubled
		return
	}
	x.step(0, next, ",")
	x.closerLost(behind)
}

// closerLost adds to the search the reading in which the innermost container has ended without its
// closing bracket, and a member of an outer one follows at offset i. This is likely if only the
// outer object has the member in its schema, or if the innermost container is a list, which has no
// keys.
func (x *afterReader) closerLost(i int) {
	if x.n.Stack.Up == nil {
		return
	}
	key, _ := x.keyAhead(i)
	object := x.n.Stack.Kind == anObject
	outer := key != "" && knows(x.n.Stack.Up, key)
	switch {
	case key == "" && object && x.n.Stack.Up.Kind == anObject:
		return // not a member of the outer object
	case outer && !(object && typeOf(x.n.Stack.Want).Has(key)), key != "" && !object:
		x.n.pop(x.s, 0, likely)
	default:
		x.n.pop(x.s, 0, slip)
	}
}

// early adds to the search the reading in which a closing bracket came too early and is ignored.
// For example, in {"a": {"b": 1}, "c": 2} the brace after 1 is too early if only the inner object
// has a member c. The text at offset behind, after the bracket, must continue with a member of the
// same container. A member that belongs to the object around the arguments (see Args.Envelope) does
// not count.
func (x *afterReader) early(behind int) {
	for k := 0; scan.IsCloser(x.at(behind)) && k < maxClosers; k++ {
		behind = x.blank(behind + 1)
	}
	if x.at(behind) != ',' {
		return
	}
	key, _ := x.keyAhead(x.blank(behind + 1))
	if x.n.Stack.Kind != anObject && x.n.Stack.Kind != aCall {
		if key == "" {
			inObject := x.n.Stack.Up != nil && x.n.Stack.Up.Kind == anObject
			x.step(pick(inObject, likely, slip+trifle), keep(x.n, x.n.Pos+1))
		}
		return
	}
	if key == "" {
		return
	}
	t := typeOf(x.n.Stack.Want)
	if x.n.Stack.Up == nil && x.envelope != nil && x.envelope(key) && !t.Has(key) {
		return
	}
	// an object whose members are all known
	outside := x.n.Stack.Up != nil && typeOf(x.n.Stack.Up.Want).Known()
	known := (t.Has(key) || outside) && !knows(x.n.Stack.Up, key)
	x.step(pick(known, likely, slip+trifle), keep(x.n, x.n.Pos+1))
}

// commaLost adds to the search the reading in which the next member follows without a comma. This
// costs less after a line break. It also costs less after the first missing comma, because leaving
// out commas is a habit.
func (x *afterReader) commaLost(here Place) {
	cost := here.first(habitCommas, habit) + small
	if x.n.Flags&line != 0 {
		cost = min(cost, small)
	}
	key, _ := x.keyAhead(x.n.Pos)
	named := x.n.Stack.Kind == aCall && typeOf(x.n.Stack.Want).Has(key) // "x"days=3
	if x.n.Pos > 0 && scan.IsQuote(int(x.text[x.n.Pos-1])) && scan.IsWord(x.at(x.n.Pos)) && !named {
		here.Flags |= unsure // rather the quote before begins a text
	}
	if size := x.ownQuote(x.n.Pos); size > 0 && x.has(x.n.Pos+size, x.text[x.n.Pos:x.n.Pos+size]) ||
		size > 0 && x.n.Pos >= size &&
			x.text[x.n.Pos-size:x.n.Pos] == x.text[x.n.Pos:x.n.Pos+size] {
		here.Flags |= unsure // the family's own quote, doubled
	}
	if x.separatorInside() {
		here.Flags |= unsure // the comma may be inside the quotes
	}
	x.step(cost, here, ",")
}

// separatorInside reports whether the string that ends at the current place has a comma or a line
// break as its last character, inside the quotation marks.
func (x *afterReader) separatorInside() bool {
	before := strings.TrimRight(x.text[:x.n.Pos], " \t\r\n")
	return before != "" && scan.IsQuote(int(before[len(before)-1])) &&
		separatorLast(before[:len(before)-1])
}

// separatorLast reports whether a comma or a line break ends a text. A semicolon often belongs to
// it, as in SQL.
func separatorLast(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \t"))
	return strings.ContainsRune(",\n，、،", last)
}
