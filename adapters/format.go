package adapters

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// Format is one model family's way of writing, read from its declaration.
type Format struct {
	Name   string   // as the declaration's first line says
	Models []string // globs on the model's name, lower case

	think, plain, section, call, arg []*pattern // plain: the text lines

	drop    []string          // marks of the turn, removed where they end something
	ends    []string          // message families: the marks that end a message
	header  *pattern          // message families: what opens and closes a header
	message *pattern          // message families: how a call is printed
	result  *pattern          // how a tool's answer is printed; nil when the family does not say
	results *pattern          // what stands around all answers; nil for nothing
	routes  []route           // message families: what a message is, by its header
	keys    map[string]string // member names that this family prints
	ahead   []string          // marks that every prompt ends with: the reply begins behind them
	noise   []string          // marks that mean nothing, wherever they stand
	flags   map[string]bool   // blank, cdata, entities, think-calls
	quotes  []string          // string delimiters of {pseudo}, the first one printed

	file string // what it was read from, cases and all

	wording Wording // how tools are described, zero: not said

	headless   []*pattern // calls whose opening mark is missing
	delims     []delim    // the quotes of more than one byte, ready to read; nil without a quote line
	closeBytes *[256]bool // first bytes of what can end a tagged value
	valueStops *[256]bool // bytes at which copying a tagged value stops

	set   *Set
	once  sync.Once
	live  *view // all marks of the set, this format's first
	once1 sync.Once
	lone  *view // this format's marks alone
	once2 sync.Once
	words []string // see Tokens
}

// Set is a collection of formats that are read together.
type Set struct {
	formats []*Format // in load order: the embedded ones by name, then the user's
	generic *Format
}

//go:generate go run toolnorm/cmd/toolnorm formats doc ../docs/formats.md

//go:embed families/*.txt
var families embed.FS

// builtin is the set of the embedded families.
var builtin = sync.OnceValue(func() *Set {
	dir, err := fs.Sub(families, "families")
	if err != nil {
		panic(err)
	}
	return mustLoad(dir)
})

func mustLoad(dir fs.FS) *Set {
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

// Load returns the set with the declarations of a directory (*.txt) added. A declaration whose name is known replaces the
// one that had it. An error names the file and the line.
func (s *Set) Load(dir fs.FS) (*Set, error) {
	names, err := fs.Glob(dir, "*.txt")
	if err != nil {
		return nil, err
	}
	sources := make([][]byte, 0, len(names))
	for _, name := range names {
		src, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	out := &Set{formats: make([]*Format, 0, len(s.formats)+len(names))}
	for _, f := range s.formats {
		out.add(f.copyFor(out))
	}
	return out, out.parseAll(names, sources)
}

// parseAll parses declarations in order; one that is like another waits until that one is there.
func (s *Set) parseAll(names []string, sources [][]byte) error {
	for len(names) > 0 {
		var laterNames []string
		var later [][]byte
		for i, src := range sources {
			f, err := s.parse(src)
			if err == errLater {
				laterNames, later = append(laterNames, names[i]), append(later, src)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			s.add(f)
		}
		if len(later) == len(sources) {
			return fmt.Errorf("%s: the format it is like does not exist", laterNames[0])
		}
		names, sources = laterNames, later
	}
	return nil
}

// add puts a format into the set, in the place of one with the same name.
func (s *Set) add(f *Format) {
	f.set = s
	if f.Name == "generic" {
		s.generic = f
	}
	if i := slices.IndexFunc(s.formats, func(g *Format) bool { return g.Name == f.Name }); i >= 0 {
		s.formats[i] = f
		return
	}
	s.formats = append(s.formats, f)
}

// For returns the format whose model globs match, the longest glob first, else the generic one.
func (s *Set) For(model string) *Format {
	best, length := s.generic, 0
	for _, name := range modelNames(model) {
		for _, f := range s.formats {
			for _, glob := range f.Models {
				if ok, _ := path.Match(glob, name); ok && len(glob) > length {
					best, length = f, len(glob)
				}
			}
		}
	}
	return best
}

// modelNames are the spellings of a model's name that globs are tried on: without registry and user, with and without tag.
func modelNames(model string) []string {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	base, _, tagged := strings.Cut(name, ":")
	if !tagged {
		return []string{name}
	}
	return []string{name, base}
}

// Named returns the format with that name, or nil.
func (s *Set) Named(name string) *Format {
	for _, f := range s.formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// All returns the formats sorted by name.
func (s *Set) All() []*Format {
	all := slices.Clone(s.formats)
	slices.SortFunc(all, func(a, b *Format) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Parse reads a declaration, or a whole family file: the set it is read with is the built-in one and this format.
func Parse(src []byte) (*Format, error) { return Builtin().Parse(src) }

// Parse reads a declaration, or a whole family file, as a member of a new set: this one and the format, which replaces one
// of the same name. An error names the line.
func (s *Set) Parse(src []byte) (*Format, error) {
	set := new(Set)
	for _, f := range s.formats {
		set.add(f.copyFor(set))
	}
	f, err := set.parse(src)
	if err == errLater {
		err = errors.New("the format it is like does not exist")
	}
	if err != nil {
		return nil, err
	}
	set.add(f)
	return f, nil
}
