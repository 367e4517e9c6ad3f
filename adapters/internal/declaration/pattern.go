package declaration

import (
	"fmt"
	"slices"
	"strings"
)

// Pattern is one example of a declaration: literals, which are fixed texts, with placeholders
// (placeholders such as {call}) between them. For example, in
//
//	call    \n<tool_call>\n{call}\n</tool_call>
//
// Glue is 1 for the first newline, the parts are "<tool_call>\n", {call} and "\n</tool_call>", Open
// is <tool_call>, and Close is </tool_call>.
//
// A pattern refers to its family, because a model may write calls with the tags of another family,
// which then decides how their arguments are read. A compiled pattern never changes. If the first
// tag of a call is missing, a copy of the pattern without it is used.
type Pattern struct {
	Family      *Family
	Glue        int       // leading newlines, which belong to the text before the example
	Tail        int       // trailing newlines, which belong to the text after the example
	Parts       []Part    // literals and placeholders in order, without Glue and Tail
	Headless    bool      // the first mark is missing, so the others are required
	EndsInColon bool      // it ends in a word and a colon, to which one blank after it belongs
	Open        Literal   // the first mark
	Close       []Literal // the marks after the body, one by one
}

// Markless reports whether the pattern does not begin with a fixed text, as llama3's {calls}. A
// text of one or two bytes does not count as one, because it occurs too often in ordinary text.
func (p *Pattern) Markless() bool {
	return len(p.Parts) == 0 || p.Parts[0].Placeholder != "" ||
		len(strings.TrimSpace(p.Parts[0].Lit.Text)) < 3
}

// Part is a part of an example: a placeholder if the field Placeholder is set, and otherwise the
// fixed text in Lit. Two fixed texts are never adjacent.
type Part struct {
	Placeholder string
	Lit         Literal
}

// placeholders has all words of placeholders. The value says whether the placeholder is the body of
// a call. Each word exists for families that write so:
//
//	name, id       functionary's <function=NAME>; kimi-k2's functions.NAME:0, an id that contains the name
//	json           the arguments alone, if the name is outside: mistral's [TOOL_CALLS]NAME[ARGS]{…}
//	call, calls    hermes's {"name": …, "arguments": …}; granite3's list of such objects
//	named          apertus's [{"NAME": {…}}]
//	python         lfm2's [get_weather(city="Paris")]
//	pseudo         gemma4's {city:<|"|>Paris<|"|>}
//	args           arguments in tags of their own, written by the arg line, whose placeholders are key, value and type
//	index          kimi-k3 numbers the calls of a turn: <|open|>call tool="NAME" index="1"<|sep|>
//	junk           a part of a header without a meaning of its own: harmony's <|start|>{junk}<|message|>
//	reasoning      the text between the marks of a think line; text is that between those of a plain reply
//	result         what a tool answered, quoted as a JSON string; results means all of them together
var placeholders = map[string]bool{
	"reasoning": false, "calls": true, "call": true, "name": false, "id": false, "junk": false,
	"json": true, "args": true, "key": false, "value": false, "python": true, "pseudo": true,
	"named": true,
	"text":  false, "type": false, "index": false, "result": false, "results": false,
	"quoted": false,
}

// formPattern returns a pattern for the calls of a family in which no example can show them, so
// that a form describes them (see [Family.Form]). The pattern has the text with which the calls
// begin, if any, and one placeholder for everything after it.
func formPattern(f *Family) *Pattern {
	p := &Pattern{Family: f, Glue: f.Form.Glue}
	opening := f.Form.Opening()
	if tight := strings.TrimRight(opening, " \n"); len(tight) > 1 {
		opening = tight
	}
	if opening != "" {
		p.Parts = []Part{{Lit: Exactly(opening)}}
	}
	p.Parts = append(p.Parts, Part{Placeholder: FormPlaceholder})
	p.Open = p.first()
	return p
}

