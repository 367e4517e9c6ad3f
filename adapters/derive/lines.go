package derive

import (
	"fmt"
	"path"
	"strings"
)

// declaration returns the lines of a declaration, which says how a model writes calls. If a known
// family prints the same, the parameter known is its name. The lines are then only a "like" line
// and, unless exactly is true, the template's own marks around reasoning and text. It returns
// ErrForm if the calls cannot be expressed.
func (o *observed) declaration(model, known string, exactly bool) (string, error) {
	var b strings.Builder
	b.WriteString(heading(model))
	if known != "" {
		fmt.Fprintf(&b, "like    %s\n", known)
	}
	if exactly {
		return b.String(), nil
	}
	b.WriteString(o.markLines())
	if known != "" {
		return b.String(), nil
	}
	if o.messages != nil {
		return o.messageLines(&b)
	}
	lines, ends, err := o.callLines()
	if err != nil {
		return "", err
	}
	switch {
	case o.cdata:
		b.WriteString("flag    cdata\n")
	case o.spoken != "": // seen around a reply without a thought
		b.WriteString("flag    marked\n")
	}
	b.WriteString(lines)
	// llama3.1's template writes <|python_tag|> in one mode only; calls with the mark are read, too
	for _, mark := range o.openers {
		if strings.Contains(lines, "{call}") {
			fmt.Fprintf(&b, "call    %s{call}\n", example(mark))
		}
	}
	if o.ahead != "" {
		fmt.Fprintf(&b, "prompt  %s\n", o.ahead)
	}
	if ends = append(ends, o.ends...); len(ends) > 0 {
		fmt.Fprintf(&b, "drop    %s\n", strings.Join(ends, " "))
	}
	return b.String(), nil
}

// heading returns the first two lines of a declaration made for a model: "format" with the model's
// name, which is without registry, user and tag, and "models" with a glob. The glob matches other
// sizes of the model as well.
func heading(model string) string {
	name, _, _ := strings.Cut(path.Base(strings.ToLower(model)), ":")
	name = strings.Join(strings.Fields(name), "-")
	return fmt.Sprintf("format  %s\nmodels  %s*\n", name, name)
}

// callLines returns the lines of a declaration that describe calls (section, call, arg, keys and
// quote), and the marks after the calls that end the turn. It returns ErrForm if it finds no calls.
// It compares what is before, between and after two calls in a text. The opener is what precedes
// both, and the closer what follows both. Other marks around all calls become a section. But if the
// first call has only its opener before it, the marks after the last closer end the turn.
//
//	<tool_call>\n{A}\n</tool_call>\n<tool_call>\n{B}\n</tool_call><|im_end|>
//
// has "\n</tool_call>\n<tool_call>\n" between the calls: the opener is <tool_call>\n, the closer
// \n</tool_call>, the glue one newline, and <|im_end|> ends the turn.
func (o *observed) callLines() (lines string, ends []string, err error) {
	oneText, twoText := sameIDs(o.one), sameIDs(o.two)
	one, ok := bodyOf(oneText, "quokka.txt", "wombat")
	if !ok {
		return "", nil, ErrForm
	}
	one.lines = o.typed(one.lines)
	if twoText == "" {
		return o.onlyLine(oneText, one)
	}
	first, ok := bodyOf(twoText, "quokka.txt", "wombat")
	if !ok {
		return "", nil, ErrForm
	}
	rest := twoText[first.end:]
	second, ok := bodyOf(rest, "numbat.txt", "bilby")
	if !ok { // one list has both calls
		return fmt.Sprintf("call    %s%s%s\n%s", example(oneText[:one.start]), first.placeholder,
			example(oneText[one.end:]), one.lines), nil, nil
	}
	before, between, after := twoText[:first.start], rest[:second.start], rest[second.end:]
	open := strings.TrimLeft(opener(before, between), "\n") // the newlines are glue
	closer := commonStart(between[:len(between)-len(open)], after)
	head, tail := before[:len(before)-len(open)], after[len(closer):]
	glue := newlines(between[len(closer):])
	section := ""
	switch {
	case strings.TrimSpace(head) == "": // without a section, marks after all calls end the turn
		glue = max(newlines(head), glue, o.glue) // the longest one
		ends = anyMark.FindAllString(tail, -1)
	// objects one after the other, with marks around all
	case first.placeholder == "{call}" && open+closer == "" && one.lines == "":
		return fmt.Sprintf("call    %s{calls}%s\nkeys    list=bare\n", example(head),
			example(tail)), nil, nil
	default:
		head = max(newlines(head), o.glue) + strings.TrimLeft(head, "\n")
		section = fmt.Sprintf("section %s{calls}%s\n", example(head), example(tail))
	}
	call := fmt.Sprintf("call    %s%s%s%s\n", example(glue), example(open), first.placeholder,
		example(closer))
	return section + call + withoutFence(call) + one.lines, ends, nil
}

