package repair

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Args is the grammar of arguments as models write them: JSON with the slips that it can have, or the arguments of a
// Python call. Set its fields and call Read.
type Args struct {
	Type     *schema.Type          // of the arguments; nil: nothing is known of them
	Python   bool                  // they stand between the parentheses of a call
	Quotes   []string              // string delimiters of the family's own, behind which nothing is escaped
	Mark     func(i int) bool      // a mark that ends the call stands at i; nil: there are none
	Envelope func(key string) bool // such a member may follow the arguments; nil: none

	text      string
	lastQuote int // where the last quote of it stands
	delims    []delim
}

// Read returns the readings of a text that begins with arguments, none where it needs too much work.
func (g *Args) Read(text string) []Reading {
	g.text, g.delims, g.lastQuote = text, delims, strings.LastIndexByte(text, '"')
	if len(g.Quotes) > 0 {
		g.delims = slices.Clone(delims)
		for _, q := range g.Quotes {
			if len(q) > 1 {
				g.delims = append(g.delims, delim{q, q, true})
			}
		}
	}
	start := Node{Place: Place{Mode: modeValue, Want: g.Type}}
	if g.Python {
		start = Node{Place: Place{Mode: modeKey, Stack: &Level{Kind: aCall, Depth: 1, Want: g.Type}}, Out: &Piece{nil, "{"}}
	}
	list, ok := Readings(text, g, start, Most, Margin)
	if !ok {
		return nil
	}
	return list
}

// Modes: what a place expects.
const (
	modeValue  = iota // a value
	modeKey           // the first key, or the closer
	modeNext          // the key behind a comma
	modeColon         // what stands between key and value
	modeString        // the rest of a string
	modeAfter         // what stands behind a value in a container
	modeEnd           // what stands behind the arguments
)

// Kinds of containers.
const (
	anObject = '{'
	aList    = '['
	aSet     = 's' // a list in braces
	aTuple   = '('
	aCall    = 'f' // the arguments of a Python call
)

// Flags of a text: what its writer has shown to do. The first time costs.
const (
	habitQuotes = 1 << iota
	habitKeys
	habitWords
	habitSemicolons
	habitComments
	habitEquals
	habitWide
	habitOver
	habitCommas
	habitBare
	habitDoubled
	unclosed // a container was closed by the text's end
	lost     // a value was lost
	// what was passed just now
	line  // a line break
	empty // the opener of a list
)

// position counts the arguments of a Python call.
const (
	position    = 1 << 16
	positionAll = 0xFF << 16
)

// to is a place further on, at which nothing was passed just now.
func (n *Node) to(pos int, mode uint8) Place {
	p := n.Place
	p.Pos, p.Mode, p.Want = pos, mode, nil
	p.Flags &^= line | empty
	return p
}

// stay is a place further on in the same string.
func (n *Node) stay(pos int) Place {
	p := n.Place
	p.Pos = pos
	return p
}

// behind is the place behind a value.
func (n *Node) behind(pos int) Place {
	p := n.to(pos, modeAfter)
	p.Flags &^= uint64(sAll)
	if p.Stack == nil {
		p.Mode = modeEnd
	}
	return p
}

// habit is what a habit costs at a place: nothing where it was shown before.
func (g *Args) habit(to *Place, flag uint64) int { return g.first(to, flag, habit) }

func (g *Args) first(to *Place, flag uint64, cost int) int {
	if to.Flags&flag != 0 {
		return 0
	}
	to.Flags |= flag
	return cost
}

// Steps implements [Grammar].
func (g *Args) Steps(s *Search, n *Node) {
	switch n.Mode {
	case modeString:
		g.inString(s, n)
		return
	case modeEnd:
		s.Done(n, g.tail(n.Pos), n.Flags&(unclosed|lost))
		return
	}
	if end := g.space(n.Pos); end > n.Pos {
		to := n.stay(end)
		space := g.text[n.Pos:end]
		if strings.IndexByte(space, '\n') >= 0 {
			to.Flags |= line
		}
		if n.Stack != nil && n.Stack.Kind == aCall {
			space = ""
		}
		s.Copy(n, to, strings.Map(plainSpace, space))
		return
	}
	if size := g.comment(n.Pos); size > 0 {
		to := n.stay(n.Pos + size)
		s.Go(n, g.habit(&to, habitComments), to)
		if n.Mode != modeValue || g.text[n.Pos] != '#' {
			return
		}
	}
	switch n.Mode {
	case modeValue:
		g.value(s, n)
	case modeKey, modeNext:
		g.key(s, n)
	case modeColon:
		g.between(s, n)
	case modeAfter:
		g.after(s, n)
	}
}

