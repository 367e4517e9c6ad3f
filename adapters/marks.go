package adapters

import (
	"slices"
	"strings"
)

// markKind says what a mark means, in the order in which candidates of one key are tried.
type markKind uint8

const (
	thinkOpen markKind = iota
	sectionOpen
	callOpen
	innerOpen
	headerOpen
	textOpen
	resultOpen // what a tool answered, as the family shows it to a model
	noiseMark  // of the configured format: means nothing wherever it stands
	turnMark   // drop and ends
	closeMark
	thinkClose
)

// mark is a key that begins something.
type mark struct {
	key  string
	kind markKind
	p    *pattern // what it begins; for closers the pattern it closes; nil for marks of the turn
	all  literal  // a mark of the turn that has a place for a suffix
	own  bool     // it is one of the family that is read, or the family is not known

	padded literal // the key where blanks may stand in it
}

// special says whether the mark looks like a token of its own rather than like a tag that prose may mention.
func (m *mark) special() bool { return m.key[0] == '[' || m.key[1] == '|' || m.key[1] >= 0x80 }

// view is the index of the marks that are live when one format is read.
type view struct {
	marks  [256][]mark     // by the key's first byte; longest key first, then kind, then the configured format first
	stops  [256]bool       // bytes at which prose is looked at
	second [256]*[256]bool // by the key's first byte: the second bytes that some key has
	own    bool            // while it is built: the marks added now are those of the format that is read
	mine   bool            // and these may be: no family is known

	headless []*pattern // calls whose opening mark is missing: all of the format that is read, of others what names its tool
	header   *pattern   // of messages: of the family that is read, or of any other; nil: none
	formats  []*Family  // whose marks these are, the configured one first
}

// viewOf is the index for reading a format, alone or with all formats of its set.
func (f *Family) viewOf(alone bool) *view {
	if alone {
		f.loneOnce.Do(func() { f.lone = newView([]*Family{f}) })
		return f.lone
	}
	f.liveOnce.Do(func() {
		list := []*Family{f} // then the generic one: where families differ about a mark, its reading is the neutral one
		if f.set.generic != nil && f != f.set.generic {
			list = append(list, f.set.generic)
		}
		for _, g := range f.set.families {
			if g != f && g != f.set.generic {
				list = append(list, g)
			}
		}
		f.live = newView(list)
	})
	return f.live
}

func newView(formats []*Family) *view {
	v := &view{formats: formats}
	for i, f := range formats {
		v.own = i == 0
		v.mine = v.own || f.set != nil && formats[0] == f.set.generic || len(formats[0].Models) == 0
		v.addFormat(f)
		v.addPlain(f)
		for _, p := range f.headless {
			if hole := p.holeAt(0); v.own || hole == "name" || hole == "id" {
				v.headless = append(v.headless, p)
			}
		}
	}
	for _, c := range "\n`{[" {
		v.stops[c] = true
	}
	for c := range v.marks {
		v.stops[c] = v.stops[c] || slices.ContainsFunc(v.marks[c], func(m mark) bool { return !m.isWord() })
		slices.SortStableFunc(v.marks[c], func(a, b mark) int {
			if n := len(b.key) - len(a.key); n != 0 {
				return n
			}
			return int(a.kind) - int(b.kind)
		})
	}
	return v
}

// isWord says whether the mark is a word and a colon, "Action:": such a mark stands at the start of a line.
func (m *mark) isWord() bool { return latin(m.key[0]) && m.key[len(m.key)-1] == ':' }

func (v *view) addFormat(f *Family) {
	for _, p := range f.think {
		v.add(thinkOpen, p.parts[0].lit, p)
		v.add(thinkClose, p.parts[len(p.parts)-1].lit, p)
	}
	for _, p := range f.section {
		v.add(sectionOpen, p.parts[0].lit, p)
		v.addClosers(p)
	}
	for _, p := range f.call {
		if p.isFence() {
			continue // fences are read by their own rules, with evidence
		}
		v.add(callOpen, p.parts[0].lit, p)
		v.addClosers(p)
		if q := p.withoutWrapper(); q != nil {
			v.add(innerOpen, q.parts[0].lit, q)
		}
	}
	if f.header != nil {
		if v.header == nil {
			v.header = f.header
		}
		v.add(headerOpen, f.header.parts[0].lit, f.header)
		v.addWord(headerOpen, channelMark, f.header)
	}
	for _, w := range f.noise {
		if v.own {
			v.addWord(noiseMark, w, nil)
		}
	}
	for _, w := range slices.Concat(f.drop, f.ends, f.noise) {
		v.addTurn(w)
	}
	v.addResults(f)
}

