// Package notation reads a call in any notation: a text that names one offered tool once, has
// values for the tool's parameters, and nothing else but signs and words of structure.
//
// Models that were not trained on a form of calls make one up: lines with labels, expressions,
// words with flags, tags of their own, bullets. No list of these would be complete. What they have
// in common is the law of [Read].
//
// The files of the package:
//
//	notation.go  the law: which keys a text has, and that it has one reading
//	segment.go   the parts of a text between its keys: values, and what is between them
//	nested.go    members of parameters, and lists of tags
//	rows.go      parameters in one row, and values in the next
//	block.go     literal blocks of YAML
//	value.go     where a value begins and ends, and what it says
//	rest.go      what may be left over
//	divide.go    words of several parts, and quotes around a parameter with its value
//	lex.go       words, signs, texts in quotes
//	words.go     words of structure, from words.txt
//	ahead.go     when a text that is still being written can no longer be such a call
package notation

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/lenient"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
	"toolnorm/chat/schema"
)

// Call is a call in some notation. Args is strict JSON.
type Call struct {
	Tool *toolset.Tool
	Args string
	// Shell is true if the text may be something other than a call of the model. It may be in a
	// block of a shell or a program, like a command that the user is to run. It may be a table,
	// like a record of calls. Or its notation may have no signs, like a sentence.
	Shell bool
}

// maxText bounds the text of a call in bytes, and maxReadings how many choices of keys are tried.
const (
	maxText     = 1 << 14
	maxReadings = 64
)

// Read reads a text that is one call, and returns false for any other text. The text must name one
// offered tool, once. It must have each parameter at most once and every required one, with values
// that fit the schema as written. The rest of the text may only be signs and words that describe a
// call, such as "arguments". A text that can be read in two ways, with different arguments, is not
// a call. The function said reports whether the user has written a value, which settles how that
// value is read.
func Read(text string, tools *toolset.Set, said func(value string) bool) (Call, bool) {
	text = strings.TrimSpace(text)
	if tools == nil || text == "" || len(text) > maxText {
		return Call{}, false
	}
	tries := 4 * maxReadings
	r := reader{text: text, tools: tools, tokens: lex(text), said: said, tries: &tries}
	if !r.divide() {
		return Call{}, false
	}
	args, ok := r.arguments()
	rows, table := r.rows()
	if table {
		ok, args = args == "" || ok && lenient.SameJSON(args, rows), rows
	}
	return Call{r.tool, args, r.shell || r.plain || table}, ok
}

// arguments returns the values in the text as an object. The text may be read in several ways. If
// two of them give different objects, it returns one of these and false. It also returns false if
// there is no way, or if too many were tried.
func (r *reader) arguments() (found string, ok bool) {
	for _, keys := range r.choices() {
		if *r.tries--; *r.tries < 0 {
			return "", false
		}
		args, ok := r.segment(keys)
		if !ok {
			continue
		}
		if found != "" && !lenient.SameJSON(args, found) {
			return args, false
		}
		found = args
	}
	return found, found != ""
}

// reader reads one text, or the value of one parameter in it, as a call.
type reader struct {
	text   string
	tools  *toolset.Set
	tokens []token
	// said reports whether the user has written exactly this value, which settles where it ends
	said   func(value string) bool
	tool   *toolset.Tool
	typ    *schema.Type      // the type of its arguments, or of a member of them, see nested
	outer  string            // the name of that member; empty for the arguments
	tries  *int              // how many more choices may be tried, here and in its members
	folded map[string]string // maps the folded names of parameters to the names
	keys   []key             // the places where a parameter may be named
	shell  bool
	plain  bool // no sign separates keys and values
}

// key is a word of the text that is read as the name of a parameter. Its name is the parameter's.
type key struct {
	name string
	at   int // index of its token
}

// divide finds the tool and its parameters. It returns false if the text does not name exactly one
// tool, or no parameter of it.
func (r *reader) divide() bool {
	for i := range r.tokens {
		t := r.toolAt(i)
		if t == nil || r.closes(i) {
			continue
		}
		if r.tool != nil && r.tool != t {
			return false
		}
		r.tool = t
	}
	if r.tool == nil || len(r.tool.Type().Members()) == 0 {
		return false
	}
	r.typ = r.tool.Type()
	r.fold()
	(&divider{r}).split()
	return r.places()
}

