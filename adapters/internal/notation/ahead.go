package notation

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// Ahead reads a text byte by byte and decides when it can no longer be a call that [Read] accepts,
// so that other text is shown as it arrives. It stops at the first word that cannot come before the
// first value of a call. Later it stops if a line without a parameter is followed by more text.
type Ahead struct {
	*Vocabulary
	text    []byte // the text up to the first value
	from    int    // where the current word begins
	first   bool   // a word has ended
	strange int    // how many words in tags or brackets were unknown
	named   bool   // the tool was named
	keyed   bool   // a parameter was named
	quotes  int    // how many double quotation marks were read
	line    []byte // the current line, once the tool and its first parameter were read
	depth   int    // how many brackets are open
	open    bool   // the line before had a parameter, so its value may be on this line
	block   int    // the column, counted from 1, of the line to which a literal block belongs, or 0
	over    bool   // a line without a parameter has ended, so it must be the last one
}

// Vocabulary contains the words that may come before the first value of a call: the tools, their
// parameters, and words such as "call".
type Vocabulary struct {
	tools  *toolset.Set
	folded map[string]bool // the parameters of all tools and their members, folded
	words  []string        // all words, sorted, for the search by prefix
}

// NewVocabulary returns the words that may come before the first value in a call of the given
// tools.
func NewVocabulary(tools *toolset.Set) *Vocabulary {
	v := &Vocabulary{tools: tools, folded: map[string]bool{}}
	for _, name := range tools.MemberNames() {
		v.folded[fold(name)] = true
		v.words = append(v.words, strings.ToLower(name), fold(name))
	}
	for _, name := range tools.InnerNames() {
		v.folded[fold(name)] = true
	}
	slices.Sort(v.words)
	return v
}

// Bounds on the text before the first value: maxFront on all of it, and maxWord on a word, both in
// bytes. maxStrange bounds how many unknown words may be in tags or brackets.
const (
	maxFront   = 256
	maxWord    = 64
	maxStrange = 2
	maxBehind  = 160 // bytes of a sentence after the call
)

// Goes adds a byte and reports whether the text may still be a call. After it has returned false,
// further results have no meaning.
func (a *Ahead) Goes(c byte) bool {
	if a.named && a.keyed {
		return a.goesOn(c)
	}
	a.text = append(a.text, c)
	if len(a.text) > maxFront {
		return false
	}
	// the last character, when all of its bytes are here
	r, size := utf8.DecodeLastRune(a.text)
	if c >= utf8.RuneSelf && (r == utf8.RuneError || size < 2) {
		return true
	}
	front := len(a.text) - size
	switch {
	case isWord(r) || front > a.from && (r == '-' || r == '.'):
		return len(a.text)-a.from <= maxWord && a.mayBe(string(a.text[a.from:]))
	case front > a.from:
		ok := a.ends(strings.TrimRight(string(a.text[a.from:front]), "-."))
		a.from = len(a.text)
		return ok
	}
	a.from = len(a.text)
	return true
}

// mayBe reports whether word is the beginning of a word that a call can have before its first
// value.
func (a *Ahead) mayBe(word string) bool {
	if a.inMark() || a.keyed || strings.Trim(word, "0123456789.") == "" {
		return true
	}
	lower, last := strings.ToLower(word), word
	if parts := partsOf(word); len(parts) > 0 {
		last = parts[len(parts)-1]
	}
	return hasPrefix(a.words, lower) || hasPrefix(sorted, lower) || hasPrefix(sorted, last) ||
		hasPrefix(a.words, last) || a.tools.Begins([]byte(word)) || a.tools.Begins([]byte(last))
}

// inMark reports whether the word at the end of the text is in a tag, or directly follows a sign,
// such as a bracket or a character beyond ASCII.
func (a *Ahead) inMark() bool {
	at := a.from - 1
	front := a.text[:a.from]
	if bytes.LastIndexByte(front, '<') > bytes.LastIndexByte(front, '>') {
		return true
	}
	return at >= 0 && (strings.IndexByte("<[{(|%@=", a.text[at]) >= 0 || a.text[at] >= utf8.RuneSelf)
}

