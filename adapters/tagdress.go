package adapters

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// A tag is "in another dress" if it has the right name and another form: other angles, another
// slash or a slash at another place, a longer or shorter form of the name, the key in a closer. All
// such changes in one tag count as one slip.
//
//	</parameter>    [/parameter]  &lt;/parameter&gt;  <parameter/>  </param>  </>  </city>
//	<parameter=     <param=       <parameter name="   <parameter:

// dress holds the parts of a tag, so that the same tag can be recognised in another form (dress),
// such as [/parameter] or </param> for </parameter>. The zero value means that the tag has only one
// form.
type dress struct {
	closes bool
	front  string   // the text between the slash and the name: "｜DSML｜"
	word   string   // the tag's name
	behind string   // the text after the name: ">", "=", ` name="`
	names  bool     // the name may have another form
	keys   []string // names of parameters, which may name the closer of a value
}

var (
	tagParts = regexp.MustCompile(`^<(/?)([^\w<>/]*(?:\w+[|｜:])*[^\w<>/]*)(\w+)(>|=|\s\w+=")$`)

	// the text between the name of a tag and a key in it
	beforeKey = regexp.MustCompile(`^(?:\s*(?:name|key))?(?:\s*[=:]{1,2}\s*|\s+)["'“]?`)
	// the text after a key, up to the end of its tag
	behindKey = regexp.MustCompile(`^["'”]?\s?(?:>|＞|&gt;|\]|»|\\u003[eE])`)
)

// dressOf splits a tag such as </arg_key> into its slash, its word, and the characters around the
// word. It returns the zero value if the text is not such a tag.
func dressOf(text string) dress {
	m := tagParts.FindStringSubmatch(text)
	if m == nil {
		return dress{}
	}
	return dress{closes: m[1] != "", front: m[2], word: m[3], behind: m[4]}
}

// dresses finds, in the text ahead, tags that are written in another form (dress), such as
// [/parameter] for </parameter>.
type dresses struct{ *tagsAhead }

// dressesIn returns a finder of tags in other forms, such as [/parameter] for </parameter>, in the
// text of ta.
func dressesIn(ta *tagsAhead) dresses { return dresses{ta} }

// otherAngles lists the pairs of brackets that models write instead of the angle brackets of a tag.
var otherAngles = [][2]string{{"[", "]"}, {"＜", "＞"}, {"&lt;", "&gt;"}, {"«", "»"},
	{`\u003c`, `\u003e`}, {`\u003C`, `\u003E`}}

// otherAngle returns the offset after a bracket that models write in place of the < of a tag, such
// as [ or &lt;, at offset i. It also returns the bracket that closes such a tag. It returns i and
// "" if there is no such bracket.
func (ta dresses) otherAngle(i int) (end int, closer string) {
	if c := ta.At(i); c == '[' || c == '&' || c == '\\' || c == 0xC2 || c == 0xEF {
		for _, a := range otherAngles {
			if ta.Has(i, a[0]) {
				return i + len(a[0]), a[1]
			}
		}
	}
	return i, ""
}

// dressed returns the offset after a tag at offset i that is the tag f in another form, such as
// [/parameter] for </parameter>, and the name that the tag has there. It returns 0 if there is no
// such tag. A closing tag is accepted only if the call can continue after it, because a value may
// contain any tag.
func (ta dresses) dressed(i int, f *tagForm) (end int, name string) {
	d := &f.dress
	if d.word == "" {
		return 0, ""
	}
	at, angle := ta.otherAngle(i)
	if angle == "" {
		if ta.At(i) != '<' {
			return 0, ""
		}
		at, angle = i+1, ">"
	}
	slash := ta.slash(&at)
	if ta.Has(at, d.front) {
		at += len(d.front)
	} else if d.front != "" && !(slash && ta.Has(at, angle)) {
		return 0, ""
	}
	n := at + ta.Run(at, 64, scan.IsWord)
	name = string(ta.Slice(ta.Pos+at, ta.Pos+n))
	if !d.goesBy(name) && !slices.Contains(d.keys, name) {
		return 0, ""
	}
	switch {
	case d.closes:
		if c := ta.At(n); name != "" && (c == '=' || c == ':') {
			n += 1 + ta.Run(n+1, 64, scan.IsWord)
		}
		n += ta.Run(n, 2, func(c int) bool { return c == ' ' })
		if ta.slash(&n); !slash && (ta.before(n) != '/' || name == "") || !ta.Has(n, angle) {
			return 0, ""
		}
		n += len(angle)
		if f.of != nil && !ta.goesOnAt(f.of, n) || f.of == nil && scan.IsWord(ta.At(n+ta.Space(n))) {
			return 0, ""
		}
		return n, name
	case name == "" || slash && (name != d.word || d.behind != ">"):
		return 0, ""
	case d.behind == ">":
		if n += ta.Run(n, 2, func(c int) bool { return c == ' ' }); !ta.Has(n, angle) {
			return 0, ""
		}
		return n + len(angle), name
	}
	size := len(beforeKey.Find(ta.piece(n)))
	if size == 0 {
		return 0, ""
	}
	return n + size, name
}

