package repair

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// Args reads damaged arguments of a call, which are JSON with errors, or the arguments of a Python
// call. It is the [Grammar] of the search. Set the exported fields and call Read.
type Args struct {
	Type   *schema.Type // type of the arguments; nil if unknown
	Python bool         // the arguments are in the parentheses of a call
	Open   bool         // the opening brace of the arguments is missing
	Around byte         // a quote around them, while theirs are not escaped, or 0
	// Quotes are the model family's own string delimiters. Strings in them have no escapes.
	Quotes   []string
	Mark     func(i int) bool      // reports whether a closing tag at i ends the call; may be nil
	Envelope func(key string) bool // reports whether the member may follow them; or nil

	look
}

// Read returns the likely ways to read the arguments with which a text begins, the cheapest first.
// It returns nil if there is none, or if finding them takes too much work. The arguments of a
// Python call begin after the parenthesis.
func (g *Args) Read(text string) []Reading {
	g.look = look{text, strings.LastIndexByte(text, '"'), g.Mark, delims, g.Python, g.Quotes != nil,
		g.Around != 0}
	if g.Python {
		g.lastQuote = strings.LastIndexAny(text, `"'`)
	}
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
		start = Node{Place: Place{Mode: modeKey,
			Stack: &Level{Kind: aCall, Depth: 1, Want: g.Type}}, Out: &Piece{nil, "{"}}
	}
	if g.Open {
		start = Node{Place: Place{Mode: modeKey, Stack: &Level{Kind: anObject, Depth: 1,
			Want: g.Type}}, Out: &Piece{nil, "{"}}
	}
	list, ok := Readings(text, g, start, Most, Margin)
	if !ok {
		return nil
	}
	return list
}

// The modes: what is expected next in the text.
const (
	modeValue  = iota // a value
	modeKey           // the first key, or the closing bracket
	modeNext          // the key after a comma
	modeColon         // the text between key and value
	modeString        // the rest of a string
	modeAfter         // the text after a value in a container
	modeEnd           // the text after the arguments
)

// The kinds of containers.
const (
	anObject = '{'
	aList    = '['
	aSet     = 's' // a list in braces
	aTuple   = '('
	aCall    = 'f' // the arguments of a Python call
)

// The flags of a text. Most are habits of its writer: a slip that the writer has made before costs
// nothing.
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
	unclosed // the text ended inside a container
	lost     // a value was lost
	// what was just read
	line      // a line break
	empty     // the opener of a list
	colonRead // the colon, which was inside the quotes of its key

	unsure    = 1 << 24 // the reading is a guess among several, whatever the others cost
	withNames = 1 << 25 // an argument of a Python call had a name
)

// Constants for counting the arguments of a Python call in the flags: position is one argument.
const (
	position    = 1 << 16
	positionAll = 0xFF << 16
)

// to returns the state of the reading n at offset pos in the given mode. The flags of the last step
// are cleared, because they matter only for the next step. The flags for habits of the model
// remain.
func (n *Node) to(pos int, mode uint8) Place {
	p := n.Place
	p.Pos, p.Mode, p.Want = pos, mode, nil
	p.Flags &^= line | empty | colonRead
	return p
}

// stay returns the state of the reading n at offset pos, in the same string. Nothing else changes.
func (n *Node) stay(pos int) Place {
	p := n.Place
	p.Pos = pos
	return p
}

// behind returns the state of the reading after a value that ends at offset pos, without the flags
// of a string. If no container is open, this is the end of the arguments.
func (n *Node) behind(pos int) Place {
	p := n.to(pos, modeAfter)
	p.Flags &^= uint64(sAll)
	if p.Stack == nil {
		p.Mode = modeEnd
	}
	return p
}

// habit returns the cost of a slip that the model may make again and again, and sets its flag. Only
// the first such slip has a cost: the result is 0 if the flag was set before.
func (p *Place) habit(flag uint64) int { return p.first(flag, habit) }

// first returns the cost of a kind of slip and sets its flag. Only the first such slip costs
// something: the result is 0 if the flag was set before.
func (p *Place) first(flag uint64, cost int) int {
	if p.Flags&flag != 0 {
		return 0
	}
	p.Flags |= flag
	return cost
}

// Steps proposes to the search each step by which arguments can be read on from the node n, and so
// implements [Grammar]. White space and comments are read here, because they are the same
// everywhere outside of strings. Comments are left out of the output.
func (g *Args) Steps(s *Search, n *Node) {
	switch n.Mode {
	case modeString:
		x := stringReader{here: here{&g.look, s, n}, d: &g.delims[n.Flags>>48&0xF], i: n.Pos}
		x.read()
		return
	case modeEnd:
		s.Done(n, g.tail(n.Pos), n.Flags&(unclosed|lost|unsure)|g.leftOver(n.Pos))
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
		if g.twoComments(n.Pos, size) {
			to.Flags |= unsure
		}
		s.Go(n, to.habit(habitComments), to)
		if n.Mode != modeValue || g.text[n.Pos] != '#' {
			return
		}
	}
	at := here{&g.look, s, n}
	behind := afterReader{at, g.Envelope}
	switch n.Mode {
	case modeValue:
		newValueReader(at).read()
	case modeKey, modeNext:
		(&keyReader{at}).read()
	case modeColon:
		behind.between()
	case modeAfter:
		behind.after()
	}
}

