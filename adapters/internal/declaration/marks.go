package declaration

import (
	"slices"
	"strings"
)

// MarkKind says what a mark means, in the order in which candidates of one key are tried.
type MarkKind uint8

// What a mark begins or ends.
const (
	ThinkOpen MarkKind = iota
	SectionOpen
	CallOpen
	InnerOpen
	HeaderOpen
	TextOpen
	ResultOpen // what a tool answered, as the family shows it to a model
	NoiseMark  // of the configured format: means nothing wherever it stands
	TurnMark   // drop and ends
	CloseMark
	ThinkClose
)

// Mark is a key that begins something.
type Mark struct {
	Key     string
	Kind    MarkKind
	Pattern *Pattern // what it begins; for closers the pattern it closes; nil for marks of the turn
	Elastic Literal  // a mark of the turn that has a place for a suffix
	Own     bool     // it is one of the family that is read, or the family is not known

	Padded Literal // the key where blanks may stand in it
}

// Special says whether the mark looks like a token of its own rather than like a tag that prose may mention.
func (m *Mark) Special() bool { return m.Key[0] == '[' || m.Key[1] == '|' || m.Key[1] >= 0x80 }

// Index is the index of the marks that are live when one format is read.
type Index struct {
	Marks  [256][]Mark     // by the key's first byte; longest key first, then kind, then the configured format first
	Stops  [256]bool       // bytes at which prose is looked at
	Second [256]*[256]bool // by the key's first byte: the second bytes that some key has
	own    bool            // while it is built: the marks added now are those of the format that is read
	mine   bool            // and these may be: no family is known

	Headless []*Pattern // calls whose opening mark is missing: all of the format that is read, of others what names its tool
	Header   *Pattern   // of messages: of the family that is read, or of any other; nil: none
	Families []*Family  // whose marks these are, the configured one first
}

