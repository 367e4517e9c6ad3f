package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Toolset is a named group of tools. It refers to tools by name, so that a tool that disappears and
// comes back belongs to the set as before. A name that no tool has at the moment is ignored.
type Toolset struct {
	Name        string
	Description string   // for people and models: what the tools are for
	Tools       []string // names, in no order that counts
	ReadOnly    bool     // only tools whose hints say that they only read are offered
	Confirm     bool     // a person is asked before each call of its tools (Tool.Confirm)
}

// setName matches the valid names of sets, which occur in addresses, claims and settings.
var setName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckSetName returns an error if the name of a set is not valid.
func CheckSetName(name string) error {
	if !setName.MatchString(name) {
		return errors.New(
			"a set's name is 1 to 64 of a-z 0-9 _ -, and begins with a letter or a digit")
	}
	return nil
}

// reads reports whether the tool's hints say that it only reads.
func (t Tool) reads() bool { return t.Hints.ReadOnly != nil && *t.Hints.ReadOnly }

// destroys reports whether the tool may destroy what it changes. By MCP's default, a tool without
// hints may.
func (t Tool) destroys() bool {
	return !t.reads() && (t.Hints.Destructive == nil || *t.Hints.Destructive)
}

// Effects returns what the tools of the snapshot may do according to their own hints: whether all
// of them only read, and whether one of them may destroy what it changes. Without tools it returns
// true and false.
func (s *Snapshot) Effects() (readOnly, destructive bool) {
	readOnly = true
	for _, t := range s.Tools {
		readOnly, destructive = readOnly && t.reads(), destructive || t.destroys()
	}
	return readOnly, destructive
}

// Group replaces all sets of tools and notifies the watchers, as every change of the registry does.
// It returns an error, and changes nothing, if a set's name is not valid or occurs twice.
func (r *Registry) Group(sets ...Toolset) error {
	byName := map[string]Toolset{}
	for _, s := range sets {
		if err := CheckSetName(s.Name); err != nil {
			return fmt.Errorf("set %q: %w", s.Name, err)
		}
		if _, twice := byName[s.Name]; twice {
			return fmt.Errorf("there are two sets %s", s.Name)
		}
		s.Tools = slices.Clone(s.Tools)
		byName[s.Name] = s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.sets
	r.sets = byName
	if err := r.become(r.groups); err != nil {
		r.sets = before
		return err
	}
	return nil
}

// setKey is the context key of the name of the set of tools that a request is about.
type setKey struct{}

// WithSet returns a context for a request that is about one set. The request gets what its caller
// may use of that set, and nothing else.
func WithSet(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, setKey{}, name)
}

// For returns the part of the registry that the caller of ctx may use: all tools, or those of the
// caller's sets. If the request is about one set (WithSet), the part is restricted to that set.
// Every client API lists and finds tools in this part, and Call uses it again, so the tools that
// are listed are those that can be called.
func (r *Registry) For(ctx context.Context) *Snapshot {
	now := r.Snapshot()
	if r.opts.Reach != nil {
		if names, bounded := r.opts.Reach(ctx); bounded {
			now = now.within(names)
		}
	}
	if name, ok := ctx.Value(setKey{}).(string); ok {
		now = now.within([]string{name})
	}
	return now
}

// mostViews bounds how many parts of one snapshot are cached. Callers with the same sets share one
// part.
const mostViews = 64

// within returns the part of the snapshot with the tools of the sets that have one of the names. A
// name that no set has adds nothing. If the snapshot is already such a part, only tools in both
// remain. The result is cached for each state of the registry, since each request would otherwise
// look at all of a thousand tools.
func (s *Snapshot) within(names []string) *Snapshot {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	key := strings.Join(names, " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if part := s.parts[key]; part != nil {
		return part
	}
	part := &Snapshot{
		Generation: s.Generation, byName: map[string]int{}, owner: map[string]string{},
		gone: map[string]string{},
		sets: map[string]Toolset{}, Part: s.Part + "[" + key + "]", inner: s,
		named: map[string]bool{},
	}
	for _, name := range names {
		set, ok := s.sets[name]
		if !ok {
			continue
		}
		part.sets[name] = set
		for _, tool := range set.Tools {
			part.named[tool] = part.named[tool] || !set.ReadOnly
		}
	}
	for _, t := range s.Tools {
		if part.admitted(t) {
			part.byName[t.Name] = len(part.Tools)
			part.owner[t.Name] = s.owner[t.Name]
			part.Tools = append(part.Tools, t)
		}
	}
	for name := range part.named {
		if why, ok := s.gone[name]; ok {
			part.gone[name] = why
		}
	}
	if len(s.parts) >= mostViews || s.parts == nil {
		s.parts = map[string]*Snapshot{}
	}
	s.parts[key] = part
	return part
}

// admitted reports whether one of the sets to which the snapshot is restricted offers the tool t. A
// ReadOnly set offers it only if its hints say that it only reads.
func (s *Snapshot) admitted(t Tool) bool {
	any, named := s.named[t.Name]
	return any || named && t.reads()
}

// Admits reports whether the caller for whom the snapshot was made may use the tool t. The registry
// need not have the tool, since a server may offer a tool to one client alone.
func (s *Snapshot) Admits(t Tool) bool {
	if s.inner == nil {
		return true
	}
	return s.inner.Admits(t) && s.admitted(t)
}

// Set returns the set of tools with the given name, or false if there is none that the caller may
// use.
func (s *Snapshot) Set(name string) (Toolset, bool) {
	set, ok := s.sets[name]
	return set, ok
}

// Sets returns the sorted names of the sets that the caller may use.
func (s *Snapshot) Sets() []string { return slices.Sorted(maps.Keys(s.sets)) }

// Within returns the part of the snapshot that the given set offers. It is empty if there is no
// such set.
func (s *Snapshot) Within(set string) *Snapshot { return s.within([]string{set}) }
