package prose

import (
	_ "embed" // the weights
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Kind is what kind of sentence a text ends with, as evidence for or against a call after it.
type Kind uint8

// The kinds. The first two decide alone, and the others have a weight.
const (
	Never        Kind = iota // a question, half a sentence, a key: no call follows
	Surely                   // there is no text, or it says that a call follows
	Shown                    // words of a refusal, of advice, or of an example
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
)

// Announces reports whether a sentence of this kind announces a call that has other evidence, such
// as a mark in front of it.
func (k Kind) Announces() bool {
	return k == Surely || k == Resolve || k == Intent || k == Plain
}

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
	// Waiting means that the sentence has a condition or makes an offer, or that the text asks the
	// user something or leaves a decision to the user.
	Waiting
)

// kindNames and evidenceNames are the names of the kinds and of the bits of Evidence in the file of
// weights.
var (
	kindNames = [...]string{"never", "surely", "shown", "resolve", "resolve-colon", "intent",
		"intent-colon", "foreign-colon", "english-colon", "english", "about", "plain", "open"}
	evidenceNames = [...]string{"named", "related", "asked", "pasted", "taught", "showing", "doing",
		"waiting"}
)

// Surroundings is what a possible call is surrounded by: the texts before and after it, and the
// conversation.
type Surroundings struct {
	Front, Behind string   // the text before the call, and the text after it
	Question      string   // the user's message
	Heard         Evidence // what the conversation says about the call
	Tool          Tool     // the tool that the call names, and the call's arguments
}

// Announces reports whether a call with these surroundings is meant to run. It adds the weights of
// what is found in the surroundings. The result is true if the sum is above 0. Callers must check
// first that the sentence before the call is not of the kind [Never], and that there is one.
func (s *Surroundings) Announces() bool {
	features, hashed := s.Features()
	sum := 0.0
	for _, name := range features {
		sum += weights[name]
	}
	for bucket, value := range hashed {
		sum += float64(int8(hashedWeights[bucket])) * hashedScale * value
	}
	return sum > 0
}

// Features returns the names of what is found in the surroundings, each of which has a weight in
// weights.txt. It also returns which of the hashed weights count, and how much each does.
func (s *Surroundings) Features() (all []string, hashed iter.Seq2[int, float64]) {
	names := s.Tool.names()
	masked, question := without(s.Front, names), without(s.question(), names)
	all = s.named(masked, question)
	behind := without(s.Behind[:min(len(s.Behind), maxBehind)], names)
	return all, func(yield func(int, float64) bool) { hash(masked, behind, question, all, yield) }
}

// named returns the names of what is found in the surroundings. The parameters are the text before
// the call and the user's message, both without the names of the call.
func (s *Surroundings) named(masked, question string) (all []string) {
	add := func(name string, is bool) {
		if is {
			all = append(all, name)
		}
	}
	front := []byte(s.Front)
	last := lastSentence(front)
	_, known := resolved(front)
	add("always", true)
	add("kind-"+kindNames[Judge(front)], true)
	evidence, ofLast, ofBefore := weigh(masked, s.Tool)
	evidence |= s.Heard
	switch {
	case Names(s.Front, s.Tool.Name):
		evidence = evidence&^Related | Named
	case Relates(s.Front, s.Tool.Name, s.Tool.Description, s.Tool.Args):
		evidence |= Related
	}
	for i, name := range evidenceNames {
		add(name, evidence>>i&1 != 0)
	}
	for _, part := range []struct {
		name     string
		concepts []string
	}{{"last-", ofLast}, {"before-", ofBefore}, {"behind-", concepts(s.Behind, s.Behind)},
		{"question-", concepts(question, question)}} {
		slices.Sort(part.concepts)
		for _, concept := range slices.Compact(part.concepts) {
			add(part.name+concept, true)
		}
	}
	add("asks", Questions(s.Front))
	add("question", question != "")
	add("question-asks", Questions(question))
	add("colon", colon(front))
	add("ends", ends(front))
	add("dots", strings.HasSuffix(s.Front, "…") || strings.HasSuffix(s.Front, "..."))
	add("sentences", len(last) < len(front))
	add("long", len(s.Front) > maxSentence)
	add("code", strings.ContainsRune(s.Front, '`'))
	add("quotes", strings.ContainsAny(s.Front, "\"“”«»「」„"))
	add("hedges", hedges.in(last))
	add("waits", waits.in(last))
	add("refusals", refusals.in(last))
	add("intents", intents.in(last))
	add("actions", actions.in(last))
	add("acts", acts(last))
	add("will", willAct(last))
	add("known", known)
	add("english", english(front))
	add("begins", begins(last))
	add("formats", formats.in(last))
	add("behind", s.Behind != "")
	add("behind-asks", Questions(s.Behind))
	add("shows", s.Behind != "" && !GoesOn([]byte("\n"+s.Behind)))
	return all
}

// question returns the part of the user's message that says what the user wants: only the beginning
// and the end of a long message, without what is in braces, which is mostly pasted.
func (s *Surroundings) question() string {
	text := s.Question
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if 0 <= from && from < to {
		text = text[:from] + "{}" + text[to+1:]
	}
	if len(text) > maxQuestion {
		text = text[:maxQuestion/2] + " " + text[len(text)-maxQuestion/2:]
	}
	return strings.ToValidUTF8(text, "")
}

//go:embed weights.txt
var weightLines string

// weights has the weights in weights.txt by their names.
var weights = func() map[string]float64 {
	all := map[string]float64{}
	for line := range strings.Lines(weightLines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if weight, err := strconv.ParseFloat(value, 64); err == nil { // no comment
			all[name] = weight
		}
	}
	return all
}()