func plainSpace(r rune) rune {
	if r < 0x80 {
		return r
	}
	return ' '
}

// tail is what the text behind the arguments costs, if they end at i: closers, a member of the envelope, another call and
// the end are free.
func (g *Args) tail(i int) int {
	closers := 0
	for i = g.blank(i); isClose(g.at(i)) && closers < maxClosers; i = g.blank(i + 1) {
		closers++
	}
	cost := max(closers-2, 0) * small
	c := g.at(i)
	switch {
	case g.over(i), g.has(i, "```"):
		return cost
	case c == ',' || c == ';':
		i = g.blank(i + 1)
		key, _ := g.keyAhead(i)
		switch {
		case key != "" && g.Envelope != nil && g.Envelope(key):
			return cost
		case key != "" && g.Type.Has(key):
			return Most + 1 // no member is left out
		case key != "":
			return cost + 2*slip
		case g.call(i) || g.Python || g.over(i):
			return cost
		case isClose(g.at(i)) || g.has(i, "..."):
			return cost + small
		}
		return Most + 1
	case g.call(i):
		return cost
	case strings.ContainsAny(g.text[i:min(i+maxKey, len(g.text))], `"':=`):
		return cost + 2*slip
	}
	return cost + slip
}

// call reports whether another call stands at i: an object, perhaps in a list, whose first member is one of an envelope.
func (g *Args) call(i int) bool {
	for k := 0; g.at(i) == '[' && k < maxClosers; k++ {
		i = g.blank(i + 1)
	}
	if g.at(i) != '{' {
		return false
	}
	key, _ := g.keyAhead(g.blank(i + 1))
	return key != "" && g.Envelope != nil && g.Envelope(key)
}

// open offers the inside of a container that is opened by size bytes.
func (g *Args) open(s *Search, n *Node, size, cost int, kind byte) {
	to := n.to(n.Pos+size, modeValue)
	t := typeOf(n.Want)
	if g.Python && t.Only(schema.String|schema.Null) {
		return // its text is no text
	}
	to.Stack = s.Enter(n.Stack, kind, t)
	if to.Stack.Depth > maxDepth {
		return
	}
	if kind == anObject {
		to.Mode = modeKey
		s.Go(n, cost, to, "{")
		return
	}
	to.Flags |= empty
	to.Want = t.Item()
	s.Go(n, cost, to, "[")
}

// maxDepth bounds how deep arguments nest.
const maxDepth = 512

// closed is the closer that the innermost container of n is written with, in strict JSON.
func (n *Node) closed() string {
	if n.Stack.Kind == anObject || n.Stack.Kind == aCall {
		return "}"
	}
	return "]"
}

// pop offers the place behind the innermost container, which size bytes close.
func (g *Args) pop(s *Search, n *Node, size, cost int) {
	closer := n.closed()
	m := *n
	m.Stack = n.Stack.Up
	s.Go(n, cost, m.behind(n.Pos+size), closer)
}

// closes reports whether c is the closer of a container.
func closes(l *Level, c int) bool {
	switch l.Kind {
	case anObject:
		return c == '}'
	case aSet:
		return c == '}' || c == ']'
	case aList:
		return c == ']'
	}
	return c == ')'
}

