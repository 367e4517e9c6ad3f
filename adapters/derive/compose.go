package derive

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// arrangements returns declarations, as texts, each of which may describe how a template has
// printed two turns. The parameter one is a turn with a single call, and two is a turn with two
// calls. It returns nil if the parts of the calls do not match. The declarations have the parts of
// a call at the same places, and differ in how values are written.
func arrangements(p *printer, one, two, glue string) (all []string) {
	f, ok := frame(one, two)
	if !ok {
		return nil
	}
	f.glue = glue
	all = f.arrangements(p, one)
	for _, lines := range slices.Clone(all) {
		if call := aCount.FindString(lines); call != "" { // 2 may be the number of arguments
			all = append(all, strings.Replace(lines, call, strings.Replace(call, "2", "{count}", 1),
				1))
		}
		if arg := aType.FindString(lines); arg != "" {
			typed := strings.Replace(lines, arg, arg[:strings.LastIndex(arg, "str")]+"{type}"+
				arg[strings.LastIndex(arg, "str")+len(aType.FindStringSubmatch(arg)[1]):], 1)
			all = append(all, typed+"form    types json\n", typed+"form    types number\n", typed+
				"form    types python\n")
		}
	}
	return all
}

// The patterns of form lines with literals that may be placeholders: the number of arguments, and
// the word for the type of a string.
var (
	aCount = regexp.MustCompile(`form    call .*\b2\b.*\n`)
	aType  = regexp.MustCompile(`form    arg .*\b(string|str)\b.*\{value\}.*\n`)
)

// arrangements returns declarations, as texts, each of which may describe calls whose parts are at
// the places in f. They differ in how arguments and values are written.
func (f *framed) arrangements(p *printer, one string) (all []string) {
	if slices.Contains(f.placeholders, "json") || slices.Contains(f.placeholders, "quoted") {
		for _, values := range []string{"json", "compact", "python"} {
			lines := f.lines(f.placeholders, f.gaps) + "form    values " + values + "\n"
			all = append(all, lines, lines+"form    length runes\n")
		}
		return all
	}
	for _, quote := range append(distinct(`"`, `'`, f.quote()), "") {
		i, ok := f.items(quote)
		if !ok {
			continue
		}
		for _, words := range codings(quote) {
			for _, values := range []string{"json", "python", "compact"} {
				all = append(all, i.lines+i.argLines()+words+"form    values "+values+"\n")
			}
			for _, j := range []items{i, i.unspaced()} {
				if nested := p.nested(j, one, quote); nested != "" {
					all = append(all, j.lines+j.argLines()+words+nested+p.block(j, one, quote))
				}
			}
		}
	}
	return all
}

// quote returns the longest text that is both before and after a value, such as <|"|>, or "" if
// there is none.
func (f *framed) quote() string {
	at := slices.Index(f.placeholders, "value")
	if at < 0 {
		return ""
	}
	front, behind := f.rawGaps[at], f.rawGaps[at+1]
	for n := min(len(front), len(behind)); n > 0; n-- {
		if strings.HasSuffix(front, behind[:n]) && strings.TrimSpace(behind[:n]) != "" {
			return behind[:n]
		}
	}
	return ""
}

// codings returns the form lines of a declaration that may describe how strings in these quotes are
// escaped. If quote is empty, the strings have no quotes. Each element is one possibility.
func codings(quote string) (all []string) {
	if quote == "" {
		return []string{"form    strings raw\n", "form    strings xml\n", "form    strings url\n"}
	}
	plain, escape := html.UnescapeString(quote), ""
	if plain != quote { // &quot;
		escape = " xml"
	}
	if plain == `"` || plain == `'` {
		all = []string{"form    strings json" + escape + "\n",
			"form    strings python" + escape + "\n"}
	}
	return append(all, "form    strings raw\nform    quote "+
		markEdges(escapeLiteral.Replace(quote))+"\n")
}

