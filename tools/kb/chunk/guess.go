package chunk

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	xunicode "golang.org/x/text/encoding/unicode"
)

// language describes what text in a language looks like, by its characters beyond ASCII.
type language struct {
	letters  func(rune) bool // reports whether a letter belongs to the language
	share    float64         // least share of such letters among all letters beyond ASCII
	frequent string          // the most frequent letters, in lower case; empty: not checked
	often    float64         // their least share
	apart    bool            // its letters do not occur next to ASCII letters in one word
}

// languages contains the languages that guesses know, by code. The frequent characters make up most
// of any text. If a text is decoded in a wrong encoding, they seldom have a fourth of that share.
var languages = map[string]*language{
	"ja": {letters: levelOne(japanese.EUCJP, 0xB0, 0xCF, kana), share: .9, often: .15,
		frequent: "あいうえおかがきぎくぐけげこごさざしじすずせそただちっつてでとどなにのはばびへべほまみむめもやゆよらりるれろわをんアィイウエオカガキクグケコゴサザシジスズセタダチッテデトドナニネノハバパビピフブプヘベペホボポマミムメモャュョラリルレロワンー" +
			// lists of names and products have no kana
			"日一人年大二本中長出三時行見月分後前生間上東四今金入学高円子外下来気小山書先名川水電校語木聞車南白天休父会社部課員務番号住所氏県市区町村株式合計数量品目種類備考申請承認契約請求担当者用度規程勤給与研修資料業経費支店電話"},
	"ko": {letters: levelOne(korean.EUCKR, 0xB0, 0xC8, nil), share: .9, often: .2,
		frequent: "이다는을의에가하고기지로사은자시를리인한도들어그것서있과아나라정수부일대보스해여원전장제주상적연으며"},
	"zh": {letters: levelOne(simplifiedchinese.GBK, 0xB0, 0xD7, nil), share: .9, often: .15,
		frequent: "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应向头文体"},
	"zh-Hant": {letters: levelOne(traditionalchinese.Big5, 0xA4, 0xC6, nil), share: .9, often: .15,
		frequent: "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應向頭文體"},
	"ru": {letters: among("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґў"), share: .98,
		frequent: "оеаинтсрвлкмі", often: .55, apart: true},
	"el": {letters: among("αοιετσνηυρπκμλςδγχθφβξζψωόίάέήύώϊϋΐΰ"), share: .98,
		frequent: "αοιετσνηυρπκςόίάέή", often: .6, apart: true},
	"he": {letters: within(unicode.Hebrew), share: .98, frequent: "יהולאתרבשמ", often: .5,
		apart: true},
	"ar": {letters: within(unicode.Arabic), share: .98, frequent: "الينموتربعده", often: .5,
		apart: true},
	"th": {letters: within(unicode.Thai), share: .98, frequent: "านรอกเงมยลวดทสตะปบค่้ิีั",
		often: .6, apart: true},
	"tr": latin("çğıİöşüâîû"), "lt": latin("ąčęėįšųūž"), "lv": latin("āčēģīķļņšūž"), "et": latin(
		"äõöüšž"),
	"pl": latin("ąćęłńóśźż"), "cs": latin("áčďéěíňóřšťúůýž"), "sk": latin("áäčďéíĺľňóôŕšťúýž"),
	"hu": latin("áéíóöőúüű"), "hr": latin("čćđšž"), "ro": latin("ăâîşţ"),
	"de": latin("äöüß"), "fr": latin("àâæçèéêëîïôœùûüÿ"), "es": latin("áéíñóúü"), "pt": latin(
		"àáâãçéêíóôõú"), "it": latin("àèéìîòù"),
	"sv": latin("åäöé"), "da": latin("æøåé"), "nl": latin("áèéëïóöü"), "is": latin("áðéíóúýþæö"),
	"ca": latin("àçèéíïòóúü·"),
}

// latin returns a language whose letters beyond ASCII are the given Latin ones. A small share of
// other letters is allowed, since names of other languages may occur.
func latin(letters string) *language { return &language{letters: among(letters), share: .95} }

