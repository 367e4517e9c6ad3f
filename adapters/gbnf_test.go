package adapters

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/internal/test/must"
)

// gbnf is a grammar as llama.cpp reads it: enough of the notation to check texts with it and to
// make some.
type gbnf struct {
	rules  map[string]*gbnfNode
	height map[*gbnfNode]int // of the smallest tree below a node
}

// gbnfNode is one expression. kind: 'c' a class, 'q' a sequence, 'a' alternatives, 'r' a
// repetition, 'n' a rule.
type gbnfNode struct {
	kind      byte
	text      string
	not       bool
	ranges    []rune
	kids      []*gbnfNode
	low, high int
}

// parseGBNF reads a grammar; a rule that is not there, written twice or left-recursive is an error.
func parseGBNF(src string) (g *gbnf, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	g = &gbnf{rules: map[string]*gbnfNode{}, height: map[*gbnfNode]int{}}
	for line := range strings.Lines(src) {
		name, body, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ::= ")
		if !ok || g.rules[name] != nil || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			panic("bad rule: " + line)
		}
		p := &gbnfParser{src: body}
		g.rules[name] = p.alternatives()
		if p.src != "" {
			panic("what is this? " + p.src + " in " + line)
		}
	}
	if g.rules["root"] == nil {
		panic("no root")
	}
	for name, n := range g.rules {
		g.check(n)
		if g.leads(n, name, map[string]bool{}) {
			panic(name + " is left-recursive")
		}
	}
	g.measure()
	return g, nil
}

type gbnfParser struct{ src string }

func (p *gbnfParser) alternatives() *gbnfNode {
	n := &gbnfNode{kind: 'a', kids: []*gbnfNode{p.sequence()}}
	for strings.HasPrefix(p.src, "|") {
		p.src = strings.TrimLeft(p.src[1:], " ")
		n.kids = append(n.kids, p.sequence())
	}
	return n
}

func (p *gbnfParser) sequence() *gbnfNode {
	n := &gbnfNode{kind: 'q'}
	for p.src != "" && p.src[0] != '|' && p.src[0] != ')' {
		n.kids = append(n.kids, p.repeated(p.item()))
		p.src = strings.TrimLeft(p.src, " ")
	}
	return n
}

func (p *gbnfParser) item() *gbnfNode {
	switch c := p.src[0]; {
	case c == '(':
		p.src = strings.TrimLeft(p.src[1:], " ")
		n := p.alternatives()
		if !strings.HasPrefix(p.src, ")") {
			panic("no closing parenthesis: " + p.src)
		}
		p.src = p.src[1:]
		return n
	case c == '"':
		p.src = p.src[1:]
		text := &gbnfNode{kind: 'q'}
		for p.src[0] != '"' {
			c := p.char()
			text.kids = append(text.kids, &gbnfNode{kind: 'c', ranges: []rune{c, c}})
		}
		p.src = p.src[1:]
		return text
	case c == '[':
		return p.class()
	}
	end := strings.IndexFunc(p.src, func(r rune) bool { return r != '-' && (r > 0x7f || r == '_' || !scan.IsWord(int(r))) })
	if end < 0 {
		end = len(p.src)
	}
	n := &gbnfNode{kind: 'n', text: p.src[:end]}
	if end == 0 {
		panic("what is this? " + p.src)
	}
	p.src = p.src[end:]
	return n
}

func (p *gbnfParser) class() *gbnfNode {
	n := &gbnfNode{kind: 'c'}
	p.src = p.src[1:]
	if n.not = p.src[0] == '^'; n.not {
		p.src = p.src[1:]
	}
	for p.src[0] != ']' {
		low := p.char()
		high := low
		if p.src[0] == '-' && p.src[1] != ']' {
			p.src = p.src[1:]
			high = p.char()
		}
		n.ranges = append(n.ranges, low, high)
	}
	p.src = p.src[1:]
	return n
}

func (p *gbnfParser) char() rune {
	if p.src[0] != '\\' {
		r, n := utf8.DecodeRuneInString(p.src)
		p.src = p.src[n:]
		return r
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[p.src[1]]
	if size == 0 {
		c, ok := map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '"': '"', '[': '[', ']': ']'}[p.src[1]]
		if !ok {
			panic("unknown escape: " + p.src)
		}
		p.src = p.src[2:]
		return c
	}
	v, err := strconv.ParseUint(p.src[2:2+size], 16, 32)
	if err != nil {
		panic(err)
	}
	p.src = p.src[2+size:]
	return rune(v)
}

