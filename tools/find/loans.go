package find

import (
	"slices"
	"strings"
	"unicode"
)

// loans maps a sound to the English words that have it. Korean and Japanese name much of what
// programs do with English words, written as they sound: 채널 and チャンネル are channel, 프로젝트 and プロジェクト
// are project.
//
// A sound is the sequence of a word's consonants, reduced to classes that survive the borrowing: K
// for k, c, g and q; T for t and d; P for p, b, f and v; S for s, z, j, sh, ch and th; M; N; and R
// for r and l. Vowels, h, w and y do not count, nor does an r after a vowel. Equal classes with no
// vowel between them count once. A letter that is spoken in two ways makes two sounds. A vowel at
// the beginning is A, and an h there is H. For example, upload is APRT, and hotel is HTR.
type loans map[string][]string

// enough reports whether a sound (see loans) is long enough to identify words. It must have at
// least three consonants, one of which may be an H at the beginning. Too many words have the same
// two.
func enough(sound string) bool { return len(strings.TrimPrefix(sound, "A")) >= 3 }

// add records the words of a text that consist of ASCII letters, by their sounds.
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

// heard returns the English words that the text writes in Hangul or katakana as they sound, each
// with a blank before it, or "" if there are none. Korean particles follow a word without a blank,
// and words are written together. So heard takes the longest beginning that it knows, and continues
// after that.
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

// spoken reports whether r belongs to a script that writes borrowed words as they sound.
func spoken(r rune) bool {
	return unicode.In(r, unicode.Hangul, unicode.Katakana) || r == 'ー'
}

// spellings lists groups of letters that are not spoken as the first letter alone would be. The
// field takes says how many letters are consumed, sound has the classes of their sound, and other
// has the class of a second sound that is possible.
var spellings = []struct {
	letters      string
	takes        int
	sound, other string
}{
	{"tch", 1, "", ""}, {"ch", 2, "S", "K"}, {"sh", 2, "S", ""}, {"th", 2, "S", ""},
	{"ph", 2, "P", ""}, {"tio", 1, "S", ""}, {"tia", 1, "S", ""}, {"ce", 1, "S", ""},
	{"ci", 1, "S", ""}, {"cy", 1, "S", ""}, {"ge", 1, "S", "K"}, {"gi", 1, "S", "K"},
	{"gy", 1, "S", "K"}, {"x", 1, "KS", ""},
}

// spelled returns how the first letters of a word are spoken. The result takes is the number of
// these letters, sound has the classes of their consonants (see loans), and other has those of a
// second possible sound, or "". A silent letter has the sound "". The word must not be empty.
func spelled(word string) (takes int, sound, other string) {
	for _, s := range spellings {
		if strings.HasPrefix(word, s.letters) {
			return s.takes, s.sound, s.other
		}
	}
	if word[0] == 'r' && !opens(word[1:]) {
		return 1, "", ""
	}
	return 1, class[word[0]], ""
}

// mostSounds is the largest number of sounds that one word gets.
const mostSounds = 4

// sounds returns the possible sounds of an English word in lower case. A sound is the sequence of
// the word's consonants, such as APRT for upload (see loans). word must not be empty.
func sounds(word string) []string {
	all := []string{""}
	if word[0] == 'h' {
		all[0] = "H"
	} else if vowel(word[0]) {
		all[0] = "A"
	}
	var last byte // the class before, if no vowel stands between
	for i := 0; i < len(word); {
		takes, sound, other := spelled(word[i:])
		if vowel(word[i]) || word[i] == 'h' {
			last = 0
		}
		i += takes
		if sound == "" {
			continue
		}
		if other != "" && len(all) < mostSounds {
			for _, so := range all {
				all = append(all, so+other)
			}
		} else {
			other = ""
		}
		said := strings.TrimPrefix(sound, string(last))
		for k := range all {
			if other == "" || k < len(all)/2 {
				all[k] += said
			}
		}
		last = sound[len(sound)-1]
	}
	return all
}

// vowel reports whether a letter counts as a vowel; w and y, for example, do.
func vowel(c byte) bool { return strings.IndexByte("aeiouwy", c) >= 0 }

// opens reports whether an r begins a syllable; the parameter rest has the letters after the r. It
// returns true before another r, and before a vowel that is not the silent e of the endings -re and
// -res.
func opens(rest string) bool {
	return rest != "" && rest != "e" && rest != "es" && strings.IndexByte("aeiouyr", rest[0]) >= 0
}

// class maps an English letter to the class of its sound.
var class = map[byte]string{'k': "K", 'c': "K", 'g': "K", 'q': "K", 't': "T", 'd': "T", 'p': "P",
	'b': "P", 'f': "P", 'v': "P", 's': "S", 'z': "S", 'j': "S", 'm': "M", 'n': "N", 'l': "R",
	'r': "R"}

// The sound classes of the first and the last letters of Hangul syllables, in Unicode's order. A
// blank is silent.
const (
	initials = "KKNTTRMPPSS SSSKTP "
	finals   = " KKKNNNTRKMPRTPRMPPTTNTTKTP "
)

// syllables returns the sound of a word in Hangul or katakana, which is the sequence of its
// consonants (see loans). word must not be empty.
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

// start returns how the sound of a word that begins with the Hangul or katakana letter r begins:
// 'A' for a vowel, 'H' for an h, and otherwise a blank.
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

// kana returns the class of the consonant of a katakana letter (see loans), such as K for カ, or a
// blank if it has none.
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