// value reads a value, or what stands in its place.
func (g *Args) value(s *Search, n *Node) {
	c := g.at(n.Pos)
	t := typeOf(n.Want)
	inList := n.Stack != nil && n.Stack.Kind != anObject && n.Stack.Kind != aCall
	switch {
	case g.over(n.Pos):
		return
	case c == '{':
		g.open(s, n, 1, pick(t.Allows(schema.Object), 0, likely), anObject)
		if g.at(n.Pos+1) == '{' {
			g.open(s, n, 2, pick(t.Known(), habit, slip), anObject)
		}
		if key, _ := g.keyAhead(g.blank(n.Pos + 1)); key == "" && t.Allows(schema.Array) {
			g.open(s, n, 1, pick(t.Only(schema.Array|schema.Null) || g.Python && !t.Known(), small, slip), aSet)
		}
	case c == '[':
		g.open(s, n, 1, 0, aList)
		if g.at(n.Pos+1) == '[' {
			s.Go(n, slip, keep(n, n.Pos+1))
		}
	case c == '(':
		g.open(s, n, 1, pick(g.Python, 0, small), aTuple)
	case inList && closes(n.Stack, c) && n.Flags&empty != 0:
		g.pop(s, n, 1, 0)
	case inList && isClose(c) && n.Flags&empty != 0:
		g.pop(s, n, 0, slip)
		g.pop(s, n, 1, slip)
	case c == ']' && t.Allows(schema.Array) && n.Stack != nil && !inList:
		g.open(s, n, 0, pick(t.Only(schema.Array|schema.Null), likely, slip), aList)
		g.valueLost(s, n, inList)
	case c == ':' || c == '=':
		s.Go(n, small, keep(n, n.Pos+1)) // doubled
	case c == ',' || c == ';':
		s.Go(n, likely, keep(n, n.Pos+1))
		g.valueLost(s, n, inList)
	case isClose(c):
		g.valueLost(s, n, inList)
	default:
		g.keyAgain(s, n, inList)
		g.scalar(s, n, c)
	}
	g.openerLost(s, n, c, t)
	if c == '{' || c == '[' || c == '(' || c == '<' {
		g.bare(s, n, pick(t.Only(schema.String|schema.Null), 0, slip))
	}
}

// bare offers a text that has lost its first quote, or both.
func (g *Args) bare(s *Search, n *Node, cost int) {
	if g.Python {
		return // an expression, perhaps
	}
	to := n.to(n.Pos, modeString)
	to.Flags |= sBare
	cost += g.first(&to, habitBare, slip-small) + small
	s.Go(n, cost, to, `"`)
}

// valueLost reads a member whose value is lost. Nobody knows what it was, so nothing fits it.
func (g *Args) valueLost(s *Search, n *Node, inList bool) {
	if !inList && n.Stack != nil {
		to := n.behind(n.Pos)
		to.Flags |= lost
		s.Go(n, slip, to, "null")
	}
}

// keyAgain offers to pass a key, or the name of a type, that stands where the value is due.
func (g *Args) keyAgain(s *Search, n *Node, inList bool) {
	if key, _ := g.keyAhead(n.Pos); key != "" && !inList && n.Stack != nil && !g.Python {
		i := n.Pos + g.quoteAt(n.Pos) + len(key)
		i = g.blank(i + g.quoteAt(i))
		s.Go(n, slip, keep(n, i+g.colon(i)))
	}
}

// keep is a place further on that expects the same.
func keep(n *Node, pos int) Place {
	p := n.stay(pos)
	p.Flags &^= line
	return p
}

// openerLost offers a list or an object whose opener is missing.
func (g *Args) openerLost(s *Search, n *Node, c int, t *schema.Type) {
	if n.Stack == nil || isClose(c) || n.Stack.Depth > 6 {
		return
	}
	if t.Allows(schema.Array) && c != '[' && n.Flags&empty == 0 {
		g.open(s, n, 0, pick(t.Only(schema.Array|schema.Null), likely, slip), aList)
	}
	if key, _ := g.keyAhead(n.Pos); key != "" && t.Allows(schema.Object) {
		g.open(s, n, 0, pick(t.Has(key), likely, slip), anObject)
	}
}

// junkWord offers to pass a word in front of a quote or a bracket, where none belongs.
func (g *Args) junkWord(s *Search, n *Node) {
	i := n.Pos
	for i < n.Pos+maxKey && g.at(i) >= 0 && scan.IsLetter(g.text[i]) {
		i++
	}
	next := g.space(i)
	end := next
	for end < next+maxKey && g.wordByte(end) {
		end++
	}
	value, _ := Scalar(g.text[next:end])
	if i > n.Pos && next > i && (g.stringAhead(next) || g.at(next) == '{' || g.at(next) == '[' || value != "") {
		s.Go(n, slip+small, keep(n, next))
	}
}

