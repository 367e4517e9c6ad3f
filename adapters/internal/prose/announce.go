// Package prose judges the text around what may be a call: whether it announces one, or only shows
// how one looks.
//
// It sees text alone, never the reply that is read: what a family writes, and what was read before,
// is the decoder's to weigh.
package prose

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
)

// Reach is how much of the text in front of a call, and behind it, is looked at, in bytes.
// Two or three sentences: what stands further in front is about something else.
const Reach = 240

// Judge returns which kind of sentence stands in front of a call without marks that ends the reply.
// Questions, refusals, advice and examples are [Never], whatever else speaks for the call: without
// marks a call needs an announcement, since one that is missed costs less than a snippet of
// documentation that runs. In the other kinds the weights of the evidence decide, see
// [Kind.Announces].
//
//	Shall I look it up?          Never: it waits for an answer
//	You could call it like this: Never: advice
//	Let me check the weather.    Resolve: it says what is done
//	I can see the problem:       IntentColon: words of intent have other senses, and a colon shows what follows
//	Očekávaný výstup je:         ForeignColon: a colon shows what follows
//	Už se dívám na hodiny.       Plain
//
// Words decide only in the languages that have lists (announce.txt). In every other language the
// form of the sentence does: a sentence that ends without a colon, and is about no data format,
// says what happens next.
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
			return Never
		case colon(text) && !acts(last):
			return ResolveColon
		}
		return Resolve
	}
	if hedges.in(last) || waits.in(last) {
		return Never
	}
	if clause := lastClause(last, colon(text)); willAct(clause) {
		if colon(text) && !actions.in(clause) {
			return IntentColon
		}
		return Intent
	}
	switch {
	case refuses(last):
		return Never
	case colon(text) && !english(text) && !isKey(text):
		return ForeignColon
	case colon(text):
		return EnglishColon
	case english(text) && !begins(last):
		return English
	case formats.in(last), bytes.ContainsAny(last, "`\"“”«»「」|<>{}[]"), len(last) > maxSentence:
		return About
	}
	return Plain
}

// Intends reports whether the words of a text's last sentence say that the model is about to act.
// Unlike [Judge] it knows only the languages that have lists.
func Intends(text []byte) bool {
	if does, known := resolved(text); known {
		return does && endsAnnouncement(text)
	}
	return announces(text, lastSentence(text))
}

// maxSentence bounds a sentence that announces a call by its form alone, in bytes: those are short.
const maxSentence = 160

// colon reports whether a text ends with a colon, of any script.
func colon(text []byte) bool {
	last, _ := utf8.DecodeLastRune(text)
	return isColon(last)
}

// isColon reports whether a character is what some script puts in front of what follows.
func isColon(r rune) bool { return strings.ContainsRune(":：︓﹕፥፦᠄꛴՝៖", r) }

// isKey reports whether the last line of a text is one word in small letters and a colon, as a line
// of a log or a record is: "output:".
func isKey(text []byte) bool {
	line := bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:])
	first, _ := utf8.DecodeRune(line)
	return bytes.IndexByte(line, ' ') < 0 && unicode.IsLower(first)
}

// lastClause returns the part of a sentence behind its last comma where it ends with a colon, which
// belongs to that part: "Looking at the trace, the second turn is where it went wrong:" announces
// nothing.
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

// refuses reports whether some part of a sentence refuses, or reports what was done.
func refuses(sentence []byte) bool { return refusals.in(sentence) }

// english reports whether a text has words that only English has.
func english(text []byte) bool { return englishWords.in(text) }

// begins reports whether an English sentence begins with what is being done: "Pulling up the
// current time." One word and a comma may stand in front.
func begins(sentence []byte) bool {
	if word, rest, ok := bytes.Cut(sentence, []byte(", ")); ok && bytes.IndexByte(bytes.TrimSpace(word), ' ') < 0 {
		sentence = rest
	}
	first, _, _ := strings.Cut(strings.TrimLeft(string(sentence), " \n"), " ")
	return len(first) > len("ing")+2 && strings.HasSuffix(strings.ToLower(first), "ing")
}

// acts reports whether a sentence resolves to do what a tool does: the word behind "let me" is such
// a verb, and what follows it does not point to what is shown, as "it" and "this" do.
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

// trimAdverbs returns what follows a resolve without the adverbs in front: "let me now first check"
// resolves to check.
func trimAdverbs(what string) string {
	for _, adverb := range []string{"now ", "first ", "just ", "also ", "quickly ", "then ", "start by "} {
		what = strings.TrimPrefix(what, adverb)
	}
	return what
}

// AnnouncesSurely reports whether a text announces a call so clearly that it may have prose behind
// it. Prose behind a call is mostly an explanation of it, so the whole text in front must be free
// of words of an example.
func AnnouncesSurely(text []byte) bool { return len(text) > 0 && announces(text, text) }

// GoesOn reports whether the prose behind a call goes on from it: it is about no example, and shows
// no other call. A question there offers the call ("Shall I?"), a further fence shows an
// alternative. "Please wait." goes on from a call; "Explanation: it reads the file." shows that the
// call was an example.
func GoesOn(text []byte) bool {
	return len(text) > 0 && text[0] == '\n' && bytes.IndexByte(text, '?') < 0 && !bytes.Contains(text, []byte("```")) && !hedges.in(text)
}

