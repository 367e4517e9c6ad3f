package declaration

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// MarkKind is what a mark in a reply means, such as the beginning of a call or the end of
// reasoning. Marks with the same text (key) are tried in the order of their kinds. Opening marks
// come before closing ones, because closing ones are only dropped.
type MarkKind uint8

// The meanings of marks.
const (
	ThinkOpen   MarkKind = iota
	SectionOpen          // around all calls: <｜tool▁calls▁begin｜>
	CallOpen             // one call
	InnerOpen            // the second mark of a call whose wrapper is missing
	HeaderOpen           // a message: <|start|>
	TextOpen             // a plain reply: hunyuan-a13b's <answer>
	ResultOpen           // a tool's result, as in prompts, because models make results up
	// NoiseMark has no meaning anywhere in replies of its family, such as minicpm-v's numbered
	// tokens.
	NoiseMark
	TurnMark    // from the lines drop and ends: <|im_end|>, which servers should remove
	CloseMark   // of a call or a section, even of one that was not opened
	ResultClose // of a tool's result, which models write instead of the end of a call
	ThinkClose  // of reasoning, which the prompt may have opened
)

// Mark is a text that divides a reply, such as the tag <tool_call> or a special token, with one of
// its meanings. The text is its key. The same key may have several Marks: <tool_call> opens the
// calls of a dozen families, which are tried one after the other. Kind and Pattern select the code
// that tries the mark. If no family can read what follows, the mark is ordinary text.
type Mark struct {
	Key     string
	Kind    MarkKind
	Pattern *Pattern // the pattern that it begins or ends; nil for marks of the turn
	Own     bool     // it belongs to the family that is read, or that family is unknown

	Loose   Literal // the whole mark, if it may contain blanks or a suffix; otherwise without units
	private bool    // it counts only in replies of its own family
}

// Special reports whether the mark looks like a token of its own ([TOOL_CALLS], <|start|>, <｜…｜>)
// and not like a tag. Tags occur in prose, as in "Wrap it in <tool_call> tags", but a control token
// is never written by chance. So a tag in prose needs more evidence that a call begins: the start
// of a line, or the end of the reply.
func (m *Mark) Special() bool { return special(m.Key) }

// special reports whether a mark with this key looks like a token of its own, such as [TOOL_CALLS]
// or <|start|>.
func special(key string) bool {
	return len(key) > 1 && (key[0] == '[' || key[1] == '|' || key[1] >= 0x80)
}

// Glue returns how many newlines directly before the mark are removed from the text with it.
func (m *Mark) Glue() int {
	if m.Pattern == nil {
		return 0
	}
	return m.Pattern.Glue
}

// IsWord reports whether the mark is a word and a colon, such as "Action:". Such a mark counts only
// at the start of a line. The field Stops of an [Index] does not have its first letter, because
// otherwise the decoder would stop at every A of a text.
func (m *Mark) IsWord() bool { return scan.IsLetter(m.Key[0]) && m.Key[len(m.Key)-1] == ':' }

// Index finds marks in replies of one family. Marks are fixed texts that divide a reply, such as
// <tool_call>. An Index has the marks of the family and those of all others in the set, because a
// model is often named after one family and tuned on the calls of another. An Index is built once
// for each family and does not change.
//
// The decoder uses it for every byte of every reply, so most bytes cost one look-up: Stops has the
// bytes that may begin a mark, and Second the bytes that may follow. The whole texts are compared
// only if both fit.
type Index struct {
	// Marks are indexed by the key's first byte. The longest key comes first, then the order is by
	// kind, and then the configured format comes first.
	Marks  [256][]Mark
	Stops  [256]bool       // bytes at which the decoder stops in prose
	Second [256]*[256]bool // by the key's first byte: which bytes may be the second

	// Headless has the calls whose opening mark is missing: all of the family that is read, and of
	// other families those that begin with a name.
	Headless []*Pattern
	Header   *Pattern  // the header of the family that is read, or of any other, or nil
	Families []*Family // whose marks these are, the configured one first
}

// Generic is the family of models that belong to no other family. The marks of all families count
// as its own.
const Generic = "generic"

