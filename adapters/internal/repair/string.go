package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Flags of the current string, which are cleared when the string ends.
const (
	sRaw     = 1 << (32 + iota) // backslashes are text
	sMixed                      // backslashes escape only where they can
	sEscaped                    // a backslash was read, so the way to read them is chosen
	sDirty                      // the string has unescaped quotation marks
	sLone                       // the number of its quotation marks is odd
	sBare                       // it has no opening quotation mark
	sPlain                      // it has correctly escaped quotation marks
	sControl                    // it has line breaks
	sMark                       // it has closing tags
	sOver                       // it has quotation marks that are escaped twice
	sTwo                        // it has quotation marks that are written twice
	sPath                       // it begins with the drive of a path
	sBracket                    // it begins with a bracket, where a list or an object may also be
	sLoose                      // a value of another kind may also be here
	sDelim   = 0xF << 48        // the index of its delimiter
	sAll     = 0xFFFFFFFF << 32
)

// delim is a pair of delimiters around a string.
type delim struct {
	open, close string
	raw         bool // strings in it have no escapes
}

// delims are the delimiters of JSON as models write it. The first one is JSON's own.
var delims = []delim{{`"`, `"`, false}, {`"""`, `"""`, false}, {`'''`, `'''`, false},
	{`'`, `'`, false}, {"`", "`", false}, {"`", "'", false}, {`\"`, `\"`, false}, {"“", "”", false},
	{"‘", "’", false}, {"„", "“", false}, {"«", "»", false}, {"「", "」", false}}

