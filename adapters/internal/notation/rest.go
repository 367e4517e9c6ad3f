package notation

import (
	"regexp"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// rest checks what is left of a text when one way to read it has taken the keys and values of a
// call.
type rest struct {
	*reader
	isKey  map[int]bool
	chosen map[string]bool
	marks  map[string][2]int // how often unknown words are before and after the first value
	values int               // how many values were passed
	named  int               // how often the tool was named
	last   int               // the index of the last word of structure, or -1
}

// left reports whether what is left of a text without the given keys and values can be part of a
// call. It may have the tool's name once, signs, words of the notation (see words.txt), and words
// in tags that occur on both sides of the call.
func (r *reader) left(keys []key, members []member) bool {
	l := rest{reader: r, isKey: map[int]bool{}, chosen: map[string]bool{},
		marks: map[string][2]int{}, last: -1}
	for _, k := range keys {
		l.isKey[k.at], l.chosen[k.name] = true, true
	}
	for i := 0; i < len(r.tokens); i++ {
		// a value: go on after it
		if at := r.valueAt(keys, members, i, &l.values); at > i {
			i = at - 1
			continue
		}
		switch t := &r.tokens[i]; {
		case t.inner == unknowable, t.inner == "?" && i > 0 && !l.isKey[i+1]:
			return false
		case (t.kind == aWord || t.kind == aText) && !l.isKey[i] && !l.word(i):
			return false
		}
	}
	for _, n := range l.marks {
		if n[0] == 0 || n[1] == 0 {
			return false
		}
	}
	return l.named == 1 || l.named == 0 && r.outer != ""
}

// word reports whether the word at token i, which is neither a key nor a value, can be part of the
// notation of a call, such as the tool's name or a word in a tag. It also counts how often the text
// has the tool's name, and each word in tags.
func (l *rest) word(i int) bool {
	word := l.tokens[i].inner
	switch param, role := l.param(word), roleOf(word); {
	case l.closes(i) && (l.marks[word][0] > 0 || l.typ.Has(word) || role != 0 ||
		word == l.outer && word != "" || l.toolAt(i) == l.tool):
		if n := l.marks[word]; n[0] > 0 {
			l.marks[word] = [2]int{n[0], n[1] + 1}
		}
		return true
	case l.toolAt(i) != nil:
		l.named++
		return l.outer == ""
	// a parameter that is not a key of this reading has lost its value, unless it names the tool
	case param != "" && !l.chosen[param] && !l.beside(i):
		return false
	case l.labels(i):
		return true
	case role&shownWord != 0:
		return false
	case role&(structural|endWord) != 0:
		l.last = i
		return true
	}
	return l.numbered(i) || l.ofTool(word) || l.attribute(i) || l.inMarks(i)
}

// ofTool reports whether a word consists of the tool's name and a word of the notation, such as
// Args in GetWeatherArgs.
func (l *rest) ofTool(word string) bool {
	behind, ok := strings.CutPrefix(fold(word), fold(l.tool.Name))
	return ok && l.outer == "" && roles[behind]&structural != 0
}

// attribute reports whether the word at token i has the tool's name in quotation marks as its
// value, as in do what="find".
func (l *rest) attribute(i int) bool {
	return i+2 < len(l.tokens) && l.tokens[i+1].inner == "=" && l.tokens[i+2].kind == aText &&
		l.toolAt(i+2) == l.tool
}

// numbered reports whether the word at token i is the number of the call, of an element of a list,
// or of a protocol's version, as in HTTP/1.1.
func (l *rest) numbered(i int) bool {
	word := l.tokens[i].inner
	if l.last >= 0 && i-l.last <= 3 {
		before := fold(l.tokens[l.last].inner)
		if number.MatchString(word) && counts[before] || version.MatchString(word) &&
			before == "http" {
			return true
		}
	}
	return l.ordinal(i)
}

// inMarks reports whether the word at token i has signs on both sides, as in a tag. If so, it also
// counts the word in the field marks: words before the first value of the call, and words after it,
// are counted apart, because a tag around a call occurs on both sides.
func (l *rest) inMarks(i int) bool {
	if !l.enclosed(i) {
		return false
	}
	n := l.marks[l.tokens[i].inner]
	n[min(l.values, 1)]++
	l.marks[l.tokens[i].inner] = n
	return true
}

// beside reports whether the word at token i, which is the name of a parameter, may also describe
// the call itself. That is so if the next word is the tool's name, or a word for a call, as in
// type="function".
func (r *reader) beside(i int) bool {
	word := r.tokens[i].inner
	for i++; i < len(r.tokens); i++ {
		if t := r.tokens[i]; t.kind == aWord || t.kind == aText {
			return r.toolAt(i) != nil || roleOf(word)&structural != 0 && calling[fold(t.inner)]
		}
	}
	return false
}

// calling are words for the type of a call.
var calling = scan.WordSet("function tool toolcall tooluse functioncall call action toolrequest")

// valueAt skips a parameter with its value. If token i is keys[*m], it increments *m and returns
// the index of the first token after that key's value. Otherwise it returns i.
func (r *reader) valueAt(keys []key, members []member, i int, m *int) int {
	if *m == len(keys) || keys[*m].at != i {
		return i
	}
	end := members[*m].end
	*m++
	for i < len(r.tokens) && r.tokens[i].from < end {
		i++
	}
	return i
}

// number matches the number or id of a call.
var number = regexp.MustCompile(`^(?i:(?:call|tc|id|step|c|t)?[_-]?[0-9]{1,4})$`)

// version matches the version of a protocol.
var version = regexp.MustCompile(`^[0-9](?:\.[0-9])?$`)

// counts are the words that may come before the number of a call.
var counts = map[string]bool{"id": true, "callid": true, "toolid": true, "call": true,
	"step": true, "toolcall": true}

// labels reports whether the word at token i is the label of a fence, as in ```json. For the label
// of a shell or a program it sets r.shell, because such a block may be for the user to run.
func (r *reader) labels(i int) bool {
	if i < 3 || r.tokens[i-1].inner != "`" && r.tokens[i-1].inner != "~" ||
		r.tokens[i-1].inner != r.tokens[i-3].inner {
		return false
	}
	word := strings.ToLower(r.tokens[i].inner)
	switch {
	case formatLabels[word] || roleOf(word)&structural != 0:
		return true
	case programLabels[word]:
		r.shell = true
		return true
	}
	return false
}

// Labels of fences.
var (
	formatLabels = scan.WordSet(
		"json json5 jsonc yaml yml toml ini xml edn lisp scheme clojure hcl properties conf proto " +
			"textproto csv tsv dsl")
	programLabels = scan.WordSet(
		"bash sh shell zsh console cmd powershell ps1 bat http sql python py js javascript ts " +
			"typescript ruby rb go rust java php perl lua julia r kotlin swift c cpp csharp elixir " +
			"erlang prolog haskell makefile latex tex")
)

// ordinal reports whether a token is the number of an element of a list, as in "2. ".
func (r *reader) ordinal(i int) bool {
	return (i == 0 || r.tokens[i-1].kind == aBreak) && i+2 < len(r.tokens) &&
		strings.Trim(r.tokens[i].inner, "0123456789") == "" && r.tokens[i+2].kind == aSpace &&
		strings.Contains(".)", r.tokens[i+1].inner)
}

// enclosed reports whether a word has signs directly on both sides, as the name in a tag has.
func (r *reader) enclosed(i int) bool {
	return i > 0 && i+1 < len(r.tokens) && len(r.tokens[i].inner) <= toolset.MaxName &&
		r.tokens[i].kind == aWord && r.tokens[i-1].kind == aSign && r.tokens[i+1].kind == aSign
}
