package repair

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// afterReader reads what stands behind a key or a value in a container.
type afterReader struct {
	here
	envelope func(key string) bool // such a member may follow the arguments; nil: none
}

// between reads what stands between a key and its value.
// A comparison, a == b, is an expression.
// A comma in the place of a colon is as likely as a set, so both are offered where both can stand.
func (x *afterReader) between() {
	c := x.at(x.n.Pos)
	to := keep(x.n, x.n.Pos)
	to.Mode = modeValue
	to.Flags &^= line
	size := x.colon(x.n.Pos)
	python := x.n.Stack.Kind == aCall
	to.Pos += size
	to.Flags &^= colonRead
	if size == 0 && x.n.Flags&colonRead == 0 && len(typeOf(x.n.Stack.Want).Members()) == 0 && x.stringAhead(x.blank(x.n.Pos+pick(c == ',', 1, 0))) {
		to.Flags |= unsure // two elements of a list without its brackets, perhaps
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
			to.Pos++ // a comparison, elsewhere
			cost = slip
		}
		x.step(cost, to, ":")
	case x.has(x.n.Pos, "->"):
		to.Pos += 2
		x.step(to.habit(habitEquals), to, ":")
	case scan.IsQuote(c):
		x.step(likely, keep(x.n, x.n.Pos+1)) // a quote too many, or the value's
		x.step(slip, to, ":")
	case c == ',' || c == ';':
		to.Pos++
		x.step(slip, to, ":")
	case !scan.IsCloser(c) && (c != '(' || x.n.Pos == 0 || !scan.IsWord(int(x.text[x.n.Pos-1]))): // str(x)
		x.step(slip, to, ":")
	}
}

// after reads what stands behind a value in a container.
// Each slip that can stand here is a step, so that a reading that needs it meets those that do not.
// In Python the rest of an expression may follow, of which nothing is passed over.
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
		if x.n.Stack.Kind == aSet && c == ']' && !typeOf(x.n.Stack.Want).Only(schema.Array|schema.Null) {
			m.Flags |= unsure // one list, perhaps, whose bracket is doubled
		}
		m.pop(x.s, 1, 0)
		x.early(behind)
		return
	case scan.IsCloser(c):
		x.n.pop(x.s, 0, slip) // its own is missing
		x.n.pop(x.s, 1, slip) // it stands for its own
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
			here2.Flags |= unsure // the writer's own, whose opener is missing
		}
		x.step(here2.doubled(), here2) // one too many
	}
	if x.python { // the rest of an expression, perhaps
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

// wide reads a comma or a closer in the width of East Asian letters, and reports whether one stands
// there.
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

// wideCloser returns the closer of a container in the width of East Asian letters.
func wideCloser(l *Level) string {
	switch l.Kind {
	case anObject:
		return "｝"
	case aCall, aTuple:
		return "）"
	}
	return "］"
}

// note is a remark in parentheses behind a value, which is no expression.
var note = regexp.MustCompile(`^\([a-z][a-z ]{0,40}\)`)

// namedBehind reports whether behind a sign or a word at n a named argument, or a member with a
// quoted key, stands, which no expression has.
func (x *afterReader) namedBehind() bool {
	i := x.n.Pos + 1
	if x.has(x.n.Pos, "and ") {
		i = x.n.Pos + len("and")
	}
	key, quoted := x.keyAhead(x.blank(i))
	return key != "" && (quoted || knows(x.n.Stack, key))
}

// line reports whether a line break was passed in front of n, or a key follows.
func (x *afterReader) line() bool {
	key, _ := x.keyAhead(x.n.Pos)
	return x.n.Flags&line != 0 || key != ""
}

// doubled returns the cost of a quote that is one too many. It costs less after the first, since a
// writer that doubles one doubles others.
func (p *Place) doubled() int { return p.first(habitDoubled, likely-trifle) + trifle }

// maxJunk bounds what stands behind a value and belongs to nothing, in bytes.
const maxJunk = 64

// junk offers to pass what stands behind a value and is no structure, up to where structure goes
// on. Without it the only reading of {"a": "x" (a note), "b": 1} would be one text of all of it. No
// quote and no opener is passed, since these begin something.
func (x *afterReader) junk() {
	if x.n.Pos > 0 && scan.IsWord(int(x.text[x.n.Pos-1])) { // 1/3 is no number and something else
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
				to.Flags |= unsure // it may be a part of the value, or make another of it
			}
			x.step(slip+small, to)
			return
		}
	}
}

