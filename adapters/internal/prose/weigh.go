package prose

import (
	_ "embed" // the weights
	"strconv"
	"strings"
)

// Kind is what kind of sentence a text ends with, as evidence for or against a call after it.
type Kind uint8

// The kinds. The first two decide alone, and the others have a weight.
const (
	Never        Kind = iota // a question, a refusal, advice, an example, half a sentence
	Surely                   // there is no text, or it says that a call follows
	Resolve                  // "let me" and a verb for what tools do
	ResolveColon             // "let me" without such a verb, with a colon at the end
	Intent                   // words of intent
	IntentColon              // words of intent and a colon, but no word for what only tools do
	ForeignColon             // a sentence with a colon, in a language without word lists
	EnglishColon             // the same in English, or a key of a record
	English                  // an English sentence without words of intent
	About                    // about a data format, with quotes or brackets, or long
	Plain                    // a short sentence that ends without a colon
	Open                     // the same without a sign at its end
	kinds
)

// Evidence is a set of bits. Each is a reason for or against a call, besides the kind of the
// sentence before the call.
type Evidence uint8

// The evidence, one bit each.
const (
	Named   Evidence = 1 << iota // the sentence names the tool
	Related                      // the sentence has a word of the tool, or a value of the call
	Asked                        // the user asks for the call, with half of its values and no JSON
	Pasted                       // the conversation contains the call
	// Taught means that the user asks how calls are written, and gave none of the call's values.
	Taught
	// Showing means that the sentence has a word for what is shown: an error, a line, "as follows".
	Showing
	Doing // the sentence has a word for what its writer does now
	bits  = iota
	// Waiting means that the sentence has a condition or makes an offer, or that the text asks the
	// user something or leaves a decision to the user. Nothing outweighs it.
	Waiting Evidence = 1 << bits
)

// names are the names of the weights: first those of the kinds, then those of the evidence.
var names = [...]string{"never", "surely", "resolve", "resolve-colon", "intent", "intent-colon",
	"foreign-colon", "english-colon", "english", "about", "plain",
	"open", "named", "related", "asked", "pasted", "taught", "showing", "doing"}

//go:embed weights.txt
var weightLines string

// weights are the weights in weights.txt, in the order of names.
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

// Features returns the names of the weights that [Kind.Announces] adds up for the kind k and the
// evidence e.
func Features(k Kind, e Evidence) []string {
	all := []string{names[k]}
	for i, name := range names[kinds:] {
		if e>>i&1 != 0 {
			all = append(all, name)
		}
	}
	return all
}

// Announces reports whether a call after a sentence of this kind is meant to run. It adds the
// weights of the kind and of each piece of evidence in e. The result is true if the sum is above 0.
// Some results need no weights: true for [Surely], and false for the kinds before it, or if the
// model waits for an answer.
func (k Kind) Announces(e Evidence) bool {
	if k <= Surely || e&Waiting != 0 {
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

// May reports whether a sentence of this kind can announce a call at all. If not, no evidence
// helps.
func (k Kind) May() bool { return k.Announces(Named | Asked | Doing) }
