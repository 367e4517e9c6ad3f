package adapters

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolnorm/adapters/internal/declaration"
)

// Set is a collection of formats that are read together: whichever model replies, the marks of all
// formats are known. The zero value is empty. Load returns a larger set, and Parse returns a format
// of a larger set. A set that has been returned never changes.
type Set struct {
	formats []*Format // in load order: the embedded formats by name, then the user's
	generic *Format
}

// Format reads and writes text as one model family does. Its declaration is in the embedded Family,
// which sets share. The other formats with which it is read together depend on the set, so each set
// has its own Formats. Reading and writing do not change a Format, so it can be used for any number
// of requests at the same time.
type Format struct {
	*declaration.Family
	set *Set // the formats it is read with

	live func() *declaration.Index // all marks of the set, this format's first
	// this format's marks alone: then other families' marks are text, in tests and for `--calls
	// strict`
	lone   func() *declaration.Index
	tokens func() []string // see Tokens
	marks  func() []string // the literals around calls, for replies whose marks are damaged
}

// again returns a new set of the same families, to which more can be added.
func (s *Set) again() *Set {
	out := new(Set)
	for _, f := range s.formats {
		out.add(f.Family)
	}
	return out
}

// add puts a family into the set, and returns its format. A family of the same name is replaced,
// and the new one has its place in the order. That order decides between globs of equal length and
// between equal marks, and a user who corrects a family should not change it. Indexes over all
// families are computed when they are first needed, because most formats are never used for
// reading.
func (s *Set) add(family *declaration.Family) *Format {
	f := &Format{Family: family, set: s}
	f.live = sync.OnceValue(f.allMarks)
	f.lone = sync.OnceValue(func() *declaration.Index { return declaration.NewIndex(family) })
	f.tokens = sync.OnceValue(f.allTokens)
	f.marks = sync.OnceValue(f.allFrames)
	if f.Name == declaration.Generic {
		s.generic = f
	}
	if i := slices.IndexFunc(s.formats, func(g *Format) bool { return g.Name == f.Name }); i >= 0 {
		s.formats[i] = f
	} else {
		s.formats = append(s.formats, f)
	}
	return f
}

