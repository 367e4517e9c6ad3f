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

// entry is a word of the lexicon, whole or as the beginning of a longer word, with the concept that
// it stands for.
type entry struct {
	text     string // ends with a blank if the entry is a whole word
	language string
	concept  string
	within   bool // the entry may occur inside a longer word
}

// anyLanguage is the language of words that many languages have.
const anyLanguage = "any"

// The concepts that are no things. All others are things that are shown.
const (
	conceptAct    = "act"    // what the writer does
	conceptIf     = "if"     // a condition, at the beginning of a part of a sentence
	conceptWould  = "would"  // a condition or an offer, anywhere
	conceptChoice = "choice" // a decision that is the user's
	conceptThen   = "then"   // "after that", at the beginning of a sentence
	conceptHalf   = "half"   // a word that ends no sentence, at the end of a text
	conceptThus   = "thus"   // how something is written
	conceptAdvice = "advice" // a user's question what to do
	conceptTongue = "tongue" // a word that only tells the language
)

// conceptsOther are concepts that are no evidence in the sentence before a call by themselves. The
// last seven tell whether a user wants something to be done, or to see or read something.
var conceptsOther = []string{conceptTongue, conceptAdvice, conceptChoice, conceptThen,
	"not", "only", "see", "how", "please", "yes", "text"}

// conceptsAsked are concepts for which tools are asked.
var conceptsAsked = []string{"time", "weather"}

// conceptsTold are concepts of questions that ask for nothing to be done.
var conceptsTold = []string{conceptIf, "past", "says", "example", "docs", conceptThus, "why",
	conceptAdvice}

// anotherWay are the concepts that decide most, so a word of them must mean it in each language
// that a sentence may be in.
var anotherWay = []string{conceptAct, conceptIf, conceptWould, conceptChoice}

