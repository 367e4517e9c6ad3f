package form

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
)

// Call is a call that was read from a text.
type Call struct {
	Name, ID string
	JSON     string   // the arguments, if they were written as JSON
	Args     []Member // otherwise the arguments, in the order of the text
}

// Member is one argument. If Raw is set, the tool's schema decides which type the value has.
type Member struct {
	Key, Value string // the value is JSON, or plain text if Raw is set
	Raw        bool
}

// Text is a text from which calls are read, together with the tools that the client offers.
type Text interface {
	At(i int) int           // returns the byte at offset i, or -1 after the end
	Named(name string) bool // reports whether a tool of that name is offered
	// Takes reports whether the tool, or any tool if the name is empty, has such a parameter.
	Takes(name, key string) bool
	Over(i int) bool // reports whether the reply or its turn ends at offset i
	// Fits reports whether the tool's schema allows values of the kind of this JSON at the place to
	// which the keys lead, see Typed. It is true for a place without a type.
	Fits(name string, keys []string, value string) bool
	// Typed returns the JSON for a text without quotation marks inside an argument of the tool. The
	// keys lead to it: the argument, and then a member's name, or "" for an element. ok is false if
	// the tool's schema gives no type for that place.
	Typed(name string, keys []string, text string) (value string, ok bool)
}

// maxName bounds names, ids, keys and numbers, in bytes.
const maxName = 128

// reader reads the calls in one text, as one form describes them.
type reader struct {
	*Form
	Text
	cut   bool // the text ended inside a call
	raw   bool // a value without escapes was read
	vague bool // the text may have been read otherwise
	call  *Call
	left  int      // how many steps may still be taken
	depth int      // how deeply the current value is nested
	pad   string   // what {indent} stands for in the current value
	keys  []string // the place of the current value, for Text.Typed
}

// maxSteps bounds the number of comparisons, as protection against hostile text.
const maxSteps = 1 << 21

// Read reads the calls at offset 0 of text and returns them with the offset after them. It reads
// all calls if the form describes how several are joined, and otherwise one. The match is
// Incomplete if the text ends first. It is Mismatch if there is no call, if it is uncertain how to
// read the text, or if reading takes too many steps.
func (f *Form) Read(text Text) (calls []Call, end int, m scan.Match) {
	r := &reader{Form: f, Text: text, left: maxSteps}
	end, ok := r.all(&calls)
	switch {
	case r.left <= 0 || r.vague:
		return nil, 0, scan.Mismatch
	case !ok && r.cut:
		return nil, 0, scan.Incomplete
	case !ok || r.raw && r.leftOver(end):
		return nil, 0, scan.Mismatch
	}
	return calls, end, scan.Matched
}

// all appends the calls at offset 0 and returns the offset after them. It returns false if there is
// no call, or if the text after a call does not match.
func (r *reader) all(calls *[]Call) (int, bool) {
	i, ok := r.lit(0, r.Calls.Open)
	for ok {
		var c Call
		end, read := r.one(i, &c)
		if !read {
			// without Close the rest is text
			if back := i - len(r.Calls.Between); len(*calls) > 0 && r.has(back, r.Calls.Close) {
				return back + len(r.Calls.Close), true
			}
			break
		}
		*calls, i = append(*calls, c), end
		if next := i + len(r.Calls.Between); !r.Several || !r.has(i, r.Calls.Between) ||
			!r.begins(next) {
			if r.Over(i) {
				return i, true // at the end of the reply Close may be missing
			}
			return r.lit(i, r.Calls.Close)
		}
		i += len(r.Calls.Between)
	}
	return 0, false
}

// begins reports whether a call can begin at offset i.
func (r *reader) begins(i int) bool {
	first := r.Call[0][0]
	return r.At(i) >= 0 && (first.Placeholder != "" || r.has(i, first.Lit))
}

