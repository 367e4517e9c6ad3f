package gguf

import (
	"bytes"
	"strings"
	"testing"
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
	m, err := New(texts, "")
	if err != nil {
		t.Fatal(err)
	}
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
		m, err := New(texts, "{{ messages }}")
		if err != nil {
			t.Fatal(err)
		}
		n, err := m.WriteTo(&files[i])
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
