package derive

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolnorm/chat"
)

// anchor is a known part of a call that was found in a text: the tool's name, the id, the
// arguments, or one key or value. The template has written the text between two anchors.
type anchor struct {
	placeholder string // name, id, json, quoted, key or value
	from, to    int
}

// anchors returns the parts of calls in a text, from left to right.
func anchors(text string, calls ...chat.Call) (all []anchor) {
	words := map[string]string{"lemur": "key", "okapi": "key", "fetch_gnus": "name"}
	for _, c := range calls {
		words[c.ID] = "id"
		for _, v := range valuesOf(c.Args) {
			words[v] = "value"
		}
	}
	for i := 0; i < len(text); {
		if end, placeholder := blockAt(text[i:], calls); end > 0 {
			all = append(all, anchor{placeholder, i, i + end})
			i += end
			continue
		}
		n := 0
		for word, placeholder := range words {
			if strings.HasPrefix(text[i:], word) {
				all, n = append(all, anchor{placeholder, i, i + len(word)}), len(word)
				break
			}
		}
		i += max(n, 1)
	}
	return all
}

// valuesOf returns the values of an object that has only strings as values.
func valuesOf(args json.RawMessage) (all []string) {
	var members map[string]string
	_ = json.Unmarshal(args, &members)
	for _, v := range members {
		all = append(all, v)
	}
	return all
}

// blockAt returns the length of a call's arguments at the start of a text, or 0 if the text does
// not begin with the arguments of any of the calls. It also returns the arguments' placeholder in a
// declaration: json for a JSON object, quoted for an object in a string.
func blockAt(text string, calls []chat.Call) (int, string) {
	for _, c := range calls {
		python := strings.ReplaceAll(string(c.Args), `"`, "'")
		switch value, ok := jsonAt(text); {
		case text[0] == '"' && ok:
			var inner string
			if json.Unmarshal([]byte(value), &inner) == nil && same([]byte(inner), c.Args) {
				return len(value), "quoted"
			}
		case text[0] == '{' && ok && same([]byte(value), c.Args):
			return len(value), "json"
		case strings.HasPrefix(text, python):
			return len(python), "json"
		}
	}
	return 0, ""
}

// pieces is a part of a form line of a declaration: literals and placeholders, as text.
type pieces struct {
	text  string
	first int // the first value of a counter; -1 without a counter
}

// lengths are the lengths of the arguments of two calls; 0: not known.
type lengths [2]int

// mergeTexts returns what two texts have in common at the beginning or, if end is true, at the end.
// In the common part, numbers of calls or bytes may differ, and become placeholders. The results na
// and nb are the lengths of the common part in the two texts.
func mergeTexts(a, b string, end bool, l lengths) (out pieces, na, nb int) {
	out.first = -1
	at := func(s string, n int) (rune, int) {
		if end {
			return utf8.DecodeLastRuneInString(s[:len(s)-n])
		}
		return utf8.DecodeRuneInString(s[n:])
	}
	add := func(s string) {
		if end {
			out.text = s + out.text
		} else {
			out.text += s
		}
	}
	for na < len(a) && nb < len(b) {
		ra, size := at(a, na)
		rb, _ := at(b, nb)
		da, db := digits(a, na, end), digits(b, nb, end)
		x, _ := strconv.Atoi(da)
		y, _ := strconv.Atoi(db)
		switch {
		case da != "" && db != "" && l == lengths{x, y} || da != "" && l[0] == x && x > 9 &&
			l[1] == 0:
			add("{length}")
		case da != "" && db != "" && y == x+1 && x < 2:
			out.first = x
			add("{index}")
		case ra == rb:
			add(escapeLiteral.Replace(string(ra)))
			na, nb = na+size, nb+size
			continue
		default:
			return out, na, nb
		}
		na, nb = na+len(da), nb+len(db)
	}
	return out, na, nb
}

// escapeLiteral writes a literal as it is written in the lines of a form.
var escapeLiteral = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "{", "{{")

// digits returns the digits that begin n bytes after the beginning of a text. If end is true, it
// returns those that end n bytes before its end. It returns "" if there are none.
func digits(s string, n int, end bool) string {
	is := func(c byte) bool { return c >= '0' && c <= '9' }
	from, to := n, n
	if end {
		from, to = len(s)-n, len(s)-n
		for from > 0 && is(s[from-1]) {
			from--
		}
		return s[from:to]
	}
	for to < len(s) && is(s[to]) {
		to++
	}
	return s[from:to]
}

