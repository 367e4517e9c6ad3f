// Package restore finds the texts that a damaged call may have been meant to be.
//
// A family's calls are between marks. A model may leave out or replace a character of a mark, put a
// blank inside, write the mark twice or not at all, or swap two marks. The intended text is a call
// that differs from the damaged one in as few marks as possible. This package returns such texts,
// cheapest first. It does not know what a call is, so the caller has to read them.
package restore

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds on the texts that are tried.
const (
	// maxMarks bounds the marks in a text, whole or damaged. A text with more is not one call or
	// two.
	maxMarks = 24
	maxTexts = 256       // texts of one degree (see Visible)
	maxBytes = 512 << 10 // total size of the texts of one degree
	maxSize  = 32 << 10  // size of the damaged text
	minMark  = 4         // bytes of a mark that can be recognised when it is damaged
	maxWords = 64        // bytes of the words between two marks that may be left out
)

// Marks returns the tags and special tokens in the fixed texts around a family's calls, the longest
// first. For example, "<tool_call>\n" and "</f></g>" have three. Plain words are not marks, because
// a word with one other character is another word.
func Marks(literals []string) []string {
	var marks []string
	for _, l := range literals {
		for _, word := range strings.Fields(strings.ReplaceAll(l, "><", "> <")) {
			if len(word) >= minMark && strings.ContainsAny(word, "<>[]:=") &&
				!slices.Contains(marks, word) {
				marks = append(marks, word)
			}
		}
	}
	// where both <tool_call and <tool_call> match, the longer one counts
	slices.SortFunc(marks, func(a, b string) int { return len(b) - len(a) })
	return marks
}

// Begins reports whether the text begins with one of the marks, such as <tool_call>, or with a
// damaged one, such as [tool_call].
func Begins(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(m string) bool {
		return strings.HasPrefix(text, m) || len(damaged(text, m)) > 0 ||
			inAngles(text, 0, m) != nil
	})
}

// May reports whether the text is too short to decide, but may turn out to begin with one of the
// marks, such as <tool_call>, or with a damaged one.
func May(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(m string) bool {
		return mayBe(text, m) || slices.ContainsFunc(angles, func(a [2]string) bool {
			inner, ok := strings.CutPrefix(m, "<")
			inner, closed := strings.CutSuffix(inner, ">")
			begun := a[0] + inner
			if closed {
				return ok && agree(text, begun+a[1])
			}
			return ok && agree(text, begun)
		})
	})
}

// mayBe reports whether the text is the beginning of m, a text such as <tool_call>, with at most
// one error.
func mayBe(text, m string) bool {
	if agree(text, m) {
		return true
	}
	k := common(text, m)
	rest, want := text[k:], m[k:]
	_, t := utf8.DecodeRuneInString(rest)
	_, w := utf8.DecodeRuneInString(want)
	_, next := utf8.DecodeRuneInString(want[w:])
	swapped := want[w:w+next] + want[:w] + want[w+next:]
	n := min(len(text), len(m))
	return agree(rest, want[w:]) || agree(rest[t:], want[w:]) || k > 0 && agree(rest[t:], want) ||
		agree(rest, swapped) || strings.EqualFold(text[:n], m[:n])
}

// common returns the length in bytes of the common beginning of two texts. It counts whole
// characters only.
func common(text, m string) int {
	k := 0
	for k < len(m) && k < len(text) && text[k] == m[k] {
		k++
	}
	for 0 < k && k < len(m) && !utf8.RuneStart(m[k]) {
		k--
	}
	return k
}

// follows is a quick test whether the mark m may be at the beginning of the text: it reports
// whether the second character of m is among the text's first few bytes. The test rules out most
// places.
func follows(text, m string) bool {
	_, first := utf8.DecodeRuneInString(m)
	return strings.IndexByte(text[:min(len(text), utf8.UTFMax+1)], m[first]) >= 0
}