// lines returns the "form" lines of a declaration for calls that consist of the placeholders in
// placeholders and the literals in gaps, which are before each placeholder and after the last.
func (f *framed) lines(placeholders, gaps []string) string {
	var b strings.Builder
	call := ""
	for i, placeholder := range placeholders {
		call += gaps[i] + "{" + placeholder + "}"
	}
	call += gaps[len(gaps)-1]
	first, glue := strings.TrimLeft(f.first, "\n"), strings.Repeat(`\n`, len(f.glue))
	// a call whose opener is a single sign is not recognised after another call, so it needs a
	// calls line
	if opener, _, _ := strings.Cut(gaps[0]+"{", "{"); strings.TrimSpace(
		f.first+f.join+f.last) != "" ||
		len(strings.TrimSpace(strings.ReplaceAll(opener, `\n`, ""))) < 2 {
		fmt.Fprintf(&b, "form    calls %s\n", markEdges(above(glue, first)+
			escapeLiteral.Replace(first)+"{call}"+escapeLiteral.Replace(f.join)+
			"{call}"+escapeLiteral.Replace(f.last)))
	}
	if first == "" {
		for strings.HasPrefix(call, `\n`) || strings.HasPrefix(call, " ") {
			call = strings.TrimPrefix(strings.TrimLeft(call, " "), `\n`)
		}
		call = glue + call
	}
	fmt.Fprintf(&b, "form    call %s\n", markEdges(call))
	if f.index == 0 {
		b.WriteString("form    first 0\n")
	}
	return b.String()
}

// above returns glue, the newlines that are printed before a mark, or "" if there is no mark.
func above(glue, mark string) string {
	if mark == "" {
		return ""
	}
	return glue
}

// markEdges returns a line with \s for the blanks at its edges, which would otherwise be lost.
func markEdges(line string) string {
	inner := strings.Trim(line, " ")
	if inner == "" {
		return strings.Repeat(`\s`, len(line))
	}
	front, behind := strings.Index(line, inner), len(line)-len(strings.TrimRight(line, " "))
	return strings.Repeat(`\s`, front) + inner + strings.Repeat(`\s`, behind)
}

// items describes how a model writes arguments as separate elements, one after the other, as in
// <parameter=path>a.txt</parameter><parameter=days>3</parameter>, and not as one JSON object.
type items struct {
	series
	lines string // the form lines about calls
	plain string // the text before a value of one line
}

// series has the literals around and between two values and, if they have names, around these. Such
// values are arguments, members of an object, or elements of a list.
type series struct {
	// again: the text after the repeated name
	open, before, mid, after, again, between, close string
	first                                           bool // the value is before the name
	keyed                                           bool // the name is repeated after the value
	// the text between two names before a value; "" if there is one name
	twice string
}

// item returns the part of a form line for one argument: {value} for its value, key for its name,
// and the literals around them. If indent is not empty, the text has {indent} at the beginning of
// its last line.
func (s series) item(key, indent string) string {
	e := escapeLiteral.Replace
	before := e(s.before)
	if at := strings.LastIndex(s.before, "\n"); indent != "" && at >= 0 {
		at += 1 + len(s.before[at+1:]) - len(strings.TrimLeft(s.before[at+1:], " "))
		before = e(s.before[:at]) + "{indent}" + e(s.before[at:])
	}
	if s.first {
		return markEdges("{value}" + e(s.mid) + key)
	}
	if s.twice != "" {
		key += e(s.twice) + key
	}
	out := before + key + e(s.mid) + "{value}" + e(s.after)
	if s.keyed {
		out += key + e(s.again)
	}
	return markEdges(out)
}

// seriesOf returns the literals around two values with their names, given the texts around them.
// The text head is before the first name, mid and mid2 are between a name and its value, joint
// follows the first value, and tail follows the second. If keyed is true, each value is followed by
// its name once more, and again and again2 are the texts before that name. Quotes are removed from
// the result. It returns false if the literals of the two values differ.
func seriesOf(head, mid, mid2, joint, tail, again, again2, quote string, keyed bool) (
	s series, ok bool) {
	if mid != mid2 {
		return s, false
	}
	s.keyed = keyed
	if keyed { // joint and tail follow the repeated names
		if again != again2 {
			return s, false
		}
		again, s.mid, ok = cutQuotes(again, mid, quote)
		if !ok {
			return s, false
		}
		s.after = again
	} else {
		behind, front, fine := cutQuotes(joint, mid, quote)
		end, _, fine2 := cutQuotes(tail, mid, quote)
		if !fine || !fine2 {
			return s, false
		}
		joint, tail, s.mid = behind, end, front
	}
	if n := wholeRunes(joint, commonSuffix(head, joint)); n > 0 {
		s.before = joint[len(joint)-n:]
		if end := markEnd(again+joint[:len(joint)-n], s.before); end < n {
			s.before = s.before[end:]
		}
	}
	if blank := s.before; blank != "" && blank != joint && strings.Trim(blank, " ") == "" {
		// ", " is a separator, and not a comma after one value and a blank before the next
		s.before = ""
	}
	rest := joint[:len(joint)-len(s.before)]
	n := commonPrefix(rest, tail)
	for n > 0 && n < len(rest) && rest[n]&0xC0 == 0x80 {
		n--
	}
	if keyed {
		s.again = rest[:n]
	} else {
		s.after = rest[:n]
	}
	s.open, s.between, s.close = head[:len(head)-len(s.before)], rest[n:], tail[n:]
	return s, true
}

