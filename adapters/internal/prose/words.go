package prose

import (
	_ "embed" // the word lists
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrases are words and sequences of words to look for, in any case.
// Words of a whole are compared as words: "may" is none in "maybe", "I" none in "in".
// "Let me check the logs." was no announcement once, since "logs" has "log" in it.
type phrases []string // as they stand in spacedWords: the blanks around them tell where a word begins and ends

// newPhrases returns the phrases of a kind. A phrase that ends in * matches the beginning of a
// longer word too, and so do those of scripts that put no blanks between words. The star is for
// endings of inflected languages: "könnte*" is könntest and könnten.
func newPhrases(kind string) (p phrases) {
	for _, w := range wordsOf(kind) {
		switch start, begins := strings.CutSuffix(w, "*"); {
		case unspaced(w):
		case begins:
			w = " " + start
		default:
			w = " " + w + " "
		}
		p = append(p, w)
	}
	return p
}

// in reports whether one of the phrases occurs in a text.
func (p phrases) in(text []byte) bool {
	spaced := spacedWords(text)
	return slices.ContainsFunc(p, func(w string) bool { return strings.Contains(spaced, w) })
}

// begin reports whether words, with a blank behind each, begin with one of the phrases.
func (p phrases) begin(words string) bool {
	return slices.ContainsFunc(p, func(w string) bool { return strings.HasPrefix(" "+words, w) })
}

// spacedWords returns the words of a text in lower case, with a blank around each. Typographic
// apostrophes count as plain ones: models write both in "I’ll" and "I'll".
func spacedWords(text []byte) string {
	plain := strings.ToLower(strings.ReplaceAll(string(text), "’", "'"))
	return " " + strings.Join(strings.FieldsFunc(plain, isNoWord), " ") + " "
}

// isNoWord reports whether a character is between words. An apostrophe and a hyphen belong to
// words: i'll, laissez-moi.
func isNoWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
}

// unspaced reports whether a word is of a script that puts no blanks between words. Korean has
// blanks, but glues endings to its words, so its phrases are looked for anywhere as well.
func unspaced(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

//go:embed announce.txt
var wordLists string

// wordsOf returns the words of a kind. The lists can be corrected without Go by people who know a
// language. The file is embedded, so a program has no path to find; each kind is split once, when
// the program starts.
func wordsOf(kind string) (words []string) {
	for line := range strings.Lines(wordLists) {
		if list, ok := strings.CutPrefix(line, kind+" "); ok {
			words = append(words, strings.Split(strings.TrimSpace(list), ", ")...)
		}
	}
	return words
}

// resolves are how a sentence begins in which its writer is about to do something; the next word is
// what. They are English alone; for other languages the lists below decide.
var resolves = wordsOf("resolves")

// showing are the verbs behind which a call is an example, or waits for somebody. They are compared
// with what follows the resolve: "let me show you", "I'll wait for your approval".
var showing = wordsOf("showing")

// frames are words that make an example of what follows, whatever the sentence resolves to do.
// Unlike hedges they count in a sentence that resolves to do something: "let me search, for example
// like this:".
var frames = newPhrases("frames")

// hedges are words of documentation, advice and quotation: a call behind them is an example. A word
// of a sentence's object can be one by chance: "user" and "example" once hid 33 of 98 calls, hence
// [resolved].
var hedges = newPhrases("hedges")

// waits are words of a model that acts only when it is told to.
// "Once you confirm, I'll run:" has words of intent, and must not run.
var waits = newPhrases("waits")

// refusals are words of one who does not act, or who reports what was done.
// "I'm not able to call tools, so copy this:" stood in front of a call that ran.
var refusals = newPhrases("refusals")

// opens are words that say what is being done where they begin a part of a sentence: "checking the
// logs". Elsewhere they say it of others: "what the client was checking".
var opens = newPhrases("opens")

// actions are words for what only tools do. With words of intent they announce a call in front of a
// colon, too.
var actions = newPhrases("actions")

// orders are verbs that show nothing, whatever they are about.
var orders = wordsOf("orders")

// points are words for what is shown.
var points = newPhrases("points")

// intents are words by which a model says that it is about to act, in the languages of most users.
var intents = newPhrases("intents")

// labels are what a text may say of a call that follows it, alone on its line and with a colon.
var labels = wordsOf("labels")

// doing are verbs of what tools do, behind which a colon announces a call: "let me check the
// clock:".
var doing = wordsOf("doing")

// formats are names of data formats. A sentence about one shows what follows, in any language.
var formats = newPhrases("formats")

// englishWords are words that no other language of Latin letters has.
var englishWords = newPhrases("english")

// AboutData reports whether a text names a data format, whatever its script glues to the name:
// "f'JSON", "JSONで".
func AboutData(text string) bool {
	notASCII := func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) }
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(text), notASCII), func(word string) bool {
		return slices.Contains(formatNames, word)
	})
}

// formatNames are the formats as words.
var formatNames = wordsOf("formats")