// twoComments reports whether the comment of the given size at offset i is empty, or contains what
// looks like the beginning of another comment. In both cases its end is uncertain.
func (g *look) twoComments(i, size int) bool {
	inside := g.text[i+1 : i+size]
	if g.text[i] != '#' {
		inside = inside[1:]
	}
	return strings.TrimLeft(inside, "-!") == "" ||
		slices.ContainsFunc([]string{" // ", " # ", " -- ", " /* ", " <!-- "},
			func(opener string) bool { return strings.Contains(inside, opener) })
}

// plainSpace returns a blank for any character that is not ASCII, and ASCII unchanged.
func plainSpace(r rune) rune {
	if r < 0x80 {
		return r
	}
	return ' '
}

// tag matches the beginning of an opening tag.
var tag = regexp.MustCompile(`<[^/\\\s]`)

// tail returns the cost of the text after the arguments, if the arguments end at i. These texts
// cost nothing: the end of the text, another call, up to two closing brackets, and a member that
// occurs beside arguments. Further closing brackets have a cost; after a lone value of a known type
// every closing bracket has one. A cost above Most means that the arguments cannot end at i, for
// example because a member in the schema would be lost.
func (g *Args) tail(i int) int {
	closers := 0
	alone := g.Envelope == nil && !g.Python && g.Type.Known()
	for i = g.blank(i); scan.IsCloser(g.at(i)) && closers < maxClosers; i = g.blank(i + 1) {
		closers++
	}
	cost := max(closers-pick(alone, 0, 2), 0) * small
	if g.Around != 0 && g.at(i) == int(g.Around) {
		i = g.blank(i + 1)
	}
	c := g.at(i)
	switch {
	case g.over(i), g.has(i, "```"):
		return cost
	// perhaps further elements, or another tag
	case alone && (c == ',' || c == ';' || c != '<' && tag.MatchString(g.text[i:])):
		return Most + 1
	case c == ',' || c == ';':
		i = g.blank(i + 1)
		key, _ := g.keyAhead(i)
		switch {
		case key != "" && g.Envelope != nil && g.Envelope(key):
			return cost
		case key != "" && g.Type.Has(key):
			return Most + 1 // members must not be left out
		case key != "":
			return cost + 2*slip
		case g.call(i) || g.Python || g.over(i):
			return cost
		case scan.IsCloser(g.at(i)) || g.has(i, "..."):
			return cost + small
		}
		return Most + 1
	case g.call(i):
		return cost
	case g.memberIn(i):
		return Most + 1
	case strings.ContainsAny(g.text[i:min(i+maxKey, len(g.text))], `"':=`):
		return cost + 2*slip
	}
	return cost + slip
}

// memberIn reports whether the name of a parameter in quotation marks, with a colon after it,
// begins within maxKey bytes after offset i. It does not look beyond a closing tag that ends the
// call.
func (g *Args) memberIn(i int) bool {
	for end := min(i+maxKey, len(g.text)); i < end && !g.mark(i); i++ {
		if !scan.IsQuote(int(g.text[i])) {
			continue
		}
		if key, _ := g.keyAhead(i); g.Type.Has(key) {
			return true
		}
	}
	return false
}

// leftOver returns the flag unsure if the arguments probably end inside a string, and otherwise 0.
// They do if the text from offset i on has an odd number of double quotation marks, or the first
// one is escaped. A quotation mark around all arguments, or a lone one at the end of the text, is
// surplus and not counted. In Python the result is 0.
func (g *Args) leftOver(i int) uint64 {
	rest := g.text[min(i, len(g.text)):]
	if g.Around != 0 {
		inside := strings.TrimLeft(rest, "]}) \n")
		rest = strings.TrimPrefix(inside, string(g.Around))
	}
	if strings.Trim(rest, "]}) \n\"") == "" && strings.Count(rest, `"`) == 1 {
		return 0 // a surplus quote
	}
	first := strings.IndexByte(rest, '"')
	if !g.Python && (first > 0 && rest[first-1] == '\\' ||
		(strings.Count(rest, `"`)-strings.Count(rest, `\"`))%2 != 0) {
		return unsure
	}
	return 0
}

// call reports whether another call begins at offset i. A call is an object, perhaps in a list,
// whose first member is one that occurs beside arguments, such as name. Other objects may be
// elements of a list that was cut in two.
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

// maxDepth bounds how deep containers in arguments may be nested.
const maxDepth = 512

// closed returns the closing bracket of the innermost container as strict JSON has it: } or ].
func (n *Node) closed() string {
	if n.Stack.Kind == anObject || n.Stack.Kind == aCall {
		return "}"
	}
	return "]"
}

// pop adds to the search the reading in which the innermost container ends here. The next size
// bytes are its closing bracket, and cost is added to the cost of the reading. The output gets the
// correct bracket, so a complete reading is always valid JSON.
func (n *Node) pop(s *Search, size, cost int) {
	closer := n.closed()
	m := *n
	m.Stack = n.Stack.Up
	s.Go(n, cost, m.behind(n.Pos+size), closer)
}

// closes reports whether c is a closing bracket of a container.
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
