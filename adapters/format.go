package adapters

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"strings"
	"sync"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/print"
	"toolnorm/chat"
)

// Format reads and writes as one model family does. What its declaration says is in the embedded Family.
type Format struct {
	*declaration.Family
	set *Set // the formats it is read with
}

// Set is a collection of formats that are read together. The zero value has none.
type Set struct {
	families declaration.Set
	formats  map[*declaration.Family]*Format // one for each family of the set
}

// Wording is in which words Prompt describes tools: some of the kinds below together. The zero value is the family's own.
type Wording = declaration.Wording

// The kinds of wording. With neither of the first two there are schemas.
const (
	Schemas    = declaration.Schemas    // each tool as JSON with its schema
	Signatures = declaration.Signatures // each tool as the head of a Python function, which is much shorter
	Example    = declaration.Example    // what a user says and the call that answers it, made of the first offered tool
)

// ParseWording reads the names of kinds, with blanks or + between them: "signatures+example".
func ParseWording(s string) (Wording, error) { return declaration.ParseWording(s) }

//go:generate go run toolnorm/cmd/toolnorm formats doc ../docs/formats.md

//go:embed families/*.txt
var embedded embed.FS

// builtin reads the embedded families when they are first asked for.
var builtin = sync.OnceValue(mustLoadEmbedded)

// mustLoadEmbedded panics over a declaration that cannot be read: the tests load every embedded one, so no such program is
// ever released.
func mustLoadEmbedded() *Set {
	dir, err := fs.Sub(embedded, "families")
	if err != nil {
		panic(err)
	}
	s, err := new(Set).Load(dir)
	if err != nil {
		panic(err)
	}
	return s
}

// Builtin is the set of the families that come with the program.
func Builtin() *Set { return builtin() }

// For returns the built-in format of a model by its name, the generic one when no family claims it.
func For(model string) *Format { return Builtin().For(model) }

// Named returns the built-in format with that name, or nil.
func Named(name string) *Format { return Builtin().Named(name) }

// All returns the built-in formats, sorted by name.
func All() []*Format { return Builtin().All() }

// Parse reads a declaration, or a whole family file: the set it is read with is the built-in one and this format.
func Parse(src []byte) (*Format, error) { return Builtin().Parse(src) }

// setOf makes the formats of a set of families. Each is made once, so that formats can be compared.
func setOf(families *declaration.Set) *Set {
	s := &Set{families: *families, formats: map[*declaration.Family]*Format{}}
	for _, f := range families.All() {
		s.formats[f] = &Format{f, s}
	}
	return s
}

// Load returns the set with the declarations of a directory (*.txt) added. A declaration whose name is known replaces the
// one that had it. An error names the file and the line.
func (s *Set) Load(dir fs.FS) (*Set, error) {
	families, err := s.families.Load(dir)
	if err != nil {
		return nil, err
	}
	return setOf(families), nil
}

// Parse reads a declaration, or a whole family file, as a member of a new set: this one and the format, which replaces one
// of the same name. An error names the line.
func (s *Set) Parse(src []byte) (*Format, error) {
	families, f, err := s.families.With(src)
	if err != nil {
		return nil, err
	}
	return setOf(families).formats[f], nil
}

// For returns the format whose model globs match, the longest glob first, else the generic one.
func (s *Set) For(model string) *Format { return s.formats[s.families.For(model)] }

// Named returns the format with that name, or nil.
func (s *Set) Named(name string) *Format { return s.formats[s.families.Named(name)] }

// All returns the formats sorted by name.
func (s *Set) All() []*Format {
	families := s.families.All()
	all := make([]*Format, len(families))
	for i, f := range families {
		all[i] = s.formats[f]
	}
	return all
}

// Append writes calls as the family's models write them: behind text when dst is not empty, with the family's white space
// between them. Arguments that are no JSON object are repaired first, and ids that the family does not write are numbered
// from 0 (see Number); it never fails.
func (f *Format) Append(dst []byte, calls ...chat.Call) []byte {
	calls = f.Number(0, calls)
	for i := range calls {
		calls[i].Args = objectText(calls[i].Args)
	}
	return print.Calls(dst, f.Family, calls)
}

// objectText is a call's arguments as one JSON object.
func objectText(args json.RawMessage) json.RawMessage {
	if args = bytes.TrimSpace(args); json.Valid(args) && args[0] == '{' {
		return args
	}
	if out, _ := repairAs(string(args), nil); strings.HasPrefix(out, "{") {
		return json.RawMessage(out)
	}
	return json.RawMessage("{}")
}

// Number gives calls the ids that the family writes, first being how many calls the conversation had before. An id that the
// family could have written stays; in most families that is any.
func (f *Format) Number(first int, calls []chat.Call) []chat.Call {
	return print.Number(f.Family, first, calls)
}

// AppendResults writes what tools answered as the family's templates do, without the marks of the turn around: texts[i] is
// the answer to calls[i], whose ids are those that Number gives. Without a result line in the declaration it writes nothing.
func (f *Format) AppendResults(dst []byte, calls []chat.Call, texts []string) []byte {
	return print.Results(dst, f.Family, calls, texts)
}

// Prompt is the text that teaches a model the tools and this form of calling them, in that wording, or in the family's own
// when it is zero. It is empty without tools. The same tools and wording give the same bytes.
func (f *Format) Prompt(tools []chat.Tool, w Wording) string {
	if len(tools) == 0 {
		return ""
	}
	if w == 0 {
		w = f.Wording()
	}
	return print.Prompt(f.Asked(w).Family, tools, w)
}

// Asked is the format in which Prompt asks for calls: signatures without schemas ask for Python, unless the family's own
// declaration has a wording. What it asks for is also how earlier calls should be written out.
func (f *Format) Asked(w Wording) *Format {
	if w&(Signatures|Schemas) == Signatures && f.Wording() == 0 && f.set != nil {
		if python := f.set.Named("python"); python != nil {
			return python
		}
	}
	return f
}