// hasPrefix reports whether text is the beginning of one of the words, which are sorted.
func hasPrefix(words []string, text string) bool {
	i, _ := slices.BinarySearch(words, text)
	return i < len(words) && strings.HasPrefix(words[i], text)
}

// ends is called at the end of each word before the first value of a possible call. It returns
// false if no call can have that word before its first value.
func (a *Ahead) ends(word string) bool {
	first := !a.first
	a.first = true
	word = strings.TrimFunc(word, func(r rune) bool { return !isWord(r) })
	r := reader{tools: a.tools, tokens: []token{{kind: aWord, inner: word}}}
	role := roleOf(word)
	switch {
	case word == "":
		a.first = !first
	case r.toolAt(0) != nil:
		a.named = true
	case a.isParameter(word):
		a.keyed = true
	case strings.Trim(word, "0123456789.") == "":
	case role&shownWord != 0, first && role&linkWord != 0:
		return false
	case role != 0 || a.keyed:
	default:
		a.strange++
		return a.strange <= maxStrange && a.inMark()
	}
	if a.named && a.keyed {
		for _, c := range a.text {
			a.count(c)
		}
		a.line, a.text = append(a.line, a.text...), nil
	}
	return true
}

// isParameter reports whether a word, or its last part, names a parameter of some tool.
func (a *Ahead) isParameter(word string) bool {
	return a.folded[fold(word)] || a.folded[fold(word[strings.LastIndexAny(word, ".-_")+1:])]
}

// count updates the numbers of quotation marks and of open brackets in the text, if the byte c is
// one of these.
func (a *Ahead) count(c byte) {
	switch c {
	case '"':
		a.quotes++
	case '{', '[':
		a.depth++
	case '}', ']':
		a.depth--
	}
}

// goesOn is called for each byte after the tool's name and its first parameter. It reports whether
// the text may still be a call.
func (a *Ahead) goesOn(c byte) bool {
	a.count(c)
	if c != '\n' {
		if len(a.line) < maxFront {
			a.line = append(a.line, c)
		}
		return !(a.over && !scan.IsSpace(int(c)) || len(a.line) == maxBehind && !a.open &&
			a.block == 0 && !a.mayStand(string(a.line)))
	}
	raw := string(a.line[bytes.LastIndexByte(a.line, '\n')+1:])
	line := strings.TrimSpace(string(a.line))
	column := len(raw) - len(strings.TrimLeft(raw, " ")) + 1
	if a.block > 0 && (line == "" || column > a.block) {
		a.line = a.line[:0]
		return true
	}
	if a.block = 0; strings.Contains(line, ":") &&
		strings.HasSuffix(strings.TrimSuffix(line, "-"), "|") {
		a.block = column
	}
	stands := a.mayStand(line)
	bullet := line != "" && strings.IndexByte("-*+>|", line[0]) >= 0
	a.over = a.over || !stands && !a.open && !bullet
	a.open = line == "" && a.open || line != "" && (stands || bullet)
	a.line = a.line[:0]
	return true
}

// mayStand reports whether a line may be part of a call. Such a line has a parameter, the tool's
// name, or only words that describe a call (see words.txt). Or it is inside a text in quotation
// marks or in brackets.
func (a *Ahead) mayStand(line string) bool {
	if a.quotes%2 == 1 || a.depth > 0 || strings.Contains(line, "'''") {
		return true
	}
	unknown := false
	for _, t := range lex(line) {
		if t.kind != aWord && t.kind != aText {
			continue
		}
		r := reader{tools: a.tools, tokens: []token{t}}
		if a.isParameter(t.inner) || r.toolAt(0) != nil {
			return true
		}
		unknown = unknown || roleOf(t.inner) == 0
	}
	return !unknown
}

// sorted contains the words of words.txt in order.
var sorted = func() (all []string) {
	for word := range roles {
		all = append(all, word)
	}
	slices.Sort(all)
	return all
}()
