package repair

import (
	"strings"

	"toolnorm/adapters/internal/scan"
)

// backslash reads a backslash in a string. At the first one the search branches into three ways to
// read all backslashes of the string: as escapes of JSON, as text, or as escapes where they are
// valid and as text elsewhere.
func (x *stringReader) backslash() {
	if x.d.raw {
		x.step(0, x.n.stay(x.i+1), x.run, `\\`)
		return
	}
	if x.n.Flags&sEscaped == 0 {
		path := drive(x.text, x.i)
		for _, way := range [...]struct {
			flags uint64
			cost  int
		}{{sEscaped, pick(path, slip, 0)}, {sEscaped | sRaw, pick(path, trifle, slip)},
			{sEscaped | sMixed, pick(path, 2*slip, slip)}} {
			to := x.n.stay(x.i)
			to.Flags |= way.flags
			if path {
				to.Flags |= sPath
			}
			x.step(way.cost, to, x.run)
		}
		return
	}
	x.escape()
}

// escape reads a backslash in a string. How it does so depends on what the function backslash has
// chosen for this reading: an escape of JSON, or text.
func (x *stringReader) escape() {
	if x.n.Flags&sBare != 0 && x.ownQuotes {
		x.n.Flags |= unsure // there are no escapes in the family's own quotes
	}
	c := x.at(x.i + 1)
	lower := c2(x.at(x.i + 2))
	switch {
	case x.d.open == `\"`:
		x.escapedTwice()
	case c == '"' || c == '\'' && x.d.open[0] == '\'':
		x.escapedQuote()
	case x.n.Flags&sRaw != 0:
		x.rawBackslash(c, lower)
	case c == '\\':
		to := x.n.stay(x.i + 2)
		if x.at(x.i+2) == '"' && x.d.open != `"` {
			to.Flags |= unsure // perhaps an escaped quote
		}
		if x.n.Flags&sMixed != 0 {
			to.Flags |= unsure // some backslashes are doubled, others are not
		}
		x.step(0, to, x.run, `\\`)
		if x.at(x.i+2) == '"' {
			// \\" for \"
			to := x.quoted(3)
			cost := to.habit(habitOver) + to.first(sOver, trifle+pick(x.n.Flags&sPlain != 0, odd,
				0))
			x.step(cost+pick(x.n.Flags&sMixed != 0, slip, 0), to, x.run, `\"`)
		}
	case c == '/' || c >= 0 && strings.IndexByte("bfnrt", byte(c)) >= 0:
		cost := 0
		if x.n.Flags&sMixed != 0 && lower {
			cost = pick(c == 'b' || c == 'f', odd, 3)
		}
		x.step(cost, x.n.stay(x.i+2), x.run, x.text[x.i:x.i+2])
	case c == 'u' && x.i+6 <= len(x.text) && scan.IsHex(x.at(x.i+2)) && scan.IsHex(x.at(x.i+3)) &&
		scan.IsHex(x.at(x.i+4)) && scan.IsHex(x.at(x.i+5)):
		x.step(0, x.n.stay(x.i+6), x.run, x.text[x.i:x.i+6])
	case c == '\'' || c == '`':
		x.step(trifle, x.n.stay(x.i+2), x.run, x.text[x.i+1:x.i+2])
	case x.python && c == '\n':
		x.step(0, x.n.stay(x.i+2), x.run)
	case c == 'x' && scan.IsHex(x.at(x.i+2)) && scan.IsHex(x.at(x.i+3)):
		x.byteEscape()
	case x.n.Flags&sMixed != 0:
		x.step(0, x.n.stay(x.i+1), x.run, `\\`)
		if !x.python && c < 0x80 && (c == '_' || !scan.IsWord(c)) { // "\ " for a blank
			x.step(0, x.n.stay(x.i+1), x.run)
		}
	}
}

// rawBackslash reads a backslash that has no special meaning in its string. The parameter c is the
// byte after it, and lower says whether a small letter follows c. A backslash before n, r or t
// costs more, because it is more likely an escape.
func (x *stringReader) rawBackslash(c int, lower bool) {
	cost := 0
	if c >= 0 && strings.IndexByte("nrt", byte(c)) >= 0 && !lower {
		cost = 3 // rather a line break
	} else if c == '\\' {
		cost = small
	}
	to := x.n.stay(x.i + 1)
	if c == '\\' {
		to.Flags |= unsure // perhaps doubled
	}
	x.step(cost, to, x.run, `\\`)
}