// callAt reports whether a call of an offered tool begins at offset i, up to its name.
func (r *reader) callAt(i int) bool {
	e := r.Call[0]
	if e[0].Placeholder == "" {
		if !r.has(i, e[0].Lit) {
			return false
		}
		i, e = i+len(e[0].Lit), e[1:]
	}
	if len(e) == 0 || e[0].Placeholder != "name" {
		return false
	}
	defer func(c *Call) { r.call = c }(r.call)
	r.call = new(Call)
	_, ok := r.tool(i, e[1:])
	return ok
}

// begunAt reports whether a call is at offset i that begins with a fixed text of the form. A call
// that begins with the tool's name is not one.
func (r *reader) begunAt(i int) bool {
	if open := r.Calls.Open; open != "" && r.has(i, open) && r.callAt(i+len(open)) {
		return true
	}
	return r.Call[0][0].Placeholder == "" && r.callAt(i)
}

// one reads a call at offset i by the first example that matches, and returns the offset after the
// call. It returns false if no example matches.
func (r *reader) one(i int, c *Call) (int, bool) {
	cut := false
	for _, e := range r.Call {
		r.cut, r.call = false, c
		*c = Call{}
		if end, ok := r.parts(i, e); ok {
			return end, true
		}
		cut = cut || r.cut
	}
	r.cut = cut
	return 0, false
}

// parts reads a call at offset i by an example, and returns the offset after the call. It returns
// false if the text does not match, or if a length or a count in the text is wrong.
func (r *reader) parts(i int, e Example) (int, bool) {
	length, count, from, ok := -1, -1, 0, true
	for n, p := range e {
		rest := e[n+1:]
		from = i
		switch p.Placeholder {
		case "":
			i, ok = r.lit(i, p.Lit)
		case "name":
			i, ok = r.tool(i, rest)
		case "id":
			i, r.call.ID, ok = r.word(i, rest)
		case "index":
			i, _, ok = r.number(i)
		case "length":
			i, length, ok = r.number(i)
		case "count":
			i, count, ok = r.number(i)
		case "json":
			r.call.JSON, i, ok = r.literal(i)
			ok = ok && r.call.JSON[0] == '{'
		case "quoted":
			i, ok = r.quoted(i)
		case "args":
			i, ok = r.args(i, rest)
		}
		if !ok {
			return 0, false
		}
		if length >= 0 && (p.Placeholder == "json" || p.Placeholder == "args" || p.Placeholder == "quoted") &&
			length != r.size(from, i) {
			return 0, false // the length shows that the text was not copied correctly
		}
	}
	if count >= 0 && count != len(r.call.Args) {
		return 0, false
	}
	for _, m := range r.call.Args { // the name may follow them
		if !r.Takes(r.call.Name, m.Key) {
			return 0, false
		}
	}
	return i, true
}

// size returns the length of a text as the form counts it, in runes or in bytes.
func (r *reader) size(from, to int) int {
	if !r.Runes {
		return to - from
	}
	return utf8.RuneCountInString(r.slice(from, to))
}

// leftOver reports whether the text at offset i, after the calls, shows that a value in a call was
// meant to continue. The sign is the end of a call without its beginning. If the form ends calls
// with a text so short that it may occur in prose, any text is such a sign, except another call or
// the end of the reply.
func (r *reader) leftOver(i int) bool {
	open, end := r.Opening(), r.closing()
	if strong(end) {
		for ; r.At(i) >= 0; i++ {
			switch {
			case len(open) > 1 && r.has(i, open):
				return false
			case r.has(i, end):
				return true
			}
		}
		return false
	}
	for scan.IsSpace(r.At(i)) {
		i++
	}
	return !r.Over(i) && !(len(open) > 1 && r.has(i, open))
}

// strong reports whether a text has more than two visible bytes, so that it hardly occurs in prose
// by chance.
func strong(lit string) bool {
	n := 0
	for i := range len(lit) {
		if lit[i] > ' ' {
			n++
		}
	}
	return n > 2
}

