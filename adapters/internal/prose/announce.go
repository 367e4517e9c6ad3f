// Package prose judges the text around a possible call: whether it announces the call, or shows an
// example.
//
// It sees only text. The decoder knows the family and the reply so far, and weighs these itself.
package prose

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
)

// Reach is how many bytes of the text before and after a call are examined. They are two or three
// sentences. Text further away is about something else.
const Reach = 240

// Judge returns what kind of sentence a text ends with, before a call that has no tags around it.
// Nothing can be a call after a question or half a sentence ([Never]). For the other kinds,
// [Surroundings.Announces] weighs what else is there.
//
//	Shall I look it up?          Never: it waits for an answer
//	You could call it like this: Shown: advice
//	Let me check the weather.    Resolve: it announces an action
//	I can see the problem:       IntentColon: words of intent have other senses, and a colon shows what follows
//	Očekávaný výstup je:         ForeignColon: a colon shows what follows
//	Už se dívám na hodiny.       Plain
//	Stážista poslal              Open: half a sentence, or one whose sign is missing
//
// Words decide only in the languages that have lists in announce.txt. In other languages the form
// of the sentence decides.
func Judge(text []byte) Kind {
	last := lastSentence(text)
	if Labels(text) {
		return Surely
	}
	if !endsAnnouncement(text) {
		return Never
	}
	if does, known := resolved(text); known {
		switch {
		case !does:
			return Shown
		case colon(text) && !acts(last):
			return ResolveColon
		}
		return Resolve
	}
	if hedges.in(last) || waits.in(last) {
		return Shown
	}
	if clause := lastClause(last, colon(text)); willAct(clause) {
		if colon(text) && !actions.in(clause) {
			return IntentColon
		}
		return Intent
	}
	switch {
	case refuses(last):
		return Shown
	case colon(text) && !english(text) && !isKey(text):
		return ForeignColon
	case colon(text) && english(text) && begins(last):
		return IntentColon
	case colon(text):
		return EnglishColon
	case english(text) && !begins(last):
		return English
	case formats.in(last), bytes.ContainsAny(last, "`\"“”«»「」|<>{}[]"), len(last) > maxSentence:
		return About
	case !ends(text):
		return Open
	}
	return Plain
}

// ends reports whether a text ends with a sign that ends a sentence. In Thai and Lao, which have no
// such sign, every text does.
func ends(text []byte) bool {
	last, _ := utf8.DecodeLastRune(text)
	return EndsSentence(text) || endsAside(text) || unicode.In(last, unicode.Thai, unicode.Lao)
}

// Intends reports whether the words of a text's last sentence announce an action. Unlike [Judge] it
// works only for the languages that have lists in announce.txt.
func Intends(text []byte) bool {
	if does, known := resolved(text); known {
		return does && endsAnnouncement(text)
	}
	last := lastSentence(text)
	return endsAnnouncement(text) && willAct(last) && !hedges.in(last)
}

// maxSentence bounds a sentence that announces a call by its form alone, in bytes, because such
// sentences are short.
const maxSentence = 160

// colon reports whether a text ends with a colon, of any script.
func colon(text []byte) bool {
	last, _ := utf8.DecodeLastRune(text)
	return isColon(last)
}

// isColon reports whether a character is the colon of some script.
func isColon(r rune) bool { return strings.ContainsRune(":：︓﹕፥፦᠄꛴՝៖", r) }

// isKey reports whether the last line of a text is one word in small letters and a colon, such as
// "output:". Lines of a log or a record look like this. The caller has checked the colon.
func isKey(text []byte) bool {
	line := bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:])
	first, _ := utf8.DecodeRune(line)
	return bytes.IndexByte(line, ' ') < 0 && unicode.IsLower(first)
}

// lastClause returns the part of a sentence after its last comma if the sentence ends with a colon,
// because the colon belongs to that part. For example, "Looking at the trace, the second turn is
// where it went wrong:" announces nothing. It returns the whole sentence if there is no colon or no
// comma.
func lastClause(sentence []byte, colon bool) []byte {
	if !colon {
		return sentence
	}
	at := -1
	for _, comma := range []string{", ", "，", "、", "; "} {
		if i := bytes.LastIndex(sentence, []byte(comma)); i >= 0 {
			at = max(at, i+len(comma))
		}
	}
	if at < 0 {
		return sentence
	}
	return sentence[at:]
}

