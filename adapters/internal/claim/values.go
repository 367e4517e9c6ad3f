package claim

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// value is a word of a text that names something: a number, a name, a quoted text, a URL or
// address, a path.
type value struct {
	text   string
	strong bool // its occurrence is no coincidence; false only for names
}

// is reports whether a value equals a word, ignoring case.
func (v value) is(word string) bool { return strings.EqualFold(v.text, word) }

// tokens matches one quoted text or one word.
var tokens = regexp.MustCompile(
	"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」|『[^』\n]{1,200}』|„[^“”\n]{1,200}[“”]|`[^`\n]{1,200}`|[^\\s\"“”«»「」『』„`,;:!?()\\[\\]，；：、。！？（）]+")

// valuesOf returns the values in a sentence: numbers, names, quoted texts, URLs, addresses and
// paths. A word that begins with a capital is a name, unless it is the first word or a lone letter
// such as "I". So no names are found in scripts without capitals. valuesOf returns nil if there are
// no values.
func valuesOf(text string) (all []value) {
	for i, at := range tokens.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		bare := strings.TrimSuffix(strings.Trim(plain(word), "\"“”«»「」『』„`'’.*_…।"), "'s")
		if bare == "" {
			continue
		}
		first := []rune(bare)[0]
		switch {
		case bare != plain(strings.Trim(word, "'’.*_…।")):
			all = append(all, value{bare, true})
		case strings.ContainsFunc(bare, unicode.IsDigit):
			all = append(all, numbered(bare)...)
		case strings.ContainsAny(bare, "@/\\_#"), strings.Contains(bare, "."):
			all = append(all, value{bare, true})
		case unicode.IsUpper(first) && i > 0 && len(bare) > 1:
			all = append(all, value{bare, false})
		}
	}
	return all
}

// numbered returns the values in a word that has digits. Letters of other scripts at the edges are
// endings and not part of the value: 500유로를 gives 500, and b.txt도 gives b.txt.
func numbered(word string) (all []value) {
	for _, part := range asciiRun.FindAllString(word, -1) {
		if part = strings.Trim(part, ".-_/"); strings.ContainsFunc(part, unicode.IsDigit) {
			all = append(all, value{part, true})
		}
	}
	return all
}

// asciiRun matches a part of a word that consists of ASCII letters, digits and the signs of paths
// and addresses.
var asciiRun = regexp.MustCompile(`[0-9A-Za-z@/\\_#.+:%-]+`)

// plain returns a word with the digits of all scripts replaced by ASCII digits.
func plain(word string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.IsDigit(r) {
			return r
		}
		zero := r // the digits of a script are ten consecutive runes
		for unicode.IsDigit(zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + (r - zero)
	}, word)
}

// values adds up how much each value in a sentence, such as a number or a name, shows that the
// sentence is the result of a call. Values from the conversation add nothing. If the conversation
// is unknown, arguments of the next call add nothing either. New values add most, and so do values
// that the next call passes on within a longer text.
func (g *Gap) values(sentence string) (w int) {
	words, before := scalars(g.Next), lower(g.Before)
	// a conversation without the values of the first call does not help with the second
	if g.Known != nil && !slices.ContainsFunc(scalars(g.Before), g.Known) {
		g.Known = nil
	}
	sentence, w = g.withoutWhole(sentence, words)
	for _, v := range valuesOf(sentence) {
		weight := 1
		if v.strong {
			weight = 2
		}
		switch {
		case v.is(g.Tool) || strings.EqualFold(strings.ReplaceAll(v.text, "-", "_"), g.Tool) ||
			v.text == ordinalOf(g.Calls+1):
		case g.Known != nil && g.Known(v.text):
		case g.Known == nil &&
			slices.ContainsFunc(words, func(s string) bool { return within(s, v.text) }):
		case holds(before, v.text):
			w++ // the sentence is about the call before
		default:
			w += weight
		}
	}
	return w + g.passedOn(sentence, words)
}

// withoutWhole returns a sentence without those of the given words that occur in it. The words are
// arguments of the next call. The result w counts the removed ones that have digits or signs and
// are not from the conversation.
func (g *Gap) withoutWhole(sentence string, words []string) (rest string, w int) {
	for _, word := range words {
		at := strings.Index(strings.ToLower(sentence), strings.ToLower(word))
		if len(word) < 2 || at < 0 || at+len(word) > len(sentence) {
			continue
		}
		sentence = sentence[:at] + " " + sentence[at+len(word):]
		if g.Known != nil && strings.ContainsAny(word, "0123456789@/\\") && !g.Known(word) {
			w++
		}
	}
	return sentence, w
}

// ordinalOf returns the last digit of n as text. A model that numbers its calls may write 2 for the
// second.
func ordinalOf(n int) string { return string(rune('0' + n%10)) }

// within reports whether a value equals a scalar (a text or number in the arguments), or is a part
// of it. Only a scalar without blanks, such as a path or an address, is searched for parts.
func within(scalar, value string) bool {
	return strings.EqualFold(scalar, value) || !strings.ContainsFunc(scalar, unicode.IsSpace) &&
		holds(strings.ToLower(scalar), value)
}

// passedOn returns 1 if three consecutive words of a sentence also occur in one of the texts in the
// next call, but not in the conversation. Such words show, even in scripts without capitals, that
// the sentence has data that the call passes on. Otherwise passedOn returns 0.
func (g *Gap) passedOn(sentence string, texts []string) int {
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return !isWord(r) })
	for _, text := range texts {
		there := " " + strings.Join(strings.FieldsFunc(strings.ToLower(text),
			func(r rune) bool { return !isWord(r) }), " ") + " "
		for i := 0; i+3 <= len(words); i++ {
			run := strings.Join(words[i:i+3], " ")
			if strings.Contains(there, " "+run+" ") && !(g.Known != nil && g.Known(run)) {
				return 1
			}
		}
	}
	return 0
}

// holds reports whether a text in lower case contains a word, whose case is ignored. It returns
// false for an empty word.
func holds(text, word string) bool {
	return word != "" && strings.Contains(text, strings.ToLower(word))
}

// mostCompared bounds how many bytes of a call's arguments are compared with a text.
const mostCompared = 1 << 16

// lower returns the beginning of a document in lower case. The rest of a long one is not compared.
func lower(doc json.RawMessage) string {
	return strings.ToLower(string(doc[:min(len(doc), mostCompared)]))
}

// scalars returns the strings, including keys, and the numbers in a JSON document as text. Invalid
// or truncated JSON gives those before the fault.
func scalars(doc json.RawMessage) (all []string) {
	d := json.NewDecoder(bytes.NewReader(doc[:min(len(doc), mostCompared)]))
	d.UseNumber()
	for {
		switch t, err := d.Token(); t := t.(type) {
		case string:
			all = append(all, t)
		case json.Number:
			all = append(all, t.String())
		default:
			if err != nil {
				return all
			}
		}
	}
}