// FormPlaceholder is the placeholder of a pattern whose content the family's form reads.
const FormPlaceholder = "form"

// compile reads an example, in which \n is a newline, {{ a literal brace, and {word} a placeholder.
// It returns an error for an unknown placeholder. Newlines at the edges of the example are not
// matched, because templates print them between a call and the text around it, and models leave
// them out or double them. Glue and Tail count these newlines, so that the decoder can drop them
// from the text and the printer can write them.
func compile(f *Family, example string) (*Pattern, error) {
	p := &Pattern{Family: f}
	text := strings.ReplaceAll(example, `\n`, "\n")
	trimmed := strings.TrimLeft(text, "\n")
	p.Glue = len(text) - len(trimmed)
	for trimmed != "" {
		lit, placeholder, rest, err := cutPlaceholder(trimmed)
		if err != nil {
			return nil, err
		}
		if lit != "" {
			p.Parts = append(p.Parts, Part{Lit: Literal{Text: lit}})
		}
		if placeholder != "" {
			p.Parts = append(p.Parts, Part{Placeholder: placeholder})
		}
		trimmed = rest
	}
	p.trimTail()
	p.EndsInColon = strings.HasSuffix(strings.TrimRight(text, "\n"), ":")
	for i := range p.Parts {
		if p.Parts[i].Placeholder == "" {
			p.Parts[i].Lit.Units = units(p.Parts[i].Lit.Text, p.PlaceholderAt(i-1),
				p.PlaceholderAt(i+1))
		}
	}
	p.Open, p.Close = p.first(), p.closers()
	return p, nil
}

// cutPlaceholder splits text at its first placeholder, and returns the text before it, the word in
// it, and the text after it. {sfx} is not a placeholder but part of the text around it, such as the
// tag <think{sfx}>. An unknown word is an error, so that a misspelling in a file is not taken for
// text that models write.
func cutPlaceholder(text string) (lit, placeholder, rest string, err error) {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		if strings.HasPrefix(text[i:], "{{") {
			text = text[:i] + text[i+1:]
			continue
		}
		if strings.HasPrefix(text[i:], SuffixPlaceholder) {
			continue
		}
		word, rest, ok := strings.Cut(text[i+1:], "}")
		if _, known := placeholders[word]; !ok || !known {
			return "", "", "", fmt.Errorf("no placeholder {%s}", word)
		}
		return text[:i], word, rest, nil
	}
	return text, "", "", nil
}

// trimTail removes the newlines at the end of an example and counts them in Tail. After reasoning
// they belong to the text that follows, and after a call white space is dropped anyway. An arg line
// is not changed, because the text after a value shows where the value ends.
func (p *Pattern) trimTail() {
	n := len(p.Parts)
	if n == 0 || p.Parts[n-1].Placeholder != "" || p.Index("value") >= 0 {
		return
	}
	lit := &p.Parts[n-1].Lit
	short := strings.TrimRight(lit.Text, "\n")
	p.Tail = len(lit.Text) - len(short)
	if lit.Text = short; short == "" {
		p.Parts = p.Parts[:n-1]
	}
}

// PlaceholderAt returns the name of the placeholder that is part i of the pattern, or "" if the
// part is fixed text. It also returns "" for an index out of range, because callers look at the
// neighbours of a part.
func (p *Pattern) PlaceholderAt(i int) string {
	if i < 0 || i >= len(p.Parts) {
		return ""
	}
	return p.Parts[i].Placeholder
}

// Index returns the index of the first placeholder {word} among the pattern's parts, or -1 if
// there is none. A pattern has a handful of parts, so a search costs less than a table would.
func (p *Pattern) Index(word string) int {
	return slices.IndexFunc(p.Parts, func(part Part) bool { return part.Placeholder == word })
}