// addTurn adds a mark of the turn.
func (v *view) addTurn(word string) {
	if !strings.Contains(word, suffixHole) {
		v.addWord(turnMark, word, nil)
		return
	}
	all := newLiteral(word, "", "")
	key := all.key()
	for _, key := range []string{key, asciiBars(key)} {
		if !slices.ContainsFunc(v.marks[key[0]], func(m mark) bool { return m.key == key && m.kind == turnMark }) {
			v.addKey(turnMark, key, nil)
			list := v.marks[key[0]]
			list[len(list)-1].all = all
		}
	}
}

// addPlain adds the marks around a plain reply. Those that look like tags count in their own family only: elsewhere they
// may be the answer.
func (v *view) addPlain(f *Family) {
	for _, p := range f.plain {
		m := mark{key: p.parts[0].lit.key()}
		if v.own || m.special() {
			v.add(textOpen, p.parts[0].lit, p)
			v.add(turnMark, p.parts[len(p.parts)-1].lit, p)
		}
	}
}

func (v *view) addClosers(p *pattern) {
	for _, l := range p.close {
		v.add(closeMark, l, p)
	}
}

// add adds the mark that a literal begins with. Words and signs of prose count in their own family only.
func (v *view) add(k markKind, l literal, p *pattern) {
	if key := l.key(); len(key) > 1 && (v.own || !isProse(key)) {
		v.addWord(k, key, p)
	}
}

// isProse says whether a key could begin a sentence or stand in one: it has none of the signs that marks are made of.
func isProse(key string) bool {
	return !strings.ContainsAny(key, "<[|]") && strings.IndexFunc(key, func(r rune) bool { return r >= 0x80 }) < 0
}

// addWord adds a mark once a pattern, its bars in both spellings.
func (v *view) addWord(k markKind, key string, p *pattern) {
	v.addKey(k, key, p)
	if strings.Contains(key, wideBar) {
		v.addKey(k, asciiBars(key), p)
	}
}

func (v *view) addKey(k markKind, key string, p *pattern) {
	list, own := &v.marks[key[0]], v.mine
	for _, m := range *list {
		if m.key == key && m.kind == k && m.p == p {
			return
		}
		own = own || m.key == key && m.own
	}
	m := mark{key: key, kind: k, p: p, own: own}
	if l := newLiteral(key, "", ""); slices.ContainsFunc(l.units, func(u unit) bool { return u.kind == pad }) {
		m.padded = l
	}
	*list = append(*list, m)
	if v.second[key[0]] == nil {
		v.second[key[0]] = new([256]bool)
	}
	v.second[key[0]][key[1]] = true
}

// Openings are the marks that a section or a call begins with in this format.
func (f *Family) Openings() []string {
	var all []string
	for _, p := range slices.Concat(f.section, f.call) {
		if key := p.parts[0].lit.key(); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// ThinkEnd is the mark that ends reasoning in this format: "</think>" where its declaration has none of its own.
func (f *Family) ThinkEnd() string {
	for _, p := range f.think {
		if end := strings.TrimSpace(p.parts[len(p.parts)-1].lit.text); end != "" {
			return end
		}
	}
	return "</think>"
}

// addResults adds the marks around what tools answered. Plain tags count in their own family only, unless they name tools.
func (v *view) addResults(f *Family) {
	for _, p := range []*pattern{f.results, f.result} {
		if p == nil {
			continue
		}
		open, end := p.resultMarks()
		if m := (mark{key: open}); len(open) > 2 && len(end) > 2 && (v.own || m.special() || strings.Contains(open, "tool")) {
			v.addWord(resultOpen, open, p)
		}
	}
}

// opened is the think pattern whose opener the prompt ends with, nil when the reply begins outside reasoning.
func (v *view) opened(prompt string) *pattern {
	prompt = strings.TrimRight(prompt, " \t\r\n")
	for i, f := range v.formats {
		for _, p := range f.think {
			if words := isProse(p.openMark()) && isProse(p.closeMark()); endsWith(prompt, p.openMark()) && (i == 0 || !words) {
				return p
			}
		}
	}
	return nil
}

// endsWith says whether a text ends with a mark, which may have a suffix in it.
func endsWith(text, mark string) bool {
	before, after, _ := strings.Cut(mark, suffixHole)
	rest, ok := strings.CutSuffix(text, after)
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && after != "" && strings.HasSuffix(rest[:i], before) {
		return ok && len(rest)-i < maxSuffix
	}
	return ok && strings.HasSuffix(rest, before)
}
