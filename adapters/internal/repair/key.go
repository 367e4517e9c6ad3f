package repair

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// key reads the key of a member, or the closer of an object that has none.
// An object that is empty has a closer here, and nothing else does.
// What begins no key is passed at a price.
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
	case c == '{' || c == '[', c == '(' && call && g.named(g.blank(n.Pos+1), n.Stack):
		s.Go(n, slip, keep(n, n.Pos+1))
		return
	case scan.IsQuote(c) && g.space(n.Pos+1) > n.Pos+1 && (g.stringAhead(g.space(n.Pos+1)) || call && g.named(g.space(n.Pos+1), n.Stack)):
		s.Go(n, likely, keep(n, n.Pos+1))
	}
	if g.has(n.Pos, "...") {
		s.Go(n, small, keep(n, n.Pos+3))
	}
	if !call {
		g.junkWord(s, n)
	}
	g.keys(s, n)
	if call && n.Mode != modeColon {
		g.byPosition(s, n)
	}
}

// named reports whether a key that the container knows, or one around it, stands at i.
func (g *Args) named(i int, l *Level) bool {
	key, _ := g.keyAhead(i)
	return key != "" && knows(l, key)
}

// byPosition reads an argument without a name: it is the parameter at its place.
// f("Oslo", 3) takes the parameters in the order of the schema, the required ones first.
// That is the order in which the template has shown them.
func (g *Args) byPosition(s *Search, n *Node) {
	all := typeOf(n.Stack.Want).Members()
	at := int(n.Flags&positionAll) / position
	if key, quoted := g.keyAhead(n.Pos); at >= len(all) || key != "" && !quoted {
		return
	}
	to := keep(n, n.Pos)
	to.Mode, to.Want = modeValue, typeOf(n.Stack.Want).Prop(all[at])
	cost := 0
	if n.Flags&withNames != 0 { // behind one that has a name none goes by its place
		cost = 2 * slip
		to.Flags |= unsure
	}
	s.Go(n, cost, to, schema.Quote(all[at])+":")
}

// keys offers the keys that begin here: quoted as they should be, in other quotes, with one of them missing or doubled, bare.
func (g *Args) keys(s *Search, n *Node) {
	if n.Mode == modeKey && n.Stack.Up != nil && g.has(n.Pos, `\"`) && !typeOf(n.Stack.Want).Known() && !g.escaped() {
		m := *n
		m.Flags |= unsure // a text that has lost its quotes, perhaps
		n = &m
	}
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
			if !d.own(g.Python) {
				cost = g.habit(&to, habitQuotes)
			}
			behind := from + end + len(d.close)
			if name, ok := strings.CutSuffix(rest[:end], ":"); ok { // "path:" "a.txt"
				if g.colon(g.blank(behind)) == 0 {
					to.Flags |= colonRead
				}
				g.member(s, n, to, behind, slip, name)
				continue
			}
			g.member(s, n, to, behind, cost, rest[:end])
		}
	}
	g.oddKeys(s, n)
}

// oddKeys offers the keys that begin here without their quotes, with one of them, or with two of different kinds.
func (g *Args) oddKeys(s *Search, n *Node) {
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
		g.member(s, n, n.Place, end+closer, slip, word)
	case open > 0: // "days: 3
		if g.colon(g.blank(end)) > 0 {
			g.member(s, n, n.Place, end, slip, word)
		}
	case closer > 0: // days": 3
		g.member(s, n, n.Place, end+closer, slip, word)
		if n.Stack.Kind == aCall { // query"x"
			g.member(s, n, n.Place, end, 0, word)
		}
	default:
		to := n.Place
		cost := 0
		if g.Quotes == nil && n.Stack.Kind != aCall {
			cost = g.habit(&to, habitKeys)
		}
		g.member(s, n, to, end, cost, word)
		for _, name := range typeOf(n.Stack.Want).Members() { // days3
			if strings.HasPrefix(word, name) && word != name && !scan.IsLetter(word[len(name)]) {
				g.member(s, n, to, from+len(name), cost, name)
			}
		}
	}
}

// inName reports whether the byte at i can stand in a key without quotes.
func (g *Args) inName(i int) bool {
	c := g.at(i)
	return scan.IsWord(c) || c == '-' || c == '.' || c == '$' || c >= 0x80 && g.quoteAt(i) == 0 && g.colon(i) == 0 || c == ' ' && g.Quotes != nil
}

// member goes on behind a key.
// A key that the schema does not list is possible and unlikely; one with a sign of structure in it is none.
// Spelled otherwise it is the same parameter, which is found later.
func (g *Args) member(s *Search, n *Node, to Place, end, cost int, key string) {
	t := typeOf(n.Stack.Want)
	key = strings.TrimSpace(key)
	if strings.ContainsAny(key, "'`“”‘’„：，") && !t.Has(key) {
		return
	}
	if key != "" && strings.IndexByte("-#/.", key[0]) >= 0 && !t.Has(key) {
		return // a comment
	}
	if strings.ContainsAny(key, "\"\n;<>[]{}|`\\") || strings.TrimRight(key, ":, ") != key || key == "" {
		return
	}
	if len(t.Members()) > 0 && !t.Has(key) {
		cost += pick(alike(t, key), small, strange)
		if !alike(t, key) {
			to.Flags |= unsure // what is damaged may be the key
		}
	}
	to.Pos, to.Mode, to.Want = end, modeColon, t.Prop(key)
	if n.Stack.Kind == aCall {
		to.Flags |= withNames
	}
	to.Flags &^= line | empty
	s.Go(n, cost, to, string(chat.AppendQuoted(nil, key)))
}

// alike reports whether a member of t is spelled as the key, but for case and separators.
func alike(t *schema.Type, key string) bool {
	letters := strings.NewReplacer("_", "", "-", "")
	return slices.ContainsFunc(t.Members(), func(name string) bool { return strings.EqualFold(letters.Replace(name), letters.Replace(key)) })
}
