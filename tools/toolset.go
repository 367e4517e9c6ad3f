package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Toolset is a named group of tools. It refers to tools by name, so that a tool which disappears
// and comes back is in it as before. A name that no tool has now is left out of the offered tools.
type Toolset struct {
	Name        string
	Description string   // for people and models: what the tools are for
	Tools       []string // names, in no order that counts
	ReadOnly    bool     // offers only those of its tools that say they only read
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

// reads reports whether a tool says that it only reads.
func (t Tool) reads() bool { return t.Hints.ReadOnly != nil && *t.Hints.ReadOnly }

// destroys reports whether a tool may destroy what it changes. By MCP's default, a tool that says
// nothing may.
func (t Tool) destroys() bool {
	return !t.reads() && (t.Hints.Destructive == nil || *t.Hints.Destructive)
}

// Effects returns what the tools of a set may do, by their own hints: whether all of them only
// read, and whether one of them may destroy what it changes. A set without tools is harmless.
func (s *Snapshot) Effects() (readOnly, destructive bool) {
	readOnly = true
	for _, t := range s.Tools {
		readOnly, destructive = readOnly && t.reads(), destructive || t.destroys()
	}
	return readOnly, destructive
}

// Group replaces the sets. It is a change of the registry like any other, so all watchers are
// notified.
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

// setKey is the context key of the one set that a request is about.
type setKey struct{}

// WithSet returns a context for a request that is about one set: the request gets what its caller
// may use of that set, and nothing else.
func WithSet(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, setKey{}, name)
}

// For returns the part of the registry that the caller of ctx may use: all tools, or those of the
// caller's sets, restricted to the one set that the request is about if there is one. Every face
// lists and finds tools in it, and Call uses it again, so the tools that are listed are those that
// can be called.
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

// mostViews bounds how many parts of one snapshot are kept. Callers with the same sets share one.
const mostViews = 64

// within returns the part of a snapshot that the named sets hold. If the snapshot is itself a part,
// the result is the intersection. It is made once for each state of the registry and kept, since
// each request would otherwise look at all of a thousand tools.
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

// admitted reports whether one of the sets of a part offers a tool.
func (s *Snapshot) admitted(t Tool) bool {
	any, named := s.named[t.Name]
	return any || named && t.reads()
}

// Admits reports whether the caller that the snapshot is for may use a tool. The registry need not
// have the tool: a server may offer it to one client alone.
func (s *Snapshot) Admits(t Tool) bool {
	if s.inner == nil {
		return true
	}
	return s.inner.Admits(t) && s.admitted(t)
}

// Set returns a set by its name, if the caller that the snapshot is for may use it.
func (s *Snapshot) Set(name string) (Toolset, bool) {
	set, ok := s.sets[name]
	return set, ok
}

// Sets lists the names of the sets that may be used, in their order.
func (s *Snapshot) Sets() (names []string) {
	for name := range s.sets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Within returns the part of a snapshot that one set offers.
func (s *Snapshot) Within(set string) *Snapshot { return s.within([]string{set}) }