// framed is a rendered turn taken apart: the texts around its calls, and the literals between the
// parts of a call.
type framed struct {
	glue         string // the newlines between text and calls
	placeholders []string
	// literals before each placeholder and after the last, escaped for a form
	gaps              []string
	first, join, last string // the plain texts before, between and after calls
	index             int
	rawGaps           []string // the same as plain text
}

// frame compares a turn of one call with a turn of two, and returns the texts around the calls and
// between their parts. It returns false if the parts do not match. The text two may be empty if
// there is no such turn.
func frame(one, two string) (*framed, bool) {
	a := anchors(one, gnus[0])
	f := &framed{index: -1}
	for _, x := range a {
		f.placeholders = append(f.placeholders, x.placeholder)
	}
	if len(a) == 0 || !slices.Contains(f.placeholders, "name") {
		return nil, false
	}
	plain := gapsOf(one, a)
	if two == "" {
		two = one
		f.gaps, f.rawGaps = make([]string, len(plain)), plain
		l := argLengths(one, a, "", nil)
		for i, g := range plain {
			m, _, _ := mergeTexts(g, g, false, lengths{l[0], 0})
			f.gaps[i] = m.text
		}
		return f, true
	}
	b := anchors(two, gnus[:2]...)
	if len(b) != 2*len(a) {
		return nil, false
	}
	for i := range a {
		if b[i].placeholder != a[i].placeholder || b[len(a)+i].placeholder != a[i].placeholder {
			return nil, false
		}
	}
	return f, f.compare(two, b[:len(a)], b[len(a):])
}

// gapsOf returns the texts before, between and after the given parts of a call in a text.
func gapsOf(text string, a []anchor) (gaps []string) {
	from := 0
	for _, x := range a {
		gaps = append(gaps, text[from:x.from])
		from = x.to
	}
	return append(gaps, text[from:])
}

// argLengths returns the lengths of the arguments of two calls. The first call is in the text x and
// has the parts a, and the second is in y and has the parts b. A length is 0 if the call has no
// arguments.
func argLengths(x string, a []anchor, y string, b []anchor) (l lengths) {
	for i, calls := range [][]anchor{a, b} {
		text := []string{x, y}[i]
		var block []anchor
		for _, at := range calls {
			if at.placeholder != "name" && at.placeholder != "id" {
				block = append(block, at)
			}
		}
		if len(block) > 0 {
			s := text[block[0].from:block[len(block)-1].to]
			l[i] = len(s)
		}
	}
	return l
}

// compare finds the template's texts around the parts of a call, and stores them in f. It compares
// two calls in a row in the text two, whose parts are a and b. It returns false if the texts around
// the parts of the two calls differ.
func (f *framed) compare(two string, a, b []anchor) bool {
	l := argLengths(two, a, two, b)
	note := func(m pieces) string {
		if m.first >= 0 {
			f.index = m.first
		}
		return m.text
	}
	head, between, tail := two[:a[0].from], two[a[len(a)-1].to:b[0].from], two[b[len(b)-1].to:]
	open, no, nb := mergeTexts(head, between, true, l)
	if n := markEnd(head[:len(head)-no], head[len(head)-no:]); n > 0 {
		open, no, nb = mergeTexts(head[len(head)-no+n:], between, true, l)
	}
	rest := between[:len(between)-nb]
	closer, nc, nt := mergeTexts(rest, tail, false, l)
	f.first, f.join, f.last = head[:len(head)-no], rest[nc:], tail[nt:]
	f.gaps, f.rawGaps = []string{note(open)}, []string{head[len(head)-no:]}
	for i := 1; i < len(a); i++ {
		x, y := two[a[i-1].to:a[i].from], two[b[i-1].to:b[i].from]
		m, nx, ny := mergeTexts(x, y, false, l)
		if nx != len(x) || ny != len(y) {
			return false
		}
		f.gaps, f.rawGaps = append(f.gaps, note(m)), append(f.rawGaps, x)
	}
	f.gaps, f.rawGaps = append(f.gaps, note(closer)), append(f.rawGaps, rest[:nc])
	return true
}
