package lexical

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Version is the version of Tokens. Stored tokens of another version must be made again, because
// nothing is found if texts and queries are tokenized in different ways, and no error shows it.
const Version = 4

// Tokens returns the tokens of a text or a query. A run of Han, kana or Hangul gives its bigrams,
// and one of Thai or another script without blanks gives its trigrams. Other letters and digits
// form words, which are reduced to their stems. A long word also gives its beginning, with ~ before
// it, which other forms of the word share: книга and книгами both give ~книг. An ASCII word with -
// _ or . inside also gives the whole of it with = before it, as in =users.created_at and =e-4012.
// Its parts alone would not find E-4012, and without the = it could equal another word by chance.
func Tokens(text string) []string { return slices.Collect(Each(text)) }

// Each returns an iterator over the tokens of a text. They are those of Tokens, but each is made
// only when it is asked for.
func Each(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range piecesOf(text) {
			if !yield(p.token) {
				return
			}
		}
	}
}

// piece is a token of a text. Its share is 1 if the token belongs to the subject of the text, and
// smaller if it probably belongs only to the grammar of the sentence.
type piece struct {
	token  string
	share  float64
	joined bool // whether its first character is also the last of the piece before
}

// cut returns the tokens of a text, each with its share of the subject (see piece). It splits the
// text as Tokens describes.
func cut(text string) []piece { return slices.Collect(piecesOf(text)) }

