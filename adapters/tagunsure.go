package adapters

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Some slips cannot be seen in an otherwise clean call: a text in quotes or in a fence, a surplus
// line break, a string that was escaped twice. In a clean call the text counts as it is written. A
// model that has made another slip in the same call may also have made such a slip, so the call
// then has two readings.

// asWritten records whether a call in tags has so far been written as its family writes it.
type asWritten struct {
	slip    bool // something was damaged
	dressed bool // a text is wrapped in quotes or the like, which may not be part of it
	astray  bool // arguments precede the call and may be its own

	// the parameters whose values are correct JSON, or correct in the family's notation
	sound []string
}

// maxHead bounds, in bytes, the head of a call that is compared with its family's form.
const maxHead = 512

// noticeHead records whether a call's opening tags, which end here, are as its family writes them.
func (tg *tagged) noticeHead(p *declaration.Pattern, t *toolset.Tool) {
	text, ok := trimSpace(string(tg.Slice(max(tg.Base, tg.Pos-maxHead), tg.Pos))), true
	for k := p.Index("args") - 1; k >= 0 && ok; k-- {
		switch part := p.Parts[k]; part.Placeholder {
		case "":
			text, ok = cutLiteral(text, part.Lit)
		case "name":
			text, ok = strings.CutSuffix(trimSpace(text), t.Name)
			text = trimSpace(text)
		default:
			front := strings.Trim(p.Parts[max(k-1, 0)].Lit.Text, "\n")
			text = text[:max(strings.LastIndex(text, front)+len(front), 0)]
		}
	}
	text = trimSpace(text)
	if ok && len(p.Family.Sections) > 0 {
		if len(p.Close) > 0 {
			_, ok = cutLiteral(text, p.Close[len(p.Close)-1])
		} else {
			ok = false // nothing ends a call, so the text before this one is not known
		}
		for _, s := range p.Family.Sections {
			if front, opened := cutLiteral(text, s.Parts[0].Lit); opened {
				_, twice := cutLiteral(trimSpace(front), s.Parts[0].Lit)
				ok = !twice
			}
		}
	} else if ok {
		_, twice := cutLiteral(text, p.Parts[0].Lit.Head())
		ok = !twice
	}
	tg.written = asWritten{slip: !ok || p.Headless || withoutWrapper(p)}
	tg.written.astray = tg.written.slip && argumentsIn(p, t.Type(), text)
}

// trimSpace returns a text without the white space at its end.
func trimSpace(text string) string { return strings.TrimRight(text, " \t\r\n") }

// holdsArgument reports whether a text has a tag of inner, such as <arg_value>, or the beginning of
// a tag that opens a parameter of the tool, such as <parameter=city.
func holdsArgument(p *declaration.Pattern, t *schema.Type, inner []tagForm, text string) bool {
	if slices.ContainsFunc(inner, func(f tagForm) bool { return strings.Contains(text, f.text) }) {
		return true
	}
	return slices.ContainsFunc(p.Family.Args, func(a *declaration.Pattern) bool {
		front := a.Parts[0].Lit.Trimmed().Plain()
		return a.PlaceholderAt(1) == "key" &&
			slices.ContainsFunc(t.Members(), func(key string) bool {
				return strings.Contains(text, front+key)
			})
	})
}

// literalWord matches words that may be meant as a literal and not as a text, in several languages.
var literalWord = regexp.MustCompile(
	`(?i)^\s*(?:true?|fals|false|nul|null|none|nil|undefined|nan|yes|no|on|off)\s*$`)

// holdsWord reports whether a value has a text that may mean null, true or false, such as "none",
// where the schema gives no type.
func holdsWord(v any, t *schema.Type) bool {
	switch v := v.(type) {
	case string:
		return !t.Known() && literalWord.MatchString(v)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return holdsWord(e, t.Item()) })
	case map[string]any:
		for key, e := range v {
			if holdsWord(e, t.Prop(key)) {
				return true
			}
		}
	}
	return false
}