// readings lists the encodings that guesses know, with the languages for which people used them.
var readings = []struct {
	name      string
	from      encoding.Encoding
	languages string
}{
	{"Shift_JIS", japanese.ShiftJIS, "ja"}, {"EUC-JP", japanese.EUCJP, "ja"},
	{"EUC-KR", korean.EUCKR, "ko"},
	{"GB18030", simplifiedchinese.GB18030, "zh"}, {"Big5", traditionalchinese.Big5, "zh-Hant"},
	{"windows-1251", charmap.Windows1251, "ru"}, {"KOI8-R", charmap.KOI8R, "ru"},
	{"KOI8-U", charmap.KOI8U, "ru"}, {"IBM866", charmap.CodePage866, "ru"},
	{"ISO-8859-5", charmap.ISO8859_5, "ru"}, {"x-mac-cyrillic", charmap.MacintoshCyrillic, "ru"},
	{"windows-1253", charmap.Windows1253, "el"}, {"ISO-8859-7", charmap.ISO8859_7, "el"},
	{"windows-1255", charmap.Windows1255, "he"}, {"windows-1256", charmap.Windows1256, "ar"},
	{"windows-874", charmap.Windows874, "th"},
	{"windows-1252", charmap.Windows1252, "de fr es pt it sv da nl is ca"},
	{"windows-1254", charmap.Windows1254, "tr"}, {"windows-1257", charmap.Windows1257, "lt lv et"},
	{"windows-1250", charmap.Windows1250, "pl cs sk hu hr ro de"},
	{"ISO-8859-2", charmap.ISO8859_2, "pl cs sk hu hr ro de"},
	{"UTF-16LE", xunicode.UTF16(xunicode.LittleEndian, xunicode.IgnoreBOM), "ja ko zh zh-Hant"},
	{"UTF-16BE", xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM), "ja ko zh zh-Hant"},
}

// guessed decodes a text that does not declare its encoding, if all likely encodings result in the
// same text. It returns an error if no encoding is likely, or if the results differ.
func guessed(data []byte) (text []byte, err error) {
	sample := telling(data)
	var names []string
	for _, r := range readings {
		looked, err := r.from.NewDecoder().Bytes(sample)
		if err != nil || !slices.ContainsFunc(strings.Fields(r.languages), func(l string) bool {
			return speaks(string(looked), languages[l])
		}) {
			continue
		}
		whole, err := r.from.NewDecoder().Bytes(data)
		if err != nil || damaged(whole) {
			continue
		}
		if names == nil {
			text = whole
		}
		if names == nil || !bytes.Equal(text, whole) {
			names = append(names, r.name)
		}
	}
	switch len(names) {
	case 0:
		return nil, errEncoding
	case 1:
		return text, nil
	}
	return nil, fmt.Errorf("it is not UTF-8, and may be %s; save it as UTF-8 and import it again",
		strings.Join(names, " or "))
}

// longestSample is how many bytes of a text are used to guess its encoding.
const longestSample = 1 << 16

// telling returns those lines of a text that have bytes beyond ASCII, up to longestSample bytes.
// The encoding is guessed from them. In every encoding but UTF-16 a text can be split at the byte
// of a line end, because no other character contains that byte.
func telling(data []byte) (sample []byte) {
	for line := range bytes.Lines(data) {
		if len(sample)+len(line) > longestSample {
			if len(sample) == 0 {
				return line[:longestSample]
			}
			break
		}
		if !ascii(line) {
			sample = append(sample, line...)
		}
	}
	return sample
}

// usual contains signs that occur in texts of any language.
const usual = "’‘“”„‚–—…«»‹›·•°§©®™€£±×²³¼½¾º¡¿№\u00a0\u00ad"

