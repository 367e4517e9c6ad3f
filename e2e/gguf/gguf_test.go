package gguf

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

var texts = []Script{
	{Name: "default", Parts: []string{"Hello from here."}},
	{Name: "same", Parts: []string{"Hello from here, and then more of it: Hello from here."}},
	{Name: "utf8", Parts: []string{"Grüße 🌍🚀 日本語"}, Piece: 2},
	{Name: "loop", Parts: []string{"tick tock "}, Loop: true},
	{Name: "forced", Parts: []string{"<tool_call>", "{}</tool_call>"}},
	{Name: "empty", Parts: []string{""}},
	{Name: "end", Parts: []string{"a mark <|end|> and </s> stay in pieces"}, Piece: 7},
}

func TestPiecesJoinToTheTextAndAreUnique(t *testing.T) {
	m := must.Have(New(texts, ""))(t)
	seen := map[string]string{}
	for _, r := range reserved {
		seen[r] = "reserved"
	}
	for _, s := range texts {
		pieces := m.Pieces(s.Name)
		if got, want := strings.Join(pieces, ""), strings.Join(s.Parts, ""); got != want {
			t.Errorf("%s: pieces join to %q, want %q", s.Name, got, want)
		}
		for _, p := range pieces {
			if other, taken := seen[p]; taken || len(p) < 2 {
				t.Errorf("%s: piece %q is short or that of %q too", s.Name, p, other)
			}
			seen[p] = s.Name
		}
	}
	if got := m.Pieces("forced"); len(got) != 2 {
		t.Errorf("forced pieces %q, want the two parts", got)
	}
	if m.Pieces("no such script") != nil {
		t.Error("a script that is not there has pieces")
	}
}

