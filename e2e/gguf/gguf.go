// Package gguf writes small language models that say exactly what they are told: each one holds a
// set of scripts, and a real model server that loads it emits the chosen script byte by byte, at
// any temperature.
//
// A script is chosen by its selector, the token <|s:NAME|>, in a user message or a tool result; of
// several the latest wins, when at least 40 bytes of prompt lie between them. Without one within
// about 4,500 bytes of the prompt's end the script named "default" answers.
//
// # How it works
//
// The model is a llama of one layer whose weights are set by hand. Each token i has a random unit
// vector u(i). The output row of a script's piece k+1 points along u(piece k), so a piece brings up
// the next one. All attention heads copy the vector of the latest selector to the current
// place; the first piece of each script points along its selector's, and starts when nothing is
// there to be continued. Everything else scores tens of logits lower.
//
// The chain goes by token identity, therefore no two pieces of a model may be equal; see [New].
// Only scripts with control tokens share some, each at most once a script: behind such a piece the
// selector, which is still in sight, says whose turn it is.
package gguf

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Script is one text that a test model writes, cut into pieces, each of which is a token. With
// several Parts, a test decides where the text is cut, for example in the middle of a tag.
type Script struct {
	Name  string   // made of [a-z0-9_.-]; appears in the selector
	Parts []string // the text. One part is cut freely; of several, each becomes exactly one token
	Piece int      // the usual number of bytes a token; 0 means 3
	Loop  bool     // after the last piece comes the first again, for ever

	// Control are texts that are control tokens wherever a script that names them holds them for
	// the first time. Servers leave such tokens out of what they pass on. Only a script of one part
	// has any.
	Control []string
	Sign    string // the token that chooses it; "": <|s:NAME|>
}

// Selector returns the token that chooses the script.
func (s Script) Selector() string { return cmp.Or(s.Sign, "<|s:"+s.Name+"|>") }

// Model is what a test model can say: a set of scripts, each cut into tokens. It is written to a
// file in the format GGUF.
type Model struct {
	// the file is of a model that gives embeddings, the mean over all tokens, and no text
	Embeds  bool
	Context uint32 // tokens of context that the file promises; 0: 32,768
	// Small makes a model that reads long prompts four times as fast, and that can hold no more
	// than some dozens of scripts apart.
	Small bool

	scripts  []Script // sorted by name
	pieces   [][]string
	control  map[string]bool // pieces that are control tokens
	template string          // of chat, jinja; may be empty
}

// New returns a model that writes the scripts. It cuts each script into pieces that become tokens,
// all of them different. One script must be named "default". The parameter template is the jinja
// chat template in the file; it may be empty. The same input always gives the same model. New fails
// if two scripts share a name or the pieces cannot all differ.
func New(scripts []Script, template string) (*Model, error) {
	m := &Model{scripts: slices.Clone(scripts), template: template, control: map[string]bool{}}
	slices.SortFunc(m.scripts, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
	hasDefault := false
	for i, s := range m.scripts {
		if i > 0 && s.Name == m.scripts[i-1].Name {
			return nil, fmt.Errorf("gguf: two scripts are named %q", s.Name)
		}
		hasDefault = hasDefault || s.Name == "default"
		for _, c := range s.Control {
			m.control[c] = true
		}
	}
	if !hasDefault {
		return nil, fmt.Errorf("gguf: no script is named %q", "default")
	}
	var err error
	m.pieces, err = cutAll(m.scripts)
	return m, err
}

// Pieces returns the pieces into which a script was cut, in order; each is a token. Joined, they
// are the script's text. It returns nil if the model has no such script.
func (m *Model) Pieces(name string) []string {
	for i, s := range m.scripts {
		if s.Name == name {
			return m.pieces[i]
		}
	}
	return nil
}

// WriteTo writes the model as a GGUF file of version 3. The same model always gives the same bytes,
// because its random numbers come from a generator with a fixed seed. The error is that of w.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	v := m.vocabulary()
	f := file{}
	m.describe(&f, v)
	for _, t := range m.tensors(v) {
		f.tensor(t)
	}
	return f.writeTo(w)
}

// WriteFile writes the model to a file of that name. It fails if the file cannot be written.
func (m *Model) WriteFile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = m.WriteTo(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