// typed returns the lines of a declaration with {type} in the line for an argument. It is for
// templates that print the type in the tag of an argument (kimi-k3 and DeepSeek's DSML): of
// <parameter name="{key}" string="true"> it makes <parameter name="{key}" string="{type}">. To find
// the place, it compares the tags of a number and of a string. They must differ in one word, such
// as "false" and "true". The whole word is replaced, not only the letters that differ, because both
// words end in e. If the tags do not differ in this way, typed returns the lines unchanged.
func (o *observed) typed(lines string) string {
	number, word := o.types[0], o.types[1]
	from := len(strings.TrimRight(word[:commonPrefix(number, word)], letters))
	to := commonSuffix(number[from:], word[from:])
	to = len(strings.TrimLeft(word[len(word)-to:], letters))
	if number == word || from == 0 || to == 0 || len(number) > 64 {
		return lines
	}
	typed := example(word[:from]) + "{type}" + example(word[len(word)-to:])
	return strings.Replace(lines, "{key}"+example(word)+"{value}", "{key}"+typed+"{value}", 1)
}

// letters are the letters of the words for types, which are in lower case.
const letters = "abcdefghijklmnopqrstuvwxyz"

// messageLines appends to b the lines of a declaration whose replies consist of messages, and
// returns all of b. It returns ErrForm if no arguments are found. For example, glimmer's messages
// contain a section of tagged calls, harmony's only the arguments.
func (o *observed) messageLines(b *strings.Builder) (string, error) {
	text := sameIDs(o.one)
	if _, body, ok := strings.Cut(text, o.messages.closes); ok {
		text = body
	}
	one, ok := bodyOf(text, "quokka.txt", "wombat")
	switch {
	case !ok:
		// The name is only in the header, so the body is the arguments.
		at := strings.Index(text, "{")
		if at < 0 {
			return "", ErrForm
		}
		b.WriteString(o.messages.lines("json", ""))
	case one.placeholder == "{call}":
		return "", ErrForm
	default:
		before, after := text[:one.start], text[one.end:]
		after, _, _ = strings.Cut(after, o.messages.last)
		head, open := before, ""
		if i := strings.LastIndexByte(before, '<'); i >= 0 {
			head, open = before[:i], before[i:]
		}
		closer := strings.TrimSpace(firstMark(after))
		tail := strings.TrimPrefix(strings.TrimLeft(after, "\n"), closer)
		more := fmt.Sprintf("section %s{calls}%s\ncall    %s%s\\n%s\n%s", example(head),
			example(tail), example(open), one.placeholder, example(closer), one.lines)
		b.WriteString(o.messages.lines("calls", more))
	}
	return b.String(), nil
}

// onlyLine returns the call line of a declaration for a template that prints only one call, and the
// marks that end the turn. Llama 3's templates refuse a second call. If no mark precedes the call,
// the marks after it end the turn. Otherwise all marks belong to the call, because one call does
// not show which marks belong to a section. The error is always nil.
func (o *observed) onlyLine(text string, b body) (string, []string, error) {
	before, after := text[:b.start], text[b.end:]
	var ends []string
	if !hasMark(before) {
		ends, after = anyMark.FindAllString(after, -1), ""
	}
	return fmt.Sprintf("call    %s%s%s\n%s", example(before), b.placeholder, example(after), b.lines),
		ends, nil
}

// withoutFence returns a call line without the fence around the arguments, which models leave out.
// It returns "" if the line has no such fence. DeepSeek V3's template puts ```json around
// arguments, but its models write both.
func withoutFence(call string) string {
	without := strings.NewReplacer("```json\\n{json}\\n```", "{json}\\n").Replace(call)
	if without == call {
		return ""
	}
	return without
}

// newlines returns the newlines that a text begins with.
func newlines(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "\n"))] }

// example returns a text as it is written in a declaration: with doubled braces, \n for newlines,
// and {id} for the id of the first test call.
func example(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "{", "{{"), "\n", `\n`)
	return strings.ReplaceAll(s, probes[0].ID, "{id}")
}

// sameIDs returns s with the id of the second test call replaced by that of the first, so that the
// calls differ only in their arguments.
func sameIDs(s string) string { return strings.ReplaceAll(s, probes[1].ID, probes[0].ID) }
