package declaration

import (
	"fmt"
	"slices"
	"strings"
)

// Wording says how print.Prompt describes tools to a model. It is a set of the kinds below. The
// zero value means the family's own wording. If neither the family nor a template gives one, a
// probe finds out which wording a model follows. Small models follow a worked example best, and
// signatures save tokens, but no wording suits all. A small model echoed schemas in 4 of 25
// replies. Signatures were shortest, and with them a model that had to make two calls most often
// made both.
type Wording uint8

// The kinds of wording. A wording without Schemas and Signatures uses schemas.
const (
	Schemas Wording = 1 << iota // each tool as JSON with its schema
	// Signatures describes each tool as the head of a Python function, which is much shorter.
	Signatures
	// Example adds a user's request and the call that answers it, for the first offered tool.
	Example
)

// wordings are the names of the kinds, in the order of their values. The setting wording and a
// declaration's wording line use them.
var wordings = []string{"schemas", "signatures", "example"}

// ParseWording reads the kinds of a Wording, separated by blanks or +, as in "signatures+example".
// It returns an error that lists the kinds if a name is unknown or if there is no name. Flags
// usually have a plus sign, and declarations a blank.
func ParseWording(s string) (Wording, error) {
	var w Wording
	for _, name := range strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '+' || r == '\t'
	}) {
		i := slices.Index(wordings, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no wording: there are %s", name,
				strings.Join(wordings, ", "))
		}
		w |= 1 << i
	}
	if w == 0 {
		return 0, fmt.Errorf("a wording is made of %s", strings.Join(wordings, ", "))
	}
	return w, nil
}

// String returns the names of the wording's kinds, joined by plus signs, as ParseWording reads
// them. The names are in the order of the constants, so a wording that a probe has found is always
// stored in the same way.
func (w Wording) String() string {
	var names []string
	for i, name := range wordings {
		if w&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// Wording returns how the family's declaration says that tools are described in prompts, or 0 if it
// does not say it.
func (f *Family) Wording() Wording { return f.wording }
