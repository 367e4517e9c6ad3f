package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Flags of a string that is read; they end with it.
const (
	sRaw     = 1 << (32 + iota) // no backslash escapes anything
	sMixed                      // backslashes escape only where they can
	sEscaped                    // a backslash was seen: how they are read is decided
	sDirty                      // it has quotes that are not escaped
	sLone                       // the number of its quotes is odd
	sBare                       // it has no quote in front
	sPlain                      // it has quotes that are escaped as they should be
	sControl                    // it has line breaks
	sMark                       // it has marks
	sOver                       // it has quotes that are escaped twice
	sTwo                        // it has quotes that are written twice
	sPath                       // it begins with the drive of a path
	sBracket                    // it begins with a bracket, in a place where a list or an object fits as well
	sLoose                      // a value of another kind fits its place as well
	sDelim   = 0xF << 48        // which delimiter it has
	sAll     = 0xFFFFFFFF << 32
)

// delim is what opens and closes a string.
type delim struct {
	open, close string
	raw         bool // nothing is escaped in it
}

// delims are those of JSON as models write it; the first one is JSON's own.
var delims = []delim{{`"`, `"`, false}, {`"""`, `"""`, false}, {`'''`, `'''`, false}, {`'`, `'`, false}, {"`", "`", false}, {"`", "'", false}, {`\"`, `\"`, false}, {"“", "”", false}, {"‘", "’", false}, {"„", "“", false}, {"«", "»", false}, {"「", "」", false}}

// strings offers the strings that begin here.
// Three quotes in front of a comma are an empty string and one too many.
// Any kind of quote may open a string; the kind that closes it is the same.
func (g *Args) openStrings(s *Search, n *Node, prefix int, raw bool) {
	t := typeOf(n.Want)
	if g.has(n.Pos, `"[`) && t.Allows(schema.Array) || g.has(n.Pos, `"{`) && t.Allows(schema.Object) {
		to := keep(n, n.Pos+1)
		if t.Allows(schema.String) {
			to.Flags |= unsure // the text may begin so
		}
		s.Go(n, slip, to) // a quote too many
	}
	for k := range g.delims {
		d := &g.delims[k]
		for _, size := range g.damagedQuote(n.Pos, d) {
			to := n.to(n.Pos+size, modeString)
			to.Flags |= uint64(k) << 48
			s.Go(n, small, to, `"`)
		}
		if !g.has(n.Pos+prefix, d.open) || len(d.open) == 3 && d.open[0] == d.open[1] && (g.over(n.Pos+prefix+3) || strings.IndexByte(",}]:", g.text[n.Pos+prefix+3]) >= 0) {
			continue
		}
		to := n.to(n.Pos+prefix+len(d.open), modeString)
		cost := 0
		if !d.own(g.Python) {
			cost = g.habit(&to, habitQuotes)
		}
		to.Flags |= uint64(k) << 48
		if !t.Only(schema.String) {
			to.Flags |= sLoose
			if c := g.at(to.Pos); c == '[' || c == '{' {
				to.Flags |= sBracket
			}
		}
		if i := sign(g.text, to.Pos) + to.Pos; i > to.Pos && g.at(i) == ' ' && !g.has(i+1, d.close) && !isClose(g.at(to.Pos)) {
			to.Flags |= unsure // the sign may be in front of the quote by right
		}
		if d.open == `\"` && !t.Only(schema.String) && !g.escaped() {
			to.Flags |= unsure // the text may begin with the quote
		}
		if raw {
			to.Flags |= sRaw | sEscaped
		}
		s.Go(n, cost, to, `"`)
	}
}

// escaped reports whether the first quote of the arguments is escaped, so that all are.
func (g *look) escaped() bool {
	first := strings.IndexByte(g.text, '"')
	return first > 0 && g.text[first-1] == '\\'
}

// own reports whether a delimiter costs nothing.
func (d *delim) own(python bool) bool {
	return d.raw || d.open == `"` || python && (d.open[0] == '\'' || d.open == `"""`)
}

