package notation

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token, such as a word or a quoted text.
type kind uint8

const (
	aWord kind = iota
	aSign      // one character
	aText      // a text in quotation marks
	aSpace
	aBreak // the end of a line
)

// token is a part of a text, such as a word or a sign, from one position to another.
type token struct {
	kind     kind
	from, to int
	inner    string // the meaning of a text in quotation marks; for other tokens the token itself
}

// quotes maps each opening quotation mark to its closing one.
var quotes = map[rune]string{'"': `"`, '\'': "'", '`': "`", '“': "”", '”': "”", '„': "“", '«': "»",
	'「': "」", '『': "』", '‘': "’", '‹': "›", '＂': "＂"}

// The beginning and the end of a CDATA section, in which signs have no special meaning.
const (
	cdata    = "<![CDATA["
	cdataEnd = "]]>"
)

// isWord reports whether a character can be part of a word.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// lex divides a text into tokens.
func lex(text string) (all []token) {
	before := rune(' ')
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		t := token{kind: aSign, from: i, to: i + size}
		switch {
		case r == '\n':
			t.kind = aBreak
		case strings.HasPrefix(text[i:], cdata) && strings.Contains(text[i:], cdataEnd):
			t.kind, t.to = aText, i+strings.Index(text[i:], cdataEnd)+len(cdataEnd)
			t.inner = text[i+len(cdata) : t.to-len(cdataEnd)]
		case unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b':
			t.kind = aSpace
		case isWord(r):
			t.kind, t.to = aWord, i+wordSize(text[i:])
		case quotes[r] != "" && !isWord(before):
			if inner, n := quoted(text[i:], r); n > 0 && (inner != "" || r == '"' || r == '\'') {
				t.kind, t.to, t.inner = aText, i+n, inner
			}
		}
		if t.kind != aText {
			t.inner = text[t.from:t.to]
		}
		all = append(all, t)
		i = t.to
		before, _ = utf8.DecodeLastRuneInString(text[:i])
	}
	return all
}

// wordSize returns the length in bytes of the word at the start of a text, or 0. Hyphens and full
// stops before a letter belong to the word.
func wordSize(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		next, _ := utf8.DecodeRuneInString(text[n+size:])
		if !isWord(r) && !(strings.ContainsRune("-.", r) && isWord(next)) {
			break
		}
		n += size
	}
	return n
}

// quoted reads a text in quotation marks at the beginning of text. It returns the meaning of what
// is between the marks, see [unescaped], and the length including the marks. The parameter open is
// the opening mark. A closing mark before a letter does not end the text. The length is 0 if there
// is no text in quotation marks.
func quoted(text string, open rune) (inner string, size int) {
	first, closer := string(open), quotes[open]
	if three := strings.Repeat(first, 3); strings.HasPrefix(text, three) {
		end := strings.Index(text[len(three):], three)
		if open == '`' || end < 0 {
			return "", 0
		}
		return text[len(three) : len(three)+end], 2*len(three) + end
	}
	if strings.HasPrefix(text, first+first) && first != closer {
		return "", 0 // ««tool»»
	}
	for i := len(first); i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\\' && (open == '"' || open == '\''):
			_, more := utf8.DecodeRuneInString(text[i+n:])
			i += n + more
			continue
		case r == '\n' && open != '"':
			return "", 0
		case strings.HasPrefix(text[i:], closer):
			next, _ := utf8.DecodeRuneInString(text[i+len(closer):])
			inner := text[len(first):i]
			if open == '\'' && strings.TrimSpace(inner) != inner {
				return "", 0 // 'add '(1 2)
			}
			if i+len(closer) == len(text) || first != closer || !isWord(next) && !strings.HasPrefix(
				text[i+len(closer):], closer) {
				return unescaped(text[len(first):i], open), i + len(closer)
			}
		}
		i += n
	}
	return "", 0
}

// unknowable is returned for a quoted text whose meaning depends on the notation.
const unknowable = "\x00"

// unescaped returns the meaning of inner, a text between quotation marks. The parameter open is the
// opening mark. It returns [unknowable] if the meaning depends on the notation.
func unescaped(inner string, open rune) string {
	var said string
	switch {
	case !strings.Contains(inner, `\`):
		if strings.ContainsRune(inner, open) {
			return unknowable
		}
		return inner
	case open == '"' && json.Unmarshal([]byte(`"`+inner+`"`), &said) == nil:
		return said
	}
	return unknowable
}