// next returns the place of the next member of the innermost container, at a position.
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

// comma reads a comma: in front of a member, of nothing, or of a member of an object around, whose
// inner closer is lost. Commas stand in texts as well, so one that nothing follows is the cheapest
// slip there is. Dots for "and so on" go with their comma.
func (x *afterReader) comma(next Place, behind int) {
	c := x.at(behind)
	if x.has(behind, "...") { // and so on
		x.step(small, keep(x.n, behind+3))
	}
	if scan.IsCloser(c) {
		x.step(pick(x.n.Stack.Kind == aTuple || x.n.Stack.Kind == aCall, 0, small), keep(x.n, x.n.Pos+1)) // a trailing one
		if c == ']' && typeOf(next.Want).Only(schema.Array|schema.Null) {
			x.step(0, next, ",") // [[1], ]], an empty one without its opener
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

// closerLost offers the end of the innermost container where its closer is missing, in front of a
// member that stands at i. A member that an object around knows, and this one does not, says where
// it belongs. A key has no place in a list at all.
func (x *afterReader) closerLost(i int) {
	if x.n.Stack.Up == nil {
		return
	}
	key, _ := x.keyAhead(i)
	object := x.n.Stack.Kind == anObject
	outer := key != "" && knows(x.n.Stack.Up, key)
	switch {
	case key == "" && object && x.n.Stack.Up.Kind == anObject:
		return // no member of it
	case outer && !(object && typeOf(x.n.Stack.Want).Has(key)), key != "" && !object:
		x.n.pop(x.s, 0, likely)
	default:
		x.n.pop(x.s, 0, slip)
	}
}

// early offers to go on behind the container's own closer, which came too early: a member of it
// follows. {"a": {"b": 1}, "c": 2} with c known to the inner object alone. Members that stand
// beside arguments by right are left there.
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
	outside := x.n.Stack.Up != nil && typeOf(x.n.Stack.Up.Want).Known() // an object whose members are all known
	known := (t.Has(key) || outside) && !knows(x.n.Stack.Up, key)
	x.step(pick(known, likely, slip+trifle), keep(x.n, x.n.Pos+1))
}

// commaLost offers the next member where the comma in front of it is missing. A line break is a
// likely comma. Who has left out one comma leaves out others. Between two on one line the quotes
// may be a text's, too: that reading competes.
func (x *afterReader) commaLost(here Place) {
	cost := here.first(habitCommas, habit) + small
	if x.n.Flags&line != 0 {
		cost = min(cost, small)
	}
	key, _ := x.keyAhead(x.n.Pos)
	named := x.n.Stack.Kind == aCall && typeOf(x.n.Stack.Want).Has(key) // "x"days=3
	if x.n.Pos > 0 && scan.IsQuote(int(x.text[x.n.Pos-1])) && scan.IsWord(x.at(x.n.Pos)) && !named {
		here.Flags |= unsure // the quote in front begins a text, rather
	}
	if size := x.ownQuote(x.n.Pos); size > 0 && x.has(x.n.Pos+size, x.text[x.n.Pos:x.n.Pos+size]) || size > 0 && x.n.Pos >= size && x.text[x.n.Pos-size:x.n.Pos] == x.text[x.n.Pos:x.n.Pos+size] {
		here.Flags |= unsure // the family's own quote, doubled
	}
	x.step(cost, here, ",")
}
