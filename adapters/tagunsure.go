package adapters

import (
	"encoding/json"
	"regexp"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// Some slips leave a call that is still of its family's form: a text in quotes or in a fence, a line break too many, a string
// that was escaped twice. In a call that is clean but for that they cannot be seen, and the text counts as it stands. A model
// that has made another slip in the same call may as well have made such a one: then there are two readings.

// asWritten is whether a call in tags was written as its family writes it so far.
type asWritten struct {
	slip    bool // something was damaged
	dressed bool // a text stands in what may be no part of it
}

// maxHead bounds the head of a call that is compared, in bytes.
const maxHead = 512

// plainTags is text without line breaks, which say nothing between tags.
func plainTags(text string) string { return strings.ReplaceAll(text, "\n", "") }

// noticeHead notes whether the head of a call, which ends here, is as its family writes it.
func (tg *tagged) noticeHead(p *declaration.Pattern, t *toolset.Tool) {
	text, ok := plainTags(string(tg.Slice(max(tg.Base, tg.Pos-maxHead), tg.Pos))), true
	for k := p.Hole("args") - 1; k >= 0 && ok; k-- {
		switch part := p.Parts[k]; part.Hole {
		case "":
			text, ok = cutLiteral(text, part.Lit)
		case "name":
			text, ok = strings.CutSuffix(text, t.Name)
		default:
			front := plainTags(p.Parts[max(k-1, 0)].Lit.Text)
			text = text[:max(strings.LastIndex(text, front), 0)+len(front)]
		}
	}
	if ok && len(p.Family.Sections) > 0 {
		_, ok = cutLiteral(text, p.Close[len(p.Close)-1])
		for _, s := range p.Family.Sections {
			_, opened := cutLiteral(text, s.Parts[0].Lit)
			ok = ok || opened
		}
	}
	tg.written = asWritten{slip: !ok}
}

// suffixOf is the suffix of a checkpoint that a tag may have: :opensource.
var suffixOf = regexp.MustCompile(`:[\w-]{1,32}([<>]|$)`)

// cutLiteral cuts a literal off the end of a text, as it is printed.
func cutLiteral(text string, l declaration.Literal) (string, bool) {
	want := plainTags(l.Text)
	if strings.Contains(want, declaration.SuffixHole) {
		want = strings.ReplaceAll(want, declaration.SuffixHole, "")
		if rest, ok := strings.CutSuffix(text, want); ok {
			return rest, true
		}
		text = suffixOf.ReplaceAllString(text, "$1")
	}
	return strings.CutSuffix(text, want)
}

// noticeArgument notes whether the head of an argument is as its family writes it. It ends at offset h.end and begins here.
func (tg *tagged) noticeArgument(h head, from int) {
	text, ok := plainTags(string(tg.Slice(from, tg.Pos))), true
	for k := h.p.Hole("value") - 1; k >= 0 && ok; k-- {
		switch part := h.p.Parts[k]; part.Hole {
		case "":
			text, ok = cutLiteral(text, part.Lit)
		case "key":
			text, ok = strings.CutSuffix(text, h.key)
		default:
			text, ok = strings.CutSuffix(text, h.wire)
		}
	}
	tg.written.slip = tg.written.slip || !ok || text != ""
}

// noticeText notes whether the text that ends here stands in what may be no part of it. first is its first byte; of a long
// text no more is looked at than that and its end.
func (tg *tagged) noticeText(h head, first int) {
	from := max(h.from, tg.Pos-maxBorder, tg.Base)
	text := string(tg.Slice(from, tg.Pos))
	if from > h.from && first >= 0 {
		text = string(rune(first)) + "\n" + text
	}
	tg.written.dressed = tg.written.dressed || isDressed(text)
}

// plainValue reports whether a value that is no text is written as JSON or as Python's literals.
func plainValue(text string) bool {
	text = strings.TrimSpace(text)
	return json.Valid([]byte(text)) || strings.Contains(" True False None ", " "+text+" ") || strings.HasPrefix(text, "[") && strings.Contains(text, "'") || strings.HasPrefix(text, "{") && strings.Contains(text, "'")
}

// noticeClosers notes whether the closers of a call, which end here, are as its family writes them, and nothing of the family
// that closes something stands behind.
func (tg *tagged) noticeClosers(p *declaration.Pattern, from int) {
	text, ok := plainTags(string(tg.Slice(from, tg.Pos))), true
	for k := len(p.Close) - 1; k >= 0 && ok; k-- {
		text, ok = cutLiteral(text, p.Close[k])
	}
	tg.written.slip = tg.written.slip || !ok || text != ""
}

// unsure reports whether the call that has been read holds a slip, and a value that may have come of another.
func (tg *tagged) unsure(p *declaration.Pattern, t *schema.Type) bool {
	out := tg.Out
	if !tg.written.slip && !out.Odd && !(tg.written.dressed && tg.strayBehind(p)) {
		return false
	}
	if tg.written.dressed {
		return true
	}
	var members map[string]any
	if json.Unmarshal([]byte(out.From(0)), &members) != nil {
		return false
	}
	for key, v := range members {
		if _, ok := v.(string); ok && t.Has(key) {
			continue
		}
		if unsureValue(v, t.Prop(key)) {
			return true
		}
	}
	return false
}

// strayBehind reports whether a closer of the call, or of a value, stands behind it once more.
func (tg *tagged) strayBehind(p *declaration.Pattern) bool {
	n := tg.Elastic(0)
	for _, f := range tg.tagForms(p, tg.Out.Typ).closes {
		if _, _, ok := tg.ahead.tagAt(n, f); ok {
			return true
		}
	}
	if len(p.Family.Sections) == 0 || tg.ahead.callBegins(p.Family, n) {
		return false
	}
	end, ok := tg.marks.sectionEnds(n, p.Family)
	_, again := tg.marks.sectionEnds(end+tg.Elastic(end), p.Family)
	return !ok || again
}

// What a string looks like that may have been escaped twice, or for XML.
var (
	entity   = regexp.MustCompile(`&(?:quot|lt|gt|amp|apos|#\d+);`)
	oddInKey = regexp.MustCompile(`^\s|\s$|[():"'<>]`)
)

// unsureValue reports whether a value that was read as JSON holds what another slip may have made.
func unsureValue(v any, t *schema.Type) bool {
	switch v := v.(type) {
	case string:
		return entity.MatchString(v) || escapedAgain(v) || isDressed(v)
	case []any:
		for _, e := range v {
			if unsureValue(e, nil) {
				return true
			}
		}
	case map[string]any:
		for key, e := range v {
			if !t.Has(key) && oddInKey.MatchString(key) || unsureValue(e, nil) {
				return true
			}
		}
	}
	return false
}

// escapedAgain reports whether a string is one of JSON's when it is unescaped once more.
func escapedAgain(text string) bool {
	if !strings.Contains(text, `\`) {
		return false
	}
	var s string
	return json.Unmarshal([]byte(`"`+strings.ReplaceAll(text, "\n", `\n`)+`"`), &s) == nil
}

// wraps are what models put around a text.
var wraps = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"«", "»"}, {"‘", "’"}, {"「", "」"}, {declaration.CDATAOpen, declaration.CDATAClose}}

// isDressed reports whether a text stands in quotes, in a fence or in CDATA, or on lines of its own.
// A text of several lines mostly ends with a line break, as files do.
func isDressed(text string) bool {
	for _, w := range wraps {
		if rest, ok := strings.CutPrefix(text, w[0]); ok && strings.HasSuffix(rest, w[1]) {
			return true
		}
	}
	if strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		return true
	}
	line, ends := strings.CutSuffix(text, "\n")
	return ends && !strings.Contains(line, "\n")
}