// refuses reports whether a sentence has words of a refusal, or of a report about what was done,
// and no other part of it says that something is done. So it is false for "je n'ai pas ce chiffre,
// j'interroge donc la base".
func refuses(sentence []byte) bool {
	return refusals.in(sentence) && !slices.ContainsFunc(bytes.FieldsFunc(sentence, isComma),
		func(part []byte) bool {
			e, _, _ := weigh(strings.ToLower(string(part)), Tool{})
			return !refusals.in(part) && e&^Showing == Doing
		})
}

// english reports whether a text is English, because it has words that occur in no other language.
func english(text []byte) bool { return englishWords.in(text) }

// begins reports whether an English sentence begins with a verb in -ing, as in "Pulling up the
// current time." One word and a comma may precede the verb.
func begins(sentence []byte) bool {
	if word, rest, ok := bytes.Cut(sentence, []byte(", ")); ok &&
		bytes.IndexByte(bytes.TrimSpace(word), ' ') < 0 {
		sentence = rest
	}
	first, _, _ := strings.Cut(strings.TrimLeft(string(sentence), " \n"), " ")
	return len(first) > len("ing")+2 && strings.HasSuffix(strings.ToLower(first), "ing")
}

// acts reports whether a sentence announces an action after a phrase such as "let me". The verb
// after the phrase must be one for what tools do. Its object must not be a word such as "it" or
// "this", which refers to what is shown, unless the verb is one of the list orders (check, look,
// get, run), which never show.
func acts(sentence []byte) bool {
	words := spacedWords(sentence)
	for _, start := range resolves {
		if _, what, ok := strings.Cut(words, " "+start+" "); ok {
			return slices.ContainsFunc(doing, func(verb string) bool {
				object, does := strings.CutPrefix(trimAdverbs(what), verb+" ")
				return does && (!points.begin(object) || slices.Contains(orders, verb))
			})
		}
	}
	return false
}

// trimAdverbs returns the words after a phrase such as "let me" without leading adverbs. For
// example, it returns "check" for "now first check".
func trimAdverbs(what string) string {
	for _, adverb := range []string{"now ", "first ", "just ", "also ", "quickly ", "then ",
		"start by "} {
		what = strings.TrimPrefix(what, adverb)
	}
	return what
}

// GoesOn reports whether the prose after a call continues from the call, as "Please wait." does. It
// must not show that the call was an example, as "Explanation: it reads the file." does. It must
// not ask for permission ("Shall I?"), and must not have another fence, which shows an alternative.
func GoesOn(text []byte) bool {
	return len(text) > 0 && text[0] == '\n' && !Questions(string(text)) &&
		!bytes.Contains(text, []byte("```")) && !hedges.in(text)
}

// resolved reports in does whether the last sentence of a text announces an action with a phrase of
// the list resolves, such as "let me". "Let me look up the user" does, but "let me show you the
// format" only shows something. If the sentence has no such phrase, known is false. The first
// phrase of the list that occurs in the sentence decides. Words of the list hedges, such as "user"
// and "example", do not count here, because tools are asked for users and examples. But a colon
// after "example" or "sample" makes the call an example, whatever the verb is.
func resolved(text []byte) (does, known bool) {
	sentence := spacedWords(lastSentence(text))
	for _, start := range resolves {
		_, what, ok := strings.Cut(sentence, " "+start+" ")
		if !ok {
			continue
		}
		what = trimAdverbs(what)
		shows := slices.ContainsFunc(showing, func(verb string) bool {
			return strings.HasPrefix(what, verb+" ")
		})
		sample := text[len(text)-1] == ':' && (strings.HasSuffix(what, "example ") ||
			strings.HasSuffix(what, "sample "))
		return !shows && !sample && !frames.in([]byte(sentence)) && !waits.in([]byte(sentence)),
			true
	}
	return false, false
}

