package declaration

import (
	"slices"
	"strings"
)

// File returns the text from which the family was read: the declaration and the cases below it. A
// family can be shown and tested from this text alone, so a user's own file is not read again.
func (f *Family) File() string { return f.file }

// Declaration returns the declaration as it was written, with its comments but without the cases.
// The command `formats show` prints it, for users who begin a file of their own with it.
func (f *Family) Declaration() string {
	head, _, _ := strings.Cut("\n"+f.file, "\n-- ")
	return strings.TrimPrefix(head, "\n")
}

// Marks returns the distinct tags and special tokens (marks) that open the family's sections, calls
// and messages, in the order of the declaration. It returns nil for a family without them. The
// result is for people, as in the table of docs/families.md. The decoder looks for
// [Family.Openings].
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

// Thinks returns the texts around the family's reasoning, such as <think>…</think>, one entry for
// each way to write it. It returns nil if the family has none.
func (f *Family) Thinks() []string {
	var marks []string
	for _, p := range f.Think {
		marks = append(marks, p.Opener()+"…"+p.CloseMark())
	}
	return distinct(marks)
}

// Opener returns the first line of the text with which a pattern begins, such as <tool_call>. Users
// take it for the name of the pattern. It returns "" if the pattern begins with a placeholder.
func (p *Pattern) Opener() string {
	line, _, _ := strings.Cut(strings.TrimSpace(p.Parts[0].Lit.Text), "\n")
	return line
}

// distinct returns the words of a list in their order, without empty and repeated ones. The
// examples of a family often begin alike.
func distinct(list []string) (out []string) {
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Results reports whether the family's declaration says how results of tools are printed. Without
// that, a prompt gives the results in words. SmolLM3 has the bare text in a message of the user,
// which needs no such line.
func (f *Family) Results() bool { return f.Result != nil }
