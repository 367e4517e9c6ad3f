package adapters

import (
	"fmt"
	"slices"
	"strings"
)

// pattern is one example of a declaration: literals with holes between them.
type pattern struct {
	f     *Family
	glue  int       // newlines in front that belong to the text before it
	tail  int       // newlines behind that belong to the text after it
	parts []part    // literals and holes as they stand, glue and tail taken off
	whole bool      // its first mark is missing: the others must be there
	word  bool      // it ends in a word and a colon; one blank behind that belongs to it
	open  literal   // the first mark
	close []literal // the marks behind the body, one by one
}

// markless says whether the pattern begins with nothing that could be taken for a mark.
func (p *pattern) markless() bool {
	return p.parts[0].hole != "" || len(strings.TrimSpace(p.parts[0].lit.text)) < 3
}

// part is a literal, or a hole when hole is set.
type part struct {
	hole string
	lit  literal
}

// holes is the closed set of hole words and whether they read a call's body.
var holes = map[string]bool{
	"reasoning": false, "calls": true, "call": true, "name": false, "id": false, "junk": false,
	"json": true, "args": true, "key": false, "value": false, "python": true, "pseudo": true, "named": true,
	"text": false, "type": false, "index": false, "result": false, "results": false, "quoted": false,
}

// compile reads an example. \n is a newline, {{ a literal brace, {word} a hole.
func compile(f *Family, example string) (*pattern, error) {
	p := &pattern{f: f}
	text := strings.ReplaceAll(example, `\n`, "\n")
	trimmed := strings.TrimLeft(text, "\n")
	p.glue = len(text) - len(trimmed)
	for trimmed != "" {
		lit, hole, rest, err := cutHole(trimmed)
		if err != nil {
			return nil, err
		}
		if lit != "" {
			p.parts = append(p.parts, part{lit: literal{text: lit}})
		}
		if hole != "" {
			p.parts = append(p.parts, part{hole: hole})
		}
		trimmed = rest
	}
	p.trimTail()
	p.word = strings.HasSuffix(strings.TrimRight(text, "\n"), ":")
	for i := range p.parts {
		if p.parts[i].hole == "" {
			p.parts[i].lit.units = units(p.parts[i].lit.text, p.holeAt(i-1), p.holeAt(i+1))
		}
	}
	p.open, p.close = p.first(), p.closers()
	return p, nil
}

// cutHole splits text at its first hole.
func cutHole(text string) (lit, hole, rest string, err error) {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		if strings.HasPrefix(text[i:], "{{") {
			text = text[:i] + text[i+1:]
			continue
		}
		if strings.HasPrefix(text[i:], suffixHole) {
			continue
		}
		word, rest, ok := strings.Cut(text[i+1:], "}")
		if _, known := holes[word]; !ok || !known {
			return "", "", "", fmt.Errorf("no hole {%s}", word)
		}
		return text[:i], word, rest, nil
	}
	return text, "", "", nil
}

// trimTail takes the newlines off the end: behind a reasoning's closer they are glue, behind a call white space goes anyway.
func (p *pattern) trimTail() {
	n := len(p.parts)
	if n == 0 || p.parts[n-1].hole != "" || p.hole("value") >= 0 {
		return
	}
	lit := &p.parts[n-1].lit
	short := strings.TrimRight(lit.text, "\n")
	p.tail = len(lit.text) - len(short)
	if lit.text = short; short == "" {
		p.parts = p.parts[:n-1]
	}
}

// holeAt is the hole word of part i, or "".
func (p *pattern) holeAt(i int) string {
	if i < 0 || i >= len(p.parts) {
		return ""
	}
	return p.parts[i].hole
}

// hole is the index of the first hole with that word, or -1.
func (p *pattern) hole(word string) int {
	for i, part := range p.parts {
		if part.hole == word {
			return i
		}
	}
	return -1
}

// shape names the parts of a pattern, literals as #.
func (p *pattern) shape() string {
	var words []string
	for _, part := range p.parts {
		if part.hole == "" {
			words = append(words, "#")
		} else {
			words = append(words, part.hole)
		}
	}
	return strings.Join(words, " ")
}

// isCall says whether a call can be read by the pattern: it is a list of calls, or names the tool behind a mark.
func (p *pattern) isCall() bool {
	for _, word := range []string{"call", "calls", "named", "python"} {
		if p.hole(word) >= 0 {
			return true
		}
	}
	return (p.hole("name") >= 1 || p.hole("id") >= 1) && p.holeAt(0) == ""
}

// body is the index of the hole that reads the call's arguments, or -1.
func (p *pattern) body() int {
	for i, part := range p.parts {
		if holes[part.hole] {
			return i
		}
	}
	return -1
}

