package main

import (
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// operation is a function that makes a slip, a small mistake, in a frame. It returns false if the
// slip cannot be made in the frame.
type operation func(w way, r *rand.Rand, f *frame) bool

// operations are the operations that kinds.txt may name.
var operations map[string]operation

func init() {
	operations = map[string]operation{
		"one":   func(w way, r *rand.Rand, f *frame) bool { return f.replace(w, r, true, false) },
		"all":   func(w way, r *rand.Rand, f *frame) bool { return f.replace(w, r, false, false) },
		"mark":  func(w way, r *rand.Rand, f *frame) bool { return f.replace(w, r, true, true) },
		"marks": func(w way, r *rand.Rand, f *frame) bool { return f.replace(w, r, false, true) },
		"char":  damage,
		"swap":  swap,
		"cut":   cut,
		"text":  func(w way, r *rand.Rand, f *frame) bool { return f.respell(w, r, -1) },
		"text1": func(w way, r *rand.Rand, f *frame) bool { return f.respell(w, r, 1) },
		"args":  rewrite,
	}
}

// slip returns a copy of the frame, which is a call as a model writes it, with a mistake of the
// kind k in it. It uses a random one of the variants that can be made in this call. It returns nil
// if none can.
func (k kind) slip(r *rand.Rand, f *frame) *frame {
	for _, i := range r.Perm(len(k.ways)) {
		g := *f
		g.written = slices.Clone(f.written)
		w := k.ways[i]
		if operations[w.op](w, r, &g) && (g.text != f.text || !slices.Equal(g.written, f.written)) {
			g.whole = false
			return &g
		}
	}
	return nil
}

// places returns the matches of a pattern. If anywhere is false, it leaves out the matches that
// begin before the end of the tool's name, and those that overlap a tag which is a single token.
func (f *frame) places(re *regexp.Regexp, anywhere bool) [][]int {
	from := f.from()
	whole := tokens.FindAllStringIndex(f.text, -1)
	return slices.DeleteFunc(re.FindAllStringSubmatchIndex(f.text, -1), func(at []int) bool {
		if anywhere {
			return false
		}
		inside := func(t []int) bool { return at[0] < t[1] && t[0] < at[1] }
		return at[0] < from || slices.ContainsFunc(whole, inside)
	})
}

// replace replaces the matches of the pattern w.re in a call's text with w.with, or only a random
// match if the parameter one is true. If anywhere is false, only matches after the tool's name
// count. It returns false if there are none.
func (f *frame) replace(w way, r *rand.Rand, one, anywhere bool) bool {
	at := f.places(w.re, anywhere)
	if len(at) == 0 {
		return false
	}
	if one {
		i := r.Intn(len(at))
		at = at[i : i+1]
	}
	slices.Reverse(at)
	for _, m := range at {
		f.text = f.text[:m[0]] + string(w.re.ExpandString(nil, w.with, f.text, m)) + f.text[m[1]:]
	}
	return true
}

// damage changes a random character in a random match of a pattern. It returns false if there is no
// match, or if the character cannot be changed.
func damage(w way, r *rand.Rand, f *frame) bool {
	at := f.places(w.re, true)
	if len(at) == 0 {
		return false
	}
	m := at[r.Intn(len(at))]
	i := m[0] + r.Intn(m[1]-m[0])
	for !utf8.RuneStart(f.text[i]) {
		i--
	}
	c, size := utf8.DecodeRuneInString(f.text[i:])
	if isPlaceholder(c) {
		return false
	}
	was, is := f.text[i:i+size], ""
	switch w.with {
	case "drop":
	case "double":
		is = was + was
	case "blank":
		is = " " + was
	case "case":
		is = string(unicode.ToUpper(c))
		if is == was {
			is = string(unicode.ToLower(c))
		}
	case "wrong":
		is = string("abcxyz_-./|<>[]"[r.Intn(15)])
	case "swap":
		d, more := utf8.DecodeRuneInString(f.text[i+size:])
		if i+size >= m[1] || isPlaceholder(d) {
			return false
		}
		f.text = f.text[:i] + string(d) + was + f.text[i+size+more:]
		return true
	}
	f.text = f.text[:i] + is + f.text[i+size:]
	return true
}

// swap exchanges two different texts in the call that match the pattern w.re. It returns false if
// it finds no two.
func swap(w way, r *rand.Rand, f *frame) bool {
	at := f.places(w.re, true)
	for range 8 {
		if len(at) < 2 {
			return false
		}
		i := r.Intn(len(at) - 1)
		a, b := at[i], at[i+1+r.Intn(len(at)-i-1)]
		one, two := f.text[a[0]:a[1]], f.text[b[0]:b[1]]
		if one != two && a[1] <= b[0] {
			f.text = f.text[:a[0]] + two + f.text[a[1]:b[0]] + one + f.text[b[1]:]
			return true
		}
	}
	return false
}

// cut removes the end of a call's text, as if the model had stopped there. The cut is at a random
// match of the pattern w.re: before the match or, if w.with is "behind", after it. cut returns
// false if the pattern matches nowhere.
func cut(w way, r *rand.Rand, f *frame) bool {
	at := f.places(w.re, false)
	if len(at) == 0 {
		return false
	}
	m := at[r.Intn(len(at))]
	end := m[0]
	if w.with == "behind" {
		end = m[1]
	}
	f.text = f.text[:end]
	return true
}

// respell replaces matches of the pattern w.re with w.with inside one text of a call, in the form
// in which the family writes that text. It replaces one match if times is positive, and all
// otherwise. It returns false if there are none.
func (f *frame) respell(w way, r *rand.Rand, times int) bool {
	for _, i := range r.Perm(len(f.written)) {
		if !strings.ContainsRune(f.text, firstPlaceholder+rune(i)) {
			continue
		}
		if f.notation == tagArgs && strings.Contains(f.written[i], f.texts[i].text) {
			continue // it knows no escapes: another spelling is another text
		}
		at := w.re.FindAllStringSubmatchIndex(f.written[i], -1)
		at = slices.DeleteFunc(at, func(m []int) bool { return isEscaped(f.written[i][:m[0]]) })
		if len(at) > 0 {
			if times > 0 {
				k := r.Intn(len(at))
				at = at[k : k+1]
			}
			slices.Reverse(at)
			s := f.written[i]
			for _, m := range at {
				s = s[:m[0]] + string(w.re.ExpandString(nil, w.with, s, m)) + s[m[1]:]
			}
			f.written[i] = s
			return true
		}
	}
	return false
}

// isEscaped reports whether the character after a text is escaped by a backslash at the text's end.
func isEscaped(before string) bool {
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}
