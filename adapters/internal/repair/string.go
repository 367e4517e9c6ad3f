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
func (x *valueReader) openStrings(prefix int, raw bool) {
	if x.has(x.n.Pos, `"[`) && x.t.Allows(schema.Array) || x.has(x.n.Pos, `"{`) && x.t.Allows(schema.Object) {
		to := keep(x.n, x.n.Pos+1)
		if x.t.Allows(schema.String) {
			to.Flags |= unsure // the text may begin so
		}
		x.step(slip, to) // a quote too many
	}
	for k := range x.delims {
		d := &x.delims[k]
		for _, size := range x.damagedQuote(x.n.Pos, d) {
			to := x.n.to(x.n.Pos+size, modeString)
			to.Flags |= uint64(k) << 48
			x.step(small, to, `"`)
		}
		if !x.has(x.n.Pos+prefix, d.open) || len(d.open) == 3 && d.open[0] == d.open[1] && (x.over(x.n.Pos+prefix+3) || strings.IndexByte(",}]:", x.text[x.n.Pos+prefix+3]) >= 0) {
			continue
		}
		to := x.n.to(x.n.Pos+prefix+len(d.open), modeString)
		cost := 0
		if !d.own(x.python) {
			cost = to.habit(habitQuotes)
		}
		to.Flags |= uint64(k) << 48
		if !x.t.Only(schema.String) {
			to.Flags |= sLoose
			if c := x.at(to.Pos); c == '[' || c == '{' {
				to.Flags |= sBracket
			}
		}
		if i := sign(x.text, to.Pos) + to.Pos; i > to.Pos && x.at(i) == ' ' && !x.has(i+1, d.close) && !scan.IsCloser(x.at(to.Pos)) {
			to.Flags |= unsure // the sign may be in front of the quote by right
		}
		if d.open == `\"` && !x.t.Only(schema.String) && !x.escaped() {
			to.Flags |= unsure // the text may begin with the quote
		}
		if raw {
			to.Flags |= sRaw | sEscaped
		}
		x.step(cost, to, `"`)
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

// stringReader reads a string on from a place, and stands at a byte in it that may mean something.
type stringReader struct {
	here
	d   *delim
	i   int    // where the byte stands
	run string // what was read up to there in this step
}

// read goes on in a string. A plain run is one step. Only bytes that may mean something else make a
// step, so a file in a string costs one look at each byte. A string whose end is the text's end is
// cut, and no reading closes it.
func (x *stringReader) read() {
	for x.i < len(x.text) && x.plain(x.i) {
		x.i++
	}
	if x.i >= len(x.text) {
		return // a string that the text's end closes is cut
	}
	x.run = x.text[x.n.Pos:x.i]
	c := x.text[x.i]
	if sizes := x.damagedQuote(x.i, x.d); len(sizes) > 0 {
		x.damagedEnd(sizes)
		return
	}
	x.otherQuote()
	if x.n.Flags&sBare == 0 && strings.HasPrefix(x.text[x.i:], x.d.close) {
		x.quote()
		return
	}
	switch {
	case x.ownQuote(x.i) > 0: // no text has the family's own
		if x.n.Flags&sBare != 0 {
			to := x.n.behind(x.i + x.ownQuote(x.i))
			if strings.ContainsAny(x.run[:min(1, len(x.run))], "[({") {
				to.Flags |= unsure // its opener in other brackets, perhaps
			}
			x.step(0, to, x.run, `"`)
		}
	case x.ownQuotes && !x.d.raw && strings.IndexByte("<>|", c) >= 0:
		// a part of the family's own quote
	case x.n.Flags&sBare != 0 && x.quoteAt(x.i) > 0 && x.likelyEnd(x.i+x.quoteAt(x.i), x.n.Stack) > 0:
		x.bareEnd()
	case c == '"' && x.n.Flags&sBare != 0: // what has lost its quotes has none inside, or it is more than one text
	case c == '"':
		to := x.n.stay(x.i + 1)
		if x.at(x.i+1) == '"' && !x.d.raw {
			to.Flags |= unsure // one that is doubled, perhaps
		}
		x.step(0, to, x.run, `\"`)
	case c == '\\':
		x.backslash()
	case c < ' ':
		to := x.n.stay(x.i + 1)
		cost := 0
		if !x.d.raw {
			cost = to.first(sControl, trifle)
		}
		x.step(cost, to, x.run, string(chat.AppendEscaped(nil, string(rune(c)))))
		if c == '\n' {
			x.closeHere()
		}
	default:
		x.sign()
	}
}

// sign reads a byte that may end a string which has lost its quote: as text, and as what stands
// behind the end.
func (x *stringReader) sign() {
	c := x.text[x.i]
	if c == ',' && x.has(x.i+1, x.d.close) && x.n.Flags&sBare == 0 {
		x.commaInside(x.i+1+len(x.d.close), x.run)
	}
	to := x.n.stay(x.i + 1)
	cost := 0
	if x.n.Flags&sBare != 0 && (strings.IndexByte("[]{}", c) >= 0 || x.mark(x.i)) {
		to.Flags |= unsure // where it ends is a guess
	}
	if x.mark(x.i) {
		cost = to.first(sMark, small)
	} else if x.n.Flags&sBare != 0 && strings.IndexByte(",;}])", c) >= 0 {
		cost = likely // most texts without quotes end here
	}
	x.step(cost, to, x.run, x.text[x.i:x.i+1])
	if c < 0x80 && !scan.IsQuote(int(c)) && (!x.mark(x.i) || x.over(x.i)) {
		x.closeHere()
	}
}

// plain reports whether the byte at i means nothing in a string.
// It is what keeps the search small: a comma in prose is looked behind once, and is prose.
// What follows it decides, as for a quote.
func (x *stringReader) plain(i int) bool {
	switch c := x.text[i]; {
	case c >= 0x80 || c == '\'' || c == '`':
		if x.n.Flags&sBare != 0 {
			size := x.quoteAt(i)
			return size == 0 || x.likelyEnd(i+size, x.n.Stack) == 0
		}
		return c != x.d.close[0] && !x.otherEnd(i)
	case c == '"' || c == '\\' || c < ' ' || c == x.d.close[0]:
		return strings.IndexByte("\"\\", c) < 0 && c >= ' ' && !strings.HasPrefix(x.text[i:], x.d.close) && len(x.damagedQuote(i, x.d)) == 0
	case x.d.raw && len(x.damagedQuote(i, x.d)) > 0:
		return false
	case c == ',' || c == ';':
		some, known := x.memberAhead(i+1, x.n.Stack)
		return !some || x.n.Flags&sBare == 0 && !known && !x.stringAhead(x.blank(i+1))
	case scan.IsCloser(int(c)):
		return !x.closesAhead(i, x.n.Stack)
	case x.ownQuotes && !x.d.raw && strings.IndexByte("<>|", c) >= 0:
		return false
	case c == '<' || c == '[':
		return !x.mark(i) && x.ownQuote(i) == 0
	}
	return true
}

// quotes are the signs that close strings of one kind or another.
var quotes = []string{`"`, "'", "`", "”", "“", "’", "‘", "«", "»", "「", "」"}

// quoteAt returns the length of the quote at i, or 0.
func (g *look) quoteAt(i int) int {
	for _, q := range quotes {
		if g.has(i, q) {
			return len(q)
		}
	}
	return 0
}

// otherEnd reports whether a quote at i that is not the string's own stands as one that closes it.
func (x *stringReader) otherEnd(i int) bool {
	size := x.quoteAt(i)
	return size > 0 && x.n.Flags&sBare == 0 && x.likelyEnd(i+size, x.n.Stack) == 2
}

// otherQuote offers the end of the string at another quote than its own.
func (x *stringReader) otherQuote() {
	if strings.HasPrefix(x.text[x.i:], x.d.close) {
		return
	}
	if size := x.quoteAt(x.i); size > 0 && x.otherEnd(x.i) {
		to := x.n.behind(x.i + size)
		if x.text[x.i] == '"' && (x.n.Out.quotes()+strings.Count(x.run, `"`))%2 != 0 {
			to.Flags |= unsure // it ends a quotation of the text, rather
		}
		if x.d.open[0] >= 0x80 {
			to.Flags |= unsure // which of them is a quote
		}
		x.step(slip, to, x.run, `"`)
	} else if x.has(x.i, `\"`) && x.likelyEnd(x.i+2, x.n.Stack) == 2 {
		to := x.n.behind(x.i + 2)
		if (x.n.Out.quotes()+strings.Count(x.run, `"`))%2 != 0 {
			to.Flags |= unsure // it ends a quotation, and the text's own is missing
		}
		x.step(slip, to, x.run, `"`)
	}
}

// quote reads the string's own quote: as its end, and as text.
func (x *stringReader) quote() {
	behind := x.i + len(x.d.close)
	end := x.likelyEnd(behind, x.n.Stack)
	cost := 0
	if x.n.Flags&sLone != 0 {
		cost = odd
	}
	x.joined(behind)
	to := x.n.behind(behind)
	if x.n.Flags&sLone != 0 && x.n.Flags&sDirty != 0 && x.n.inList() {
		to.Flags |= unsure // a quote of its own inside may be the border of two elements
	}
	if x.n.Flags&(sRaw|sMixed) != 0 && x.n.Flags&sPath == 0 && x.i > 0 && x.text[x.i-1] == '\\' {
		to.Flags |= unsure // it may escape the quote
	}
	x.step(cost, to, x.run, `"`)
	if x.d.raw {
		return
	}
	if end == 0 && x.d.close == `"` && x.has(behind, `"`) && (x.i == 0 || x.text[x.i-1] != '"') { // two for one; three are a delimiter
		to := x.n.stay(behind + 1)
		to.Flags ^= sLone
		if x.n.Flags&sPlain != 0 {
			to.Flags |= unsure
		}
		x.step(to.first(sTwo, likely), to, x.run, `\"`)
	}
	if trimmed, ok := strings.CutSuffix(strings.TrimRight(x.run, " "), ","); ok {
		x.commaInside(behind, trimmed)
	}
	to = x.n.stay(behind)
	to.Flags ^= sLone
	to.Flags |= sDirty
	if x.n.Flags&sPlain != 0 && x.d.close == `"` && x.n.inList() {
		to.Flags |= unsure // who escapes quotes escapes all of a text: the next element's, rather
	}
	if x.run != "" && scan.IsDigit(x.run[len(x.run)-1]) { // inches
		to.Flags &^= sLone
	}
	between := x.n.Flags&sLone != 0 && strings.HasPrefix(x.run, " ") && strings.HasSuffix(x.run, " ") // 'a' and 'b'
	if x.n.Flags&sBracket != 0 || between || x.atStructure(behind) {
		to.Flags |= unsure
	}
	text := `\"`
	if x.d.close != `"` && x.d.close != `\"` {
		text = string(chat.AppendEscaped(nil, x.d.close))
	}
	if cost := x.innerQuote(behind, end); cost <= Most {
		x.step(cost, to, x.run, text)
	}
}

// commaInside offers the end of a string that has the comma behind it inside of its quotes: {"x":
// "a," "y": 1}.
func (x *stringReader) commaInside(behind int, run string) {
	if x.n.Stack == nil {
		return
	}
	next := x.blank(behind)
	if key, quoted := x.keyAhead(next); key != "" && (quoted || knows(x.n.Stack, key)) || (x.likelyEnd(behind, x.n.Stack) == 2 || next > behind && x.n.Stack.Kind == anObject) && x.quoteAt(next) > 0 {
		to := x.n.next(behind)
		to.Flags &^= uint64(sAll)
		x.step(small, to, run, `",`)
	}
}

// innerQuote returns the cost of a quote at i that does not close its string. end, from 0 to 2,
// grades how likely what follows makes it the end of the string. The first of them opens a
// quotation: it comes after a blank or a sign and before a letter. Quotations come in pairs. An end
// without a beginning is a string's end, or several readings are left. After a digit a quote is the
// sign for inches as often.
func (x *stringReader) innerQuote(behind, end int) int {
	cost := [3]int{0, habit, slip}[end]
	if x.n.Flags&sDirty == 0 {
		cost = [3]int{likely, slip + small, 2 * slip}[end]
		before, next := x.at(x.i-1), x.at(behind)
		switch follows := scan.IsWord(next) || next >= 0x80; {
		case x.n.Flags&sPlain != 0 && x.n.Flags&sLone != 0: // the other one of a pair, which was forgotten
			cost = min(cost, [3]int{slip, slip, slip + small}[end])
		case x.run != "" && scan.IsWord(before) && follows && x.text[x.i] == '\'': // don't
		case x.run == "", (scan.IsWord(before) || before >= 0x80) && follows:
			cost = slip + small
		case scan.IsWord(before) || before >= 0x80 || next <= ' ' || strings.IndexByte(",;:", byte(next)) >= 0:
			cost = Most + 1 // it ends a quotation that never began
		}
	}
	if x.i > 0 && x.text[x.i-1] == '\\' && !x.d.raw && x.n.Flags&sRaw == 0 { // escaped twice, rather
		cost = Most + 1
	}
	if x.run != "" && scan.IsDigit(x.run[len(x.run)-1]) && end != 1 { // inches
		cost = likely
	}
	return cost
}

// joined offers the string that is joined to the one that ends in front of i: by a plus sign, or in
// Python by nothing. "x" + "y" is how programs break long texts. Behind a plus sign a key follows
// nowhere but where it stands for a comma.
func (x *stringReader) joined(i int) {
	k := x.blank(i)
	cost := small
	switch {
	case x.at(k) == '+':
		if k = x.blank(k + 1); x.n.Stack != nil {
			if x.n.Stack.Kind != anObject && x.n.Stack.Kind != aCall {
				cost = slip // a comma, perhaps
			}
			if key, _ := x.keyAhead(k); key != "" && x.quoteAt(k+x.quoteAt(k)+len(key)) > 0 {
				cost = 2 * slip // a comma, rather
			}
		}
	case !x.python:
		return
	case x.n.Stack != nil && x.n.Stack.Kind != aCall:
		cost = slip // a comma is missing, perhaps
	default:
		cost = 0
	}
	for kind := range x.delims {
		if d := &x.delims[kind]; x.has(k, d.open) {
			to := x.n.stay(k + len(d.open))
			to.Flags = to.Flags&^uint64(sDelim) | uint64(kind)<<48
			if k == i || cost == slip {
				to.Flags |= unsure // doubled quotes, perhaps, or a comma that is missing
			}
			x.step(cost, to, x.run)
		}
	}
}
