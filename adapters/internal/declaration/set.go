package declaration

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Set is a collection of families that are read together. The zero value has none. A set never changes once it has been
// handed out: adding a family makes a new one, with copies, since each family keeps an index of the marks of all of its set.
type Set struct {
	families []*Family // in load order: the embedded ones by name, then the user's
	generic  *Family
}

// Load returns the set with the declarations of a directory (*.txt) added. A declaration whose name is known replaces the
// one that had it, so that a user can correct a family without waiting for a release. An error names the file and the line.
// The set that it is called on stays as it is, so requests that are being read by it are not disturbed.
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
	out := &Set{families: make([]*Family, 0, len(s.families)+len(names))}
	for _, f := range s.families {
		out.add(f.copyFor(out))
	}
	return out, out.parseAll(names, sources)
}

// parseAll parses declarations in order; one that is like another waits until that one is there. Every round parses at
// least one, or nobody will ever declare what the first that waits is like.
func (s *Set) parseAll(names []string, sources [][]byte) error {
	for len(names) > 0 {
		var laterNames []string
		var later [][]byte
		for i, src := range sources {
			switch f, err := s.parse(src); err {
			case nil:
				s.add(f)
			case errLater:
				laterNames, later = append(laterNames, names[i]), append(later, src)
			default:
				return fmt.Errorf("%s: %w", names[i], err)
			}
		}
		if len(later) == len(sources) {
			return fmt.Errorf("%s: the format it is like does not exist", laterNames[0])
		}
		names, sources = laterNames, later
	}
	return nil
}

// add puts a family into the set, in the place of one with the same name: the order of a set decides between globs of equal
// length and between equal marks, and a user's corrected family is to differ in what it says alone.
func (s *Set) add(f *Family) {
	f.set = s
	if f.Name == "generic" {
		s.generic = f
	}
	if i := slices.IndexFunc(s.families, func(g *Family) bool { return g.Name == f.Name }); i >= 0 {
		s.families[i] = f
		return
	}
	s.families = append(s.families, f)
}

// For returns the family whose model globs match, the longest glob first, else the generic one: qwen3-coder* is longer than
// qwen3*, so it needs no order among the files.
// Of globs of one length the family that was loaded first counts. A name that none matches is the generic family's.
func (s *Set) For(model string) *Family {
	best, length := s.generic, 0
	for _, name := range modelNames(model) {
		for _, f := range s.families {
			for _, glob := range f.Models {
				if len(glob) <= length || !mayBegin(glob, name) {
					continue
				}
				if ok, _ := path.Match(glob, name); ok {
					best, length = f, len(glob)
				}
			}
		}
	}
	return best
}

// mayBegin says that the first letters of a glob and a name do not rule each other out. It keeps nearly all of some hundred globs from
// path.Match, which were a sixteenth of a small request's processor time.
func mayBegin(glob, name string) bool {
	return name != "" && (glob[0] == name[0] || strings.IndexByte(`*?[\`, glob[0]) >= 0)
}

// modelNames are the spellings of a model's name that globs are tried on: without registry and user, with and without tag.
// hf.co/unsloth/Qwen3-Coder-30B-GGUF:Q4_K_M is a qwen3-coder* as well as ollama's qwen3-coder:30b, while mistral:7b* needs
// the tag, which there says the version.
// Both are tried, since mistral:7b* needs the tag and qwen3-coder* does well without.
func modelNames(model string) []string {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	base, _, tagged := strings.Cut(name, ":")
	if !tagged {
		return []string{name}
	}
	return []string{name, base}
}

// Named returns the family with that name, or nil.
// A set has some seventy families and few look-ups by name, so a map would be one more thing to keep in step.
func (s *Set) Named(name string) *Family {
	for _, f := range s.families {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// All returns the families sorted by name, for lists that people read; the set itself keeps the order of loading.
func (s *Set) All() []*Family {
	all := slices.Clone(s.families)
	slices.SortFunc(all, func(a, b *Family) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// With reads a declaration, or a whole family file, as a member of a new set: this one and the family, which replaces one of
// the same name. An error names the line. Tests of a file and guesses from a template read families that are not installed.
// The set itself is not changed, so a file can be tried as often as it is edited.
func (s *Set) With(src []byte) (*Set, *Family, error) {
	set := new(Set)
	for _, f := range s.families {
		set.add(f.copyFor(set))
	}
	f, err := set.parse(src)
	if err == errLater {
		err = errors.New("the format it is like does not exist")
	}
	if err != nil {
		return nil, nil, err
	}
	set.add(f)
	return set, f, nil
}