// lexicon has the entries of lexicon.txt by their first two bytes, because a question of 64 KiB is
// looked up at each of its characters.
var lexicon = func() map[string][]entry {
	all := map[string][]entry{}
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
				all[e.text[:2]] = append(all[e.text[:2]], e)
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

// oneForm gives an apostrophe one form, and takes out the characters that join letters or do not.
var oneForm = strings.NewReplacer("’", "'", "\u200c", "", "\u200d", "")

// inWords returns the words of a text in lower case with a blank around each. If the text ends with
// a colon, the result ends with one, too.
func inWords(text string) string {
	colon := ""
	if last, _ := utf8.DecodeLastRuneInString(text); isColon(last) {
		colon = ": "
	}
	text = oneForm.Replace(strings.ToLower(text))
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

// concepts returns the concepts of the words in part, which is a part of text. It looks the words
// up in the language that covers most of text, and in anyLanguage, because a single word may mean
// something else in another language. If two or more languages cover equally much, the concepts in
// the list anotherWay are left out unless each of these languages has them.
func concepts(text, part string) (all []string) {
	found, counts := lookup(text)
	if part != text {
		found, _ = lookup(part)
	}
	all = found[anyLanguage]
	delete(counts, anyLanguage)
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	var tied []string
	for language, n := range counts {
		if n == most {
			all = append(all, found[language]...)
			tied = append(tied, language)
		}
	}
	return slices.DeleteFunc(all, func(c string) bool {
		return slices.Contains(anotherWay, c) && slices.ContainsFunc(tied, func(l string) bool {
			return !slices.Contains(found[l], c)
		})
	})
}

// lookup finds the words of the lexicon in a text. The result found has, by language, what these
// words stand for: their concepts, such as "weather". The result counts has, by language, how many
// bytes of the text these words cover. If two words of a language overlap, only the first one
// counts, or the longest one if they begin together, because "no problem" does not mean that there
// is a problem. If a part of a sentence says how something is written, as "like this" does, found
// lacks the words in the same part and language for what the writer does (the concept "act").
func lookup(text string) (found map[string][]string, counts map[string]int) {
	found, counts = map[string][]string{}, map[string]int{}
	clauses := strings.FieldsFunc(strings.ReplaceAll(text, ". ", "\n"), func(r rune) bool {
		return isComma(r) || r == '\n' || r != ':' && r != '.' && endsSentence(r)
	})
	for n, clause := range clauses {
		words, before := inWords(clause), ' '
		ends := map[string]int{} // where the last entry of a language ends
		said := map[string][]string{}
		for i, r := range words[:len(words)-1] {
			var longest map[string][]entry // of each language; few places have any
			starts := strings.ContainsRune(" '-", before)
			for _, e := range lexicon[words[i:i+2]] {
				if !e.within && !starts || !e.stands(words, i, n == len(clauses)-1) ||
					i < ends[e.language] {
					continue
				}
				others := longest[e.language]
				switch {
				case longest == nil:
					longest = map[string][]entry{e.language: {e}}
				case len(others) == 0 || len(e.text) > len(others[0].text):
					longest[e.language] = []entry{e}
				case len(e.text) == len(others[0].text):
					longest[e.language] = append(others, e)
				}
			}
			for language, entries := range longest {
				size := len(strings.TrimSuffix(entries[0].text, " "))
				counts[language] += size
				ends[language] = i + size
				for _, e := range entries {
					said[language] = append(said[language], e.concept)
				}
			}
			before = r
		}
		for language, all := range said {
			if slices.Contains(all, conceptThus) {
				all = slices.DeleteFunc(all, func(c string) bool { return c == conceptAct })
			}
			found[language] = append(found[language], all...)
		}
	}
	return found, counts
}

// stands reports whether the entry e is at position at of words, in a place where it has its
// concept. Words for a condition, and "then", have theirs only at the beginning of a part of a
// sentence. Words that end no sentence (conceptHalf) have theirs only at the end of the text. The
// parameter last says whether words is the text's last part.
func (e entry) stands(words string, at int, last bool) bool {
	switch {
	case !strings.HasPrefix(words[at:], e.text):
		return false
	case e.concept == conceptIf, e.concept == conceptThen:
		return at <= 1
	case e.concept == conceptHalf:
		return last && strings.TrimSpace(words[at+len(e.text):]) == ""
	}
	return true
}

// isComma reports whether a character divides the parts of a sentence.
func isComma(r rune) bool { return strings.ContainsRune(",;،؛、，；—–", r) }

// without returns a text in lower case in which each of the given names is replaced by a number.
// Names of tools and the like are words of no language.
func without(text string, names []string) string {
	text = strings.ToLower(text)
	for _, name := range names {
		if len(name) > 3 {
			text = strings.ReplaceAll(text, strings.ToLower(name), " 0 ")
		}
	}
	return text
}

// Tool is a tool that a sentence may be about, with the arguments of its call, and the texts and
// numbers in them.
type Tool struct {
	Name, Description, Args string
	Values                  []string
}

// names returns the tool's name and the values of its call, with the longer words of short values.
// "Sending the example text:" shows nothing if the call sends a text with the word "example".
func (t Tool) names() []string {
	all := []string{t.Name}
	for _, value := range t.Values {
		all = append(all, value)
		if len(value) > maxNamed {
			continue
		}
		for word := range strings.FieldsFuncSeq(value, isNoWord) {
			if utf8.RuneCountInString(word) >= minWord {
				all = append(all, word)
			}
		}
	}
	return all
}

// maxNamed bounds the bytes of a value whose words are looked for in the texts around its call.
const maxNamed = 256

// weigh returns the evidence in the last sentence of a text in lower case: that something is shown,
// that something is done, or that it has a concept of the tool. It returns 0 if there is none. It
// also returns the concepts of the last sentence, and of the text before it.
func weigh(text string, tool Tool) (e Evidence, ofLast, ofBefore []string) {
	last := string(lastSentence([]byte(text)))
	ofLast, ofBefore = concepts(text, last), concepts(text, strings.TrimSuffix(text, last))
	if colon([]byte(text)) && Questions(text) || slices.Contains(ofLast, conceptChoice) ||
		slices.Contains(ofBefore, conceptChoice) {
		e |= Waiting
	}
	if slices.Contains(ofLast, conceptThen) && slices.ContainsFunc(ofBefore, conditional) {
		e |= Waiting
	}
	for _, concept := range ofLast {
		asked := slices.Contains(conceptsAsked, concept)
		switch {
		case slices.Contains(conceptsOther, concept):
		case conditional(concept):
			e |= Waiting
		case concept == conceptAct:
			e |= Doing
		case has(tool.Name, concept), asked && has(tool.Description, concept):
			e |= Related
		case !asked:
			e |= Showing
		}
	}
	return e, ofLast, ofBefore
}

// Does reports whether the last sentence of a text has a word for what its writer does now, and
// neither one for what is shown nor a condition.
func Does(text string) bool {
	e, _, _ := weigh(strings.ToLower(text), Tool{})
	return e == Doing
}

// Asks reports whether a user's message may ask for what a tool does. It returns false if the
// message has words of a condition, of the past or of what is written: "What did you send
// yesterday?" Words in the tool's name and in the values of the call do not count as such.
func Asks(text string, tool Tool) bool {
	text = without(text, tool.names())
	return !slices.ContainsFunc(concepts(text, text), func(concept string) bool {
		return slices.Contains(conceptsTold, concept) && !has(tool.Name, concept)
	})
}

// conditional reports whether a concept, which is the meaning of some words, is that of a condition
// or an offer.
func conditional(concept string) bool { return concept == conceptIf || concept == conceptWould }

// has reports whether one of the given words, which are a tool's name or description, begins with
// the word concept.
func has(words, concept string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(words), isPart),
		func(w string) bool { return strings.HasPrefix(w, concept) })
}