// inString goes on in a string. A plain run is one step.
// Only bytes that may mean something else make a step, so a file in a string costs one look at each byte.
// A string whose end is the text's end is cut, and no reading closes it.
func (g *Args) inString(s *Search, n *Node) {
	d := &g.delims[n.Flags>>48&0xF]
	i := n.Pos
	for i < len(g.text) && g.plain(i, d, n) {
		i++
	}
	if i >= len(g.text) {
		return // a string that the text's end closes is cut
	}
	run := g.text[n.Pos:i]
	c := g.text[i]
	if sizes := g.damagedQuote(i, d); len(sizes) > 0 {
		g.damagedEnd(s, n, i, run, sizes)
		return
	}
	g.otherQuote(s, n, i, run, d)
	if n.Flags&sBare == 0 && strings.HasPrefix(g.text[i:], d.close) {
		g.quote(s, n, i, run, d)
		return
	}
	switch {
	case g.ownQuote(i) > 0: // no text has the family's own
		if n.Flags&sBare != 0 {
			to := n.behind(i + g.ownQuote(i))
			if strings.ContainsAny(run[:min(1, len(run))], "[({") {
				to.Flags |= unsure // its opener in other brackets, perhaps
			}
			s.Go(n, 0, to, run, `"`)
		}
	case g.Quotes != nil && !d.raw && strings.IndexByte("<>|", c) >= 0:
		// a part of the family's own quote
	case n.Flags&sBare != 0 && g.quoteAt(i) > 0 && g.likelyEnd(i+g.quoteAt(i), n.Stack) > 0:
		g.bareEnd(s, n, i, run)
	case c == '"' && n.Flags&sBare != 0: // what has lost its quotes has none inside, or it is more than one text
	case c == '"':
		to := n.stay(i + 1)
		if g.at(i+1) == '"' && !d.raw {
			to.Flags |= unsure // one that is doubled, perhaps
		}
		s.Go(n, 0, to, run, `\"`)
	case c == '\\':
		g.backslash(s, n, i, run, d)
	case c < ' ':
		to := n.stay(i + 1)
		cost := 0
		if !d.raw {
			cost = g.first(&to, sControl, trifle)
		}
		s.Go(n, cost, to, run, string(chat.AppendEscaped(nil, string(rune(c)))))
		if c == '\n' {
			g.closeHere(s, n, i, run)
		}
	default:
		g.sign(s, n, i, run, d)
	}
}

// sign reads a byte that may end a string which has lost its quote: as text, and as what stands behind the end.
func (g *Args) sign(s *Search, n *Node, i int, run string, d *delim) {
	c := g.text[i]
	if c == ',' && g.has(i+1, d.close) && n.Flags&sBare == 0 {
		g.commaInside(s, n, i+1+len(d.close), run)
	}
	to := n.stay(i + 1)
	cost := 0
	if n.Flags&sBare != 0 && (strings.IndexByte("[]{}", c) >= 0 || g.mark(i)) {
		to.Flags |= unsure // where it ends is a guess
	}
	if g.mark(i) {
		cost = g.first(&to, sMark, small)
	} else if n.Flags&sBare != 0 && strings.IndexByte(",;}])", c) >= 0 {
		cost = likely // most texts without quotes end here
	}
	s.Go(n, cost, to, run, g.text[i:i+1])
	if c < 0x80 && !scan.IsQuote(int(c)) && (!g.mark(i) || g.over(i)) {
		g.closeHere(s, n, i, run)
	}
}

// plain reports whether the byte at i means nothing in a string.
// It is what keeps the search small: a comma in prose is looked behind once, and is prose.
// What follows it decides, as for a quote.
func (g *Args) plain(i int, d *delim, n *Node) bool {
	switch c := g.text[i]; {
	case c >= 0x80 || c == '\'' || c == '`':
		if n.Flags&sBare != 0 {
			size := g.quoteAt(i)
			return size == 0 || g.likelyEnd(i+size, n.Stack) == 0
		}
		return c != d.close[0] && !g.otherEnd(i, n)
	case c == '"' || c == '\\' || c < ' ' || c == d.close[0]:
		return strings.IndexByte("\"\\", c) < 0 && c >= ' ' && !strings.HasPrefix(g.text[i:], d.close) && len(g.damagedQuote(i, d)) == 0
	case d.raw && len(g.damagedQuote(i, d)) > 0:
		return false
	case c == ',' || c == ';':
		some, known := g.memberAhead(i+1, n.Stack)
		return !some || n.Flags&sBare == 0 && !known && !g.stringAhead(g.blank(i+1))
	case isClose(int(c)):
		return !g.closesAhead(i, n.Stack)
	case g.Quotes != nil && !d.raw && strings.IndexByte("<>|", c) >= 0:
		return false
	case c == '<' || c == '[':
		return !g.mark(i) && g.ownQuote(i) == 0
	}
	return true
}

