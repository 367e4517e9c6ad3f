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

// entry is a word of the lexicon, or the beginning of a word.
type entry struct {
	text     string // ends with a blank if the entry is a whole word
	language string
	concept  string
	within   bool // the entry may occur inside a longer word
}

// anyLanguage is the language of words that many languages have.
const anyLanguage = "any"

// conceptAct is the concept of an action of the writer, and conceptsAsked are concepts for which
// tools are asked. All other concepts are things that are shown.
const conceptAct = "act"

var conceptsAsked = []string{"time", "weather"}

// lexicon has the entries of lexicon.txt by their first character.
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

// newEntry returns the entry for a word as lexicon.txt writes it: a * before or after the word
// means that it may occur within a longer word, or begin one.
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

// inWords returns the words of a text in lower case with a blank around each. If the text ends with
// a colon, so does the result.
func inWords(text string) string {
	colon := ""
	if last, _ := utf8.DecodeLastRuneInString(text); isColon(last) {
		colon = ": "
	}
	text = strings.NewReplacer("’", "'", "\u200c", "", "\u200d", "").Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool {
		return isNoWord(r) && !unicode.IsMark(r)
	})
	return " " + strings.Join(append(words, colon), " ")
}

// glued reports whether a word belongs to a script that writes no blanks between words, or attaches
// endings to words.
func glued(w string) bool {
	return unspaced(w) || strings.ContainsFunc(w, func(r rune) bool {
		return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
			unicode.Tibetan)
	})
}

// concepts returns the concepts of the words of a sentence, in the language that has the most words
// in it, and in anyLanguage. A single word may mean something else in another language. If several
// languages have the most words, the concept of an action must occur in each of them, or it is left
// out.
func concepts(sentence []byte) (all []string) {
	words, before := inWords(string(sentence)), ' '
	found, counts := map[string][]string{}, map[string]int{}
	for i, r := range words {
		here := ""
		for _, e := range lexicon[r] {
			if !e.within && !strings.ContainsRune(" '-", before) ||
				!strings.HasPrefix(words[i:], e.text) {
				continue
			}
			found[e.language] = append(found[e.language], e.concept)
			if here != e.language {
				counts[e.language]++
			}
			here = e.language // the entries of a language are in a row
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

// Tool is a tool that a sentence may be about, with the arguments of its call.
type Tool struct{ Name, Description, Args string }

// Weigh returns the evidence in the last sentence of a text: that the sentence is about the tool,
// that something is shown, or that something is done. It returns 0 if there is no evidence.
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

// has reports whether some word of the tool's name or description begins with the name of a
// concept.
func has(words, concept string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(words), isPart),
		func(w string) bool { return strings.HasPrefix(w, concept) })
}