// byteEscape reads the escape \xXX, which JSON does not have, as the character with that number. In
// Python that is right. Elsewhere it is probable for letters from \xa0 on, as in S\xe3o, unless
// another \x follows, as in bytes of UTF-8. In all other cases the escape may be part of a pattern
// or of a program, so the reading is marked as unsure.
func (x *stringReader) byteEscape() {
	hex := x.text[x.i+2 : x.i+4]
	letter := hex >= "A" && hex[0] != '8' && hex[0] != '9' && !x.has(x.i+4, `\x`)
	to := x.n.stay(x.i + 4)
	if !x.python && !letter {
		to.Flags |= unsure
	}
	x.step(pick(x.python, 0, trifle), to, x.run, `\u00`+hex)
}

// quoted returns the state after a quotation mark of size bytes that is part of the string's text.
// The state says whether a quotation inside the text is open. After a digit the mark means inches,
// or ends a quotation, so none is open then.
func (x *stringReader) quoted(size int) Place {
	to := x.n.stay(x.i + size)
	if to.Flags ^= sLone; x.i > 0 && scan.IsDigit(x.text[x.i-1]) {
		to.Flags &^= sLone
	}
	return to
}

// escapedQuote reads an escaped quotation mark as part of the text. In a path that ends with a
// backslash, "C:\dir\", the closing mark looks escaped. So if the text after the mark can follow a
// string, a reading in which the string ends there is added to the search as well.
func (x *stringReader) escapedQuote() {
	text, to := x.text[x.i:x.i+2], x.quoted(2)
	if text == `\'` {
		text, to = `'`, x.n.stay(x.i+2)
	}
	to.Flags |= sPlain
	if x.n.Flags&sTwo != 0 || x.n.Flags&sDirty != 0 && x.d.close == `"` && x.n.inList() {
		to.Flags |= unsure // a writer who escapes quotes escapes all quotes of a text
	}
	cost := 0
	if to.Flags&sOver != 0 {
		cost = small
	}
	if x.n.Flags&sRaw != 0 && x.likelyEnd(x.i+2, x.n.Stack) == 2 {
		cost += small
		to := x.n.behind(x.i + 2)
		if x.n.Flags&sPath == 0 {
			to.Flags |= unsure // the quote may be escaped
		}
		x.step(0, to, x.run, `\\"`)
	}
	x.step(cost, to, x.run, text)
}

// escapedTwice reads a backslash in a string whose quotation marks are \". In such a string escapes
// are doubled, because the whole object was escaped as if it were in a string. One level of escapes
// is removed.
func (x *stringReader) escapedTwice() {
	switch {
	case x.has(x.i, `\\\"`):
		x.step(0, x.n.stay(x.i+4), x.run, `\"`)
	case x.has(x.i, `\\`) && x.at(x.i+2) >= 0 && x.at(x.i+2) != '\\':
		to := x.n.stay(x.i + 3)
		if c := x.text[x.i+2]; !x.around && c != '"' ||
			scan.IsLetter(c) && (strings.Count(x.text, `"`) != strings.Count(x.text, `\"`) ||
				strings.IndexByte("bfnrtu", c) < 0) {
			to.Flags |= unsure // other parts are not escaped twice
		}
		x.step(0, to, x.run, x.text[x.i+1:x.i+3])
	case x.has(x.i, `\\\\`):
		to := x.n.stay(x.i + 4)
		if !x.around {
			to.Flags |= unsure // perhaps correct already
		}
		x.step(0, to, x.run, `\\`)
	case x.at(x.i+1) >= 0 && strings.IndexByte("nrtbf", byte(x.at(x.i+1))) >= 0:
		x.step(0, x.n.stay(x.i+2), x.run, x.text[x.i:x.i+2])
	}
}

// drive reports whether the backslash at offset i follows a drive letter at the beginning of a
// string, as in "C:\new". It is false for a doubled backslash. The \n of this path is a valid
// escape too, so only the drive letter shows that it is a path.
func drive(text string, i int) bool {
	return i >= 3 && text[i-1] == ':' && scan.IsLetter(text[i-2]) && scan.IsQuote(int(text[i-3])) &&
		i+1 < len(text) && (scan.IsWord(int(text[i+1])) || text[i+1] == '.')
}

// c2 reports whether c, the second byte after a backslash, is a small letter.
func c2(c int) bool { return c >= 'a' && c <= 'z' }

// pick returns a if the condition is true, and b otherwise.
func pick(cond bool, a, b int) int {
	if cond {
		return a
	}
	return b
}
