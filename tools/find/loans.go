package find

import (
	"slices"
	"strings"
	"unicode"
)

// loans holds English words by their sound. Korean and Japanese name much of what programs do by
// English words, written as they sound: 채널 and チャンネル are channel, 프로젝트 and プロジェクト project.
//
// A sound is the row of a word's consonants in classes that survive the borrowing: K of k, c, g and
// q, T of t and d, P of p, b, f and v, S of s, z, j, sh, ch and th, M, N, and R of r and l. Vowels,
// h, w and y do not count, nor does r behind a vowel, and a class counts once where nothing stands
// between. A letter that is spoken in two ways makes two sounds. A vowel in front is A, an h is H:
// upload is APRT, hotel is HTR.
type loans map[string][]string

// enough reports whether a sound has enough consonants, an h in front being one: too many words have
// the same two.
func enough(sound string) bool { return len(strings.TrimPrefix(sound, "A")) >= 3 }

// add adds the words of a text in ASCII letters.
func (l loans) add(text string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(Words(text)), func(r rune) bool {
		return r < 'a' || r > 'z'
	}) {
		for _, sound := range sounds(word) {
			if enough(sound) && !slices.Contains(l[sound], word) {
				l[sound] = append(l[sound], word)
			}
		}
	}
}

// heard returns the words that are written in a text as they sound, each with a blank before it.
// Particles stand behind a Korean word and words are written together, so the longest beginning
// that is known is taken, and behind it the next.
func (l loans) heard(text string) string {
	var b strings.Builder
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !spoken(r) }) {
		all := []rune(run)
		for start := 0; start < len(all); {
			end := len(all)
			for ; end > start+1; end-- {
				if words := l[string(syllables(all[start:end]))]; words != nil {
					b.WriteString(" " + strings.Join(words, " "))
					break
				}
			}
			if end <= start+1 {
				break
			}
			start = end
		}
	}
	return b.String()
}

// spoken reports whether r is of a script that writes borrowed words as they sound.
func spoken(r rune) bool {
	return unicode.In(r, unicode.Hangul, unicode.Katakana) || r == 'ー'
}

// sounds returns the sounds of an English word.
func sounds(word string) []string {
	all := []string{""}
	var last byte // the class before, if no vowel stands between
	say := func(classes string) {
		if classes != "" && classes[0] == last {
			classes = classes[1:]
		}
		for i := range all {
			all[i] += classes
		}
		if classes != "" {
			last = classes[len(classes)-1]
		}
	}
	if word[0] == 'h' {
		all[0] = "H"
	} else if class[word[0]] == "" && word[0] != 'x' {
		all[0] = "A"
	}
	for i := 0; i < len(word); i++ {
		rest := word[i:]
		switch c := word[i]; {
		case strings.IndexByte("aeiouhwy", c) >= 0:
			last = 0
		case strings.HasPrefix(rest, "tch"), c == 'r' && !opens(rest[1:]):
			// match, card: not heard
		case strings.HasPrefix(rest, "ch") && len(all) < 4:
			other := append([]string(nil), all...) // check, archive
			say("S")
			for i := range other {
				other[i] += "K"
			}
			all = append(all, other...)
			i++
		case c == 'g' && len(rest) > 1 && strings.IndexByte("eiy", rest[1]) >= 0 && len(all) < 4:
			other := append([]string(nil), all...) // page, target
			say("S")
			for i := range other {
				other[i] += "K"
			}
			all = append(all, other...)
		case strings.HasPrefix(rest, "sh"), strings.HasPrefix(rest, "th"),
			strings.HasPrefix(rest, "ch"):
			say("S")
			i++
		case strings.HasPrefix(rest, "ph"):
			say("P")
			i++
		case strings.HasPrefix(rest, "tio"), strings.HasPrefix(rest, "tia"),
			c == 'c' && len(rest) > 1 && strings.IndexByte("eiy", rest[1]) >= 0:
			say("S")
		case c == 'x':
			say("KS")
		default:
			say(class[c])
		}
	}
	return all
}

// opens reports whether an r before the rest of a word opens a syllable: a vowel that is not the
// silent e at the end follows, or another r.
func opens(rest string) bool {
	return rest != "" && rest != "e" && rest != "es" && strings.IndexByte("aeiouyr", rest[0]) >= 0
}

// class is the class of an English letter.
var class = map[byte]string{'k': "K", 'c': "K", 'g': "K", 'q': "K", 't': "T", 'd': "T", 'p': "P",
	'b': "P", 'f': "P", 'v': "P", 's': "S", 'z': "S", 'j': "S", 'm': "M", 'n': "N", 'l': "R",
	'r': "R"}

// The classes of the first and the last letters of Hangul's syllables, in Unicode's order; a blank
// is silent.
const (
	initials = "KKNTTRMPPSS SSSKTP "
	finals   = " KKKNNNTRKMPRTPRMPPTTNTTKTP "
)

// syllables returns the sound of a word in Hangul or katakana.
func syllables(word []rune) (sound []byte) {
	var last byte
	say := func(c byte) {
		if c != ' ' && c != last {
			sound = append(sound, c)
		}
		last = c
	}
	if c := start(word[0]); c != ' ' {
		sound = append(sound, c)
	}
	for i, r := range word {
		switch {
		case r >= '가' && r <= '힣':
			say(initials[(r-'가')/588])
			last = 0
			if c := finals[(r-'가')%28]; c != ' ' {
				say(c)
			}
		case r == 'ッ' || r == 'ー': // the next consonant twice, a long vowel
		case r == 'ン' && i+1 < len(word) && kana(word[i+1]) == 'P':
			say('M') // テンプレート is template
			last = 0
		case r == 'ン':
			say('N') // once in チャンネル, channel
		default:
			say(kana(r))
			last = 0
		}
	}
	return sound
}

// start returns A for a word that begins with a vowel, H for one that begins with h, else a blank.
func start(r rune) byte {
	switch {
	case r >= '가' && r <= '힣' && (r-'가')/588 == 11,
		strings.ContainsRune("アイウエオヤユヨワァィゥェォャュョ", r):
		return 'A'
	case r >= '가' && r <= '힣' && (r-'가')/588 == 18, strings.ContainsRune("ハヒヘホ", r):
		return 'H'
	}
	return ' '
}

// kana returns the class of a katakana's consonant, or a blank.
func kana(r rune) byte {
	switch {
	case strings.ContainsRune("カガキギクグケゲコゴ", r):
		return 'K'
	case strings.ContainsRune("サザシジスズセゼソゾチヂツヅ", r):
		return 'S'
	case strings.ContainsRune("タダテデトド", r):
		return 'T'
	case strings.ContainsRune("バパビピブプベペボポフヴ", r):
		return 'P'
	case strings.ContainsRune("マミムメモ", r):
		return 'M'
	case strings.ContainsRune("ナニヌネノン", r):
		return 'N'
	case strings.ContainsRune("ラリルレロ", r):
		return 'R'
	}
	return ' '
}
