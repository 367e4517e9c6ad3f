package declaration

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MarkKind is the meaning of a mark. Marks with the same key are tried in the order of their kinds:
// openers before closers, since closers are only dropped.
type MarkKind uint8

// The meanings of marks.
const (
	ThinkOpen   MarkKind = iota
	SectionOpen          // all calls: <｜tool▁calls▁begin｜>
	CallOpen             // one call
	InnerOpen            // the second mark of a call whose wrapper is missing
	HeaderOpen           // a message: <|start|>
	TextOpen             // a plain reply: hunyuan-a13b's <answer>
	ResultOpen           // a tool's result, as in the family's prompts: models make results up
	// of the configured family: has no meaning anywhere, as minicpm-v's numbered tokens
	NoiseMark
	TurnMark    // of the lines drop and ends: <|im_end|>, which servers should remove
	CloseMark   // of a call or a section, even of one that was not opened
	ResultClose // of a tool's result: models write it instead of the closer of a call
	ThinkClose  // of reasoning, which the prompt may have opened
)

// Mark is one meaning of a key in a reply. The same key may have several Marks: <tool_call> opens
// the calls of a dozen families, which are tried one after the other. Kind and Pattern select the
// reader that tries the mark; a mark that no reader accepts is text.
type Mark struct {
	Key     string
	Kind    MarkKind
	Pattern *Pattern // the pattern that it begins or closes; nil for marks of the turn
	Own     bool     // it belongs to the family that is read, or that family is unknown

	Loose   Literal // the whole mark, if it may contain blanks or a suffix; else without units
	private bool    // it counts only in replies of its own family
}

// Special reports whether the mark looks like a token of its own, [TOOL_CALLS] or <|start|> or
// <｜…｜>, rather than like a tag that prose may mention: "wrap it in <tool_call> tags" is text, but
// a control token is never written by chance. In prose a tag needs more evidence than a token: the
// start of a line, or the end of the reply.
func (m *Mark) Special() bool { return special(m.Key) }

// special implements [Mark.Special] for a key.
func special(key string) bool {
	return len(key) > 1 && (key[0] == '[' || key[1] == '|' || key[1] >= 0x80)
}

// Glue returns how many newlines before the mark belong to it.
func (m *Mark) Glue() int {
	if m.Pattern == nil {
		return 0
	}
	return m.Pattern.Glue
}

// IsWord reports whether the mark is a word and a colon, "Action:". Such a mark counts only at the
// start of a line. Its first letter is not in Stops: otherwise the decoder would stop at every A of
// a text.
func (m *Mark) IsWord() bool { return scan.IsLetter(m.Key[0]) && m.Key[len(m.Key)-1] == ':' }

// Index holds the marks that count in replies of one family: its own and those of all others of the
// set, since a model is often named after one family and tuned on the calls of another. It is built
// once for each family and does not change.
//
// The decoder consults it for every byte of every reply, so most bytes cost one look-up: Stops has
// the bytes that may begin a mark, Second the bytes that may follow. Keys are compared only after
// both.
type Index struct {
	// by the key's first byte; longest key first, then kind, then the configured format first
	Marks  [256][]Mark
	Stops  [256]bool       // bytes at which the decoder stops in prose
	Second [256]*[256]bool // by the key's first byte: the second bytes that some key has

	// calls whose opening mark is missing: all of the family that is read, of others those that
	// begin with a name
	Headless []*Pattern
	Header   *Pattern  // the header of the family that is read, or of any other; nil: none
	Families []*Family // whose marks these are, the configured one first
}

// Generic is the family of models that no other family names. The marks of all families are its
// own.
const Generic = "generic"