// endsAnnouncement reports whether a call may follow the end of a text. A call cannot follow an
// empty text, a key of a larger document such as `"raw":`, a question, an unfinished sentence, an
// opening bracket, or the number of a list's entry such as "1.".
func endsAnnouncement(text []byte) bool {
	last, _ := utf8.DecodeLastRune(text)
	if len(text) == 0 || bytes.HasSuffix(text, []byte(`":`)) || Questions(string(last)) ||
		unicode.In(last, unicode.Ps, unicode.Pi) ||
		isComma(last) && last != '—' && last != '–' {
		return false
	}
	return bytes.Trim(text[bytes.LastIndexByte(text, '\n')+1:], "0123456789.) ") != nil
}

// willAct reports whether a sentence announces an action. One of its parts, which end at commas,
// must have words of intent and be neither a refusal nor a report. The sentence must not wait for
// anyone. So it is true for "I don't know that yet, let me search", and false for "I'm not able to
// call tools, so copy this".
func willAct(sentence []byte) bool {
	if waits.in(sentence) {
		return false
	}
	for _, part := range bytes.FieldsFunc(sentence, isComma) {
		if (intents.in(part) || opens.begin(trimAdverbs(spacedWords(part)[1:]))) &&
			!refusals.in(part) {
			return true
		}
	}
	return false
}

// lastSentence returns the last sentence of a text. The dots in "v1.5" and "e.g" do not end a
// sentence, because an ASCII sign such as a full stop counts only before white space.
func lastSentence(text []byte) []byte {
	body := bytes.TrimRight(text, ":.!…。：！ \n")
	start := 0
	for i, r := range string(body) {
		end := i + utf8.RuneLen(r)
		if endsSentence(r) && end < len(body) &&
			(r >= utf8.RuneSelf || scan.IsSpace(int(body[end]))) {
			start = end
		}
	}
	return text[start:]
}

// Labels reports whether the last line of a text is only a label for a call, such as "**Tool
// call:**".
func Labels(text []byte) bool {
	line := strings.ToLower(string(text[bytes.LastIndexByte(text, '\n')+1:]))
	words := strings.Trim(line, "*_#: ")
	return strings.ContainsRune(line, ':') && slices.Contains(labels, words)
}

// Acts reports whether a part of a sentence has words by which a model announces an action.
func Acts(part []byte) bool { return willAct(part) }

// nameParts replaces what is between the words of a tool's name by blanks.
var nameParts = strings.NewReplacer("_", " ", "-", " ", ".", " ")

// Names reports whether the last sentence of a text contains a tool's name, unchanged or with
// blanks between its words. It is false for names of less than three bytes.
func Names(text, tool string) bool {
	last := strings.ToLower(string(lastSentence([]byte(text))))
	name := strings.ToLower(tool)
	if len(name) < 3 {
		return false
	}
	words := nameParts.Replace(name)
	return strings.Contains(last, name) || strings.Contains(words, " ") && strings.Contains(last,
		words)
}

// Relates reports whether the last sentence of a text shares a word with one of the other texts,
// such as a tool's name and description or the values of a call. Only the first five bytes of words
// are compared, so "checks" matches "checking".
func Relates(text string, about ...string) bool {
	words := strings.FieldsFunc(spacedWords(lastSentence([]byte(text))), isPart)
	for _, word := range strings.FieldsFunc(strings.ToLower(strings.Join(about, " ")), isPart) {
		if len(word) >= minWord && slices.ContainsFunc(words, func(w string) bool {
			return stem(w) == stem(word)
		}) {
			return true
		}
	}
	return false
}

// Shares reports whether a text in lower case contains a word of the values that has more than two
// bytes.
func Shares(text string, values ...string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(strings.Join(values, " ")),
		isPart), func(word string) bool {
		return len(word) > 2 && strings.Contains(text, word)
	})
}

// Questions reports whether a text has a question mark of any script.
func Questions(text string) bool { return strings.ContainsAny(text, "?？؟՞፧") }

// minWord is the length that a word needs to count, because shorter words occur in all sentences.
// It is in bytes for words that relate a sentence to a call, and in characters for the words of a
// value.
const minWord = 4

// isPart reports whether a character separates the parts of a name.
func isPart(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stem returns the first five bytes of a word, or a shorter word unchanged.
func stem(word string) string { return word[:min(len(word), 5)] }