func (p *gbnfParser) repeated(n *gbnfNode) *gbnfNode {
	if p.src == "" {
		return n
	}
	low, high := 0, -1
	switch p.src[0] {
	case '*':
	case '+':
		low = 1
	case '?':
		high = 1
	case '{':
		inside, rest, _ := strings.Cut(p.src[1:], "}")
		from, to, comma := strings.Cut(inside, ",")
		low, _ = strconv.Atoi(from)
		if !comma {
			high = low
		} else if to != "" {
			high, _ = strconv.Atoi(to)
		}
		if max(low, high) > 2000 {
			panic("too many repetitions: " + inside)
		}
		p.src = "}" + rest
	default:
		return n
	}
	p.src = p.src[1:]
	return &gbnfNode{kind: 'r', kids: []*gbnfNode{n}, low: low, high: high}
}

func (g *gbnf) check(n *gbnfNode) {
	if n.kind == 'n' && g.rules[n.text] == nil {
		panic("no rule " + n.text)
	}
	for _, kid := range n.kids {
		g.check(kid)
	}
}

// leads says whether a node can come to the rule before anything is read.
func (g *gbnf) leads(n *gbnfNode, rule string, seen map[string]bool) bool {
	switch n.kind {
	case 'n':
		if n.text == rule {
			return true
		}
		if seen[n.text] {
			return false
		}
		seen[n.text] = true
		return g.leads(g.rules[n.text], rule, seen)
	case 'q':
		for _, kid := range n.kids {
			if g.leads(kid, rule, seen) {
				return true
			}
			if !g.empty(kid, map[string]bool{}) {
				return false
			}
		}
		return false
	}
	return slices.ContainsFunc(n.kids, func(kid *gbnfNode) bool { return g.leads(kid, rule, seen) })
}

func (g *gbnf) empty(n *gbnfNode, seen map[string]bool) bool {
	switch n.kind {
	case 'c':
		return false
	case 'r':
		return n.low == 0 || g.empty(n.kids[0], seen)
	case 'n':
		if seen[n.text] {
			return false
		}
		seen[n.text] = true
		return g.empty(g.rules[n.text], seen)
	case 'a':
		return slices.ContainsFunc(n.kids, func(kid *gbnfNode) bool { return g.empty(kid, seen) })
	}
	return !slices.ContainsFunc(n.kids, func(kid *gbnfNode) bool { return !g.empty(kid, seen) })
}

const endless = 1 << 20

// measure finds the height of every node.
func (g *gbnf) measure() {
	for changed := true; changed; {
		changed = false
		var visit func(n *gbnfNode) int
		visit = func(n *gbnfNode) int {
			h := 0
			switch n.kind {
			case 'n':
				h = endless
				if known, ok := g.height[g.rules[n.text]]; ok {
					h = known + 1
				}
			case 'a':
				h = endless
				for _, kid := range n.kids {
					h = min(h, visit(kid))
				}
			default:
				for _, kid := range n.kids {
					k := visit(kid)
					if n.kind == 'q' || n.low > 0 {
						h = max(h, k)
					}
				}
			}
			if old, ok := g.height[n]; !ok || h < old {
				g.height[n], changed = h, true
			}
			return g.height[n]
		}
		for _, n := range g.rules {
			visit(n)
		}
	}
}

// accepts says whether the grammar has the text, and how far it could be read. It keeps the stacks
// that may be, as the server does, so time is linear.
func (g *gbnf) accepts(text string) (bool, int) {
	m := &gbnfMatcher{g: g, frames: map[gbnfFrame]*gbnfFrame{}, rest: map[*gbnfNode]*gbnfNode{}}
	now := m.open([]*gbnfFrame{m.push(g.rules["root"], nil)})
	for i, r := range text {
		var next []*gbnfFrame
		for _, f := range now {
			if f != nil && f.n.has(r) {
				next = append(next, f.next)
			}
		}
		if now = m.open(next); len(now) == 0 {
			return false, i
		}
	}
	return slices.Contains(now, nil), len(text)
}

// gbnfFrame is a stack: what must be matched next, and then.
type gbnfFrame struct {
	n    *gbnfNode
	next *gbnfFrame
}

type gbnfMatcher struct {
	g      *gbnf
	frames map[gbnfFrame]*gbnfFrame
	rest   map[*gbnfNode]*gbnfNode // a repetition after one time more
}

func (m *gbnfMatcher) push(n *gbnfNode, next *gbnfFrame) *gbnfFrame {
	key := gbnfFrame{n, next}
	if m.frames[key] == nil {
		m.frames[key] = &gbnfFrame{n, next}
	}
	return m.frames[key]
}