// wholeRunes returns how many of the last n bytes of a text consist of whole characters.
func wholeRunes(text string, n int) int {
	for n > 0 && text[len(text)-n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// cutQuotes returns the text after a value and the text before it, without the value's quotes. It
// returns false if one of the quotes is missing.
func cutQuotes(behind, front, quote string) (b, f string, ok bool) {
	b, ok = strings.CutPrefix(behind, quote)
	f, ok2 := strings.CutSuffix(front, quote)
	return b, f, ok && ok2
}

// items returns the form of arguments that are written one by one, whose strings are in the given
// quotes. It returns false if names and values are in no known order.
func (f *framed) items(quote string) (i items, ok bool) {
	at := slices.Index(f.placeholders, "key")
	if at < 0 {
		return i, false
	}
	rest := strings.Join(f.placeholders[at:], " ")
	g := func(n int) string { return f.rawGaps[at+n] }
	size := 4
	switch {
	case strings.HasPrefix(rest, "key value key key value key"):
		size = 6
		i.series, ok = seriesOf(g(0), g(1), g(4), g(3), g(6), g(2), g(5), quote, true)
	case at > 0 && f.placeholders[at-1] == "value" &&
		strings.HasSuffix(strings.Join(f.placeholders[:at+3], " "),
			"value key value key"):
		return f.valuesFirst(at-1, quote)
	case strings.HasPrefix(rest, "key key value key key value") && g(1) == g(4):
		size = 6
		i.series, ok = seriesOf(g(0), g(2), g(5), g(3), g(6), "", "", quote, false)
		i.twice = g(1)
	case strings.HasPrefix(rest, "key value key value"):
		i.series, ok = seriesOf(g(0), g(1), g(3), g(2), g(4), "", "", quote, false)
	}
	if !ok || slices.Contains(f.placeholders[at+size:], "value") {
		return i, false
	}
	gaps := slices.Clone(f.gaps)
	head, fine := strings.CutSuffix(gaps[at], escapeLiteral.Replace(i.before))
	behind := i.after
	if i.keyed {
		behind = i.again
	} else if quote != "" {
		behind = quote + behind
	}
	tail, fine2 := strings.CutPrefix(gaps[at+size], escapeLiteral.Replace(behind))
	if !fine || !fine2 {
		return i, false
	}
	gaps[at], gaps[at+size] = head, tail
	placeholders := slices.Concat(f.placeholders[:at], []string{"args"}, f.placeholders[at+size:])
	gaps = slices.Concat(gaps[:at+1], gaps[at+size:])
	i.lines = f.lines(placeholders, gaps)
	return i, true
}

// valuesFirst returns the form of two arguments in which each name follows its value. The parameter
// at is the index of the first value among the parts of the call. It returns false if the literals
// around the two arguments differ, or if the values have no quotes.
func (f *framed) valuesFirst(at int, quote string) (i items, ok bool) {
	g := func(n int) string { return f.rawGaps[at+n] }
	mid, _, fine := cutQuotes(g(1), quote, quote)
	mid2, _, fine2 := cutQuotes(g(3), quote, quote)
	head, fine3 := strings.CutSuffix(f.gaps[at], escapeLiteral.Replace(quote))
	between, fine4 := strings.CutSuffix(g(2), quote)
	if quote == "" || !fine || !fine2 || !fine3 || !fine4 || mid != mid2 || mid == "" ||
		slices.Contains(f.placeholders[at+4:], "value") {
		return i, false
	}
	i.before, i.mid, i.between, i.first = "", mid, between, true
	gaps := slices.Concat(f.gaps[:at], []string{head}, f.gaps[at+4:])
	i.lines = f.lines(slices.Concat(f.placeholders[:at], []string{"args"},
		f.placeholders[at+4:]), gaps)
	return i, true
}

// argLines returns the "form" lines of a declaration that say how each argument is written.
func (i items) argLines() string {
	lines := "form    arg " + i.item("{key}", "") + "\n"
	if i.between != "" {
		lines += "form    args " + markEdges("{arg}"+escapeLiteral.Replace(i.between)+"{arg}") + "\n"
	}
	if i.plain != "" {
		lines += "form    plain " + markEdges(i.plain) + "\n"
	}
	return lines
}

// unspaced returns the form in which the blank between a name and its value is printed only before
// values of one line, as in YAML.
func (i items) unspaced() items {
	mid := strings.TrimRight(i.mid, " ")
	i.mid, i.plain = mid, i.mid[len(mid):]
	return i
}