// argumentsIn reports whether a text has tags of arguments after the last closing tag of its call.
// If it has, two tags of the call have changed places.
func argumentsIn(p *declaration.Pattern, t *schema.Type, text string) bool {
	for _, l := range p.Close {
		text = text[strings.LastIndex(text, l.Key())+1:]
	}
	return slices.ContainsFunc(p.Family.Args, func(a *declaration.Pattern) bool {
		if a.Keyed() {
			return slices.ContainsFunc(t.Members(), func(key string) bool {
				return strings.Contains(text, a.OpenTag(key))
			})
		}
		bare := func(s string) string { return strings.ReplaceAll(s, "｜ ", "｜") }
		opener, closer := a.Parts[0].Lit.Trimmed().Plain(),
			a.Parts[len(a.Parts)-1].Lit.Trimmed().Plain()
		return strings.Contains(bare(text), bare(opener)) ||
			strings.Contains(bare(text), bare(closer))
	})
}

// withoutWrapper reports whether the first tags of the pattern are the end of those of another
// pattern of its family, as <function=f> is of <tool_call><function=f>.
func withoutWrapper(p *declaration.Pattern) bool {
	first := p.Parts[0].Lit.Plain()
	return slices.ContainsFunc(p.Family.Calls, func(q *declaration.Pattern) bool {
		whole := q.Parts[0].Lit.Plain()
		return len(first) < len(whole) && strings.HasSuffix(whole, first)
	})
}

// halfSuffix matches the rest of a suffix that a > has cut off too early, as in
// <arg_value:openso>rce>.
var halfSuffix = regexp.MustCompile(`^[\w-]{0,32}>`)

// cutLiteral returns a text without the literal at its end and without line breaks after the
// literal. It returns false if the text does not end with the literal. White space may differ where
// the literal accepts that.
func cutLiteral(text string, l declaration.Literal) (string, bool) {
	return l.CutSuffix(strings.TrimRight(text, "\n"))
}

// noticeArgument records whether the tags before an argument's value, such as <parameter=city>, are
// written as the family writes them. They begin at position from and end here.
func (tg *tagged) noticeArgument(h *head, from int) {
	text, ok := string(tg.Slice(max(from, tg.Base), tg.Pos)), true
	for k := h.p.Index("value") - 1; k >= 0 && ok; k-- {
		switch part := h.p.Parts[k]; part.Placeholder {
		case "":
			text, ok = cutLiteral(text, part.Lit)
		case "key":
			if text, ok = strings.CutSuffix(strings.TrimRight(text, "\n"), h.key); !ok &&
				h.p.Family.Flags.Entities {
				text, ok = h.p.Parts[k-1].Lit.Plain(), strings.Contains(text, "&")
			}
		default:
			text, ok = strings.CutSuffix(text, h.wire)
		}
	}
	if ok && h.onLines() {
		at := from + len(strings.TrimRight(text, "\n"))
		front := string(tg.Slice(max(tg.Base, at-maxIndent), max(tg.Base, from+len(text))))
		line := strings.TrimRight(front, " \t")
		if strings.HasSuffix(line, "\n") {
			h.indent = front[len(line):]
		}
		h.apart = len(line)-len(strings.TrimRight(line, "\n")) > 1
	}
	slip := !ok || trimSpace(text) != ""
	tg.written.slip = tg.written.slip || slip
	// name="title>" has its quote after its end
	tg.Out.Doubt = tg.Out.Doubt || slip && (tg.At(0) == '"' || tg.Has(0, "”"))
}

// noticeText records whether the text that ends here is wrapped in quotes or the like, which may
// not be part of the text. The parameter first is the text's first byte. Only that byte and the end
// of a long text are examined.
func (tg *tagged) noticeText(h head, first int) {
	from := max(h.from, tg.Pos-maxBorder, tg.Base)
	text := string(tg.Slice(from, tg.Pos))
	if from > h.from && first >= 0 {
		text = string(rune(first)) + "\n" + text
	}
	tg.written.dressed = tg.written.dressed || isDressed(text) ||
		!tg.plan.made && (strings.Contains(text, h.own.Trimmed().Plain()) ||
			strings.Contains(text, h.p.Parts[0].Lit.Trimmed().Plain()))
	last := h.p.Parts[h.p.Index("value")-1].Lit.Text
	tg.Out.Doubt = tg.Out.Doubt || strings.Contains(last, declaration.SuffixPlaceholder) &&
		halfSuffix.MatchString(text)
}

