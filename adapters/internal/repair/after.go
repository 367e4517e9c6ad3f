package repair

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// between reads what stands between a key and its value.
// A comparison, a == b, is an expression.
// A comma in the place of a colon is as likely as a set, so both are offered where both can stand.
func (g *Args) between(s *Search, n *Node) {
	c := g.at(n.Pos)
	to := keep(n, n.Pos)
	to.Mode = modeValue
	to.Flags &^= line
	size := g.colon(n.Pos)
	python := n.Stack.Kind == aCall
	to.Pos += size
	to.Flags &^= colonRead
	switch {
	case n.Flags&colonRead != 0:
		to.Pos = n.Pos
		s.Go(n, 0, to, ":")
	case g.over(n.Pos):
	case size > 1:
		s.Go(n, g.first(&to, habitWide, small), to, ":")
	case size > 0:
		cost := 0
		if c == '=' != python {
			if cost = g.habit(&to, habitEquals); python {
				cost = min(cost, small)
			}
		}
		if c == '=' && g.at(to.Pos) == '>' {
			to.Pos++
		}
		if python && c == '=' && g.at(to.Pos) == '=' {
			to.Pos++ // a comparison, elsewhere
			cost = slip
		}
		s.Go(n, cost, to, ":")
	case g.has(n.Pos, "->"):
		to.Pos += 2
		s.Go(n, g.habit(&to, habitEquals), to, ":")
	case scan.IsQuote(c):
		s.Go(n, likely, keep(n, n.Pos+1)) // a quote too many, or the value's
		s.Go(n, slip, to, ":")
	case c == ',' || c == ';':
		to.Pos++
		s.Go(n, slip, to, ":")
	case !isClose(c) && (c != '(' || n.Pos == 0 || !scan.IsWord(int(g.text[n.Pos-1]))): // str(x)
		s.Go(n, slip, to, ":")
	}
}

// after reads what stands behind a value in a container.
// Each slip that can stand here is a step, so that a reading that needs it meets those that do not.
// In Python the rest of an expression may follow, of which nothing is passed over.
func (g *Args) after(s *Search, n *Node) {
	c := g.at(n.Pos)
	next := g.to(s, n, n.Pos+1)
	here := next
	here.Pos = n.Pos
	behind := g.blank(n.Pos + 1)
	here2 := keep(n, n.Pos+1)
	expression := g.Python && !g.namedBehind(n)
	switch {
	case g.over(n.Pos):
		m := *n
		m.Flags |= unclosed
		g.pop(s, &m, 0, habit)
		return
	case c == ',':
		g.comma(s, n, next, behind)
		return
	case closes(n.Stack, c):
		m := *n
		if n.Stack.Kind == aSet && c == ']' && !typeOf(n.Stack.Want).Only(schema.Array|schema.Null) {
			m.Flags |= unsure // one list, perhaps, whose bracket is doubled
		}
		g.pop(s, &m, 1, 0)
		g.early(s, n, behind)
		return
	case isClose(c):
		g.pop(s, n, 0, slip) // its own is missing
		g.pop(s, n, 1, slip) // it stands for its own
		same := n.Pos > 0 && g.text[n.Pos-1] == byte(c)
		s.Go(n, pick(same, likely, slip), keep(n, n.Pos+1))
		return
	case c == ';' && !expression:
		s.Go(n, g.habit(&next, habitSemicolons), next, ",")
	case wideComma(g.text, n.Pos) > 0:
		next.Pos += wideComma(g.text, n.Pos) - 1
		s.Go(n, g.first(&next, habitWide, small), next, ",")
	case !expression && c > ' ' && strings.IndexByte(":=.|/&+", byte(c)) >= 0:
		s.Go(n, slip, next, ",")
	case !expression && g.has(n.Pos, "and "):
		next.Pos += len("and")
		s.Go(n, slip, next, ",")
	case scan.IsQuote(c) && g.likelyEnd(n.Pos+1, n.Stack) == 2:
		if n.Pos > 0 && g.text[n.Pos-1] != byte(c) && scan.IsQuote(int(g.text[n.Pos-1])) {
			here2.Flags |= unsure // the writer's own, whose opener is missing
		}
		s.Go(n, g.doubled(&here2), here2) // one too many
	}
	if g.Python { // the rest of an expression, perhaps
		if size := len(note.FindString(g.text[n.Pos:])); size > 0 && n.Flags&line == 0 {
			s.Go(n, slip+small, keep(n, n.Pos+size))
		}
		if g.stringAhead(n.Pos) || g.line(n) {
			g.commaLost(s, n, here)
		}
		g.closerLost(s, n, n.Pos)
		return
	}
	g.junk(s, n)
	g.closerLost(s, n, n.Pos)
	g.commaLost(s, n, here)
}

// note is a remark in parentheses behind a value, which is no expression.
var note = regexp.MustCompile(`^\([a-z][a-z ]{0,40}\)`)

// namedBehind reports whether behind a sign or a word at n a named argument, or a member with a quoted key, stands, which
// no expression has.
func (g *Args) namedBehind(n *Node) bool {
	i := n.Pos + 1
	if g.has(n.Pos, "and ") {
		i = n.Pos + len("and")
	}
	key, quoted := g.keyAhead(g.blank(i))
	return key != "" && (quoted || knows(n.Stack, key))
}

// line reports whether a line break was passed in front of n, or a key follows.
func (g *Args) line(n *Node) bool {
	key, _ := g.keyAhead(n.Pos)
	return n.Flags&line != 0 || key != ""
}