// openStrings adds to the search the strings that may begin after prefix bytes, such as r in r"…".
// If raw is true, they have no escapes. Three marks before a comma are "" and a surplus mark.
func (x *valueReader) openStrings(prefix int, raw bool) {
	if x.has(x.n.Pos, `"[`) && x.t.Allows(schema.Array) ||
		x.has(x.n.Pos, `"{`) && x.t.Allows(schema.Object) {
		to := keep(x.n, x.n.Pos+1)
		if x.t.Allows(schema.String) {
			to.Flags |= unsure // the text may begin with a bracket
		}
		x.step(slip, to) // a surplus quote
	}
	for k := range x.delims {
		d := &x.delims[k]
		for _, size := range x.damagedQuote(x.n.Pos, d) {
			to := x.n.to(x.n.Pos+size, modeString)
			to.Flags |= uint64(k) << 48
			x.step(small, to, `"`)
		}
		if !x.has(x.n.Pos+prefix, d.open) || len(d.open) == 3 && d.open[0] == d.open[1] &&
			(x.over(x.n.Pos+prefix+3) || strings.IndexByte(",}]:", x.text[x.n.Pos+prefix+3]) >= 0) {
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
		if i := sign(x.text, to.Pos) + to.Pos; i > to.Pos && x.at(i) == ' ' &&
			!x.has(i+1, d.close) && !scan.IsCloser(x.at(to.Pos)) {
			to.Flags |= unsure // the sign may belong before the quote
		}
		if d.open == `\"` && !x.t.Only(schema.String) && !x.escaped() ||
			x.quotedText(d, x.n.Pos+prefix) {
			to.Flags |= unsure // the text may begin with the quote
		}
		if raw {
			to.Flags |= sRaw | sEscaped
		}
		x.step(cost, to, `"`)
	}
}

// escaped reports whether the first quotation mark of the arguments has a backslash before it. In
// that case probably all of them have one.
func (g *look) escaped() bool {
	first := strings.IndexByte(g.text, '"')
	return first > 0 && g.text[first-1] == '\\'
}

// own reports whether a delimiter is correct in the arguments' language, so that it costs nothing.
func (d *delim) own(python bool) bool {
	return d.raw || d.open == `"` || python && (d.open[0] == '\'' || d.open == `"""`)
}

// stringReader reads a part of a string, up to the next byte that may end it, such as a quote.
type stringReader struct {
	here
	d   *delim
	i   int    // the offset of that byte
	run string // the text up to the byte in this step
}

// read continues a string. A run of plain bytes is one step, so a file in a string costs little for
// each byte. At the end of the text it adds nothing to the search, because the string was cut off.
func (x *stringReader) read() {
	for x.i < len(x.text) && x.plain(x.i) {
		x.i++
	}
	if x.i >= len(x.text) {
		return // the string is cut
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
	case x.ownQuote(x.i) > 0: // no text contains the family's own quote
		if x.n.Flags&sBare != 0 {
			to := x.n.behind(x.i + x.ownQuote(x.i))
			if strings.ContainsAny(x.run[:min(1, len(x.run))], "[({") {
				to.Flags |= unsure // perhaps its opener in other brackets
			}
			x.step(0, to, x.run, `"`)
		}
	case x.ownQuotes && !x.d.raw && strings.IndexByte("<>|", c) >= 0:
		// a part of the family's own quote
	case x.n.Flags&sBare != 0 && x.quoteAt(x.i) > 0 &&
		x.likelyEnd(x.i+x.quoteAt(x.i), x.n.Stack) > 0:
		x.bareEnd()
	// a string without quotes has none inside, or it is more than one string
	case c == '"' && x.n.Flags&sBare != 0:
	case c == '"':
		to := x.n.stay(x.i + 1)
		if x.at(x.i+1) == '"' && !x.d.raw {
			to.Flags |= unsure // perhaps a doubled quote
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
		if x.n.Flags&sBare != 0 && x.n.inList() {
			to.Flags |= unsure // perhaps two texts
		}
		x.step(cost, to, x.run, string(chat.AppendEscaped(nil, string(rune(c)))))
		if c == '\n' {
			x.closeHere()
		}
	default:
		x.sign()
	}
}

// sign reads a byte that may follow a string whose closing quotation mark is missing, such as a
// comma. It adds two readings: the byte is text, or the string ends before it.
func (x *stringReader) sign() {
	c := x.text[x.i]
	if c == ',' && x.has(x.i+1, x.d.close) && x.n.Flags&sBare == 0 {
		x.commaInside(x.i+1+len(x.d.close), x.run)
	}
	to, cost := x.n.stay(x.i+1), 0
	if x.n.Flags&sBare != 0 && (strings.IndexByte("[]{}", c) >= 0 || x.mark(x.i)) {
		to.Flags |= unsure // its end is a guess
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

// plain reports whether the byte at offset i can only be text. This keeps the search small. For
// example, a comma in prose is plain, because prose and not a member follows it.
func (x *stringReader) plain(i int) bool {
	switch c := x.text[i]; {
	case c >= 0x80 || c == '\'' || c == '`':
		if x.n.Flags&sBare != 0 {
			size := x.quoteAt(i)
			return size == 0 || x.likelyEnd(i+size, x.n.Stack) == 0
		}
		return c != x.d.close[0] && !x.otherEnd(i)
	case c == '"' || c == '\\' || c < ' ' || c == x.d.close[0]:
		return strings.IndexByte("\"\\", c) < 0 && c >= ' ' &&
			!strings.HasPrefix(x.text[i:], x.d.close) && len(x.damagedQuote(i, x.d)) == 0
	case x.d.raw && len(x.damagedQuote(i, x.d)) > 0:
		return false
	case x.ownQuotes && !x.d.raw && strings.IndexByte("<>|", c) >= 0,
		x.n.Flags&sBare != 0 && x.n.inList() && (c == ',' || c == ';'): // [red, blue] are two
		return false
	case c == ',' || c == ';':
		some, known := x.memberAhead(i+1, x.n.Stack)
		return !some || x.n.Flags&sBare == 0 && !known && !x.stringAhead(x.blank(i+1))
	case scan.IsCloser(int(c)):
		return !x.closesAhead(i, x.n.Stack)
	case c == '<' || c == '[':
		return !x.mark(i) && x.ownQuote(i) == 0
	}
	return true
}

// quotes are the signs that may close strings.
var quotes = []string{`"`, "'", "`", "”", "“", "’", "‘", "«", "»", "「", "」"}

// quoteAt returns the length of the quotation mark at offset i, or 0 if there is none.
func (g *look) quoteAt(i int) int {
	for _, q := range quotes {
		if g.has(i, q) {
			return len(q)
		}
	}
	return 0
}

// otherEnd reports whether the quotation mark at offset i may close the string, although it is not
// the string's own. The text after it must look like the text after a string.
func (x *stringReader) otherEnd(i int) bool {
	size := x.quoteAt(i)
	return size > 0 && x.n.Flags&sBare == 0 && x.likelyEnd(i+size, x.n.Stack) == 2
}

// otherQuote adds the reading in which the string ends at a quotation mark that is not its own.
func (x *stringReader) otherQuote() {
	if strings.HasPrefix(x.text[x.i:], x.d.close) {
		return
	}
	if size := x.quoteAt(x.i); size > 0 && x.otherEnd(x.i) {
		to := x.n.behind(x.i + size)
		// rather it ends a quotation of the text, or it is unclear which of them is a quote
		if x.text[x.i] == '"' && (x.n.Out.quotes()+strings.Count(x.run, `"`))%2 != 0 ||
			x.d.open[0] >= 0x80 {
			to.Flags |= unsure
		}
		x.step(slip, to, x.run, `"`)
	} else if x.has(x.i, `\"`) && x.likelyEnd(x.i+2, x.n.Stack) == 2 {
		to := x.n.behind(x.i + 2)
		if (x.n.Out.quotes()+strings.Count(x.run, `"`))%2 != 0 {
			to.Flags |= unsure // it ends a quotation, and the string's own quote is missing
		}
		x.step(slip, to, x.run, `"`)
	}
}

// quote reads the string's own quotation mark. It adds two readings to the search: the mark ends
// the string, or it is text.
func (x *stringReader) quote() {
	behind := x.i + len(x.d.close)
	end := x.likelyEnd(behind, x.n.Stack)
	cost := pick(x.n.Flags&sLone != 0, odd, 0)
	x.joined(behind)
	to := x.n.behind(behind)
	if x.n.Flags&sLone != 0 && x.n.Flags&sDirty != 0 && x.n.inList() {
		to.Flags |= unsure // a quote inside may be the border of two elements
	}
	if x.n.Flags&(sRaw|sMixed) != 0 && x.n.Flags&sPath == 0 && x.i > 0 && x.text[x.i-1] == '\\' {
		to.Flags |= unsure // it may escape the quote
	}
	x.step(cost, to, x.run, `"`)
	if x.d.raw {
		return
	}
	// two quotes for one; three are a delimiter
	if end == 0 && x.d.close == `"` && x.has(behind, `"`) && (x.i == 0 || x.text[x.i-1] != '"') {
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
		to.Flags |= unsure // a writer who escapes quotes escapes all, so this is rather the end
	}
	if x.run != "" && scan.IsDigit(x.run[len(x.run)-1]) { // inches
		to.Flags &^= sLone
	}
	// 'a' and 'b'
	between := x.n.Flags&sLone != 0 && strings.HasPrefix(x.run, " ") &&
		strings.HasSuffix(x.run, " ")
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

// innerQuote returns the cost of reading a quotation mark as text. The parameter behind is the
// offset after the mark, and end is likelyEnd's result there. The first such mark must open a
// quotation, so a blank or a sign must precede it and a letter follow it. If it can only end one,
// the cost is above Most, so the mark ends the string. After a digit a mark may mean inches.
func (x *stringReader) innerQuote(behind, end int) int {
	cost := [3]int{0, habit, slip}[end]
	if x.n.Flags&sDirty == 0 {
		cost = [3]int{likely, slip + small, 2 * slip}[end]
		before, next := x.at(x.i-1), x.at(behind)
		switch follows := scan.IsWord(next) || next >= 0x80; {
		// its partner is escaped, this one is not
		case x.n.Flags&sPlain != 0 && x.n.Flags&sLone != 0:
			cost = min(cost, [3]int{slip, slip, slip + small}[end])
		case x.run != "" && scan.IsWord(before) && follows && x.text[x.i] == '\'': // don't
		case x.run == "", (scan.IsWord(before) || before >= 0x80) && follows:
			cost = slip + small
		case scan.IsWord(before) || before >= 0x80 || next <= ' ' ||
			strings.IndexByte(",;:", byte(next)) >= 0:
			cost = Most + 1 // it ends a quotation without a beginning
		}
	}
	if x.i > 0 && x.text[x.i-1] == '\\' && !x.d.raw && x.n.Flags&sRaw == 0 { // rather escaped twice
		cost = Most + 1
	}
	if x.run != "" && scan.IsDigit(x.run[len(x.run)-1]) && end != 1 { // inches
		cost = likely
	}
	return cost
}

// joined adds to the search the reading in which a string at offset i continues the string before
// it. The string must follow a plus sign or, in Python, may follow directly. Programs break long
// texts in the form "x" + "y". If a key follows the plus sign, the sign probably replaces a comma.
func (x *stringReader) joined(i int) {
	k := x.blank(i)
	cost := small
	switch {
	case x.at(k) == '+':
		if k = x.blank(k + 1); x.n.Stack != nil {
			if x.n.Stack.Kind != anObject && x.n.Stack.Kind != aCall {
				cost = slip // perhaps a comma
			}
			if key, _ := x.keyAhead(k); key != "" && x.quoteAt(k+x.quoteAt(k)+len(key)) > 0 {
				cost = 2 * slip // rather a comma
			}
		}
	case !x.python:
		return
	case x.n.Stack != nil && x.n.Stack.Kind != aCall:
		cost = slip // perhaps a comma is missing
	default:
		cost = 0
	}
	for kind := range x.delims {
		if d := &x.delims[kind]; x.has(k, d.open) {
			to := x.n.stay(k + len(d.open))
			to.Flags = to.Flags&^uint64(sDelim) | uint64(kind)<<48
			if k == i || cost == slip {
				to.Flags |= unsure // perhaps doubled quotes, or a missing comma
			}
			x.step(cost, to, x.run)
		}
	}
}