// noticeValue records whether a value that is read as a whole is written as its family writes such
// values.
func (tg *tagged) noticeValue(h head, text string, t *schema.Type) {
	switch enum := t.Enum(); {
	case h.p.Keyed():
	case t.Allows(schema.String):
		tg.written.slip = tg.written.slip ||
			enum != nil && !slices.Contains(enum, string(chat.AppendQuoted(nil, text)))
	default:
		tg.written.value(h.key, json.Valid([]byte(text)) ||
			lenient.IsPython(strings.TrimSpace(text), h.read(text, t)))
	}
}

// value records whether the value of a parameter, named by key, is written as its family writes it
// (sound). It is not called for texts. Damage elsewhere in the call leaves a sound value certain.
func (w *asWritten) value(key string, sound bool) {
	if sound {
		w.sound = append(w.sound, key)
	} else {
		w.slip = true
	}
}

// noticeEnd records whether the closing tag of a value, which ends here, is the right one, and is
// on its own line if the family writes values on lines of their own.
func (tg *tagged) noticeEnd(h head) {
	if tg.plan.made {
		return
	}
	tail := string(tg.Slice(max(tg.Base, tg.Pos-len(h.own.Plain())-declaration.MaxSuffix), tg.Pos))
	_, ok := cutLiteral(tail, h.own)
	lines := h.line && strings.Contains(tail, "\n")
	if rest, closed := strings.CutSuffix(tail, h.own.Trimmed().Plain()); closed {
		lines = lines && strings.HasSuffix(strings.TrimRight(rest, " \t"), "\n")
	}
	tg.written.slip = tg.written.slip || !ok || h.onLines() && !lines
	// a character alone on the last line of a text that should end with its line may be part of the
	// closer
	if rest, closed := strings.CutSuffix(trimSpace(tail), h.own.Trimmed().Plain()); closed &&
		h.onLines() && h.line {
		at := strings.LastIndexByte(rest, '\n')
		tg.Out.Doubt = tg.Out.Doubt || at >= 0 && len(rest)-at == 2 && rest[at+1] > ' '
	}
}

// noticeClosers records whether the closing tags of a call are written as its family writes them.
// They begin at position from and end here.
func (tg *tagged) noticeClosers(p *declaration.Pattern, from int) {
	text, ok := string(tg.Slice(max(from, tg.Base), tg.Pos)), true
	for k := len(p.Close) - 1; k >= 0 && ok; k-- {
		text, ok = cutLiteral(trimSpace(text), p.Close[k])
	}
	tg.written.slip = tg.written.slip || !ok || trimSpace(text) != ""
}

// unsure reports whether the call that was read may mean something else: it has a damaged tag, and
// a value that may be due to a second damaged tag, or a further parameter after its end.
func (tg *tagged) unsure(p *declaration.Pattern, t *schema.Type) bool {
	out := tg.Out
	if h, a := tg.ahead.argHead(p.Family, tg.Elastic(0)); a == matched && t.Has(h.key) &&
		(h.p.Keyed() || !slices.Contains(tg.Seen, h.key)) {
		return true // a parameter after the call's end
	}
	if !tg.written.slip && !(tg.written.dressed && tg.strayBehind(p)) {
		return false
	}
	if tg.written.dressed || tg.written.astray {
		return true
	}
	var members map[string]any
	if json.Unmarshal([]byte(out.From(0)), &members) != nil {
		return false
	}
	known := len(t.Members()) > 0
	for key, v := range members {
		if known && !t.Has(key) {
			return true
		}
		if text, ok := v.(string); ok && t.Has(key) {
			if holdsArgument(p, t, tg.tagForms(p, t).inner, text) {
				return true
			}
			if typ := t.Prop(key); !typ.Only(schema.String) && nearLiteral.MatchString(text) {
				return true
			}
			continue
		}
		if !slices.Contains(tg.written.sound, key) && tg.unsureValue(p, v, t.Prop(key)) {
			return true
		}
	}
	return tg.written.exchanged(members)
}