// agree reports whether one of two texts is a prefix of the other.
func agree(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// spot is a part of a text, such as the tag <tool_call>, from one position to another.
type spot struct{ from, to int }

// change replaces a part of a text by another text.
type change struct {
	spot
	by string
}

// apply returns a text with some changes made, which may be given in any order. It returns false if
// two changes overlap.
func apply(text string, changes ...change) (string, bool) {
	slices.SortFunc(changes, func(a, b change) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, c := range changes {
		if c.from < at {
			return "", false
		}
		out.WriteString(text[at:c.from])
		out.WriteString(c.by)
		at = c.to
	}
	out.WriteString(text[at:])
	return out.String(), true
}

// The degrees of the texts that Texts returns, which are indices of its result.
const (
	Visible = 2 // below this degree only visible damage is repaired
	degrees = 3
)

// Texts returns the texts that a damaged text may have been meant to be. It is damaged at its
// marks, which are texts around a call such as <tool_call>. The result has three degrees, the
// likeliest first. The first has texts with one visible damage repaired, the second those with two.
// The third has texts with a mark added, two marks swapped, or words after a mark removed. If the
// text has no marks, only the part between a tool's name and its arguments is repaired. A degree
// with too many texts is empty, because the intended one might be left out. The result is nil if
// the text is too long or has too many marks.
func Texts(text string, marks, names []string) [][]string {
	if len(text) > maxSize {
		return nil
	}
	whole, visible := find(text, marks)
	visible = append(visible, envelopes(text, names)...)
	if len(whole) > maxMarks {
		return nil
	}
	texts := make([][]string, degrees)
	add := func(degree int, changes ...change) {
		if t, ok := apply(text, changes...); ok && t != text && len(texts[degree]) <= maxTexts &&
			!slices.Contains(texts[degree], t) {
			texts[degree] = append(texts[degree], t)
		}
	}
	for i, c := range visible {
		add(0, c...)
		for _, d := range visible[i+1:] {
			add(1, slices.Concat(c, d)...)
		}
	}
	for _, c := range hidden(text, whole, marks, names) {
		add(Visible, c...)
	}
	for i := range texts {
		if len(texts[i]) > min(maxTexts, maxBytes/max(len(text), 1)) {
			texts[i] = nil
		}
	}
	return texts
}

// find returns the positions of the undamaged marks in a text, and for each damaged mark the
// changes that repair it. A mark is a text such as <tool_call>. Both results are nil if there are
// too many.
func find(text string, marks []string) (whole []spot, visible [][]change) {
	for i := 0; i < len(text); {
		if m := markAt(text[i:], marks); m != "" {
			s := spot{i, i + len(m)}
			if n := len(whole); n > 0 && text[whole[n-1].from:whole[n-1].to] == m &&
				strings.TrimSpace(text[whole[n-1].to:i]) == "" {
				// the mark is doubled
				visible = append(visible, []change{{spot{whole[n-1].to, s.to}, ""}})
			}
			whole = append(whole, s)
			i += len(m)
			continue
		}
		for _, m := range marks {
			for _, n := range damaged(text[i:], m) {
				visible = append(visible, []change{{spot{i, i + n}, m}})
			}
			if c := inAngles(text, i, m); c != nil {
				visible = append(visible, c)
			}
		}
		if len(visible) > maxMarks {
			return nil, nil
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return whole, visible
}

// markAt returns the first of the marks with which the text begins, or "" if it begins with none.
func markAt(text string, marks []string) string {
	for _, m := range marks {
		if strings.HasPrefix(text, m) {
			return m
		}
	}
	return ""
}

// hidden returns the changes that may repair a text in which every mark is whole. Each one swaps
// two marks, removes the words between two marks, or adds a mark before or after another one.
func hidden(text string, whole []spot, marks, names []string) (all [][]change) {
	of := func(s spot) string { return text[s.from:s.to] }
	for i, a := range whole {
		for _, b := range whole[i+1:] {
			if of(a) != of(b) {
				all = append(all, []change{{a, of(b)}, {b, of(a)}})
			}
		}
	}
	for _, s := range whole {
		if n := words(text[s.to:], of(s), marks, names); n > 0 {
			all = append(all, []change{{spot{s.to, s.to + n}, ""}})
		}
	}
	for _, s := range whole {
		for _, m := range marks {
			if m != of(s) {
				all = append(all, []change{{spot{s.from, s.from}, m}},
					[]change{{spot{s.to, s.to}, m}})
			}
		}
	}
	return all
}

// words returns the length of the words on the lines after a mark (a text such as <tool_call>), up
// to a bracket, another mark or the name of a tool. It returns 0 if there are none, or if the
// mark's own line goes on.
func words(text, mark string, marks, names []string) int {
	if !strings.HasPrefix(text, "\n") {
		return 0 // a sentence about the mark
	}
	n := strings.IndexAny(text, "{[<")
	for _, list := range [][]string{marks, names} {
		for _, m := range list {
			if i := strings.Index(text[:min(len(text), maxWords+len(m))], m); i >= 0 &&
				(n < 0 || i < n) {
				n = i
			}
		}
	}
	if n < 0 || n > maxWords || strings.TrimSpace(text[:n]) == "" ||
		strings.HasPrefix(text[n:], mark) {
		return 0
	}
	return n
}

// angles are the brackets that models write instead of the angle brackets of a tag.
var angles = [][2]string{{"＜", "＞"}, {"&lt;", "&gt;"}, {"[", "]"}}

// inAngles returns the changes that give the tag at offset i the angle brackets of m. For example,
// they change [tool_call] to <tool_call>. The result is nil if there is no such tag. If m is only
// the beginning of a tag, such as <parameter=, a key and the closing bracket follow it in the text.
func inAngles(text string, i int, m string) []change {
	inner, ok := strings.CutPrefix(m, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	for _, a := range angles {
		rest, opened := strings.CutPrefix(text[i:], a[0]+inner)
		n := strings.Index(rest[:min(len(rest), maxWords)], a[1])
		if ok && opened && (n == 0 || n > 0 && !closed) {
			behind := len(text) - len(rest) + n
			return []change{{spot{i, i + len(a[0])}, "<"}, {spot{behind, behind + len(a[1])}, ">"}}
		}
	}
	return nil
}

// damaged returns the possible lengths of a damaged form of m, a text such as <tool_call>, at the
// beginning of the text. It has one error: a missing, surplus or wrong character, two swapped
// characters, or letters in the other case. The result is nil if there is no such form, or if m is
// there undamaged.
func damaged(text, m string) (sizes []int) {
	k := common(text, m)
	if k == len(m) || k == 0 && !follows(text, m) {
		return nil
	}
	rest, want := text[k:], m[k:]
	_, t := utf8.DecodeRuneInString(rest)
	_, w := utf8.DecodeRuneInString(want)
	add := func(behind string, n int) {
		if n >= 0 && n <= len(rest) && strings.HasPrefix(rest[n:], behind) {
			sizes = append(sizes, k+n+len(behind))
		}
	}
	add(want[w:], 0) // a character is missing
	if rest != "" {
		if k > 0 || !slices.ContainsFunc(angles, func(a [2]string) bool {
			return strings.HasPrefix(rest, a[0])
		}) {
			add(want[w:], t) // another character
		}
		if k > 0 {
			add(want, t) // a surplus character
		}
		if len(rest) > t && len(want) > w {
			_, next := utf8.DecodeRuneInString(want[w:])
			if strings.HasPrefix(rest, want[w:w+next]+want[:w]) {
				add(want[w+next:], w+next)
			}
		}
	}
	if len(text) >= len(m) && strings.EqualFold(text[:len(m)], m) {
		sizes = append(sizes, len(m))
	}
	return sizes
}

// envelopes returns the changes that repair the part between the name of a tool and its arguments,
// as in {"name": "f"; "arguments"= {…}}. It returns no changes if that part is already a comma, a
// key and a colon.
func envelopes(text string, names []string) (all [][]change) {
	for _, name := range names {
		i := strings.Index(text, `"`+name)
		if i < 0 {
			continue
		}
		from := i + 1 + len(name)
		gap, _, ok := strings.Cut(text[from:min(from+maxGap, len(text))], "{")
		m := betweenNameAndArguments.FindStringSubmatch(gap)
		if !ok || m == nil || plainGap.MatchString(gap) {
			continue
		}
		all = append(all, []change{{spot{from, from + len(gap)}, `", "` + m[1] + `": `}})
	}
	return all
}

// maxGap bounds the text between a name and its arguments, including comments.
const maxGap = 128

// comment matches a comment in one of several languages.
const comment = `(?://|#|--)[^\n]*\n|/\*[^*]*\*/|<!--[^>]*-->`

var (
	plainGap                = regexp.MustCompile(`^"\s*,\s*"\w+"\s*:\s*$`)
	betweenNameAndArguments = regexp.MustCompile(`^["']{0,2}(?:\s|[,;:|&+.、，；\]}]|\band\b|` +
		comment + `)*["']{0,2}` +
		`(arguments|parameters|args|params|input|kwargs)["']{0,2}(?:\s|[:=>；;,：-]|` + comment +
		`)*$`)
)
