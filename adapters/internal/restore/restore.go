// Package restore finds the texts that a damaged call may have been meant as.
//
// A family's calls stand between marks. A model leaves out a character of one, writes another for
// it, puts a blank inside, writes the mark twice or not at all, or swaps two of them. What was meant
// is a text that differs in as few marks as possible and is a call. This package makes such texts,
// cheapest first, and does not know what a call is: whoever asks reads them.
package restore

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds on what one text may cost.
const (
	maxMarks = 24        // marks in a text, whole or damaged: a text with more of them is no call or two
	maxTexts = 48        // texts of one degree
	maxBytes = 256 << 10 // of all texts of one degree
	maxSize  = 32 << 10  // of a text
	minMark  = 4         // bytes of a mark that can be told from others when it is damaged
	maxWords = 64        // bytes of words between two marks that may be left out
)

// Marks splits what a family writes around its calls into marks: "<tool_call>\n", "</f></g>".
// Words between them are none, since a word with another character is another word.
func Marks(literals []string) []string {
	var marks []string
	for _, l := range literals {
		for _, word := range strings.Fields(strings.ReplaceAll(l, "><", "> <")) {
			if len(word) >= minMark && strings.ContainsAny(word, "<>[]:=") && !slices.Contains(marks, word) {
				marks = append(marks, word)
			}
		}
	}
	// of <tool_call and <tool_call> the longer one stands where both do
	slices.SortFunc(marks, func(a, b string) int { return len(b) - len(a) })
	return marks
}

// Begins reports whether a mark stands at the beginning of the text, whole or damaged.
func Begins(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(text, m) || len(damaged(text, m)) > 0 })
}

// spot is a place in a text where a mark stands.
type spot struct{ from, to int }

// change replaces a part of a text.
type change struct {
	spot
	by string
}

// apply makes changes that do not overlap, in any order. It reports whether they could be made.
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

// Degrees of what Texts returns.
const (
	Visible = 2 // below this degree all that was mended can be seen to be damaged
	degrees = 3
)

// Texts returns what the text may have been meant as, by degrees: with one visible damage mended,
// with two, and with a mark that is missing, in another's place or behind words.
// Of a text without marks only what stands between a name of names and its arguments is mended.
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
		if t, ok := apply(text, changes...); ok && t != text && len(texts[degree]) < min(maxTexts, maxBytes/len(text)) && !slices.Contains(texts[degree], t) {
			texts[degree] = append(texts[degree], t)
		}
	}
	for i, c := range visible {
		add(0, c)
		for _, d := range visible[i+1:] {
			add(1, c, d)
		}
	}
	for _, c := range hidden(text, whole, marks) {
		add(Visible, c...)
	}
	return texts
}

// find returns where whole marks stand, and the changes that mend what is damaged.
func find(text string, marks []string) (whole []spot, visible []change) {
	for i := 0; i < len(text); {
		if m := markAt(text[i:], marks); m != "" {
			s := spot{i, i + len(m)}
			if n := len(whole); n > 0 && text[whole[n-1].from:whole[n-1].to] == m && strings.TrimSpace(text[whole[n-1].to:i]) == "" {
				visible = append(visible, change{spot{whole[n-1].to, s.to}, ""}) // it stands twice
			}
			whole = append(whole, s)
			i += len(m)
			continue
		}
		for _, m := range marks {
			for _, n := range damaged(text[i:], m) {
				if len(visible) < maxMarks {
					visible = append(visible, change{spot{i, i + n}, m})
				}
			}
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return whole, visible
}

// markAt returns the mark that begins the text, "" for none.
func markAt(text string, marks []string) string {
	for _, m := range marks {
		if strings.HasPrefix(text, m) {
			return m
		}
	}
	return ""
}

// hidden returns changes that nothing damaged shows: two marks that have changed places, words
// between two marks, and a mark that is missing beside another.
func hidden(text string, whole []spot, marks []string) (all [][]change) {
	of := func(s spot) string { return text[s.from:s.to] }
	for i, a := range whole {
		for _, b := range whole[i+1:] {
			if of(a) != of(b) {
				all = append(all, []change{{a, of(b)}, {b, of(a)}})
			}
		}
	}
	for _, s := range whole {
		n := strings.IndexAny(text[s.to:], "{[<")
		if n > 0 && n <= maxWords && strings.TrimSpace(text[s.to:s.to+n]) != "" && !strings.HasPrefix(text[s.to+n:], of(s)) {
			all = append(all, []change{{spot{s.to, s.to + n}, ""}})
		}
	}
	for _, s := range whole {
		for _, m := range marks {
			if m != of(s) {
				all = append(all, []change{{spot{s.from, s.from}, m}}, []change{{spot{s.to, s.to}, m}})
			}
		}
	}
	return all
}

// damaged returns how long the mark m is at the beginning of the text with one slip: a character
// that is missing, too many, or another one, two that have changed places, or letters of the other
// case. The whole mark is not damaged.
func damaged(text, m string) (sizes []int) {
	k := 0
	for k < len(m) && k < len(text) && text[k] == m[k] {
		k++
	}
	_, first := utf8.DecodeRuneInString(m)
	if k == len(m) || k == 0 && !strings.Contains(text[:min(len(text), utf8.UTFMax+1)], m[first:first+1]) {
		return nil
	}
	for k > 0 && !utf8.RuneStart(m[k]) {
		k--
	}
	rest, want := text[k:], m[k:]
	_, t := utf8.DecodeRuneInString(rest)
	_, w := utf8.DecodeRuneInString(want)
	add := func(behind string, n int) {
		if n >= 0 && n <= len(rest) && strings.HasPrefix(rest[n:], behind) {
			sizes = append(sizes, k+n+len(behind))
		}
	}
	add(want[w:], 0) // missing
	if rest != "" {
		add(want[w:], t) // another one
		if k > 0 {
			add(want, t) // too many
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

// envelopes returns the changes that mend what stands between the name of a tool and its arguments,
// in {"name": "f"; "arguments"= {…}}: anything but a comma, a key and a colon.
func envelopes(text string, names []string) (all []change) {
	for _, name := range names {
		i := strings.Index(text, name)
		if i < 0 {
			continue
		}
		gap, _, ok := strings.Cut(text[i+len(name):min(i+len(name)+maxGap, len(text))], "{")
		if !ok {
			continue
		}
		m := argumentsKey.FindStringSubmatchIndex(gap)
		if m == nil || plainGap.MatchString(gap) {
			continue
		}
		key := gap[m[2]:m[3]]
		from := i + len(name)
		all = append(all, change{spot{from, from + len(gap)}, `", "` + key + `": `})
	}
	return all
}

// maxGap bounds what may stand between a name and its arguments, comments included.
const maxGap = 128

var (
	argumentsKey = regexp.MustCompile(`\b(arguments|parameters|args|params|input|kwargs)\b["']?[^"'\[\]{}]*$`)
	plainGap     = regexp.MustCompile(`^"\s*,\s*"\w+"\s*:\s*$`)
)
