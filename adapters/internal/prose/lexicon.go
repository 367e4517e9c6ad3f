package prose

import (
	_ "embed" // the words
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed lexicon.txt
var lexiconLines string

// entry is a word of the lexicon as it stands in the words of a sentence, or its beginning.
type entry struct {
	text     string // with a blank behind it, if the word ends there
	language string
	concept  string
	within   bool // it may stand in a longer word
}

// anyLanguage stands for words that many languages have.
const anyLanguage = "any"

// The concepts of what the writer does, and of what tools are asked for. All others are what is
// shown.
const conceptAct = "act"

var conceptsAsked = []string{"time", "weather"}

// lexicon holds the entries by their first character.
var lexicon = func() map[rune][]entry {
	all := map[rune][]entry{}
	for line := range strings.Lines(lexiconLines) {
		language, groups, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "#") {
			continue
		}
		for group := range strings.SplitSeq(groups, " | ") {
			concept, words, _ := strings.Cut(group, " ")
			for word := range strings.FieldsSeq(words) {
				e := newEntry(word)
				e.language, e.concept = language, concept
				first, _ := utf8.DecodeRuneInString(e.text)
				all[first] = append(all[first], e)
			}
		}
	}
	return all
}()

// newEntry reads a word of the lexicon.
func newEntry(word string) (e entry) {
	word, e.within = strings.CutPrefix(word, "*")
	word, opens := strings.CutSuffix(word, "*")
	e.text = strings.TrimSpace(inWords(strings.ReplaceAll(word, "_", " ")))
	if glued(word) {
		e.within = true
	} else if !opens {
		e.text += " "
	}
	return e
}

// inWords returns the words of a text in lower case with a blank around each, and a colon where it
// ends with one.
func inWords(text string) string {
	colon := ""
	if last, _ := utf8.DecodeLastRuneInString(text); isColon(last) {
		colon = ": "
	}
	text = strings.NewReplacer("’", "'", "\u200c", "", "\u200d", "").Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return isNoWord(r) && !unicode.IsMark(r) })
	return " " + strings.Join(append(words, colon), " ")
}

// glued reports whether a word is of a script that puts no blanks between words, or glues endings
// to them.
func glued(w string) bool {
	return unspaced(w) || strings.ContainsFunc(w, func(r rune) bool {
		return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
	})
}

// concepts returns what a sentence has words for, in the language that most of them are of, and in
// any. Words of one language mean something else in others; several that agree are no accident.
// What is done must be said in each language that may be meant.
func concepts(sentence []byte) (all []string) {
	words, before := inWords(string(sentence)), ' '
	found, counts := map[string][]string{}, map[string]int{}
	for i, r := range words {
		here := ""
		for _, e := range lexicon[r] {
			if !e.within && !strings.ContainsRune(" '-", before) || !strings.HasPrefix(words[i:], e.text) {
				continue
			}
			found[e.language] = append(found[e.language], e.concept)
			if here != e.language {
				counts[e.language]++
			}
			here = e.language // those of a language stand together
		}
		before = r
	}
	all = found[anyLanguage]
	delete(counts, anyLanguage)
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	acts := true
	for language, n := range counts {
		if n == most {
			all = append(all, found[language]...)
			acts = acts && slices.Contains(found[language], conceptAct)
		}
	}
	if !acts {
		all = slices.DeleteFunc(all, func(c string) bool { return c == conceptAct })
	}
	return all
}

// Tool is what a sentence may be about: a tool, and the arguments of its call.
type Tool struct{ Name, Description, Args string }

// Weigh returns what the last sentence of a text says of a call: that it is about its tool, that
// something is shown, or that something is done.
func Weigh(text string, tool Tool) (e Evidence) {
	switch {
	case Names(text, tool.Name):
		e = Named
	case Relates(text, tool.Name, tool.Description, tool.Args):
		e = Related
	}
	for _, concept := range concepts(lastSentence([]byte(text))) {
		asked := slices.Contains(conceptsAsked, concept)
		switch {
		case concept == conceptAct:
			e |= Doing
		case has(tool.Name, concept), asked && has(tool.Description, concept):
			if e&Named == 0 {
				e |= Related
			}
		case !asked:
			e |= Showing
		}
	}
	return e
}

// has reports whether a word of a tool begins with a concept.
func has(words, concept string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(words), isPart), func(w string) bool { return strings.HasPrefix(w, concept) })
}