// parse adds the family of a family file to the set, and returns its format. It returns an error if
// the file is malformed, and declaration.ErrUnknown if its "like" line names a family that is not
// in the set.
func (s *Set) parse(src []byte) (*Format, error) {
	family, err := declaration.Parse(src, func(name string) *declaration.Family {
		if f := s.Named(name); f != nil {
			return f.Family
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.add(family), nil
}

// Load returns the set with the declarations of a directory (*.txt) added. A declaration replaces
// an existing one of the same name, so that a user can correct a family without waiting for a
// release. A file that cannot be used is left out, and odd has an error for it that names the line.
// The set that Load is called on does not change, so requests that are using it are not disturbed.
//
// A "like" line takes lines over from another declaration, which must be parsed first. So the files
// are parsed in rounds, each of which parses at least one file. If a round parses none, the "like"
// lines of the remaining files name declarations that do not exist.
func (s *Set) Load(dir fs.FS) (out *Set, odd []error) {
	names, err := fs.Glob(dir, "*.txt")
	if err != nil {
		return s, []error{err}
	}
	out = s.again()
	for before := 0; len(names) != before; {
		before = len(names)
		var later []string
		for _, name := range names {
			src, err := fs.ReadFile(dir, name)
			if err == nil {
				_, err = out.parse(src)
			}
			switch {
			case err == declaration.ErrUnknown:
				later = append(later, name)
			case err != nil:
				odd = append(odd, fmt.Errorf("%s: %w", name, err))
			}
		}
		names = later
	}
	for _, name := range names {
		odd = append(odd, fmt.Errorf("%s: %w", name, declaration.ErrUnknown))
	}
	return out, odd
}

// Parse reads a declaration, or a whole family file, and returns its format. The format belongs to
// a new set, which consists of this set and the format; it replaces a format of the same name. A
// malformed declaration is an error that names the line. Parse is for families that are not
// installed, such as tests of a file and guesses from a template. It does not change the set, so a
// file can be tried as often as it is edited.
func (s *Set) Parse(src []byte) (*Format, error) { return s.again().parse(src) }

// For returns the format with the longest glob that matches the model, or the generic format if
// none does. The model's name may have a registry, a user and a tag:
// hf.co/unsloth/Qwen3-Coder-30B-GGUF:Q4_K_M. For example, qwen3-coder* is longer than qwen3*, so
// the order of the files does not matter. Among globs of equal length the format that was loaded
// first wins.
func (s *Set) For(model string) *Format {
	best, length := s.generic, 0
	for _, name := range modelNames(model) {
		for _, f := range s.formats {
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

// mayBegin reports whether a glob may match a name, judging by their first letters. It saves calls
// of path.Match for nearly all of some hundred globs, which took a sixteenth of a small request's
// processor time.
func mayBegin(glob, name string) bool {
	return name != "" && (glob[0] == name[0] || strings.IndexByte(`*?[\`, glob[0]) >= 0)
}

// modelNames returns the spellings of a model's name that globs are tried on: without registry and
// user, with and without tag. Both are tried because hf.co/unsloth/Qwen3-Coder-30B-GGUF:Q4_K_M is a
// qwen3-coder* as well as ollama's qwen3-coder:30b, while mistral:7b* needs the tag, which says the
// version there.
func modelNames(model string) []string {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	base, _, tagged := strings.Cut(name, ":")
	if !tagged {
		return []string{name}
	}
	return []string{name, base}
}

// Named returns the format with that name, or nil if there is none. A set has some seventy formats
// and few look-ups by name, so it needs no map.
func (s *Set) Named(name string) *Format {
	for _, f := range s.formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// All returns the formats sorted by name, for lists that people read. The set itself keeps the
// order of loading.
func (s *Set) All() []*Format {
	all := slices.Clone(s.formats)
	slices.SortFunc(all, func(a, b *Format) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// allMarks returns an index of the marks of the whole set. Where families give a mark different
// meanings, the format's own comes first, then that of the generic format. All families are
// included because this found 31 more calls in 3,000 replies, for at most 20 % more time in prose.
func (f *Format) allMarks() *declaration.Index {
	list := []*declaration.Family{f.Family}
	if f.set.generic != nil && f != f.set.generic {
		list = append(list, f.set.generic.Family)
	}
	for _, g := range f.set.formats {
		if g != f && g != f.set.generic {
			list = append(list, g.Family)
		}
	}
	return declaration.NewIndex(list...)
}

// Tokens returns the marks that a model may have as control tokens, which some servers leave out of
// the text unless a request lists them. They are the marks around reasoning, replies and calls of
// every known format, and the ends of this format's messages. Marks that only end another family's
// turn are not among them, because they would be read as text. The list must not be changed.
// llama-server takes it as preserved_tokens; it adds some 2 KB to each request.
func (f *Format) Tokens() []string { return f.tokens() }

// allTokens computes the list for Tokens. This takes a millisecond, which is too long for every
// request, and most requests never need it. Marks that end the turns of other families are left
// out. If they were listed, a server would pass them on, and they would be read as text.
func (f *Format) allTokens() []string {
	var all, turns []string
	for _, g := range f.set.formats {
		all = g.AppendTokens(all)
		turns = append(append(turns, g.Drop...), g.Ends...)
	}
	all = slices.DeleteFunc(all, func(word string) bool { return slices.Contains(turns, word) })
	return f.withOwn(all)
}

// withOwn returns a list of tokens together with those of the format and the ends of its messages,
// sorted.
func (f *Format) withOwn(all []string) []string {
	all = append(f.AppendTokens(all), declaration.TokenLike.FindAllString(strings.Join(f.Ends, " "),
		-1)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Own returns those tokens of the method Tokens that are needed to read this format: the marks of
// its calls and its reasoning, its quotes, the ends of its messages, and the common marks of
// reasoning. For the generic format it returns all Tokens, since the model may need any of them.
// The caller looks the result up in the model's vocabulary, because a family whose marks are
// control tokens is read differently.
func (f *Format) Own() []string {
	if f.set.generic == nil || f == f.set.generic {
		return f.Tokens()
	}
	var common []string
	for _, p := range f.set.generic.Think {
		common = p.AppendTokens(common)
	}
	return f.withOwn(common)
}

// Marks returns the marks of all known formats that have a meaning in replies, prompts or results:
// those around calls, reasoning, turns and results. Marks that are plain words are left out.
func Marks() []string {
	var all []string
	for _, list := range Builtin().formats[0].live().Marks {
		for _, m := range list {
			if !m.IsWord() {
				all = append(all, m.Key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// controlLike matches a text that may be a control token of a vocabulary, of any family. One or two
// letters in angle brackets are more often HTML.
var controlLike = regexp.MustCompile(`<[^<>\s]{3,}>|\[[^\[\]\s]{3,}\]|<\||\|>`)

// Marked reports whether the text contains a mark of a known format, or a text that looks like a
// control token. In a prompt it would be read as one. For example, a file that a tool has read may
// contain <|im_end|>, which would end the turn in the middle of the file.
func (f *Format) Marked(text string) bool {
	return controlLike.MatchString(text) ||
		slices.ContainsFunc(f.Tokens(), func(mark string) bool {
			return strings.Contains(text, mark)
		})
}
