package prose

import (
	_ "embed" // the weights
	"strconv"
	"strings"
)

// Kind is what the last sentence of a text is, as far as it tells whether the call behind it is
// meant.
type Kind uint8

// The kinds. Of the first two nothing else is asked, the others have a weight.
const (
	Never        Kind = iota // a question, a refusal, advice, an example, half a sentence
	Surely                   // nothing stands in front, or it says that a call follows
	Resolve                  // "let me", and a verb of what tools do
	ResolveColon             // so, in front of a colon and without such a verb
	Intent                   // words of intent
	IntentColon              // so, in front of a colon, about nothing that only tools do
	ForeignColon             // a sentence with a colon, in a language without lists
	EnglishColon             // so, in English, or a key of a record
	English                  // an English sentence without words of intent
	About                    // about a data format, with quotes or brackets, or long
	Plain                    // a short sentence that ends without a colon
	kinds
)

// Evidence is what speaks for or against a call besides the sentence in front of it.
type Evidence uint8

// The evidence, a bit each.
const (
	Named   Evidence = 1 << iota // the sentence names the tool
	Related                      // it does not, but has a word of the tool, or a value of the call
	Asked                        // the user's last message has the call's values, and no JSON
	Pasted                       // the model was given the call to read
	Taught                       // the user asks how calls are written, and gave none of the call's values
	Showing                      // the sentence has a word for what is shown: an error, a line, "as follows"
	Doing                        // it has a word for what its writer does now
	bits    = iota
)

// names are those of the weights, of kinds and then of evidence.
var names = [...]string{"never", "surely", "resolve", "resolve-colon", "intent", "intent-colon",
	"foreign-colon", "english-colon", "english", "about", "plain",
	"named", "related", "asked", "pasted", "taught", "showing", "doing"}

//go:embed weights.txt
var weightLines string

// weights are those of the file, in the order of names.
var weights = func() (w [len(names)]float64) {
	for line := range strings.Lines(weightLines) {
		for i, name := range names {
			if text, ok := strings.CutPrefix(line, name+" "); ok {
				w[i], _ = strconv.ParseFloat(strings.TrimSpace(text), 64)
			}
		}
	}
	return w
}()

// Features returns which weights count for a sentence and the evidence, by their names.
func Features(k Kind, e Evidence) []string {
	all := []string{names[k]}
	for i, name := range names[kinds:] {
		if e>>i&1 != 0 {
			all = append(all, name)
		}
	}
	return all
}

// Announces reports whether a call is meant behind a sentence of this kind, with the evidence
// that there is.
func (k Kind) Announces(e Evidence) bool {
	if k <= Surely {
		return k == Surely
	}
	sum := weights[k]
	for i := range bits {
		if e>>i&1 != 0 {
			sum += weights[int(kinds)+i]
		}
	}
	return sum > 0
}

// May reports whether some evidence would make an announcement of a sentence of this kind.
func (k Kind) May() bool { return k.Announces(Named | Asked | Doing) }