// speaks reports whether a text is likely written in a language. Nearly all its letters beyond
// ASCII must belong to the language, the frequent letters must be frequent in it, and at most one
// in a hundred may be where the language has no such letter (see misplaced).
func speaks(text string, l *language) bool {
	letters, own, frequent, faults := 0, 0, 0, 0
	text = strings.TrimRight(text, "\uFFFD") // a character that the sample's end cut
	before := ' '
	for i, r := range text {
		switch {
		case r == utf8.RuneError || r != '\x1a' && noText(r):
			return false
		case r < utf8.RuneSelf:
			beyond := before >= utf8.RuneSelf &&
				(unicode.IsUpper(before) || unicode.IsLower(before))
			if beyond && unicode.IsDigit(r) || l.apart && isASCIILetter(r) &&
				before >= utf8.RuneSelf && unicode.IsLetter(before) {
				faults++
			}
		case cjkSign(r):
		case strings.ContainsRune(usual, r) && !l.letters(r):
			after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			within, beside := unicode.IsLetter(before) && unicode.IsLetter(after),
				unicode.IsLetter(before) || unicode.IsLetter(after)
			if within && !strings.ContainsRune("’‘·–—\u00a0\u00ad", r) ||
				beside && strings.ContainsRune("€£±×", r) {
				faults++
			}
		default:
			letters++
			if l.letters(r) || l.letters(unicode.ToLower(r)) {
				own++
			}
			// only small letters: in a wrong encoding, text is often all capitals
			if strings.ContainsRune(l.frequent, r) {
				frequent++
			}
			if misplaced(before, r, l) {
				faults++
			}
		}
		before = r
	}
	n := float64(letters)
	return float64(own) >= l.share*n && float64(faults) <= .01*n &&
		(l.frequent == "" || letters > 0 && float64(frequent) >= l.often*n)
}

// misplaced reports whether the letter r cannot follow a character, the parameter before, in words
// of a language: a capital after a small letter, a letter after a digit, or, in scripts that are
// not mixed with others, a letter after an ASCII letter.
func misplaced(before, r rune, l *language) bool {
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(before):
		return true
	case unicode.IsDigit(before) && (unicode.IsUpper(r) || unicode.IsLower(r)):
		return true
	}
	return l.apart && isASCIILetter(before)
}

// isASCIILetter reports whether a character is one of A to Z or a to z.
func isASCIILetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// cjkSign reports whether a character is a sign, such as 。, that all East Asian texts share.
func cjkSign(r rune) bool {
	return r >= 0x3000 && r <= 0x303F || r >= 0xFF01 && r <= 0xFF60 || r >= 0x2460 && r <= 0x2473 ||
		strings.ContainsRune("・ー→←↑↓○●◎□■△▲▽▼☆★※", r) && r != 'ー'
}

// kana reports whether a character is Japanese hiragana or katakana.
func kana(r rune) bool { return r >= 0x3041 && r <= 0x30FE }

// within returns a function that reports whether a character belongs to a script.
func within(table *unicode.RangeTable) func(rune) bool {
	return func(r rune) bool { return unicode.Is(table, r) }
}

// among returns a function that reports whether a character is one of letters.
func among(letters string) func(rune) bool {
	return func(r rune) bool { return strings.ContainsRune(letters, r) }
}

// levelOne returns a function that reports whether a character is common in a language. The common
// characters are those in the rows first to last of the character set from. A row has all
// characters whose first byte is the same. Characters for which the function others, unless nil,
// returns true are common as well.
func levelOne(from encoding.Encoding, first, last byte, others func(rune) bool) func(rune) bool {
	set := sync.OnceValue(func() map[rune]bool {
		all := map[rune]bool{}
		for row := int(first); row <= int(last); row++ {
			for cell := 0x40; cell <= 0xFE; cell++ {
				if cell < 0xA1 && from != traditionalchinese.Big5 {
					continue
				}
				text, _ := from.NewDecoder().Bytes([]byte{byte(row), byte(cell)})
				if r, n := utf8.DecodeRune(text); n == len(text) && r != utf8.RuneError {
					all[r] = true
				}
			}
		}
		return all
	})
	return func(r rune) bool { return others != nil && others(r) || set()[r] }
}