// doubled is what a quote costs that is one too many. Who doubles one doubles others.
func (g *Args) doubled(to *Place) int { return g.first(to, habitDoubled, likely-trifle) + trifle }

// maxJunk bounds what stands behind a value and belongs to nothing, in bytes.
const maxJunk = 64

// junk offers to pass what stands behind a value and is no structure, up to where structure goes on.
// Without it the only reading of {"a": "x" (a note), "b": 1} would be one text of all of it.
// No quote and no opener is passed, since these begin something.
func (g *Args) junk(s *Search, n *Node) {
	if n.Pos > 0 && scan.IsWord(int(g.text[n.Pos-1])) { // 1/3 is no number and something else
		return
	}
	for i := n.Pos; i < n.Pos+maxJunk && !g.over(i); i++ {
		c := g.at(i)
		if c == '"' || c == '{' || c == '[' {
			return
		}
		if i > n.Pos && (c == ',' || c == ';' || c == '\n' || isClose(c) && c != ')') {
			to := keep(n, i)
			if g.at(n.Pos) != '(' {
				to.Flags |= unsure // it may be a part of the value, or make another of it
			}
			s.Go(n, slip+small, to)
			return
		}
	}
}

// to is the place of the next member of the innermost container, at a position.
func (g *Args) to(s *Search, n *Node, pos int) Place {
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

// comma reads a comma: in front of a member, of nothing, or of a member of an object around, whose inner closer is lost.
// Commas stand in texts as well, so one that nothing follows is the cheapest slip there is.
// Dots for "and so on" go with their comma.
func (g *Args) comma(s *Search, n *Node, next Place, behind int) {
	c := g.at(behind)
	if g.has(behind, "...") { // and so on
		s.Go(n, small, keep(n, behind+3))
	}
	if isClose(c) {
		s.Go(n, pick(n.Stack.Kind == aTuple || n.Stack.Kind == aCall, 0, small), keep(n, n.Pos+1)) // a trailing one
		if c == ']' && typeOf(next.Want).Only(schema.Array|schema.Null) {
			s.Go(n, 0, next, ",") // [[1], ]], an empty one without its opener
		}
		return
	}
	if c == ',' {
		s.Go(n, habit, keep(n, n.Pos+1)) // doubled
		return
	}
	s.Go(n, 0, next, ",")
	g.closerLost(s, n, behind)
}

// closerLost offers the end of the innermost container where its closer is missing, in front of a member that stands at i.
// A member that an object around knows, and this one does not, says where it belongs.
// A key has no place in a list at all.
func (g *Args) closerLost(s *Search, n *Node, i int) {
	if n.Stack.Up == nil {
		return
	}
	key, _ := g.keyAhead(i)
	object := n.Stack.Kind == anObject
	outer := key != "" && knows(n.Stack.Up, key)
	switch {
	case key == "" && object && n.Stack.Up.Kind == anObject:
		return // no member of it
	case outer && !(object && typeOf(n.Stack.Want).Has(key)), key != "" && !object:
		g.pop(s, n, 0, likely)
	default:
		g.pop(s, n, 0, slip)
	}
}

// early offers to go on behind the container's own closer, which came too early: a member of it follows.
// {"a": {"b": 1}, "c": 2} with c known to the inner object alone.
// Members that stand beside arguments by right are left there.
func (g *Args) early(s *Search, n *Node, behind int) {
	for k := 0; isClose(g.at(behind)) && k < maxClosers; k++ {
		behind = g.blank(behind + 1)
	}
	if g.at(behind) != ',' {
		return
	}
	key, _ := g.keyAhead(g.blank(behind + 1))
	if n.Stack.Kind != anObject && n.Stack.Kind != aCall {
		if key == "" {
			inObject := n.Stack.Up != nil && n.Stack.Up.Kind == anObject
			s.Go(n, pick(inObject, likely, slip+trifle), keep(n, n.Pos+1))
		}
		return
	}
	if key == "" {
		return
	}
	t := typeOf(n.Stack.Want)
	if n.Stack.Up == nil && g.Envelope != nil && g.Envelope(key) && !t.Has(key) {
		return
	}
	outside := n.Stack.Up != nil && typeOf(n.Stack.Up.Want).Known() // an object whose members are all known
	known := (t.Has(key) || outside) && !knows(n.Stack.Up, key)
	s.Go(n, pick(known, likely, slip+trifle), keep(n, n.Pos+1))
}

// commaLost offers the next member where the comma in front of it is missing. A line break is a likely comma.
// Who has left out one comma leaves out others.
// Between two on one line the quotes may be a text's, too: that reading competes.
func (g *Args) commaLost(s *Search, n *Node, here Place) {
	cost := g.first(&here, habitCommas, habit) + small
	if n.Flags&line != 0 {
		cost = min(cost, small)
	}
	key, _ := g.keyAhead(n.Pos)
	named := n.Stack.Kind == aCall && typeOf(n.Stack.Want).Has(key) // "x"days=3
	if n.Pos > 0 && scan.IsQuote(int(g.text[n.Pos-1])) && scan.IsWord(g.at(n.Pos)) && !named {
		here.Flags |= unsure // the quote in front begins a text, rather
	}
	if size := g.ownQuote(n.Pos); size > 0 && g.has(n.Pos+size, g.text[n.Pos:n.Pos+size]) || size > 0 && n.Pos >= size && g.text[n.Pos-size:n.Pos] == g.text[n.Pos:n.Pos+size] {
		here.Flags |= unsure // the family's own quote, doubled
	}
	s.Go(n, cost, here, ",")
}