// quotes are the signs that close strings of one kind or another.
var quotes = []string{`"`, "'", "`", "”", "“", "’", "‘", "«", "»", "「", "」"}

// quoteAt is the length of the quote at i, 0 without one.
func (g *look) quoteAt(i int) int {
	for _, q := range quotes {
		if g.has(i, q) {
			return len(q)
		}
	}
	return 0
}

// otherEnd reports whether a quote at i that is not the string's own stands as one that closes it.
func (g *Args) otherEnd(i int, n *Node) bool {
	size := g.quoteAt(i)
	return size > 0 && n.Flags&sBare == 0 && g.likelyEnd(i+size, n.Stack) == 2
}

// otherQuote offers the end of the string at another quote than its own.
func (g *Args) otherQuote(s *Search, n *Node, i int, run string, d *delim) {
	if strings.HasPrefix(g.text[i:], d.close) {
		return
	}
	if size := g.quoteAt(i); size > 0 && g.otherEnd(i, n) {
		to := n.behind(i + size)
		if g.text[i] == '"' && (n.Out.quotes()+strings.Count(run, `"`))%2 != 0 {
			to.Flags |= unsure // it ends a quotation of the text, rather
		}
		s.Go(n, slip, to, run, `"`)
	} else if g.has(i, `\"`) && g.likelyEnd(i+2, n.Stack) == 2 {
		to := n.behind(i + 2)
		if (n.Out.quotes()+strings.Count(run, `"`))%2 != 0 {
			to.Flags |= unsure // it ends a quotation, and the text's own is missing
		}
		s.Go(n, slip, to, run, `"`)
	}
}

// quote reads the string's own quote: as its end, and as text.
func (g *Args) quote(s *Search, n *Node, i int, run string, d *delim) {
	behind := i + len(d.close)
	end := g.likelyEnd(behind, n.Stack)
	cost := 0
	if n.Flags&sLone != 0 {
		cost = odd
	}
	g.joined(s, n, behind, run)
	to := n.behind(behind)
	if n.Flags&(sRaw|sMixed) != 0 && n.Flags&sPath == 0 && i > 0 && g.text[i-1] == '\\' {
		to.Flags |= unsure // it may escape the quote
	}
	s.Go(n, cost, to, run, `"`)
	if d.raw {
		return
	}
	if end == 0 && d.close == `"` && g.has(behind, `"`) && (i == 0 || g.text[i-1] != '"') { // two for one; three are a delimiter
		to := n.stay(behind + 1)
		to.Flags ^= sLone
		if n.Flags&sPlain != 0 {
			to.Flags |= unsure
		}
		s.Go(n, g.first(&to, sTwo, likely), to, run, `\"`)
	}
	if trimmed, ok := strings.CutSuffix(strings.TrimRight(run, " "), ","); ok {
		g.commaInside(s, n, behind, trimmed)
	}
	to = n.stay(behind)
	to.Flags ^= sLone
	to.Flags |= sDirty
	if n.Flags&sPlain != 0 && d.close == `"` && n.inList() {
		to.Flags |= unsure // who escapes quotes escapes all of a text: the next element's, rather
	}
	if run != "" && scan.IsDigit(run[len(run)-1]) { // inches
		to.Flags &^= sLone
	}
	between := n.Flags&sLone != 0 && strings.HasPrefix(run, " ") && strings.HasSuffix(run, " ") // 'a' and 'b'
	if n.Flags&sBracket != 0 || between || g.atStructure(n, i, behind, d) {
		to.Flags |= unsure
	}
	text := `\"`
	if d.close != `"` && d.close != `\"` {
		text = string(chat.AppendEscaped(nil, d.close))
	}
	if cost := g.innerQuote(n, i, run, behind, end); cost <= Most {
		s.Go(n, cost, to, run, text)
	}
}

// inList reports whether the innermost container holds elements instead of members.
func (n *Node) inList() bool {
	return n.Stack != nil && n.Stack.Kind != anObject && n.Stack.Kind != aCall
}

