package repair

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// keyReader reads the key of the next member in an object, or the end of the object.
type keyReader struct{ here }

// read reads the key of a member, or the closing bracket of an empty object. A reading that skips a
// sign which cannot begin a key, such as a second comma, costs more.
func (x *keyReader) read() {
	c := x.at(x.n.Pos)
	call := x.n.Stack.Kind == aCall
	switch {
	case x.over(x.n.Pos):
		if x.n.Mode == modeKey && !call {
			x.n.pop(x.s, 0, slip)
		}
		return
	case x.n.Mode == modeKey && closes(x.n.Stack, c):
		x.n.pop(x.s, 1, 0)
		return
	case x.n.Mode == modeKey && scan.IsCloser(c):
		x.n.pop(x.s, 1, slip)
		return
	case c == ',' || c == ';':
		x.step(habit, keep(x.n, x.n.Pos+1))
		return
	case c == '{' || c == '[', c == '(' && call && x.knows(x.blank(x.n.Pos+1), x.n.Stack):
		x.step(slip, keep(x.n, x.n.Pos+1))
		return
	case scan.IsQuote(c) && x.space(x.n.Pos+1) > x.n.Pos+1 &&
		(x.stringAhead(x.space(x.n.Pos+1)) || call && x.knows(x.space(x.n.Pos+1), x.n.Stack)):
		x.step(likely, keep(x.n, x.n.Pos+1))
	}
	if x.has(x.n.Pos, "...") {
		x.step(small, keep(x.n, x.n.Pos+3))
	}
	if !call {
		x.junkWord()
	}
	x.keys()
	if call && x.n.Mode != modeColon {
		x.byPosition()
	}
}

// knows reports whether a key is at offset i, and the schema of the container, or of a container
// around it, has that key.
func (g *look) knows(i int, l *Level) bool {
	key, _ := g.keyAhead(i)
	return key != "" && knows(l, key)
}

// byPosition reads an argument without a name as the parameter at its position, as in f("Oslo", 3).
// The order of parameters is that of the schema, the required ones first, as in the prompt.
func (x *keyReader) byPosition() {
	all := typeOf(x.n.Stack.Want).Members()
	at := int(x.n.Flags&positionAll) / position
	if key, quoted := x.keyAhead(x.n.Pos); at >= len(all) || key != "" && !quoted {
		return
	}
	to := keep(x.n, x.n.Pos)
	to.Mode, to.Want = modeValue, typeOf(x.n.Stack.Want).Prop(all[at])
	cost := 0
	if x.n.Flags&withNames != 0 { // after a named argument there are no positional ones
		cost = 2 * slip
		to.Flags |= unsure
	}
	x.step(cost, to, schema.Quote(all[at])+":")
}

// keys adds to the search the keys that may begin at the current place: correctly quoted, in other
// quotation marks, with one mark missing or doubled, or without marks.
func (x *keyReader) keys() {
	if x.n.Mode == modeKey && x.n.Stack.Up != nil && x.has(x.n.Pos, `\"`) &&
		!typeOf(x.n.Stack.Want).Known() && !x.escaped() {
		m := *x.n
		m.Flags |= unsure // perhaps a text that has lost its quotes
		x = &keyReader{here{x.look, x.s, &m}}
	}
	for k := range x.delims {
		d := &x.delims[k]
		if !x.has(x.n.Pos, d.open) || len(d.open) == 3 && d.open[0] == d.open[1] {
			continue
		}
		from := x.n.Pos + len(d.open)
		rest := x.text[from:min(from+maxKey, len(x.text))]
		if end := strings.Index(rest, d.close); end > 0 {
			to := x.n.Place
			cost := 0
			if !d.own(x.python) {
				cost = to.habit(habitQuotes)
			}
			behind := from + end + len(d.close)
			if name, ok := strings.CutSuffix(rest[:end], ":"); ok { // "path:" "a.txt"
				if x.colon(x.blank(behind)) == 0 {
					to.Flags |= colonRead
				}
				x.named(to, behind, slip, name)
				continue
			}
			x.named(to, behind, cost, rest[:end])
		}
	}
	x.oddKeys()
}

