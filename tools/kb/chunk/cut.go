package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// The sizes of passages in columns. A letter has one column, and a Chinese, Japanese or Korean
// character has two, which roughly matches how much they say. 1,200 columns are about 300 tokens: a
// few such passages fit into any model, and each says more than a sentence does.
const (
	mostColumns = 1200
	// largest width of a sentence that is repeated where a paragraph had to be cut
	overlapColumns = 200
)

// Passage is a part of a text that makes sense by itself.
type Passage struct{ Heading, Text string }

// Cut cuts a text into passages of at most mostColumns. Blocks below the same heading are joined as
// long as they fit, and a block that does not fit is cut after sentences. Passages below different
// headings are never joined, however short they are: if "Leave: 20 days" and "Fee: 20 euros" were
// one passage, it would answer the question about one with the other.
func (t *Text) Cut() (all []Passage) {
	var heading, text string
	flush := func() {
		if text != "" {
			all = append(all, Passage{heading, text})
		}
		text = ""
	}
	for _, b := range t.Blocks {
		joined := text + "\n\n" + b.Text
		switch {
		case text != "" && b.Heading == heading && columns(joined) <= mostColumns:
			text = joined
			continue
		case !tooWide(b.Text):
			flush()
			heading, text = b.Heading, b.Text
			continue
		}
		flush()
		for _, piece := range pieces(b.Text) {
			all = append(all, Passage{b.Heading, piece})
		}
	}
	flush()
	return all
}

// pieces cuts a long block after sentences. If the last sentence of a piece is short, the next
// piece begins with it as well, since the text after it often refers to it. Otherwise a piece could
// begin with "It is paid monthly." and not say what is paid.
func pieces(text string) (all []string) {
	var piece, last string
	add := func(sentence string) {
		if piece != "" && columns(piece)+columns(sentence) > mostColumns {
			all = append(all, strings.TrimSpace(piece))
			if piece = ""; columns(last) <= overlapColumns &&
				columns(last)+columns(sentence) <= mostColumns {
				piece = last
			}
		}
		piece, last = piece+sentence, sentence
	}
	for _, sentence := range sentences(text) {
		for tooWide(sentence) {
			at := breakAt(sentence)
			add(sentence[:at])
			sentence = sentence[at:]
		}
		if sentence != "" {
			add(sentence)
		}
	}
	if piece = strings.TrimSpace(piece); piece != "" {
		all = append(all, piece)
	}
	return all
}

// The characters that end a sentence: those that always do, those that do so only before a blank
// (since 3.5 is a number), and those that still belong to the sentence.
const (
	fullStops  = "。！？｡"
	plainStops = ".!?"
	closers    = "」』）】〉》)]\"'”’"
)

// sentences cuts a text after sentences and lines. All parts together are exactly the text. A line
// counts as a sentence, because lists and tables have no full stops. The text may also be cut after
// an abbreviation ("e.g. this"), which costs little, since pieces are joined again up to their
// size.
func sentences(text string) (all []string) {
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if r != '\n' && !strings.ContainsRune(fullStops, r) &&
			!strings.ContainsRune(plainStops, r) {
			continue
		}
		if r != '\n' {
			stop := i
			i = skip(text, i, func(r rune) bool {
				return strings.ContainsRune(closers+fullStops+plainStops, r)
			})
			if next, _ := utf8.DecodeRuneInString(text[i:]); i > stop &&
				unicode.Is(unicode.Hiragana, next) {
				continue // the sentence goes on, as in 「いつですか？」と聞かれる
			}
		}
		blank := skip(text, i, unicode.IsSpace)
		if strings.ContainsRune(plainStops, r) && blank == i && i < len(text) {
			continue
		}
		all, start, i = append(all, text[start:blank]), blank, blank
	}
	if start < len(text) {
		all = append(all, text[start:])
	}
	return all
}

// skip returns the index of the first character, from index i on, that does not satisfy the
// function of. It returns len(text) if there is none.
func skip(text string, i int, of func(rune) bool) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !of(r) {
			break
		}
		i += size
	}
	return i
}

// breakAt returns the index at which to cut a sentence that is too wide: after the last blank or
// comma of its first part, or else anywhere. A base64 text or a minified script is one word of a
// megabyte, so there has to be a cut even if there is no such character.
func breakAt(sentence string) int {
	wide, best, n := 0, 0, 0
	for i, r := range sentence {
		if wide += columnsOf(r); wide > mostColumns {
			n = i
			break
		}
		if unicode.IsSpace(r) || strings.ContainsRune("、，,;；", r) {
			best = i + utf8.RuneLen(r)
		}
	}
	if best > n/2 {
		return best
	}
	return n
}

// columns returns how many columns of a fixed-width font a text takes. A Chinese or Japanese
// character takes two.
func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// tooWide reports whether a text is wider than mostColumns. It stops counting there, because a line
// of nine megabytes is checked once for each of its 7,500 passages, and counting the rest each time
// took minutes.
func tooWide(text string) bool {
	n := 0
	for _, r := range text {
		if n += columnsOf(r); n > mostColumns {
			return true
		}
	}
	return false
}

// columnsOf returns the width of a character, which is 1 or 2, by Unicode's East Asian width.
// Characters below U+0300 are decided without the table, since most text has only those.
func columnsOf(r rune) int {
	if r < 0x300 {
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