// shape returns the order of a pattern's parts: the names of its placeholders, and # for each fixed
// text between them. For example, "# key # value #" is the shape of an argument. Each kind of line
// allows only a few shapes.
func (p *Pattern) shape() string {
	var words []string
	for _, part := range p.Parts {
		if part.Placeholder == "" {
			words = append(words, "#")
		} else {
			words = append(words, part.Placeholder)
		}
	}
	return strings.Join(words, " ")
}

// isCall reports whether the pattern can be used to read calls. It must contain a list of calls, or
// have the tool's name after a fixed text, because otherwise any word of a sentence could be a
// name. A line that begins with the name must have a fixed text somewhere else (see Markless). The
// placeholder {id} counts as a name, because the id of a call may contain the name, as in kimi-k2's
// functions.get_weather:0.
func (p *Pattern) isCall() bool {
	named := (p.Index("name") >= 1 || p.Index("id") >= 1) && p.PlaceholderAt(0) == ""
	return named || p.Index("call") >= 0 || p.HoldsSeveral()
}

// Body returns the index of the placeholder for the call's arguments, or -1 if there is none. When
// a reply has come to this place, it is certain that it is a call, because the name came before,
// and only closing text comes after. A call without this placeholder has no arguments, as in
// deepseek's <｜DSML｜invoke name="get_time"/>.
func (p *Pattern) Body() int {
	return slices.IndexFunc(p.Parts, func(part Part) bool {
		return placeholders[part.Placeholder] || part.Placeholder == FormPlaceholder
	})
}

// withoutWrapper returns the pattern without the first of its two opening tags, or nil if there is
// only one. Models leave out the outer tag: qwen3-coder writes <function=get_weather> without
// <tool_call> before it. The inner tag may begin a call by itself, because the name of an offered
// tool follows it. There are two tags if a newline or "><" is in the text before the name.
func (p *Pattern) withoutWrapper() *Pattern {
	if p.Index("name") != 1 {
		return nil
	}
	text := p.Parts[0].Lit.Text
	at := strings.LastIndexByte(text, '\n') + 1
	if at == 0 {
		if at = strings.LastIndex(text, "><") + 1; at == 0 {
			return nil
		}
	}
	return p.beginningWith(text[at:])
}

// beginningWith returns a copy of the pattern whose first fixed text is text, or missing if text is
// empty. It is for replies that lack the beginning of an example, but match the rest. There are
// three causes: functionary-v3.2's prompts end with >>>, servers drop <tool_call> where it is a
// control token, and models leave out the outer of two tags.
func (p *Pattern) beginningWith(text string) *Pattern {
	q := *p
	q.Parts = slices.Clone(p.Parts)
	if q.Parts[0].Lit = NewLiteral(text, "", p.PlaceholderAt(1)); text == "" {
		q.Parts = q.Parts[1:]
	}
	q.Open = q.first()
	return &q
}

// first returns the first fixed text of the pattern, such as <tool_call> of
// <tool_call>\n<function=, without the fixed texts after it. Models sometimes write it twice, and
// then only this text is skipped. The result is empty if the pattern begins with a placeholder.
func (p *Pattern) first() Literal {
	if len(p.Parts) == 0 {
		return Literal{}
	}
	return append(p.Parts[0].Lit.Pieces(), Literal{})[0]
}

// closers returns the texts that close a call after its arguments, one by one, because any of
// several may be missing. For example, qwen3-coder's calls end with </function>\n</tool_call>, and
// a reply that ends after the first of these is a complete call. For a pattern without arguments it
// returns nil, because such a pattern ends with its last fixed text.
func (p *Pattern) closers() []Literal {
	var out []Literal
	for i := p.Body() + 1; i > 0 && i < len(p.Parts); i++ {
		if p.Parts[i].Placeholder == "" {
			out = append(out, p.Parts[i].Lit.Pieces()...)
		}
	}
	return out
}