// open gives the stacks with a class on top, and nil for one at its end.
func (m *gbnfMatcher) open(todo []*gbnfFrame) (out []*gbnfFrame) {
	seen := map[*gbnfFrame]bool{}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[f] {
			continue
		}
		seen[f] = true
		if f == nil || f.n.kind == 'c' {
			out = append(out, f)
			continue
		}
		switch n := f.n; n.kind {
		case 'n':
			todo = append(todo, m.push(m.g.rules[n.text], f.next))
		case 'a':
			for _, kid := range n.kids {
				todo = append(todo, m.push(kid, f.next))
			}
		case 'q':
			next := f.next
			for i := len(n.kids) - 1; i >= 0; i-- {
				next = m.push(n.kids[i], next)
			}
			todo = append(todo, next)
		case 'r':
			if n.low == 0 {
				todo = append(todo, f.next)
			}
			if n.high != 0 {
				todo = append(todo, m.push(n.kids[0], m.push(m.less(n), f.next)))
			}
		}
	}
	return out
}

func (m *gbnfMatcher) less(n *gbnfNode) *gbnfNode {
	if n.high < 0 && n.low == 0 {
		return n
	}
	if m.rest[n] == nil {
		m.rest[n] = &gbnfNode{kind: 'r', kids: n.kids, low: max(n.low-1, 0), high: max(n.high-1, min(n.high, 0))}
	}
	return m.rest[n]
}

func (n *gbnfNode) has(r rune) bool {
	for i := 0; i < len(n.ranges); i += 2 {
		if n.ranges[i] <= r && r <= n.ranges[i+1] {
			return !n.not
		}
	}
	return n.not
}

// palette are the characters that random texts are made of where anything may stand: those that
// mean something, mostly.
var palette = []rune("abcxyzABC 0123456789._-+/\\\"'`<>{}[]()|:;,=!?#&$%\n\té한🙂<>{}\"'\\")

// random makes a text of the grammar. Past the budget the shortest way out is taken.
func (g *gbnf) random(r *rand.Rand) string {
	var b strings.Builder
	budget := 300
	var write func(n *gbnfNode)
	write = func(n *gbnfNode) {
		budget--
		switch n.kind {
		case 'c':
			b.WriteRune(n.pick(r))
		case 'n':
			write(g.rules[n.text])
		case 'q':
			for _, kid := range n.kids {
				write(kid)
			}
		case 'a':
			kid := n.kids[r.Intn(len(n.kids))]
			for _, other := range n.kids {
				if budget < 0 && g.height[other] < g.height[kid] {
					kid = other
				}
			}
			write(kid)
		case 'r':
			times := n.low
			if more := n.high - n.low; budget > 0 && more != 0 {
				if n.high < 0 {
					more = 6
				}
				times += r.Intn(min(more, 12) + 1)
			}
			for range times {
				write(n.kids[0])
			}
		}
	}
	write(g.rules["root"])
	return b.String()
}

// pick is a random character of a class.
func (n *gbnfNode) pick(r *rand.Rand) rune {
	for range 20 {
		if c := palette[r.Intn(len(palette))]; n.has(c) {
			return c
		}
	}
	if n.not {
		return 'q'
	}
	i := r.Intn(len(n.ranges)/2) * 2
	return n.ranges[i] + rune(r.Int63n(int64(min(n.ranges[i+1]-n.ranges[i], 200))+1))
}

func TestTheMatcherOfGrammars(t *testing.T) {
	g, err := parseGBNF("root ::= \"a\" x{1,2} (\"b\" | [^a-c\\x5D])? y*\nx ::= [0-9] | \"-\" x\ny ::= \"\\n\" | \"\\\"\"\n")
	must.OK(t, err)
	for text, want := range map[string]bool{"a1": true, "a12b": true, "a--1d\n\"": true, "a": false, "a123": true, "a1]": false, "a1bb": false, "a1b\n": true} {
		if got, _ := g.accepts(text); got != want {
			t.Errorf("accepts(%q) = %v", text, got)
		}
	}
	for _, bad := range []string{"root ::= x\n", "root ::= root \"a\"\n", "root ::= \"\\q\"\n", "a ::= \"b\"\n", "root ::= \"a\"{1,2001}\n"} {
		if _, err := parseGBNF(bad); err == nil {
			t.Errorf("parseGBNF(%q): no error", bad)
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 100 {
		if text := g.random(r); !first(g.accepts(text)) {
			t.Errorf("random text %q is not accepted", text)
		}
	}
}

func first(ok bool, _ int) bool { return ok }