// NewIndex returns an index of the texts by which replies of the families are divided, such as
// <tool_call>. The first family must be the one whose replies are read. If several have the same
// text for the same purpose, the order of the families counts.
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
			if placeholder := p.PlaceholderAt(0); own || placeholder == "name" || placeholder == "id" {
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

// markList collects the texts (marks) that divide a family's replies, such as <tool_call>.
type markList []Mark

// ownMarks returns the marks of a family, which are fixed texts such as <tool_call>, in the order
// in which they are tried. Private marks do not count in replies of other families. Three kinds are
// private. Marks without meaning (noise) may be wanted text in another family. Tags around a plain
// reply, such as <answer>, may be wanted there too, in an answer about XML or in a format that the
// user has asked for. Plain tags around the results of tools are private unless they contain the
// word tool: <tool_response> is never part of an answer, but <result> may be. If a call has two
// opening tags, the inner tag alone begins a call as well, see withoutWrapper.
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

// around adds the mark with which a pattern begins. It also adds each text that closes the pattern
// as a mark of its own, because each of these may be missing, doubled or late. So </tool_call>
// after a call without an opening mark is removed from the text.
func (m *markList) around(open MarkKind, p *Pattern) {
	m.literal(open, p.Parts[0].Lit, p, false)
	for _, l := range p.Close {
		m.literal(CloseMark, l, p, false)
	}
}

// literal adds the mark with which a fixed text of an example begins, unless its key is shorter
// than two bytes. Words and signs of prose do not count in replies of other families (they are
// private), because "Action:" in a list of instructions is not a call unless the model was trained
// to write calls so. Several patterns may have the same key, such as <tool_call>. They are tried in
// order, each from the same position.
func (m *markList) literal(k MarkKind, l Literal, p *Pattern, private bool) {
	if key := l.Key(); len(key) > 1 {
		m.word(k, key, p, private || IsProse(key))
	}
}

// word adds a mark with the text word. If word has the bars of special tokens, it is added in both
// spellings, ｜ and |. Keys have at least two bytes, because marksOf and example refuse shorter
// ones. hunyuan's <｜hy_eos{sfx}｜> is looked for as <｜hy_eos and then matched with its suffix. In
// kimi-k3's <|open|>tools<|sep|> models write blanks between the parts.
func (m *markList) word(k MarkKind, word string, p *Pattern, private bool) {
	key, loose := word, NewLiteral(word, "", "")
	if strings.Contains(word, SuffixPlaceholder) {
		key = loose.Key() // the text before the suffix; the rest is matched later
	} else if !slices.ContainsFunc(loose.Units, func(u unit) bool { return u.Kind == Pad }) {
		loose = Literal{}
	}
	*m = append(*m, Mark{Key: key, Kind: k, Pattern: p, Loose: loose, private: private})
	if ascii := asciiBars(key); ascii != key {
		*m = append(*m, Mark{Key: ascii, Kind: k, Pattern: p, Loose: loose, private: private})
	}
}

// IsProse reports whether a text such as "Action:" could begin a sentence or occur in one. It
// returns false if the text has a sign that tags and special tokens have: a bracket, a bar, or a
// character outside of ASCII, as in kimi-vl's ◁think▷. It is true for "Action:", ">>>" and
// "functions.", and false for [TOOL_CALLS], <tool_call> and ◁think▷.
func IsProse(key string) bool {
	return !strings.ContainsAny(key, "<[|]") &&
		strings.IndexFunc(key, func(r rune) bool { return r >= 0x80 }) < 0
}

// add adds a mark to the index, unless the index already has it. With the field Own a mark in prose
// needs less evidence. Own says that the index's first family, whose replies are read, has a mark
// with the same text. It is set for such marks of other families as well, because the text does not
// show whose mark it is.
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

// Openings returns the beginnings of the texts that open calls or sections of calls in this family,
// such as <tool_call>. They show early that a call begins.
func (f *Family) Openings() []string {
	var all []string
	for _, p := range slices.Concat(f.Sections, f.Calls) {
		if key := p.Parts[0].Lit.Key(); key != "" {
			all = append(all, key)
		}
	}
	return all
}

// ThinkEnd returns the text that ends reasoning in this family, such as </think>. It returns
// "</think>" also if the declaration has none, because most reasoning models know it.
func (f *Family) ThinkEnd() string {
	for _, p := range f.Think {
		if end := p.CloseMark(); end != "" {
			return end
		}
	}
	return "</think>"
}

// OpenedReasoning returns the pattern of a family's reasoning if the prompt ends with the text that
// opens it, such as <think>. The reply then begins inside the reasoning, as with most models that
// always think. The result is nil if the reply begins outside. Opening texts that consist of words
// count only in the configured family, because any prompt may end with "Thought:".
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

// EndsWith reports whether a text ends with the mark. The placeholder {sfx} in a mark stands for
// any suffix. For example, a prompt of hunyuan-v3 ends with <think:opensource>, and only the
// server's template knows that suffix.
func EndsWith(text, mark string) bool {
	before, after, _ := strings.Cut(mark, SuffixPlaceholder)
	rest, ok := strings.CutSuffix(text, after)
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && after != "" &&
		strings.HasSuffix(rest[:i], before) {
		return ok && len(rest)-i < MaxSuffix
	}
	return ok && strings.HasSuffix(rest, before)
}

// TokenLike matches text that may be a single token of a model: <tool_call>, <|message|>,
// [TOOL_CALLS]. It may match more, because only the model's vocabulary is certain, but it must not
// miss a token.
var TokenLike = regexp.MustCompile(`<[^<>\s]+>|\[[^\[\]\s]+\]`)

// AppendTokens appends to all the tags and special tokens in a family's examples. Delimiters of
// strings are included, because gemma4's <|"|> is a control token, and without it the strings of a
// call have no end.
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

// AppendTokens appends to all the tags and special tokens in one example.
func (p *Pattern) AppendTokens(all []string) []string {
	for _, part := range p.Parts {
		all = append(all, TokenLike.FindAllString(part.Lit.Text, -1)...)
	}
	return all
}