// NewIndex returns an index of the marks of families. Marks of the same key and kind keep the order
// of the families, since sorting is stable; the family that is read comes first.
func NewIndex(families ...*Family) *Index {
	v := &Index{Families: families}
	// the model is of any family
	unknown := families[0].Name == Generic || len(families[0].Models) == 0
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
		v.Stops[c] = v.Stops[c] || slices.ContainsFunc(v.Marks[c], func(m Mark) bool {
			return !m.IsWord()
		})
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

// ownMarks returns the marks of a family, in the order in which they are tried. Noise is private to
// its family: a mark without meaning in one family may be wanted text in another. The second mark
// of a wrapped call begins a call as well, see withoutWrapper. Marks around a plain reply that look
// like tags are private: in other families <answer> may be part of the answer, to a question about
// XML or in a format that the user has asked for. Plain tags around the results of tools are
// private too, unless they contain the word tool: <tool_response> is never part of an answer,
// <result> may be.
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

// around adds the first mark of a pattern, and each mark after its body separately, since each may
// be missing, doubled or late: so </tool_call> after a call without an opener is removed from the
// text.
func (m *markList) around(open MarkKind, p *Pattern) {
	m.literal(open, p.Parts[0].Lit, p, false)
	for _, l := range p.Close {
		m.literal(CloseMark, l, p, false)
	}
}

// literal adds the mark that a literal begins with. Words and signs of prose are private: "Action:"
// in a list of instructions is not a call unless the model was trained to write calls so. Several
// patterns may have the same key, as <tool_call> does: they are tried in order, each from the same
// position.
func (m *markList) literal(k MarkKind, l Literal, p *Pattern, private bool) {
	if key := l.Key(); len(key) > 1 {
		m.word(k, key, p, private || IsProse(key))
	}
}

// word adds a mark, with its bars in both spellings. Keys have at least two bytes: see marksOf and
// example. hunyuan's <｜hy_eos{sfx}｜> is looked for as <｜hy_eos and then matched with its suffix. In
// kimi-k3's <|open|>tools<|sep|> models write blanks between the parts.
func (m *markList) word(k MarkKind, word string, p *Pattern, private bool) {
	key, loose := word, NewLiteral(word, "", "")
	if strings.Contains(word, SuffixHole) {
		key = loose.Key() // the text before the suffix; the rest is matched later
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
	return !strings.ContainsAny(key, "<[|]") &&
		strings.IndexFunc(key, func(r rune) bool { return r >= 0x80 }) < 0
}

// add adds a mark unless it is there already. If the family that is read has the same key, the mark
// is Own too: whether a mention of it is doubted depends on the key alone.
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

// Openings returns the keys of the marks that sections and calls begin with in this format. They
// show early that a call begins.
func (f *Family) Openings() []string {
	var all []string
	for _, p := range slices.Concat(f.Sections, f.Calls) {
		if key := p.Parts[0].Lit.Key(); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// ThinkEnd returns the mark that ends reasoning in this format. It is "</think>" if the declaration
// has none, since most reasoning models know it.
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
// and the reply begins without it. Marks that consist of words count only in the configured family,
// since any prompt may end with "Thought:".
func (v *Index) OpenedReasoning(prompt string) *Pattern {
	prompt = strings.TrimRight(prompt, " \t\r\n")
	for i, f := range v.Families {
		for _, p := range f.Think {
			if words := IsProse(p.Opener()) &&
				IsProse(p.CloseMark()); EndsWith(prompt, p.Opener()) && (i == 0 || !words) {
				return p
			}
		}
	}
	return nil
}

// EndsWith reports whether a text ends with a mark, which may contain {sfx}: a prompt of hunyuan-v3
// ends with <think:opensource>, and only the server's template knows that suffix.
func EndsWith(text, mark string) bool {
	before, after, _ := strings.Cut(mark, SuffixHole)
	rest, ok := strings.CutSuffix(text, after)
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && after != "" &&
		strings.HasSuffix(rest[:i], before) {
		return ok && len(rest)-i < MaxSuffix
	}
	return ok && strings.HasSuffix(rest, before)
}

// TokenLike matches what may be a single token of a model: <tool_call>, <|message|>, [TOOL_CALLS].
// It may match more, since only the model's vocabulary has the truth, but it must not miss a token.
var TokenLike = regexp.MustCompile(`<[^<>\s]+>|\[[^\[\]\s]+\]`)

// AppendTokens adds the marks of a family's examples. Quotes are included: gemma4's <|"|> is a
// control token, and without it the strings of a call have no end.
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