// Index is the index for reading a format, alone or with all formats of its set.
func (f *Family) Index(alone bool) *Index {
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

func newView(formats []*Family) *Index {
	v := &Index{Families: formats}
	for i, f := range formats {
		v.own = i == 0
		v.mine = v.own || f.set != nil && formats[0] == f.set.generic || len(formats[0].Models) == 0
		v.addFormat(f)
		v.addPlain(f)
		for _, p := range f.headless {
			if hole := p.HoleAt(0); v.own || hole == "name" || hole == "id" {
				v.Headless = append(v.Headless, p)
			}
		}
	}
	for _, c := range "\n`{[" {
		v.Stops[c] = true
	}
	for c := range v.Marks {
		v.Stops[c] = v.Stops[c] || slices.ContainsFunc(v.Marks[c], func(m Mark) bool { return !m.IsWord() })
		slices.SortStableFunc(v.Marks[c], func(a, b Mark) int {
			if n := len(b.Key) - len(a.Key); n != 0 {
				return n
			}
			return int(a.Kind) - int(b.Kind)
		})
	}
	return v
}

// IsWord says whether the mark is a word and a colon, "Action:": such a mark stands at the start of a line.
func (m *Mark) IsWord() bool { return isLetter(m.Key[0]) && m.Key[len(m.Key)-1] == ':' }

func (v *Index) addFormat(f *Family) {
	for _, p := range f.Think {
		v.add(ThinkOpen, p.Parts[0].Lit, p)
		v.add(ThinkClose, p.Parts[len(p.Parts)-1].Lit, p)
	}
	for _, p := range f.Sections {
		v.add(SectionOpen, p.Parts[0].Lit, p)
		v.addClosers(p)
	}
	for _, p := range f.Calls {
		if p.IsFence() {
			continue // fences are read by their own rules, with evidence
		}
		v.add(CallOpen, p.Parts[0].Lit, p)
		v.addClosers(p)
		if q := p.withoutWrapper(); q != nil {
			v.add(InnerOpen, q.Parts[0].Lit, q)
		}
	}
	if f.Header != nil {
		if v.Header == nil {
			v.Header = f.Header
		}
		v.add(HeaderOpen, f.Header.Parts[0].Lit, f.Header)
		v.addWord(HeaderOpen, ChannelMark, f.Header)
	}
	for _, w := range f.noise {
		if v.own {
			v.addWord(NoiseMark, w, nil)
		}
	}
	for _, w := range slices.Concat(f.Drop, f.Ends, f.noise) {
		v.addTurn(w)
	}
	v.addResults(f)
}

// addTurn adds a mark of the turn.
func (v *Index) addTurn(word string) {
	if !strings.Contains(word, SuffixHole) {
		v.addWord(TurnMark, word, nil)
		return
	}
	all := NewLiteral(word, "", "")
	key := all.Key()
	for _, key := range []string{key, asciiBars(key)} {
		if !slices.ContainsFunc(v.Marks[key[0]], func(m Mark) bool { return m.Key == key && m.Kind == TurnMark }) {
			v.addKey(TurnMark, key, nil)
			list := v.Marks[key[0]]
			list[len(list)-1].Elastic = all
		}
	}
}

// addPlain adds the marks around a plain reply. Those that look like tags count in their own family only: elsewhere they
// may be the answer.
func (v *Index) addPlain(f *Family) {
	for _, p := range f.Plain {
		m := Mark{Key: p.Parts[0].Lit.Key()}
		if v.own || m.Special() {
			v.add(TextOpen, p.Parts[0].Lit, p)
			v.add(TurnMark, p.Parts[len(p.Parts)-1].Lit, p)
		}
	}
}

func (v *Index) addClosers(p *Pattern) {
	for _, l := range p.Close {
		v.add(CloseMark, l, p)
	}
}

// add adds the mark that a literal begins with. Words and signs of prose count in their own family only.
func (v *Index) add(k MarkKind, l Literal, p *Pattern) {
	if key := l.Key(); len(key) > 1 && (v.own || !IsProse(key)) {
		v.addWord(k, key, p)
	}
}

// IsProse says whether a key could begin a sentence or stand in one: it has none of the signs that marks are made of.
func IsProse(key string) bool {
	return !strings.ContainsAny(key, "<[|]") && strings.IndexFunc(key, func(r rune) bool { return r >= 0x80 }) < 0
}

// addWord adds a mark once a pattern, its bars in both spellings.
func (v *Index) addWord(k MarkKind, key string, p *Pattern) {
	v.addKey(k, key, p)
	if strings.Contains(key, WideBar) {
		v.addKey(k, asciiBars(key), p)
	}
}

func (v *Index) addKey(k MarkKind, key string, p *Pattern) {
	list, own := &v.Marks[key[0]], v.mine
	for _, m := range *list {
		if m.Key == key && m.Kind == k && m.Pattern == p {
			return
		}
		own = own || m.Key == key && m.Own
	}
	m := Mark{Key: key, Kind: k, Pattern: p, Own: own}
	if l := NewLiteral(key, "", ""); slices.ContainsFunc(l.Units, func(u unit) bool { return u.Kind == Pad }) {
		m.Padded = l
	}
	*list = append(*list, m)
	if v.Second[key[0]] == nil {
		v.Second[key[0]] = new([256]bool)
	}
	v.Second[key[0]][key[1]] = true
}

// Openings are the marks that a section or a call begins with in this format.
func (f *Family) Openings() []string {
	var all []string
	for _, p := range slices.Concat(f.Sections, f.Calls) {
		if key := p.Parts[0].Lit.Key(); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// ThinkEnd is the mark that ends reasoning in this format: "</think>" where its declaration has none of its own.
func (f *Family) ThinkEnd() string {
	for _, p := range f.Think {
		if end := strings.TrimSpace(p.Parts[len(p.Parts)-1].Lit.Text); end != "" {
			return end
		}
	}
	return "</think>"
}

// addResults adds the marks around what tools answered. Plain tags count in their own family only, unless they name tools.
func (v *Index) addResults(f *Family) {
	for _, p := range []*Pattern{f.ResultList, f.Result} {
		if p == nil {
			continue
		}
		open, end := p.ResultMarks()
		if m := (Mark{Key: open}); len(open) > 2 && len(end) > 2 && (v.own || m.Special() || strings.Contains(open, "tool")) {
			v.addWord(ResultOpen, open, p)
		}
	}
}

// OpenedReasoning is the think pattern whose opener the prompt ends with, nil when the reply begins outside reasoning.
func (v *Index) OpenedReasoning(prompt string) *Pattern {
	prompt = strings.TrimRight(prompt, " \t\r\n")
	for i, f := range v.Families {
		for _, p := range f.Think {
			if words := IsProse(p.OpenMark()) && IsProse(p.CloseMark()); EndsWith(prompt, p.OpenMark()) && (i == 0 || !words) {
				return p
			}
		}
	}
	return nil
}

// EndsWith says whether a text ends with a mark, which may have a suffix in it.
func EndsWith(text, mark string) bool {
	before, after, _ := strings.Cut(mark, SuffixHole)
	rest, ok := strings.CutSuffix(text, after)
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && after != "" && strings.HasSuffix(rest[:i], before) {
		return ok && len(rest)-i < MaxSuffix
	}
	return ok && strings.HasSuffix(rest, before)
}
