package declaration

import (
	"fmt"
	"slices"
	"strings"
)

// Wording is in which words Prompt describes tools: some of the kinds below together. The zero
// value is the family's own. Which of them a model without a template for tools follows is found
// out by a probe, unless its family says so. A small model follows a worked example best, and
// signatures save tokens; no wording suits all. Schemas as text were echoed in 4 of 25 replies of a
// small model; signatures were shortest, and gave both of two calls most often.
type Wording uint8

// The kinds of wording. With neither of the first two there are schemas.
const (
	Schemas    Wording = 1 << iota // each tool as JSON with its schema
	Signatures                     // each tool as the head of a Python function, which is much shorter
	Example                        // what a user says and the call that answers it, made of the first offered tool
)

// wordings are the kinds by name, in the order of their values.
// The names are those of the setting wording and of a declaration's line.
var wordings = []string{"schemas", "signatures", "example"}

// ParseWording reads the names of kinds, with blanks or + between them: "signatures+example". An
// error lists the kinds. A plus sign reads better in a flag, a blank in a declaration; both are
// taken in both.
func ParseWording(s string) (Wording, error) {
	var w Wording
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '+' || r == '\t' }) {
		i := slices.Index(wordings, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no wording: there are %s", name, strings.Join(wordings, ", "))
		}
		w |= 1 << i
	}
	if w == 0 {
		return 0, fmt.Errorf("a wording is made of %s", strings.Join(wordings, ", "))
	}
	return w, nil
}

// String returns what ParseWording reads, so that a wording that a probe has found can be kept as
// text. The order is that of the constants, so one wording has one spelling in the memory of a
// model.
func (w Wording) String() string {
	var names []string
	for i, name := range wordings {
		if w&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// Wording returns how the family wants its tools described, zero when its declaration does not say.
func (f *Family) Wording() Wording { return f.wording }