// piecesOf returns an iterator over the tokens of a text, each with its share of the subject (see
// piece). It splits the text as Tokens describes.
func piecesOf(text string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		runes := folded(text)
		var run []piece
		for i := 0; i < len(runes); {
			run, i = appendRun(run[:0], runes, i)
			for _, p := range run {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// appendRun appends the tokens of the run of characters that begins at runes[i], such as a word,
// and returns the index of the character after the run.
func appendRun(all []piece, runes []rune, i int) ([]piece, int) {
	start := i
	switch {
	case cjk(runes[i]):
		for i < len(runes) && (cjk(runes[i]) || hyphen(runes[i]) && katakana(runes[i-1])) {
			if hyphen(runes[i]) { // OCR has misread the long-vowel mark
				runes[i] = 'ー'
			}
			i++
		}
		return bigrams(all, runes[start:i]), i
	case word(runes[i]) && unspaced(runes[i]):
		for i < len(runes) && word(runes[i]) && unspaced(runes[i]) {
			i++
		}
		return trigrams(all, runes[start:i]), i
	case word(runes[i]):
		for i < len(runes) && word(runes[i]) && !cjk(runes[i]) && !unspaced(runes[i]) {
			i++
		}
		w := withoutArticle(runes[start:i])
		all = append(all, piece{token: stem(string(w)), share: 1})
		if len(w) >= beginning && !slices.ContainsFunc(w, unicode.IsDigit) {
			all = append(all, piece{token: "~" + string(w[:beginning]), share: 1})
		}
		for _, whole := range identifier(runes, start, i) {
			all = append(all, piece{token: whole, share: 1})
		}
		return all, i
	}
	return all, i + 1
}

// beginning is the number of letters in the beginning of a long word. With four letters different
// words match, and with six the forms of one word do not match in Russian and Polish.
const beginning = 5

// articles holds what Arabic writes as part of a noun before it: the article, alone and with a
// preposition or "and". The field follow is the number of letters that must follow, which keeps
// words of Persian whole.
var articles = []struct {
	letters []rune
	follow  int
}{{[]rune("وال"), 4}, {[]rune("بال"), 4}, {[]rune("كال"), 4}, {[]rune("فال"), 4},
	{[]rune("لل"), 3}, {[]rune("ال"), 3}, {[]rune("و"), 3}}

// withoutArticle returns a word without the article that Arabic writes before it, so that والملفات
// and ملفات are equal. Other words are returned unchanged. Endings (pronouns, plurals) stay,
// because without them more words of other meanings became equal than forms of the same word.
func withoutArticle(w []rune) []rune {
	if !unicode.Is(unicode.Arabic, w[0]) {
		return w
	}
	for _, a := range articles {
		if n := len(a.letters); len(w) >= n+a.follow && slices.Equal(w[:n], a.letters) {
			return w[n:]
		}
	}
	return w
}

// spellings maps letters of Arabic script that replace another at the end of a word, and those that
// Persian uses in place of Arabic ones.
var spellings = map[rune]rune{'ة': 'ه', 'ى': 'ي', 'ی': 'ي', 'ک': 'ك'}

// folded returns the characters of a text without the differences between forms of the same word.
// These are width, capitals, marks on letters in Greek, Cyrillic, Arabic and Hebrew, Arabic letters
// that are written for each other, and invisible joiners.
func folded(text string) []rune {
	runes := []rune(strings.ToLower(norm.NFKC.String(text)))
	if !strings.ContainsFunc(text, marked) {
		return runes
	}
	all, base := runes[:0:0], rune(0)
	for _, r := range norm.NFD.String(string(runes)) {
		switch {
		case r == '\u200c' || r == '\u200d' || r == 'ـ' || r == '\u0307' && base == 'i':
			continue
		case unicode.Is(unicode.Mn, r) && unicode.In(base, unicode.Greek, unicode.Cyrillic,
			unicode.Arabic, unicode.Hebrew):
			continue
		case !unicode.Is(unicode.M, r):
			base = r
		}
		if other, there := spellings[r]; there {
			r = other
		}
		all = append(all, r)
	}
	return []rune(norm.NFC.String(string(all)))
}

// marked reports whether r may be a character that the function folded changes, for example by
// removing its accents.
func marked(r rune) bool {
	return r >= 0x130 && r < 0x1100 || r == '\u200c' || r == '\u200d' ||
		r >= 0x1f00 && r < 0x2000 || r >= 0xfb00 && r < 0xff00
}

// unspaced reports whether r is Thai, Lao, Khmer or Burmese. These scripts have no blanks between
// words.
func unspaced(r rune) bool {
	return r >= 0xe00 && r < 0x1800 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// trigrams appends each three neighbouring characters of run as a token, or run itself if it is
// shorter.
func trigrams(all []piece, run []rune) []piece {
	if len(run) <= 3 {
		return append(all, piece{token: string(run), share: 1})
	}
	for i := range len(run) - 2 {
		all = append(all, piece{token: string(run[i : i+3]), share: 1})
	}
	return all
}

// The weights of bigrams that are not entirely in the stem of a word: two kana, which in Japanese
// are usually grammar, one kana, and the end of a Korean word, which is a particle.
const (
	ofKana = .1
	ofHalf = .25
	ofEnd  = .5
	ofSeam = .5 // across the border of two words: see asked
)

// bigrams appends each two neighbouring characters of run as a token, or run itself if it has one
// character. Trigrams would find nothing for a word of two characters such as 副業. Words from a
// dictionary (kagome) would gain at most .004 (MRR), and take 93 MB for Japanese and 211 MB for
// Korean. Katakana is written as hiragana: ハサミ becomes はさみ.
func bigrams(all []piece, run []rune) []piece {
	grammar := make([]bool, len(run))
	for i, r := range run {
		grammar[i] = unicode.Is(unicode.Hiragana, r)
	}
	kana(run)
	if len(run) == 1 {
		if grammar[0] {
			return append(all, piece{token: string(run), share: ofKana})
		}
		return append(all, piece{token: string(run), share: 1})
	}
	for i := range len(run) - 1 {
		share := 1.0
		switch {
		case grammar[i] && grammar[i+1]:
			share = ofKana
		case grammar[i] || grammar[i+1]:
			share = ofHalf
		case i > 0 && i == len(run)-2 && unicode.Is(unicode.Hangul, run[i+1]):
			share = ofEnd
		}
		all = append(all, piece{string(run[i : i+2]), share, i > 0})
	}
	return all
}

// kana replaces katakana in run with hiragana.
func kana(run []rune) {
	for i, r := range run {
		if r >= 'ァ' && r <= 'ヶ' {
			run[i] = r - 'ァ' + 'ぁ'
		}
	}
}

// stem returns an English word without its ending; for example, applying and applied become appli.
// Other words, and words with digits, are returned unchanged. The stemmer is Porter2, Snowball's
// for English, which also leaves its stop words unchanged.
func stem(w string) string {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	return english.Stem(w, false)
}

// identifier returns a list with one token for the identifier that begins with the word
// runes[start:end], for example =users.created_at. It returns nil if the word stands alone, or if
// the identifier begins before it.
func identifier(runes []rune, start, end int) []string {
	if start > 0 && joint(runes[start-1]) && start > 1 && word(runes[start-2]) {
		return nil // a later part
	}
	i := end
	for i+1 < len(runes) && joint(runes[i]) && ascii(runes[i+1]) {
		for i++; i < len(runes) && ascii(runes[i]); i++ {
		}
	}
	if i == end {
		return nil
	}
	return []string{"=" + string(runes[start:i])}
}

// cjk reports whether r is Han, kana or Hangul. The first two are written without blanks between
// words, and in Korean particles are joined to words.
func cjk(r rune) bool {
	return r >= 0x1100 &&
		(r == 'ー' || r == '々' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Hangul))
}

// katakana reports whether r is katakana, which the long-vowel mark ー may follow.
func katakana(r rune) bool { return r == 'ー' || unicode.Is(unicode.Katakana, r) }

// hyphen reports whether r is a character that OCR writes in place of the long-vowel mark, as in
// サ-バ- for サーバー.
func hyphen(r rune) bool { return strings.ContainsRune("-‐‑–—−", r) }

// joint reports whether r joins the parts of an identifier.
func joint(r rune) bool { return r == '-' || r == '_' || r == '.' }

// ascii reports whether r is an ASCII letter or digit.
func ascii(r rune) bool { return r < 0x80 && word(r) }

// word reports whether r belongs to a word: a letter, a digit or a mark on a letter.
func word(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}