// scalar reads a string, a number, a word, or text without quotes.
func (g *Args) scalar(s *Search, n *Node, c int) {
	g.openStrings(s, n, 0, false)
	if !g.Python {
		g.junkWord(s, n)
	}
	if scan.IsQuote(c) && g.space(n.Pos+1) > n.Pos+1 && g.stringAhead(g.space(n.Pos+1)) {
		s.Go(n, likely, keep(n, n.Pos+1))
	}
	if c == '\\' && scan.IsQuote(g.at(n.Pos+1)) {
		s.Go(n, slip, keep(n, n.Pos+1))
	}
	for _, size := range []int{pick(scan.IsQuote(c), 1, 0), g.ownQuote(n.Pos)} {
		if size > 0 && g.has(n.Pos+size, g.text[n.Pos:n.Pos+size]) {
			to := keep(n, n.Pos+size)
			s.Go(n, g.doubled(&to), to)
		}
	}
	if next := g.at(n.Pos + 1); !g.Python && (next == '"' || next == '\'') && c >= 0 && strings.IndexByte("rbuf@$L", byte(c)) >= 0 {
		if c != 'f' && c != '$' || g.noHoles(n.Pos+2, byte(next)) {
			s.Go(n, habit, keep(n, n.Pos+1))
		}
		return
	}
	if next := g.at(n.Pos + 1); g.Python && (next == '"' || next == '\'') && c >= 0 && strings.IndexByte("rbuf", byte(c)) >= 0 {
		if c != 'f' || g.noHoles(n.Pos+2, byte(next)) {
			g.openStrings(s, n, 1, c == 'r')
		}
		return
	}
	if g.has(n.Pos, "...") {
		to := n.behind(n.Pos + 3)
		s.Go(n, small, to)
		return
	}
	end := n.Pos
	for end < n.Pos+maxKey && g.wordByte(end) {
		end++
	}
	word := g.text[n.Pos:end]
	behind := g.blank(end)
	ends := g.over(behind) || isClose(g.at(behind)) || g.at(behind) == ','
	value, own := Scalar(word)
	isWord := value != ""
	if isWord {
		to := n.behind(end)
		cost := pick(ends, 0, trifle)
		if !own && !g.Python {
			cost += g.first(&to, habitWords, small)
		}
		if !typeOf(n.Want).Allows(schema.KindOf(value)) && typeOf(n.Want).Allows(schema.String) {
			value = schema.Quote(word)
		}
		s.Go(n, cost, to, value)
	}
	if g.quoteAt(n.Pos) == 0 && g.ownQuote(n.Pos) == 0 && strings.IndexByte(",:;=}])<(\\", byte(c)) < 0 && !g.has(n.Pos, "- ") && !g.has(n.Pos, "--") {
		rest, _ := Scalar(strings.TrimRight(word, ".:;"))
		g.bare(s, n, pick(c == '#' || c == '/', habit, 0)+pick(rest != "" && (ends || !isWord), slip, 0))
	}
}

func (g *Args) wordByte(i int) bool {
	c := g.at(i)
	return scan.IsWord(c) || c == '+' || c == '-' || c == '.'
}

// noHoles reports whether the string of an f-string has nothing in it that would be evaluated.
func (g *Args) noHoles(i int, quote byte) bool {
	rest := g.text[i:min(i+maxAhead, len(g.text))]
	end := strings.IndexByte(rest, quote)
	return end >= 0 && strings.IndexByte(rest[:end], '{') < 0
}

// between reads what stands between a key and its value.
func (g *Args) between(s *Search, n *Node) {
	c := g.at(n.Pos)
	to := keep(n, n.Pos)
	to.Mode = modeValue
	to.Flags &^= line
	size := g.colon(n.Pos)
	python := n.Stack.Kind == aCall
	to.Pos += size
	switch {
	case g.over(n.Pos), python && size == 0:
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
			return // a comparison
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
	case !isClose(c):
		s.Go(n, slip, to, ":")
	}
}

