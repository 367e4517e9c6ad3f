package prose

import (
	_ "embed" // the word lists
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// phrases are words and sequences of words to look for, ignoring case. Whole words are compared, so
// "may" does not match "maybe", and "log" does not match "logs".
type phrases []string // in the form of spacedWords, with blanks where a word begins and ends

// newPhrases returns the phrases of a kind in announce.txt. A phrase that ends in * also matches
// the beginning of a longer word, for languages with inflections. For example, "könnte*" matches
// könntest and könnten. Phrases of scripts without blanks between words match anywhere.
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

// begin reports whether words, which have a blank after each, begin with one of the phrases.
func (p phrases) begin(words string) bool {
	return slices.ContainsFunc(p, func(w string) bool {
		return strings.HasPrefix(words, strings.TrimPrefix(w, " "))
	})
}

// spacedWords returns the words of a text in lower case, with a blank around each. Typographic
// apostrophes become plain ones, because models write "I’ll" as well as "I'll".
func spacedWords(text []byte) string {
	plain := strings.ToLower(strings.ReplaceAll(string(text), "’", "'"))
	return " " + strings.Join(strings.FieldsFunc(plain, isNoWord), " ") + " "
}

// isNoWord reports whether a character separates words. Apostrophes and hyphens do not, because
// they belong to words such as i'll and laissez-moi.
func isNoWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
}

// unspaced reports whether a word is in Chinese, Japanese or Korean. The first two write no blanks
// between words. Korean does, but attaches endings to its words.
func unspaced(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

//go:embed announce.txt
var wordLists string

// wordsOf returns the words of the given kind from announce.txt, or nil if there are none. The
// lists are in an embedded text file, so that people who know a language can correct them without
// knowing Go.
func wordsOf(kind string) (words []string) {
	for line := range strings.Lines(wordLists) {
		if list, ok := strings.CutPrefix(line, kind+" "); ok {
			words = append(words, strings.Split(strings.TrimSpace(list), ", ")...)
		}
	}
	return words
}

// resolves are beginnings of English sentences that announce an action, such as "let me". The next
// word is the action. For other languages the lists below decide.
var resolves = wordsOf("resolves")

// showing are the verbs after which a call is an example, or waits for somebody, as in "let me show
// you" and "I'll wait for your approval".
var showing = wordsOf("showing")

// frames are words that make the call an example. Unlike hedges they count even in a sentence that
// announces an action, such as "let me search, for example like this:".
var frames = newPhrases("frames")

// hedges are words of documentation, advice and quotation, after which a call is an example. They
// do not count in sentences that announce an action, see [resolved], because the object of the
// action may be such a word: "user" and "example" once hid 33 of 98 calls.
var hedges = newPhrases("hedges")

// waits are words of a model that waits for permission. For example, "Once you confirm, I'll run:"
// has words of intent, but the call must not run.
var waits = newPhrases("waits")

// refusals are words of a model that does not act, or that reports what was done, as in "I'm not
// able to call tools, so copy this:".
var refusals = newPhrases("refusals")

// opens are words that announce an action at the beginning of a part of a sentence, as in "checking
// the logs". Elsewhere they are about others, as in "what the client was checking".
var opens = newPhrases("opens")

// actions are words for what only tools do. With words of intent they announce a call even before a
// colon.
var actions = newPhrases("actions")

// orders are verbs that never show anything, whatever their object is.
var orders = wordsOf("orders")

// points are words that refer to what is shown, such as "it" and "this".
var points = newPhrases("points")

// intents are words by which a model announces an action, in the languages of most users.
var intents = newPhrases("intents")

// labels are labels for a call, which are alone on a line with a colon.
var labels = wordsOf("labels")

// doing are verbs for what tools do. A colon after such a verb announces a call, as in "let me
// check the clock:".
var doing = wordsOf("doing")

// formats are the names of data formats. In any language, a sentence about one of them shows what
// follows.
var formats = newPhrases("formats")

// englishWords are words that occur in no other language with Latin letters.
var englishWords = newPhrases("english")

// AboutData reports whether a text names a data format, even with letters of other scripts or signs
// attached to the name, as in "f'JSON" and "JSONで".
func AboutData(text string) bool {
	notASCII := func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) }
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(text), notASCII),
		func(word string) bool {
			return slices.Contains(formatNames, word)
		})
}

// AboutPrograms reports whether a text is about computer programs, because it has words for them.
func AboutPrograms(text string) bool { return programs.in([]byte(text)) }

// programs are words for programs and their parts.
var programs = newPhrases("programs")

// formatNames are the names of the data formats, as single words.
var formatNames = wordsOf("formats")
