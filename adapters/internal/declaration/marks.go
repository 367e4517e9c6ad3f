package declaration

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MarkKind says what a mark means, in the order in which candidates of one key are tried: what
// opens something comes before what closes it, since a closer is only ever dropped.
type MarkKind uint8

// What a mark begins or ends.
const (
	ThinkOpen   MarkKind = iota
	SectionOpen          // all calls: <｜tool▁calls▁begin｜>
	CallOpen             // one call
	InnerOpen            // the second mark of a wrapped call, whose wrapper is missing
	HeaderOpen           // a message: <|start|>
	TextOpen             // a plain reply: hunyuan-a13b's <answer>
	ResultOpen           // what a tool answered, as the family shows it to a model: models go on and make it up
	NoiseMark            // of the configured family: means nothing wherever it stands, as minicpm-v's numbered tokens
	TurnMark             // drop and ends: <|im_end|>, which servers should not have let through
	CloseMark            // of a call or a section, also one that nothing has opened
	ResultClose          // of what a tool answered, which models write for the closer of a call
	ThinkClose           // reasoning that a prompt has opened, and forgot to say so
)

// Mark is a key that begins or ends something. The same key may have several meanings, each a Mark:
// <tool_call> opens calls of a dozen families, which are tried one after the other. Kind and
// pattern say which reader tries it; a mark that none can read is text.
type Mark struct {
	Key     string
	Kind    MarkKind
	Pattern *Pattern // what it begins; for closers the pattern it closes; nil for marks of the turn
	Own     bool     // it is one of the family that is read, or the family is not known

	Loose   Literal // the whole mark, where blanks or a suffix may stand in it; without units the key is all
	private bool    // it counts only where its own family is read
}

// Special reports whether the mark looks like a token of its own, [TOOL_CALLS] or <|start|> or
// <｜…｜>, rather than like a tag that prose may mention: "wrap it in <tool_call> tags" is text, but
// nobody writes a control token by chance. In prose a tag needs more evidence than a token: the
// start of a line, or the end of the reply.
func (m *Mark) Special() bool { return special(m.Key) }

// special implements [Mark.Special] for a key.
func special(key string) bool {
	return len(key) > 1 && (key[0] == '[' || key[1] == '|' || key[1] >= 0x80)
}

// Glue returns how many newlines in front of the mark belong to it.
func (m *Mark) Glue() int {
	if m.Pattern == nil {
		return 0
	}
	return m.Pattern.Glue
}

// IsWord reports whether the mark is a word and a colon, "Action:". Such a mark counts only at the
// start of a line. Its first letter is not among the Stops, or the decoder would stop at every A of
// every text.
func (m *Mark) IsWord() bool { return scan.IsLetter(m.Key[0]) && m.Key[len(m.Key)-1] == ':' }

// Index has the marks that are live when one family is read: its own and those of all others of the
// set, since a model is often named after one family and tuned on the calls of another. It is built
// once a family and then only read.
//
// The decoder looks at it for every byte of every reply, so the first question is one table
// look-up: Stops has the bytes that may begin anything, Second what may follow. Only behind both
// are keys compared.
type Index struct {
	Marks  [256][]Mark     // by the key's first byte; longest key first, then kind, then the configured format first
	Stops  [256]bool       // bytes at which prose is looked at
	Second [256]*[256]bool // by the key's first byte: the second bytes that some key has

	Headless []*Pattern // calls whose opening mark is missing: all of the format that is read, of others what names its tool
	Header   *Pattern   // of messages: of the family that is read, or of any other; nil: none
	Families []*Family  // whose marks these are, the configured one first
}

// Generic is the family of models that no other claims: whatever such a model writes is its own.
const Generic = "generic"