// fold stores the parameters by their folded names, which are in small letters and without
// separators. If two parameters have the same folded name, "" is stored for it.
func (r *reader) fold() {
	r.folded = map[string]string{}
	for _, m := range r.typ.Members() {
		if _, twice := r.folded[fold(m)]; twice {
			r.folded[fold(m)] = ""
			continue
		}
		r.folded[fold(m)] = m
	}
}

// places finds the words of a text that name parameters, and stores them in keys. It returns false
// if there are none, or too many.
func (r *reader) places() bool {
	for i, t := range r.tokens {
		if t.kind != aWord && t.kind != aText || len(t.inner) > toolset.MaxName || r.closes(i) {
			continue
		}
		if name := r.param(t.inner); name != "" {
			r.keys = append(r.keys, key{name, i})
		}
	}
	return len(r.keys) > 0 && len(r.keys) <= maxReadings
}

// toolAt returns the tool that a token names, or nil. A namespace may precede the name.
func (r *reader) toolAt(i int) *toolset.Tool {
	t := &r.tokens[i]
	if t.kind != aWord && t.kind != aText || len(t.inner) > toolset.MaxName || t.inner == "" {
		return nil
	}
	if found := r.tools.Find(t.inner); found != nil {
		// get-weather, addTodo; but a single word in another spelling may be a word of a sentence
		if found.Name == t.inner || strings.HasSuffix(t.inner, found.Name) ||
			len(partsOf(t.inner)) > 1 && fold(found.Name) == fold(t.inner) {
			return found
		}
		return nil
	}
	for _, sep := range []string{"__", ".", "/", ":"} {
		if at := strings.LastIndex(t.inner, sep); at > 0 {
			if found := r.tools.Named(t.inner[at+len(sep):]); found != nil {
				return found
			}
		}
	}
	return nil
}

// param returns the parameter that a word names, or "" if there is none. The word may be written in
// another case or with other separators than the parameter's name, unless the names of two
// parameters differ only in these.
func (r *reader) param(word string) string {
	if r.typ.Has(word) {
		return word
	}
	return r.folded[fold(word)]
}

// choices returns the ways to choose which of the possible keys in the text name parameters. In
// each choice, every parameter is named at most once, and every required one is named. It returns
// nil if there is no such choice, or if there are too many.
func (r *reader) choices() [][]key {
	places := map[string][]key{}
	var names []string
	for _, k := range r.keys {
		if places[k.name] == nil {
			names = append(names, k.name)
		}
		places[k.name] = append(places[k.name], k)
	}
	required := r.typ.Required()
	for _, name := range required {
		if places[name] == nil {
			return nil
		}
	}
	all := [][]key{nil}
	for _, name := range names {
		var next [][]key
		for _, chosen := range all {
			if !slices.Contains(required, name) {
				next = append(next, chosen)
			}
			for _, k := range places[name] {
				next = append(next, append(slices.Clip(chosen), k))
			}
		}
		if all = next; len(all) > maxReadings {
			return nil
		}
	}
	for _, keys := range all {
		slices.SortFunc(keys, func(a, b key) int { return a.at - b.at })
	}
	return all
}

// closes reports whether a token is part of a closing tag, such as </city> or [/city], or comes
// after a word that ends a block, as in "end city".
func (r *reader) closes(i int) bool {
	before := func(n int) string {
		if i-n < 0 {
			return ""
		}
		return r.tokens[i-n].inner
	}
	if before(1) == ":" && before(3) == "/" { // </arg:city>
		return before(4) == "<"
	}
	if before(1) == "/" {
		return strings.Contains("<[{(⟨⟦", before(2)) && before(2) != ""
	}
	word := before(1)
	if word == " " || word == "{" || word == ":" || word == "_" {
		word = before(2)
	}
	return closing[strings.ToLower(word)]
}

// closing are words that may come before the name of the part that ends.
var closing = map[string]bool{"end": true, "ende": true, "fin": true, "close": true, "slut": true}

// object returns the values for the given keys as an object, and whether the tool accepts it.
func (r *reader) object(keys []key, values []string) (string, bool) {
	var out strings.Builder
	for i, k := range keys {
		out.WriteString([]string{"{", ","}[min(i, 1)] + `"` + k.name + `":` + values[i])
	}
	out.WriteString("}")
	args := out.String()
	return args, (r.outer != "" || r.tool.Takes(scan.Fields(args))) && lenient.Fits(args, r.typ)
}