// oddKeys adds to the search the keys that may begin at the current place without quotation marks,
// with only one, or with two of different kinds.
func (x *keyReader) oddKeys() {
	open := x.quoteAt(x.n.Pos)
	from := x.n.Pos + open
	if open > 0 && x.has(from, x.text[x.n.Pos:from]) { // doubled
		x.step(likely, keep(x.n, from))
		return
	}
	if x.has(x.n.Pos, `\"`) && x.at(x.n.Pos+2) != '\\' {
		x.step(slip, keep(x.n, x.n.Pos+1))
	}
	end := from
	for end < from+maxKey && x.inName(end) {
		end++
	}
	word := x.text[from:end]
	closer := x.quoteAt(end)
	switch {
	case word == "" || open > 0 && closer > 0 && x.text[x.n.Pos:from] == x.text[end:end+closer]:
	case open > 0 && closer > 0: // 'days": 3
		x.named(x.n.Place, end+closer, slip, word)
	case open > 0: // "days: 3
		if x.colon(x.blank(end)) > 0 {
			x.named(x.halfKey(word), end, slip, word)
		}
	case closer > 0: // days": 3
		x.named(x.halfKey(word), end+closer, slip, word)
		if x.n.Stack.Kind == aCall { // query"x"
			x.named(x.n.Place, end, 0, word)
		}
	default:
		to := x.n.Place
		cost := 0
		if !x.ownQuotes && x.n.Stack.Kind != aCall {
			cost = to.habit(habitKeys)
		}
		x.named(to, end, cost, word)
		for _, name := range typeOf(x.n.Stack.Want).Members() { // days3
			if strings.HasPrefix(word, name) && word != name && !scan.IsLetter(word[len(name)]) {
				x.named(to, from+len(name), cost, name)
			}
		}
	}
}

// halfKey returns the state after word, a key that has lost one of its quotation marks. If the
// schema lists no members, a sign at the beginning or end of the key may have replaced that mark.
// The state is then marked as unsure.
func (x *keyReader) halfKey(word string) Place {
	to := x.n.Place
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	sign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '$' }
	if len(typeOf(x.n.Stack.Want).Members()) == 0 && (sign(first) || sign(last)) {
		to.Flags |= unsure
	}
	return to
}

// inName reports whether the byte at offset i can occur in a key without quotation marks.
func (g *look) inName(i int) bool {
	c := g.at(i)
	return scan.IsWord(c) || c == '-' || c == '.' || c == '$' || c >= 0x80 && g.quoteAt(i) == 0 &&
		g.colon(i) == 0 || c == ' ' && g.ownQuotes
}

// named adds to the search the step after a key. A key that the schema does not list costs more,
// unless it differs from a parameter only in case and separators. If the key contains a sign of
// structure, it adds nothing. The parameter to is the state before the key, and end is the offset
// after the key.
func (x *keyReader) named(to Place, end, cost int, key string) {
	t := typeOf(x.n.Stack.Want)
	key = strings.TrimSpace(key)
	if strings.ContainsAny(key, "'`“”‘’„″´：，") && !t.Has(key) {
		return
	}
	if key != "" && strings.IndexByte("-#/.", key[0]) >= 0 && !t.Has(key) {
		return // a comment
	}
	if strings.ContainsAny(key, "\"\n;<>[]{}|`\\") || strings.Trim(key, ":, ") != key || key == "" {
		return
	}
	if len(t.Members()) > 0 && !t.Has(key) {
		cost += pick(alike(t, key), small, strange)
		if !alike(t, key) {
			to.Flags |= unsure // the key may be damaged
		}
	}
	to.Pos, to.Mode, to.Want = end, modeColon, t.Prop(key)
	if x.n.Stack.Kind == aCall {
		to.Flags |= withNames
	}
	to.Flags &^= line | empty
	x.step(cost, to, string(chat.AppendQuoted(nil, key)))
}

// alike reports whether some member of t is named like the key, if upper case, hyphens and
// underscores do not matter.
func alike(t *schema.Type, key string) bool {
	letters := strings.NewReplacer("_", "", "-", "")
	return slices.ContainsFunc(t.Members(), func(name string) bool {
		return strings.EqualFold(letters.Replace(name), letters.Replace(key))
	})
}
