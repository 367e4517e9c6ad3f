package declaration

import (
	"slices"
	"strings"
)

// File returns the text that the family was read from: the declaration, and the cases below it. It
// is kept whole, so that a family can be shown and tested wherever it came from, and a user's own
// file needs no second place.
func (f *Family) File() string { return f.file }

// Declaration returns the declaration as it was written, comments included, without the cases.
// `formats show` prints it, for users who begin a file of their own with it.
func (f *Family) Declaration() string {
	head, _, _ := strings.Cut("\n"+f.file, "\n-- ")
	return strings.TrimPrefix(head, "\n")
}

// Marks returns what opens the family's sections, calls and messages, as the declaration has it:
// each once, in its order. It is empty for a family that writes without marks. The marks are for
// people; what the decoder looks for is [Family.Openings]. docs/families.md lists them in the table
// of families.
func (f *Family) Marks() []string {
	var marks []string
	for _, list := range [][]*Pattern{f.Sections, f.Calls} {
		for _, p := range list {
			marks = append(marks, p.Opener())
		}
	}
	if f.Header != nil {
		marks = append(marks, f.Header.Opener())
	}
	return distinct(marks)
}

// Thinks returns the pairs of marks around the family's reasoning, each pair joined by an ellipsis.
// It is empty for a family that has no such marks.
func (f *Family) Thinks() []string {
	var marks []string
	for _, p := range f.Think {
		marks = append(marks, p.Opener()+"…"+p.CloseMark())
	}
	return distinct(marks)
}

// Opener returns the literal that a pattern begins with, up to the first line break: what people
// would call its mark.
func (p *Pattern) Opener() string {
	line, _, _ := strings.Cut(strings.TrimSpace(p.Parts[0].Lit.Text), "\n")
	return line
}

// distinct drops empty and repeated words: several examples of a family mostly begin alike.
// Order stays that of the file: the first example is what the family prints.
func distinct(list []string) (out []string) {
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Results reports whether the family has a form for what a tool answered. Without one, results go
// into a prompt in words. Those of SmolLM3 are bare text in a user's turn, for which no line is
// needed.
func (f *Family) Results() bool { return f.Result != nil }
