package adapters

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// A tag in another dress has the right name, and another form: other angles, a slash of another
// kind or at another place, a longer or shorter form of the name, the key in a closer. Each is one
// slip, whatever it is made of.
//
//	</parameter>    [/parameter]  &lt;/parameter&gt;  <parameter/>  </param>  </>  </city>
//	<parameter=     <param=       <parameter name="   <parameter:

// dress is what a tag is made of; the zero value is no tag that can be dressed otherwise.
type dress struct {
	closes bool
	front  string   // what stands between the slash and the name: "｜DSML｜"
	word   string   // its name
	behind string   // what follows the name: ">", "=", ` name="`
	names  bool     // the name may have another form
	keys   []string // names of parameters, by which a value may be closed
}

var (
	tagParts = regexp.MustCompile(`^<(/?)([^\w<>/]*(?:\w+[|｜:])*[^\w<>/]*)(\w+)(>|=|\s\w+=")$`)

	// what stands between the name of a tag and a key in it
	beforeKey = regexp.MustCompile(`^(?:\s*(?:name|key))?(?:\s*[=:]{1,2}\s*|\s+)["'“]?`)
	// what stands behind a key, up to the end of its tag
	behindKey = regexp.MustCompile(`^["'”]?\s?(?:>|＞|&gt;|\]|»|\\u003[eE])`)
)

// dressOf returns what a tag is made of.
func dressOf(text string) dress {
	m := tagParts.FindStringSubmatch(text)
	if m == nil {
		return dress{}
	}
	return dress{closes: m[1] != "", front: m[2], word: m[3], behind: m[4]}
}

// dresses finds tags in another dress in the text ahead.
type dresses struct{ *tagsAhead }

// dressesIn returns what finds them.
func dressesIn(ta *tagsAhead) dresses { return dresses{ta} }

// otherAngles are what models write instead of the angles of a tag.
var otherAngles = [][2]string{{"[", "]"}, {"＜", "＞"}, {"&lt;", "&gt;"}, {"«", "»"},
	{`\u003c`, `\u003e`}, {`\u003C`, `\u003E`}}

// otherAngle returns the end of a tag's beginning in other angles at offset i, and the angle that
// ends such a tag; "" if there is none.
func (ta dresses) otherAngle(i int) (end int, closer string) {
	switch c := ta.At(i); {
	case c == '[' || c == '&' || c == '\\' || c == 0xC2 || c == 0xEF:
		for _, a := range otherAngles {
			if ta.Has(i, a[0]) {
				return i + len(a[0]), a[1]
			}
		}
	}
	return i, ""
}

// dressed returns the offset after a tag at offset i that is one of a form in another dress, and
// the name that it has there, or 0. A closer counts only if the call can go on behind it, since a
// value may hold any tag.
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

// behindKey returns the size of what ends the tag of a key at an offset, in any dress.
func (ta dresses) behindKey(i int) int {
	return len(behindKey.Find(ta.piece(i)))
}

// piece returns the next few bytes at an offset.
func (ta dresses) piece(i int) []byte {
	const size = 16
	ta.At(i + size - 1) // reads on
	return ta.Slice(ta.Pos+i, ta.Pos+max(i, min(i+size, len(ta.Window()))))
}

// slash steps over a slash of any kind, and a blank behind it, at an offset.
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

// alike are names that models take for one another.
var alike = []string{"parameter", "param", "argument", "arg"}

// goesBy reports whether a name may be meant as the tag's: it has another number, is a shorter or a
// longer form, or a word for the same; a closer may have no name, or that of a parameter.
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

// goesOnAt reports whether a call can go on at an offset, where no value's own closer is: at a head
// of a parameter that the tool has, a closer of the call, or the end.
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

// mayBeTag reports whether a tag of a family, or one in other angles, may begin at an offset.
func (ta dresses) mayBeTag(f *declaration.Family, i int) bool {
	end, angle := ta.otherAngle(i)
	return f.CloseBytes[max(ta.At(i), 0)] || angle != "" && ta.slash(&end)
}

// dressIn notes whether a tag is one of a form in another dress, and the name that it has there.
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

// dressedEnd reports whether a tag whose angles are others, or which stands on a line of its own,
// ends at an offset.
func (ta dresses) dressedEnd(i int) bool {
	from := max(ta.Pos+i-8, ta.Base)
	text := strings.TrimSuffix(string(ta.Slice(from, max(from, ta.Pos+i))), "\n")
	return slices.ContainsFunc(append(otherAngles[1:], [2]string{"<", ">"}),
		func(a [2]string) bool { return strings.HasSuffix(text, a[1]) })
}