// resolved reports whether the last sentence of a text resolves to do something, and whether it
// resolves anything: "let me look up the user" does something, "let me show you the format" only
// shows it. What the sentence is about is not a hedge then: users, logs and examples are what tools
// are asked for. The first phrase of the list that occurs there decides. A colon after "example" or
// "sample" makes an example of the call, whatever the verb.
func resolved(text []byte) (does, known bool) {
	sentence := spacedWords(lastSentence(text))
	for _, start := range resolves {
		_, what, ok := strings.Cut(sentence, " "+start+" ")
		if !ok {
			continue
		}
		what = trimAdverbs(what)
		shows := slices.ContainsFunc(showing, func(verb string) bool { return strings.HasPrefix(what, verb+" ") })
		sample := text[len(text)-1] == ':' && (strings.HasSuffix(what, "example ") || strings.HasSuffix(what, "sample "))
		return !shows && !sample && !frames.in([]byte(sentence)) && !waits.in([]byte(sentence)), true
	}
	return false, false
}

// announces reports whether a text ends as an announcement does, and whether the part of it that is
// looked at has words of intent and none of an example. The part is the last sentence where the
// call ends the reply, all of it where prose follows, see [AnnouncesSurely].
func announces(text, part []byte) bool {
	return endsAnnouncement(text) && willAct(lastSentence(text)) && !hedges.in(part)
}

// endsAnnouncement reports whether a text can end so when a call is to follow: not as a member of a
// larger document, a question to the user, half a sentence, or the number of a list's entry.
// `"raw":` is a member of a JSON answer whose value looks like a call; "1." is a list of calls that
// the text is about. A comma or a semicolon leaves the sentence open: what follows may still take
// it back.
func endsAnnouncement(text []byte) bool {
	if len(text) == 0 || bytes.HasSuffix(text, []byte(`":`)) || bytes.IndexByte([]byte("?,;"), text[len(text)-1]) >= 0 || bytes.HasSuffix(text, []byte("？")) {
		return false
	}
	return bytes.Trim(text[bytes.LastIndexByte(text, '\n')+1:], "0123456789.) ") != nil
}

// willAct reports whether a part of a sentence has words of intent and takes nothing back: it is
// not a refusal or a report of what was done, and does not wait for anyone. Parts end at commas, so
// "I don't know that yet, let me search" acts and "I'm not able to call tools, so copy this" does
// not.
func willAct(sentence []byte) bool {
	if waits.in(sentence) {
		return false
	}
	for _, part := range bytes.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(",;，、–—", r) }) {
		if (intents.in(part) || opens.begin(trimAdverbs(spacedWords(part)[1:]))) && !refusals.in(part) {
			return true
		}
	}
	return false
}

// lastSentence returns what follows the last end of a sentence but the one at the end. "v1.5" and
// "e.g" do not end a sentence: a Latin mark counts before white space only.
func lastSentence(text []byte) []byte {
	body := bytes.TrimRight(text, ":.!…。：！ \n")
	start := 0
	for i, r := range string(body) {
		end := i + utf8.RuneLen(r)
		if endsSentence(r) && end < len(body) && (r >= utf8.RuneSelf || scan.IsSpace(int(body[end]))) {
			start = end
		}
	}
	return text[start:]
}

// Labels reports whether the last line of a text says, and says only, that a call follows: "**Tool
// call:**".
func Labels(text []byte) bool {
	line := strings.ToLower(string(text[bytes.LastIndexByte(text, '\n')+1:]))
	words := strings.Trim(line, "*_#: ")
	return strings.ContainsRune(line, ':') && slices.Contains(labels, words)
}

// Acts reports whether a part of a sentence has words by which a model says that it is about to
// act.
func Acts(part []byte) bool { return willAct(part) }

// Names reports whether the last sentence of a text holds a tool's name, as it is written or with
// blanks between its words.
func Names(text, tool string) bool {
	last := strings.ToLower(string(lastSentence([]byte(text))))
	name := strings.ToLower(tool)
	if len(name) < 3 {
		return false
	}
	words := strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(name)
	return strings.Contains(last, name) || strings.Contains(words, " ") && strings.Contains(last, words)
}

// Relates reports whether the last sentence of a text has a word that a call has: of its tool's
// name or description, or of its values. Words that begin alike for five letters are one, so that
// "checks" is "checking".
func Relates(text string, about ...string) bool {
	words := strings.FieldsFunc(spacedWords(lastSentence([]byte(text))), isPart)
	for _, word := range strings.FieldsFunc(strings.ToLower(strings.Join(about, " ")), isPart) {
		if len(word) >= minWord && slices.ContainsFunc(words, func(w string) bool { return stem(w) == stem(word) }) {
			return true
		}
	}
	return false
}

// Shares reports whether a text has a word of some values, as the user said it or a tool answered.
func Shares(text string, values ...string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(strings.Join(values, " ")), isPart), func(word string) bool {
		return len(word) > 2 && strings.Contains(text, word)
	})
}

// Questions reports whether a text asks something, in any script.
func Questions(text string) bool { return strings.ContainsAny(text, "?？؟՞፧") }

// minWord is how long a word must be to relate a sentence to a call: shorter ones are in all
// sentences.
const minWord = 4

// isPart reports whether a character stands between the parts of a name.
func isPart(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stem returns the beginning of a word.
func stem(word string) string { return word[:min(len(word), 5)] }