// commaInside offers the end of a string that has the comma behind it inside of its quotes: {"x": "a," "y": 1}.
func (g *Args) commaInside(s *Search, n *Node, behind int, run string) {
	if n.Stack == nil {
		return
	}
	next := g.blank(behind)
	if key, quoted := g.keyAhead(next); key != "" && (quoted || knows(n.Stack, key)) || (g.likelyEnd(behind, n.Stack) == 2 || next > behind && n.Stack.Kind == anObject) && g.quoteAt(next) > 0 {
		to := g.to(s, n, behind)
		to.Flags &^= uint64(sAll)
		s.Go(n, small, to, run, `",`)
	}
}

// atStructure reports whether a quote from i to behind stands where signs of structure and quotes stand side by side. As a
// part of a text it is one guess of several: nobody knows which of the quotes is the text's.
// One that ends a quotation of the text may stand in front of closers and the text's own: "echo "hi"".
func (g *Args) atStructure(n *Node, i, behind int, d *delim) bool {
	pair := n.Flags&sDirty != 0 && n.Flags&sLone != 0
	if strings.HasSuffix(g.text[:i], d.close) || g.has(behind, d.close) {
		return !pair
	}
	signs, last := 0, 0
	for k := g.space(behind); k < behind+maxClosers; signs++ {
		switch size := sign(g.text, k); {
		case size > 0:
			last = g.at(k)
			k = g.space(k + size)
		case signs == 0 || pair && isClose(last):
			return false
		default:
			key, _ := g.keyAhead(k)
			return key != "" || g.stringAhead(k)
		}
	}
	return true
}

// innerQuote is what a quote at i costs that does not close its string, where what follows is so likely its end.
// The first of them opens a quotation: it stands behind a blank or a sign and in front of a letter.
// Quotations come in pairs. An end without a beginning is a string's end, or several readings are left.
// Behind a digit a quote is the sign for inches as often.
func (g *Args) innerQuote(n *Node, i int, run string, behind, end int) int {
	cost := [3]int{0, habit, slip}[end]
	if n.Flags&sDirty == 0 {
		cost = [3]int{likely, slip + small, 2 * slip}[end]
		before, next := g.at(i-1), g.at(behind)
		switch follows := scan.IsWord(next) || next >= 0x80; {
		case n.Flags&sPlain != 0 && n.Flags&sLone != 0: // the other one of a pair, which was forgotten
			cost = min(cost, [3]int{slip, slip, slip + small}[end])
		case run != "" && scan.IsWord(before) && follows && g.text[i] == '\'': // don't
		case run == "", (scan.IsWord(before) || before >= 0x80) && follows:
			cost = slip + small
		case scan.IsWord(before) || before >= 0x80 || next <= ' ' || strings.IndexByte(",;:", byte(next)) >= 0:
			cost = Most + 1 // it ends a quotation that never began
		}
	}
	if i > 0 && g.text[i-1] == '\\' && !g.delims[n.Flags>>48&0xF].raw && n.Flags&sRaw == 0 { // escaped twice, rather
		cost = Most + 1
	}
	if run != "" && scan.IsDigit(run[len(run)-1]) && end != 1 { // inches
		cost = likely
	}
	return cost
}

// joined offers the string that is joined to the one that ends in front of i: by a plus sign, or in Python by nothing.
// "x" + "y" is how programs break long texts.
// Behind a plus sign a key follows nowhere but where it stands for a comma.
func (g *Args) joined(s *Search, n *Node, i int, run string) {
	k := g.blank(i)
	cost := small
	switch {
	case g.at(k) == '+':
		if k = g.blank(k + 1); n.Stack != nil {
			if n.Stack.Kind != anObject && n.Stack.Kind != aCall {
				cost = slip // a comma, perhaps
			}
			if key, _ := g.keyAhead(k); key != "" && g.quoteAt(k+g.quoteAt(k)+len(key)) > 0 {
				cost = 2 * slip // a comma, rather
			}
		}
	case !g.Python:
		return
	case n.Stack != nil && n.Stack.Kind != aCall:
		cost = slip // a comma is missing, perhaps
	default:
		cost = 0
	}
	for x := range g.delims {
		if d := &g.delims[x]; g.has(k, d.open) {
			to := n.stay(k + len(d.open))
			to.Flags = to.Flags&^uint64(sDelim) | uint64(x)<<48
			if k == i || cost == slip {
				to.Flags |= unsure // doubled quotes, perhaps, or a comma that is missing
			}
			s.Go(n, cost, to, run)
		}
	}
}