// exchanged reports whether two values may have changed places: a text is a whole list in JSON, and
// another value became a list of one element although it is not written as a list.
func (w *asWritten) exchanged(members map[string]any) bool {
	texts, others := false, false
	for key, v := range members {
		switch v := v.(type) {
		case string:
			v = strings.TrimSpace(v)
			texts = texts || v != "" && v[0] == '[' && json.Valid([]byte(v))
		case []any:
			others = others || len(v) == 1 && !slices.Contains(w.sound, key)
		}
	}
	return texts && others
}

// tagBehind reports whether something that looks like a tag of the family follows a call that has
// no closing tag. It returns false if another call or the end of a section follows.
func (tg *tagged) tagBehind(p *declaration.Pattern) bool {
	n := tg.Elastic(0)
	c := tg.At(n)
	if c < 0 || tg.At(n+1) < 0 || !p.Family.CloseBytes[c] || tg.marks.cutCloser(p, n) ||
		tg.ahead.callBegins(p.Family, n) {
		return false
	}
	_, ends := tg.marks.sectionEnds(n, p.Family)
	return !ends
}

// strayBehind reports whether a surplus closing tag, of the call or of a value, follows the call.
func (tg *tagged) strayBehind(p *declaration.Pattern) bool {
	n := tg.Elastic(0)
	if tg.At(0) == '>' {
		return true
	}
	if tg.ahead.callBegins(p.Family, n) {
		return false
	}
	for _, f := range tg.tagForms(p, tg.Out.Typ).closes {
		if _, _, ok := tg.ahead.tagAt(n, f); ok {
			return true
		}
	}
	if len(p.Family.Sections) == 0 {
		return false
	}
	end, ok := tg.marks.sectionEnds(n, p.Family)
	_, again := tg.marks.sectionEnds(end+tg.Elastic(end), p.Family)
	return !ok || again
}

// Patterns of a string that may have been escaped twice, or escaped for XML.
var (
	entity   = regexp.MustCompile(`&(?:quot|lt|gt|apos|#\d+);`)
	oddInKey = regexp.MustCompile(`^\s|\s$|[():"'<>]`)

	// words that may be meant as a literal, not as a text
	nearLiteral = regexp.MustCompile(
		`(?i)^\s*(?:nul+|none?|nil|undefined|nan|tru|true|fals|false)\s*$`)
)

// unsureValue reports whether a value that was read as JSON has something that an error may have
// caused, such as an escape too many.
func (tg *tagged) unsureValue(p *declaration.Pattern, v any, t *schema.Type) bool {
	switch v := v.(type) {
	case string:
		return entity.MatchString(v) || escapedAgain(v) || ranOver(p, v)
	case []any:
		for _, e := range v {
			if tg.unsureValue(p, e, t.Item()) {
				return true
			}
		}
	case map[string]any:
		known := len(t.Members()) > 0
		for key, e := range v {
			if !t.Has(key) && (oddInKey.MatchString(key) || known) ||
				tg.unsureValue(p, e, t.Prop(key)) {
				return true
			}
		}
	}
	return false
}

// ranOver reports whether a text contains the closing tag of a value with an opening tag after it,
// or ends with such a closing tag. A string with this text may have lost its closing quote.
func ranOver(p *declaration.Pattern, text string) bool {
	for _, arg := range p.Family.Args {
		closer := strings.TrimSuffix(
			strings.ReplaceAll(arg.Parts[len(arg.Parts)-1].Lit.Trimmed().Plain(),
				declaration.SuffixPlaceholder, ""), ">")
		if len(closer) > 3 && strings.HasSuffix(strings.TrimRight(text, "> \n"), closer) {
			return true
		}
		for _, rest, ok := strings.Cut(text, closer); ok && len(closer) > 3; _, rest,
			ok = strings.Cut(rest, closer) {
			_, behind, _ := strings.Cut(rest, ">")
			if behind = strings.TrimSpace(behind); strings.HasPrefix(behind, "<") &&
				!strings.HasPrefix(behind, "</") {
				return true
			}
		}
	}
	return false
}