// closing returns the fixed text with which calls of the form end, without the white space before
// it. It returns "" if there is none.
func (r *reader) closing() string {
	e := r.Call[0]
	for _, lit := range []string{r.Calls.Close, e[len(e)-1].Lit} {
		for len(lit) > 0 && scan.IsSpace(int(lit[0])) {
			lit = lit[1:]
		}
		if lit != "" {
			return lit
		}
	}
	return ""
}

// has reports whether s is at offset i. Every byte that it compares counts as a step. It returns
// false if too many steps were taken.
func (r *reader) has(i int, s string) bool {
	for k := range len(s) {
		if r.left--; r.At(i+k) != int(s[k]) {
			return false
		}
	}
	return r.left > 0
}

// lit reads the fixed text s at offset i and returns the offset after it, or false if the text
// differs. White space at the end of s may be missing at the end of a reply.
func (r *reader) lit(i int, s string) (int, bool) {
	for k := range len(s) {
		switch c := r.At(i + k); {
		case c == int(s[k]):
		case c < 0 && scan.TrimSpace(s[k:]) == "" && i > 0:
			return i + k, true
		default:
			r.cut = r.cut || c < 0
			return 0, false
		}
	}
	return i + len(s), true
}

// slice returns the text between two offsets.
func (r *reader) slice(from, to int) string {
	b := make([]byte, 0, max(to-from, 0))
	for ; from < to; from++ {
		b = append(b, byte(r.At(from)))
	}
	return string(b)
}

// follows reports whether the remaining parts of an example (rest) can begin at offset i.
func (r *reader) follows(i int, rest []Part) bool {
	return len(rest) == 0 || rest[0].Placeholder != "" || r.has(i, rest[0].Lit)
}

// tool reads the longest name of an offered tool at offset i after which the rest of the example
// can follow. It stores the name in the call and returns the offset after it. It returns false if
// there is none, or if the call already has another name.
func (r *reader) tool(i int, rest []Part) (int, bool) {
	best, word := 0, 0
	for ; word < maxName; word++ {
		if c := r.At(i + word); !scan.IsName(c) && c != '/' && c != ':' {
			break
		}
		if name := r.slice(i, i+word+1); r.Named(name) && r.follows(i+word+1, rest) {
			best = word + 1
		}
	}
	name := r.slice(i, i+best)
	if best == 0 || r.call.Name != "" && r.call.Name != name {
		r.cut = r.cut || r.At(i+word) < 0
		return 0, false
	}
	r.call.Name = name
	return i + best, true
}

// word reads an id or a key at offset i, up to the next part of the example. It returns the offset
// after the word, and the word. It returns false if there is no such word on the line, or if the
// word is too long.
func (r *reader) word(i int, rest []Part) (int, string, bool) {
	for n := 1; n < maxName; n++ {
		c := r.At(i + n - 1)
		if c < 0 || c == '\n' || c == '"' {
			r.cut = r.cut || c < 0
			return 0, "", false
		}
		if r.follows(i+n, rest) {
			return i + n, r.slice(i, i+n), true
		}
	}
	return 0, "", false
}

// number reads digits at offset i. ok is false if there are none.
func (r *reader) number(i int) (end, n int, ok bool) {
	end = i
	for end < i+10 && scan.IsDigit(byte(max(r.At(end), 0))) {
		end++
	}
	r.cut = r.cut || r.At(end) < 0
	n, err := strconv.Atoi(r.slice(i, end))
	return end, n, err == nil
}

// known reports whether the call already has an argument with that name.
func (c *Call) known(key string) bool {
	return slices.ContainsFunc(c.Args, func(m Member) bool { return m.Key == key })
}

// literal reads a value that is correct JSON or Python at offset i, and also returns the offset
// after it. ok is false if there is no such value.
func (r *reader) literal(i int) (value string, end int, ok bool) {
	var cut bool
	value, end, cut, ok = lenient.Literal(r.At, i)
	r.cut = r.cut || cut
	return value, end, ok
}