// ResultMarks returns the fixed texts before and after the result of a tool in the pattern, or ""
// for both if it has none. The first is cut after the name of its tag, because attributes vary:
// <tool_response of <tool_response name="get_weather">. Replies are searched for these marks,
// because models continue after a call and make up its result, as in
// <tool_response>\n22°C\n</tool_response>.
func (p *Pattern) ResultMarks() (open, end string) {
	first, last := p.Parts[0], p.Parts[len(p.Parts)-1]
	open, end = strings.TrimSpace(first.Lit.Text), strings.TrimSpace(last.Lit.Text)
	from := strings.LastIndexAny(end, "<[")
	if first.Placeholder != "" || last.Placeholder != "" || from < 0 ||
		open[0] != '<' && open[0] != '[' {
		return "", ""
	}
	if i := strings.IndexAny(open, ">] {"); i > 0 {
		open = strings.TrimRight(open[:i+1], " {")
	}
	return open, end[from:]
}

// CloseMark returns the text with which a pattern for reasoning or a plain reply ends, such as
// </think>, or "" if there is none.
func (p *Pattern) CloseMark() string { return strings.TrimSpace(p.Parts[len(p.Parts)-1].Lit.Text) }

// Special reports whether the pattern begins with a special token, such as <|start|>, and not with
// a tag, which prose may mention (see [Mark.Special]).
func (p *Pattern) Special() bool { return special(p.Parts[0].Lit.Key()) }

// WithoutOpener returns the pattern of a call without its opening tag or token, or nil if the rest
// has no other tag that shows the family. Models leave the opening tag out, and servers hide it
// when it is a control token. Then {"name": …}</tool_call> is left of hermes's call, and the
// closing tag still shows that it is a call.
func (p *Pattern) WithoutOpener() *Pattern {
	if p.Index(FormPlaceholder) >= 0 {
		if p.PlaceholderAt(0) != "" || len(p.Parts[0].Lit.Key()) < 2 {
			return p // it has no opening mark, so the index does not find it
		}
		return nil
	}
	if p.PlaceholderAt(0) != "" || p.IsFence() {
		return nil
	}
	text := p.Parts[0].Lit.Text
	loc := TokenLike.FindStringIndex(text)
	if loc == nil || loc[0] != 0 {
		return nil
	}
	q := p.beginningWith(strings.TrimLeft(text[loc[1]:], "\n "))
	q.Headless = true
	marked := func(x Part) bool { return TokenLike.MatchString(x.Lit.Text) }
	if len(q.Close) == 0 && !slices.ContainsFunc(q.Parts[1:], marked) {
		return nil
	}
	return q
}

// IsFence reports whether the pattern is a call in a fence (```). Such an example is used only for
// printing. In replies of all families a fence is read by its label and content, because all models
// write fences, mostly around things that are not calls.
func (p *Pattern) IsFence() bool { return strings.HasPrefix(p.Parts[0].Lit.Text, "```") }

// Keyed reports whether the tag of an argument is named like the parameter, so that the key is in
// the closing tag as well. minimax-m3 writes ]<]minimax[>[<city>Paris]<]minimax[>[</city>. The
// example of an argument then has a second {key} after {value}.
func (p *Pattern) Keyed() bool { return p.PlaceholderAt(5) == "key" }

// ItemKey is the tag of a list's elements in a family whose tags are named like the parameters,
// because an element has no name of its own.
const ItemKey = "item"

// OpenTag returns the text before the value in the example of an argument, such as
// <parameter=city>, with the given key filled in. If the example has {type} before the value, the
// text ends there. In a family whose tags are named like the parameters, members of a value have
// the same tags.
func (p *Pattern) OpenTag(key string) string { return p.Printed(0) + key + p.Printed(2) }

// CloseTag returns the text that follows the value in the example of an argument, such as
// </parameter>. Where the example repeats the key, as in </{key}>, it contains the given key.
func (p *Pattern) CloseTag(key string) string {
	if !p.Keyed() {
		return p.Printed(len(p.Parts) - 1)
	}
	return p.Printed(4) + key + p.Printed(6)
}