// NewIndex indexes the marks of families, the one that is read first.
// Marks of the same key and kind keep the order of the families, since sorting is stable.
func NewIndex(families ...*Family) *Index {
	v := &Index{Families: families}
	unknown := families[0].Name == Generic || len(families[0].Models) == 0 // it may be any of them
	for i, f := range families {
		own := i == 0
		for _, m := range f.marks {
			if own || !m.private {
				m.Own = own || unknown
				v.add(m)
			}
		}
		for _, p := range f.headless {
			if hole := p.HoleAt(0); own || hole == "name" || hole == "id" {
				v.Headless = append(v.Headless, p)
			}
		}
		if v.Header == nil {
			v.Header = f.Header
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

// markList gathers the marks of one family.
type markList []Mark

// ownMarks returns the marks of a family, in the order in which they are tried. Noise counts only
// for the family that is read alone: what means nothing to one may be what another was asked to
// write. The second mark of a wrapped call begins a call as well, see withoutWrapper. Marks around
// a plain reply that look like tags are private: elsewhere <answer> may be the answer, to a
// question about XML or in a format that the user has asked for. So are plain tags around what
// tools answered, unless they name tools: <tool_response> is never an answer, <result> may be.
func (f *Family) ownMarks() []Mark {
	var all markList
	for _, p := range f.Think {
		all.literal(ThinkOpen, p.Parts[0].Lit, p, false)
		all.literal(ThinkClose, p.Parts[len(p.Parts)-1].Lit, p, false)
	}
	for _, p := range f.Sections {
		all.around(SectionOpen, p)
	}
	for _, p := range f.Calls {
		if p.IsFence() && f.Form == nil {
			continue // fences are read by their own rules, with evidence
		}
		all.around(CallOpen, p)
		if q := p.withoutWrapper(); q != nil {
			all.literal(InnerOpen, q.Parts[0].Lit, q, false)
		}
	}
	if f.Header != nil {
		all.literal(HeaderOpen, f.Header.Parts[0].Lit, f.Header, false)
		all.word(HeaderOpen, ChannelMark, f.Header, false)
	}
	for _, w := range f.noise {
		all.word(NoiseMark, w, nil, true)
	}
	for _, w := range slices.Concat(f.Drop, f.Ends, f.noise) {
		all.word(TurnMark, w, nil, false)
	}
	for _, p := range []*Pattern{f.ResultList, f.Result} {
		if p == nil {
			continue
		}
		if open, end := p.ResultMarks(); len(open) > 2 && len(end) > 2 {
			all.word(ResultOpen, open, p, !special(open) && !strings.Contains(open, "tool"))
			all.word(ResultClose, end, p, !special(end) && !strings.Contains(end, "tool"))
		}
	}
	for _, p := range f.Plain {
		all.literal(TextOpen, p.Parts[0].Lit, p, !p.Special())
		all.literal(TurnMark, p.Parts[len(p.Parts)-1].Lit, p, !p.Special())
	}
	return all
}

// around adds the first mark of a pattern, and each mark behind its body by itself, since each may
// be missing, doubled or late: </tool_call> behind a call that had no opener is swallowed so, and
// is none of the text.
func (m *markList) around(open MarkKind, p *Pattern) {
	m.literal(open, p.Parts[0].Lit, p, false)
	for _, l := range p.Close {
		m.literal(CloseMark, l, p, false)
	}
}

// literal adds the mark that a literal begins with. Words and signs of prose are private: "Action:"
// in a list of instructions is no call unless the model was taught to write calls so. Several
// patterns share a key, <tool_call> those of a dozen families: all are tried in order, with rewind.
func (m *markList) literal(k MarkKind, l Literal, p *Pattern, private bool) {
	if key := l.Key(); len(key) > 1 {
		m.word(k, key, p, private || IsProse(key))
	}
}

// word adds a mark, its bars in both spellings. Keys have two bytes at least: see marksOf and
// declare. hunyuan's <｜hy_eos{sfx}｜> is looked for as <｜hy_eos and matched with its suffix; of
// kimi-k3's <|open|>tools<|sep|> models write blanks between the parts.
func (m *markList) word(k MarkKind, word string, p *Pattern, private bool) {
	key, loose := word, NewLiteral(word, "", "")
	if strings.Contains(word, SuffixHole) {
		key = loose.Key() // what stands in front of the suffix's place; the rest is matched then
	} else if !slices.ContainsFunc(loose.Units, func(u unit) bool { return u.Kind == Pad }) {
		loose = Literal{}
	}
	*m = append(*m, Mark{Key: key, Kind: k, Pattern: p, Loose: loose, private: private})
	if ascii := asciiBars(key); ascii != key {
		*m = append(*m, Mark{Key: ascii, Kind: k, Pattern: p, Loose: loose, private: private})
	}
}

// IsProse reports whether a key could begin a sentence or occur in one: it has none of the signs
// that marks are made of, neither brackets and bars nor characters outside of ASCII, as kimi-vl's
// ◁think▷ has. It is true for "Action:", ">>>" and "functions.", and false for [TOOL_CALLS],
// <tool_call> and ◁think▷.
func IsProse(key string) bool {
	return !strings.ContainsAny(key, "<[|]") && strings.IndexFunc(key, func(r rune) bool { return r >= 0x80 }) < 0
}

// add adds a mark unless it is there. A key that the family that is read has, too, is its own for
// all who have it: that decides whether a mention of it is to be doubted.
func (v *Index) add(m Mark) {
	list := &v.Marks[m.Key[0]]
	for _, other := range *list {
		if other.Key == m.Key && other.Kind == m.Kind && other.Pattern == m.Pattern {
			return
		}
		m.Own = m.Own || other.Key == m.Key && other.Own
	}
	*list = append(*list, m)
	if v.Second[m.Key[0]] == nil {
		v.Second[m.Key[0]] = new([256]bool)
	}
	v.Second[m.Key[0]][m.Key[1]] = true
}

// Openings returns the marks that a section or a call begins with in this format, as they are
// looked for. A caller that only has to know early that a reply turns into a call looks for these.
func (f *Family) Openings() []string {
	var all []string
	for _, p := range slices.Concat(f.Sections, f.Calls) {
		if key := p.Parts[0].Lit.Key(); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// ThinkEnd returns the mark that ends reasoning in this format. It is "</think>" where the
// declaration has none, since most models that reason know it.
func (f *Family) ThinkEnd() string {
	for _, p := range f.Think {
		if end := p.CloseMark(); end != "" {
			return end
		}
	}
	return "</think>"
}

// OpenedReasoning returns the think pattern whose opener the prompt ends with, or nil when the
// reply begins outside reasoning. Most templates of models that always think end with <think>\n,
// and the reply begins without it. Marks of words are believed only in the told family: any prompt
// may end with "Thought:".
func (v *Index) OpenedReasoning(prompt string) *Pattern {
	prompt = strings.TrimRight(prompt, " \t\r\n")
	for i, f := range v.Families {
		for _, p := range f.Think {
			if words := IsProse(p.Opener()) && IsProse(p.CloseMark()); EndsWith(prompt, p.Opener()) && (i == 0 || !words) {
				return p
			}
		}
	}
	return nil
}

// EndsWith reports whether a text ends with a mark, which may have a suffix in it: a prompt of
// hunyuan-v3 ends with <think:opensource>, whose suffix only the server's template knows.
func EndsWith(text, mark string) bool {
	before, after, _ := strings.Cut(mark, SuffixHole)
	rest, ok := strings.CutSuffix(text, after)
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && after != "" && strings.HasSuffix(rest[:i], before) {
		return ok && len(rest)-i < MaxSuffix
	}
	return ok && strings.HasSuffix(rest, before)
}

// TokenLike finds what a model may have as one token: <tool_call>, <|message|>, [TOOL_CALLS].
// Whether it really is one only the model's vocabulary says; here it is enough that none of them is
// missed.
var TokenLike = regexp.MustCompile(`<[^<>\s]+>|\[[^\[\]\s]+\]`)

// AppendTokens adds the marks of a family's examples. Quotes are among them: gemma4's <|"|> is a
// control token, and without it no string of a call has an end.
func (f *Family) AppendTokens(all []string) []string {
	patterns := slices.Concat(f.Think, f.Plain, f.Sections, f.Calls, f.Args)
	text := strings.Join(f.Quotes, " ")
	if f.Form != nil {
		text += " " + f.Form.Text()
	}
	if f.Header != nil {
		patterns = append(patterns, f.Header)
		text += ChannelMark
	}
	all = append(all, TokenLike.FindAllString(text, -1)...)
	for _, p := range patterns {
		all = p.AppendTokens(all)
	}
	return all
}

// AppendTokens adds the marks of one example.
func (p *Pattern) AppendTokens(all []string) []string {
	for _, part := range p.Parts {
		all = append(all, TokenLike.FindAllString(part.Lit.Text, -1)...)
	}
	return all
}