// after reads what stands behind a value in a container.
func (g *Args) after(s *Search, n *Node) {
	c := g.at(n.Pos)
	next := g.to(s, n, n.Pos+1)
	here := next
	here.Pos = n.Pos
	behind := g.blank(n.Pos + 1)
	here2 := keep(n, n.Pos+1)
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
		g.pop(s, n, 1, 0)
		g.early(s, n, behind)
		return
	case isClose(c):
		g.pop(s, n, 0, slip) // its own is missing
		g.pop(s, n, 1, slip) // it stands for its own
		same := n.Pos > 0 && g.text[n.Pos-1] == byte(c)
		s.Go(n, pick(same, likely, slip), keep(n, n.Pos+1))
		return
	case c == ';' && !g.Python:
		s.Go(n, g.habit(&next, habitSemicolons), next, ",")
	case g.has(n.Pos, "，"):
		next.Pos += len("，") - 1
		s.Go(n, g.first(&next, habitWide, small), next, ",")
	case !g.Python && c > ' ' && strings.IndexByte(":=.|/&+", byte(c)) >= 0:
		s.Go(n, slip, next, ",")
	case !g.Python && g.has(n.Pos, "and "):
		next.Pos += len("and")
		s.Go(n, slip, next, ",")
	case scan.IsQuote(c) && g.likelyEnd(n.Pos+1, n.Stack) == 2:
		s.Go(n, g.doubled(&here2), here2) // one too many
	}
	if g.Python { // the rest of an expression, perhaps
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
func (g *Args) junk(s *Search, n *Node) {
	if n.Pos > 0 && scan.IsWord(int(g.text[n.Pos-1])) { // 1/3 is no number and something else
		return
	}
	for i := n.Pos; i < n.Pos+maxJunk && !g.over(i); i++ {
		c := g.at(i)
		if c == '"' || c == '{' || c == '[' {
			return
		}
		if i > n.Pos && (c == ',' || c == '\n' || isClose(c) && c != ')') {
			s.Go(n, slip+small, keep(n, i))
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
func (g *Args) comma(s *Search, n *Node, next Place, behind int) {
	c := g.at(behind)
	if g.has(behind, "...") { // and so on
		s.Go(n, small, keep(n, behind+3))
	}
	if isClose(c) {
		s.Go(n, pick(n.Stack.Kind == aTuple || n.Stack.Kind == aCall, 0, small), keep(n, n.Pos+1)) // a trailing one
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
	known := t.Has(key) && !knows(n.Stack.Up, key)
	s.Go(n, pick(known, likely, slip+trifle), keep(n, n.Pos+1))
}

// commaLost offers the next member where the comma in front of it is missing. A line break is a likely comma.
func (g *Args) commaLost(s *Search, n *Node, here Place) {
	cost := g.first(&here, habitCommas, habit) + small
	if n.Flags&line != 0 {
		cost = min(cost, small)
	}
	s.Go(n, cost, here, ",")
}

// key reads the key of a member, or the closer of an object that has none.
func (g *Args) key(s *Search, n *Node) {
	c := g.at(n.Pos)
	call := n.Stack.Kind == aCall
	switch {
	case g.over(n.Pos):
		if n.Mode == modeKey && !call {
			g.pop(s, n, 0, slip)
		}
		return
	case n.Mode == modeKey && closes(n.Stack, c):
		g.pop(s, n, 1, 0)
		return
	case n.Mode == modeKey && isClose(c):
		g.pop(s, n, 1, slip)
		return
	case c == ',' || c == ';':
		s.Go(n, habit, keep(n, n.Pos+1))
		return
	case c == '{' || c == '[':
		s.Go(n, slip, keep(n, n.Pos+1))
		return
	case scan.IsQuote(c) && g.space(n.Pos+1) > n.Pos+1 && g.stringAhead(g.space(n.Pos+1)):
		s.Go(n, likely, keep(n, n.Pos+1))
	}
	if g.has(n.Pos, "...") {
		s.Go(n, small, keep(n, n.Pos+3))
	}
	if !call {
		g.junkWord(s, n)
	}
	g.keys(s, n, c)
	if call && n.Mode != modeColon {
		g.byPosition(s, n)
	}
}

// byPosition reads an argument without a name: it is the parameter at its place.
func (g *Args) byPosition(s *Search, n *Node) {
	all := typeOf(n.Stack.Want).Members()
	at := int(n.Flags&positionAll) / position
	if key, quoted := g.keyAhead(n.Pos); at >= len(all) || key != "" && !quoted {
		return
	}
	to := keep(n, n.Pos)
	to.Mode, to.Want = modeValue, typeOf(n.Stack.Want).Prop(all[at])
	s.Go(n, 0, to, schema.Quote(all[at])+":")
}

// keys offers the keys that begin here: quoted as they should be, in other quotes, with one of them missing or doubled, bare.
func (g *Args) keys(s *Search, n *Node, c int) {
	for k := range g.delims {
		d := &g.delims[k]
		if !g.has(n.Pos, d.open) || len(d.open) == 3 && d.open[0] == d.open[1] {
			continue
		}
		from := n.Pos + len(d.open)
		rest := g.text[from:min(from+maxKey, len(g.text))]
		if end := strings.Index(rest, d.close); end > 0 {
			to := n.Place
			cost := 0
			if !g.ownDelim(d) {
				cost = g.habit(&to, habitQuotes)
			}
			behind := from + end + len(d.close)
			if name, ok := strings.CutSuffix(rest[:end], ":"); ok { // "path:" "a.txt"
				g.named(s, n, to, pick(g.colon(g.blank(behind)) > 0, behind, from+end-1), slip, name)
				continue
			}
			g.named(s, n, to, behind, cost, rest[:end])
		}
	}
	open := g.quoteAt(n.Pos)
	from := n.Pos + open
	if open > 0 && g.has(from, g.text[n.Pos:from]) { // doubled
		s.Go(n, likely, keep(n, from))
		return
	}
	if g.has(n.Pos, `\"`) && g.at(n.Pos+2) != '\\' {
		s.Go(n, slip, keep(n, n.Pos+1))
	}
	end := from
	for end < from+maxKey && g.inName(end) {
		end++
	}
	word := g.text[from:end]
	closer := g.quoteAt(end)
	switch {
	case word == "" || open > 0 && closer > 0 && g.text[n.Pos:from] == g.text[end:end+closer]:
	case open > 0 && closer > 0: // 'days": 3
		g.named(s, n, n.Place, end+closer, slip, word)
	case open > 0: // "days: 3
		if g.colon(g.blank(end)) > 0 {
			g.named(s, n, n.Place, end, slip, word)
		}
	case closer > 0: // days": 3
		g.named(s, n, n.Place, end+closer, slip, word)
	default:
		to := n.Place
		cost := 0
		if g.Quotes == nil && n.Stack.Kind != aCall {
			cost = g.habit(&to, habitKeys)
		}
		g.named(s, n, to, end, cost, word)
		for _, name := range typeOf(n.Stack.Want).Members() { // days3
			if strings.HasPrefix(word, name) && word != name && !scan.IsLetter(word[len(name)]) {
				g.named(s, n, to, from+len(name), cost, name)
			}
		}
	}
}

// inName reports whether the byte at i can stand in a key without quotes.
func (g *Args) inName(i int) bool {
	c := g.at(i)
	return scan.IsWord(c) || c == '-' || c == '.' || c == '$' || c >= 0x80 && g.quoteAt(i) == 0 && g.colon(i) == 0 || c == ' ' && g.Quotes != nil
}

// named goes on behind a key.
func (g *Args) named(s *Search, n *Node, to Place, end, cost int, key string) {
	t := typeOf(n.Stack.Want)
	key = strings.TrimSpace(key)
	if strings.ContainsAny(key, "'`“”‘’„：，") && !t.Has(key) {
		return
	}
	if strings.ContainsAny(key, "\"\n;<>[]{}|`\\") || strings.TrimRight(key, ":, ") != key || key == "" {
		return
	}
	if len(t.Members()) > 0 && !t.Has(key) {
		cost += pick(alike(t, key), small, strange)
	}
	to.Pos, to.Mode, to.Want = end, modeColon, t.Prop(key)
	to.Flags &^= line | empty
	s.Go(n, cost, to, string(chat.AppendQuoted(nil, key)))
}

// alike reports whether a member of t is spelled as the key, but for case and separators.
func alike(t *schema.Type, key string) bool {
	letters := strings.NewReplacer("_", "", "-", "")
	return slices.ContainsFunc(t.Members(), func(name string) bool { return strings.EqualFold(letters.Replace(name), letters.Replace(key)) })
}