// withoutWrapper is the pattern that starts at the second mark of a wrapped call, nil when there is only one. It is unique
// enough to begin a call: models leave the wrapper out.
func (p *pattern) withoutWrapper() *pattern {
	if p.hole("name") != 1 {
		return nil
	}
	text := p.parts[0].lit.text
	at := strings.LastIndexByte(text, '\n') + 1
	if at == 0 {
		if at = strings.LastIndex(text, "><") + 1; at == 0 {
			return nil
		}
	}
	q := *p
	q.parts = append([]part(nil), p.parts...)
	q.parts[0].lit = newLiteral(text[at:], "", "name")
	q.open = q.first()
	return &q
}

// first is the first mark of the pattern, without those that stand behind it: <tool_call> of <tool_call>\n<function=.
func (p *pattern) first() literal {
	if len(p.parts) == 0 || p.parts[0].hole != "" || len(p.parts[0].lit.units) == 0 {
		return literal{}
	}
	if pieces := p.parts[0].lit.pieces(); len(pieces) > 0 {
		return pieces[0]
	}
	return literal{}
}

// closers are the marks behind the body, one by one.
func (p *pattern) closers() []literal {
	var out []literal
	for i := p.body() + 1; i > 0 && i < len(p.parts); i++ {
		if p.parts[i].hole == "" {
			out = append(out, p.parts[i].lit.pieces()...)
		}
	}
	return out
}

// resultMarks are the first and the last mark around what tools answered, "" when a pattern has none.
func (p *pattern) resultMarks() (open, end string) {
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	open, end = strings.TrimSpace(first.lit.text), strings.TrimSpace(last.lit.text)
	from := strings.LastIndexAny(end, "<[")
	if first.hole != "" || last.hole != "" || from < 0 || open[0] != '<' && open[0] != '[' {
		return "", ""
	}
	if i := strings.IndexAny(open, ">] {"); i > 0 {
		open = strings.TrimRight(open[:i+1], " {")
	}
	return open, end[from:]
}

// openMark and closeMark are the marks around the reasoning, or the plain reply, of a pattern.
func (p *pattern) openMark() string { return strings.TrimSpace(p.parts[0].lit.text) }

func (p *pattern) closeMark() string { return strings.TrimSpace(p.parts[len(p.parts)-1].lit.text) }

// special says whether the pattern begins with a special token.
func (p *pattern) special() bool {
	key := p.parts[0].lit.key()
	return len(key) > 1 && (&mark{key: key}).special()
}

// withoutOpener is the pattern of a call whose first mark is missing, nil when nothing would be left that shows the family.
func (p *pattern) withoutOpener() *pattern {
	if p.holeAt(0) != "" || p.isFence() {
		return nil
	}
	text := p.parts[0].lit.text
	loc := tokenLike.FindStringIndex(text)
	if loc == nil || loc[0] != 0 {
		return nil
	}
	q := *p
	q.whole = true
	q.parts = slices.Clone(p.parts)
	if rest := strings.TrimLeft(text[loc[1]:], "\n "); rest != "" {
		q.parts[0].lit = newLiteral(rest, "", p.holeAt(1))
	} else {
		q.parts = q.parts[1:]
	}
	q.open = q.first()
	marked := func(x part) bool { return tokenLike.MatchString(x.lit.text) }
	if len(q.close) == 0 && !slices.ContainsFunc(q.parts[1:], marked) {
		return nil
	}
	return &q
}

// isFence says whether the family writes its calls in a fence. Such an example is for printing: a fence in a reply is read
// by its label and what it holds, in every family alike.
func (p *pattern) isFence() bool { return strings.HasPrefix(p.parts[0].lit.text, "```") }

// keyed says whether the family's tags are named like the parameters.
func (p *pattern) keyed() bool { return p.holeAt(5) == "key" }

// openTag and closeTag are the tags of a key.
func (p *pattern) openTag(key string) string { return p.parts[0].lit.text + key + p.parts[2].lit.text }

func (p *pattern) closeTag(key string) string { return p.parts[4].lit.text + key + p.parts[6].lit.text }

// avoids are the marks that end a raw value: those of arguments, and what closes the call.
func (p *pattern) avoids() []string {
	var all []string
	for _, arg := range p.f.arg {
		all = append(all, strings.TrimSpace(p.f.literalText(arg.parts[0].lit.text)))
		if last := arg.parts[len(arg.parts)-1].lit.text; !arg.keyed() {
			all = append(all, strings.TrimSpace(p.f.literalText(last)))
		}
	}
	for _, call := range p.f.call {
		if i := call.hole("args"); i >= 0 && i+1 < len(call.parts) {
			mark, _, _ := strings.Cut(strings.TrimSpace(p.f.literalText(call.parts[i+1].lit.text)), "\n")
			all = append(all, mark)
		}
	}
	var shortest []string
	for _, mark := range distinct(all) {
		if !containsOther(all, mark) {
			shortest = append(shortest, mark)
		}
	}
	return shortest
}

// containsOther says whether a mark holds another one of the list.
func containsOther(all []string, mark string) bool {
	for _, other := range all {
		if other != "" && other != mark && strings.Contains(mark, other) {
			return true
		}
	}
	return false
}