func TestSameScriptsGiveTheSameFile(t *testing.T) {
	var files [2]bytes.Buffer
	for i := range files {
		n, err := must.Have(New(texts, "{{ messages }}"))(t).WriteTo(&files[i])
		if err != nil || n != int64(files[i].Len()) {
			t.Fatalf("WriteTo = %d, %v after %d bytes", n, err, files[i].Len())
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("two files of the same scripts differ")
	}
	if head := files[0].Bytes()[:8]; string(head) != "GGUF\x03\x00\x00\x00" {
		t.Errorf("the file begins %q", head)
	}
	if files[0].Len()%alignment != 0 {
		t.Errorf("%d bytes are no multiple of %d", files[0].Len(), alignment)
	}
}

func TestImpossibleScriptsAreRefused(t *testing.T) {
	hello := Script{Name: "default", Parts: []string{"Hello"}}
	for name, scripts := range map[string][]Script{
		"no default":          {{Name: "a", Parts: []string{"Hello"}}},
		"a name twice":        {hello, hello},
		"a text twice":        {hello, {Name: "b", Parts: []string{"Hello"}, Piece: 9}, {Name: "c", Parts: []string{"Hello"}, Piece: 9}},
		"a forced byte":       {hello, {Name: "b", Parts: []string{"x", "yz"}}},
		"a forced part twice": {hello, {Name: "b", Parts: []string{"xy", "xy"}}},
	} {
		if _, err := New(scripts, ""); err == nil {
			t.Errorf("%s: New did not complain", name)
		}
	}
}

func TestSpellWritesBytesAsGPT2Does(t *testing.T) {
	for in, want := range map[string]string{"a!": "a!", " \n": "ĠĊ", "é": "Ã©", "\x00\x7f\xad": "ĀġŃ"} {
		if got := spell(in); got != want {
			t.Errorf("spell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHalfPrecision(t *testing.T) {
	for x, want := range map[float32]uint16{0: 0, 1: 0x3c00, 0.5: 0x3800, 0.1: 0x2e66, 10.0 / 127: 0x2d0a, 1e-9: 0x0400} {
		if got := half(x); got != want {
			t.Errorf("half(%v) = %#04x, want %#04x", x, got, want)
		}
	}
}

// TestSharedPiecesLeadToTheirOwnScript runs the arithmetic of the weights: what comes next is the
// row of the output that points most along the last token and the selector, which attention has
// copied beside it.
func TestSharedPiecesLeadToTheirOwnScript(t *testing.T) {
	marks := []string{"<call>", "</call>", "<q>"}
	scripts := []Script{{Name: "default", Parts: []string{"Hello from here."}}}
	for _, city := range []string{"Ulm", "Graz", "Linz", "Basel", "Bern", "Chur", "Wien", "Rom", "Oslo", "Riga"} {
		scripts = append(scripts,
			Script{Name: "one_" + strings.ToLower(city), Parts: []string{"<call>get{city:<q>" + city + "<q>}</call>"}, Piece: 5, Control: marks},
			Script{Name: "text_" + strings.ToLower(city), Parts: []string{"I look it up in " + city + ".<call>get{city:<q>" + city + " too<q>}</call>"}, Piece: 5, Control: marks})
	}
	m := must.Have(New(scripts, ""))(t)
	v := m.vocabulary()
	m.saysAll(t, v)
	for i, want := range []int32{control, control, control} {
		if k := slices.Index(v.tokens, marks[i]); k < 0 || v.types[k] != want {
			t.Errorf("%q is no control token", marks[i])
		}
	}
}

// TestASmallModelSaysItsScripts does the same for a model of a quarter of the width.
func TestASmallModelSaysItsScripts(t *testing.T) {
	scripts := []Script{{Name: "default", Parts: []string{"Hello from here."}}}
	for i, city := range []string{"ulm", "graz", "linz", "basel", "bern", "chur", "wien", "rom", "oslo", "riga"} {
		scripts = append(scripts, Script{Name: city, Parts: []string{strings.Repeat(fmt.Sprint(i, " of ", city, ", "), 12)}, Piece: 8})
	}
	m := must.Have(New(scripts, ""))(t)
	m.Small = true
	m.saysAll(t, m.vocabulary())
}

// saysAll holds that the model writes each of its scripts, by a margin.
func (m *Model) saysAll(t *testing.T, v *vocabulary) {
	t.Helper()
	for i, s := range m.scripts {
		got, least := m.says(v, i)
		if got != s.Parts[0] {
			t.Errorf("%s: the model says %q", s.Name, got)
		}
		if least < 5 { // so that no temperature up to 1 matters
			t.Errorf("%s: the next token is only %.1f ahead", s.Name, least)
		}
	}
}

// says is what the model writes for a script, and by how much the closest decision was made.
func (m *Model) says(v *vocabulary, script int) (text string, least float64) {
	dim := m.width()
	root := math.Sqrt(float64(dim))
	u := m.directions(v)
	in, out := m.embeddings(v, u), m.output(v, u)
	row := func(of []float32, i int) []float32 { return of[i*dim : (i+1)*dim] }
	least = math.Inf(1)
	for last, n := 0, 0; n < 200; n++ {
		x := make([]float32, dim)
		addScaled(x, 1, row(in, last))
		addScaled(x, 0.1*m.gain()*float32(root/math.Sqrt(6)), row(in, v.selectors[script]))
		var length float64
		for _, a := range x {
			length += float64(a) * float64(a)
		}
		best, first, second := 0, math.Inf(-1), math.Inf(-1)
		for i := range v.tokens {
			var sum float64
			for d, a := range row(out, i) {
				sum += float64(a) * float64(x[d])
			}
			if sum *= root / math.Sqrt(length); sum > first {
				best, first, second = i, sum, first
			} else if sum > second {
				second = sum
			}
		}
		least = min(least, first-second)
		if best == v.eos {
			return text, least
		}
		last = best
		text += unspell(v, best)
	}
	return text + "…", least
}

// unspell is the text of a token.
func unspell(v *vocabulary, i int) string {
	if v.types[i] == control {
		return v.tokens[i]
	}
	var out []byte
	for _, r := range v.tokens[i] {
		out = append(out, byte(slices.Index(byteRunes[:], r)))
	}
	return string(out)
}