// behindKey returns the size of a text at offset i that ends the tag in which a key is written, in
// any form. It returns 0 if there is none.
func (ta dresses) behindKey(i int) int {
	return len(behindKey.Find(ta.piece(i)))
}

// piece returns the 16 bytes at offset i, or fewer at the end of the text.
func (ta dresses) piece(i int) []byte {
	const size = 16
	ta.At(i + size - 1) // reads on
	return ta.Slice(ta.Pos+i, ta.Pos+max(i, min(i+size, len(ta.Window()))))
}

// slash moves the offset over a slash or backslash and a blank after it. It returns false and does
// not change the offset if there is no slash.
func (ta dresses) slash(at *int) bool {
	c := ta.At(*at)
	if c != '/' && c != '\\' || ta.Has(*at, `\u003`) {
		return false
	}
	*at++
	if ta.At(*at) == ' ' {
		*at++
	}
	return true
}

// alike lists names that models confuse.
var alike = []string{"parameter", "param", "argument", "arg"}

// goesBy reports whether a damaged tag may have been meant as the tag with the given name. The word
// in the damaged tag must be that name, its plural or singular, a shorter or longer form of it, or
// another word for the same thing. A closing tag may also have no name.
func (d *dress) goesBy(name string) bool {
	bare := strings.TrimSuffix(name, "s")
	switch {
	case name == d.word:
		return true
	case name == "":
		return d.closes
	case !d.names:
		return false
	case len(bare) > 2 && (strings.HasPrefix(d.word, bare) || strings.HasPrefix(bare, d.word)):
		return true
	}
	return slices.Contains(alike, bare) && slices.Contains(alike, d.word)
}

// goesOnAt reports whether a call can continue at offset i: with an opening tag of a parameter of
// the tool, with a closing tag of the call, or with the end of the text. It returns false if the
// closing tag of a value is there.
func (ta dresses) goesOnAt(f *tagForms, i int) bool {
	i += ta.Elastic(i)
	for _, v := range f.values {
		if _, a := ta.marks.literal(i, v.lit); a == matched {
			return false
		}
	}
	if ta.At(i) < 0 || ta.marks.cutCloser(f.p, i) || ta.closesAt(f.closes[:min(1, len(f.closes))], i) {
		return true
	}
	h, a := ta.argHead(f.p.Family, i)
	return a == matched && f.typ.Has(h.key)
}

// mayBeTag reports, by the first bytes at offset i, whether a tag of the family may begin there. A
// closing tag may also have other brackets, as in [/parameter].
func (ta dresses) mayBeTag(f *declaration.Family, i int) bool {
	end, angle := ta.otherAngle(i)
	return f.CloseBytes[max(ta.At(i), 0)] || angle != "" && ta.slash(&end)
}

// dressIn records in t whether the tag is f in another form, such as [/parameter] for </parameter>,
// and the name that it has there. It does nothing if t is written correctly.
func (t *tagToken) dressIn(ta dresses, f *tagForm) {
	if t.cost == 0 {
		return
	}
	end, name := ta.dressed(t.at, f)
	if t.dressed = end == t.end; !t.dressed || name == f.dress.word {
		return
	}
	if t.name = name; name == "" {
		t.name = "<>"
	}
	if slices.Contains(f.dress.keys, name) && !f.dress.goesBy(name) {
		t.key = name
	}
}

// dressedEnd reports whether the text before offset i, without a line break, ends with the > of a
// tag or with a bracket that models write in its place.
func (ta dresses) dressedEnd(i int) bool {
	from := max(ta.Pos+i-8, ta.Base)
	text := strings.TrimSuffix(string(ta.Slice(from, max(from, ta.Pos+i))), "\n")
	return strings.HasSuffix(text, ">") || slices.ContainsFunc(otherAngles[1:],
		func(a [2]string) bool { return strings.HasSuffix(text, a[1]) })
}
