package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a Registry. The zero value is a registry that passes arguments on unchanged.
type Options struct {
	// Fit converts arguments to the types in the tool's schema and checks them. If they do not fit,
	// the error says in sentences what is wrong. If Fit is nil, arguments need only be a JSON
	// object.
	Fit func(t Tool, args json.RawMessage) (json.RawMessage, error)

	// Panicked is called for the log with the name of each tool that panicked, the value and the
	// stack. It may be nil.
	Panicked func(tool string, value any, stack []byte)

	// Reach returns the sets that the caller of a context may use, and whether the caller is
	// restricted to them. If Reach is nil, no caller is restricted.
	Reach func(ctx context.Context) (sets []string, bounded bool)
	// Watch is called before each call. It returns the context for the call, and a function that is
	// called afterwards with the result and the time that the call took. Watch may be nil.
	Watch func(ctx context.Context, tool string, args json.RawMessage) (
		context.Context, func(res Result, took time.Duration))

	Timeout time.Duration // of a call whose tool has no Timeout; 0: 30 s
	// largest result in bytes, content and structured value together; 0: 1 MiB
	MaxResult int
}

// The limits of a registry whose options do not set them.
const (
	defaultTimeout   = 30 * time.Second
	defaultMaxResult = 1 << 20
)

// Registry contains tools by name. It is safe for concurrent use. Readers take a snapshot and no
// lock, so that a call or a list of tools sees one consistent state of all sources, even while a
// source changes.
type Registry struct {
	opts Options
	now  atomic.Pointer[Snapshot]

	mu       sync.Mutex
	groups   []group // by source, in the order in which they came
	sets     map[string]Toolset
	watchers map[chan struct{}]bool

	running atomic.Int64 // running calls; a tool may run on after its caller stopped waiting
}

// group is what one source offers. Tools are replaced source by source, because a source reports
// only the tools that it has now, and not those that it had before.
type group struct {
	source   string
	tools    []Tool
	gone     map[string]string
	expected bool // Expect named the source, so it keeps its place
	// the tools are offered only while no other source has any; otherwise gone has the reasons
	fallback bool
}

// Snapshot is the state of the registry at one moment. It never changes, and its readers must not
// change it.
type Snapshot struct {
	Generation uint64 // grows with every change
	Tools      []Tool // in the order in which they are offered
	byName     map[string]int
	owner      map[string]string // the source of each name
	gone       map[string]string // the reason for each name that is not offered
	sets       map[string]Toolset
	// identifies the part of the registry, equal for equal sets; empty: the whole registry
	Part  string
	inner *Snapshot // the snapshot of which this one is a part; nil: this one is the whole registry
	// in a part: the names of the tools in its sets; true if a set that is not ReadOnly has the
	// tool
	named map[string]bool

	mu    sync.Mutex
	parts map[string]*Snapshot // by the names of their sets
}

// New returns a registry without tools. The registry has a snapshot from the start, so callers need
// not check for nil.
func New(o Options) *Registry {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxResult == 0 {
		o.MaxResult = defaultMaxResult
	}
	r := &Registry{opts: o, watchers: map[chan struct{}]bool{}}
	r.now.Store(&Snapshot{})
	return r
}

// Snapshot returns the current state of the registry.
func (r *Registry) Snapshot() *Snapshot { return r.now.Load() }

// Set replaces the tools of a source with the given ones. It returns an error, and changes nothing,
// if a tool is not valid, for example without a function, or if another source has a tool of the
// same name. All tools are checked before anything changes, so the old tools stay in use if a
// source offers something wrong. A source keeps its place in the order when its tools change, even
// while it has none, so that a client's list does not jump.
func (r *Registry) Set(source string, tools ...Tool) error {
	return r.Replace(source, nil, tools...)
}

// Replace replaces the tools of a source with the given ones, as Set does, for a source that also
// has tools which it does not offer now. The map gone has, by name, the reason why such a tool is
// not offered. A caller of it gets this reason, and not the message that there is no such tool. The
// errors are those of Set.
func (r *Registry) Replace(source string, gone map[string]string, tools ...Tool) error {
	return r.replace(group{source: source, tools: tools, gone: gone})
}

// Fallback sets the tools of a source that are offered only while no other source has tools or is
// expected to have some (see Expect). Each change of the registry decides again whether they are
// offered, so that no caller sees them together with those of another source. The map gone has, by
// name, the reason that a caller of a tool gets while it is not offered. The errors are those of
// Set.
func (r *Registry) Fallback(source string, gone map[string]string, tools ...Tool) error {
	return r.replace(group{source: source, tools: tools, gone: gone, fallback: true})
}

// replace replaces a source's previous tools by the group fresh. A new source comes last. replace
// returns an error, and changes nothing, if a tool is not valid or another source has a tool of the
// same name.
func (r *Registry) replace(fresh group) error {
	before := r.now.Load()
	for _, t := range fresh.tools {
		if at, ok := before.byName[t.Name]; ok && t.looksAs(before.Tools[at]) {
			continue
		}
		if err := t.check(); err != nil {
			return err
		}
	}
	fresh.tools, fresh.gone = slices.Clone(fresh.tools), maps.Clone(fresh.gone)
	r.mu.Lock()
	defer r.mu.Unlock()
	// A copy: when a name is taken, the registry stays as it was.
	groups := slices.Clone(r.groups)
	if at := slices.IndexFunc(groups, func(g group) bool {
		return g.source == fresh.source
	}); at >= 0 {
		fresh.expected = groups[at].expected
		groups[at] = fresh
	} else {
		groups = append(groups, fresh)
	}
	return r.become(groups)
}

// Expect reserves places for sources, in the given order and after all other sources, before the
// sources have any tools. Without it, sources that answer at different times would be in another
// order at each start. Sources that an earlier Expect named and that are not named again are
// removed, with their tools.
func (r *Registry) Expect(sources ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var groups []group
	had := map[string]group{}
	for _, g := range r.groups {
		if g.expected || slices.Contains(sources, g.source) {
			had[g.source] = g
		} else {
			groups = append(groups, g)
		}
	}
	for _, source := range sources {
		g := had[source]
		g.source, g.expected = source, true
		groups = append(groups, g)
	}
	before := r.now.Load()
	if next, err := snapshot(groups); err == nil &&
		slices.EqualFunc(before.Tools, next.Tools, func(a, b Tool) bool {
			return a.Name == b.Name
		}) {
		r.groups = groups // a reserved place is not a change to report
		return
	}
	// cannot fail: only a fallback can add tools here, and then no other source has any
	_ = r.become(groups)
}

// become replaces the state of the registry by the given groups and notifies the watchers. It
// returns an error, and changes nothing, if two groups have a tool of the same name. The caller
// holds r.mu.
func (r *Registry) become(groups []group) error {
	next, err := snapshot(groups)
	if err != nil {
		return err
	}
	// Callers that keep a list compare this number instead of the tools.
	next.Generation, next.sets = r.now.Load().Generation+1, r.sets
	for _, set := range r.sets {
		for _, name := range set.Tools {
			if i, ok := next.byName[name]; ok && set.Confirm {
				next.Tools[i].Confirm = true
			}
		}
	}
	r.groups = groups
	r.now.Store(next)
	r.tell()
	return nil
}

// Close waits until the running calls have ended, but no longer than the parameter patience. It
// returns true if all calls have ended; only then may the caller close what the tools use. A tool
// that ignores its context cannot be ended and is left running. Close polls every millisecond,
// which is cheap enough since it runs only once, at the end of the program.
func (r *Registry) Close(patience time.Duration) bool {
	for end := time.Now().Add(patience); r.running.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Watch returns a channel that receives a value after changes. Several changes give only one value
// if the reader is slow. A value means only that something changed; Registry.Snapshot returns the
// current state. The caller must call stop when it needs the channel no more.
func (r *Registry) Watch() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[c] = true
	return c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, c)
	}
}

// tell sends a value to every watcher. Each channel has room for one value, so the value waits for
// a busy reader, and no reader delays the change.
func (r *Registry) tell() {
	for c := range r.watchers {
		select {
		case c <- struct{}{}:
		default: // a value is already waiting
		}
	}
}

// snapshot returns a Snapshot with the tools of all groups. It returns an error if two groups have
// a tool of the same name, since a caller might otherwise get one tool today and the other after a
// restart.
func snapshot(groups []group) (*Snapshot, error) {
	s := &Snapshot{byName: map[string]int{}, owner: map[string]string{}, gone: map[string]string{}}
	others := slices.ContainsFunc(groups, func(g group) bool {
		return !g.fallback && (g.expected || len(g.tools) > 0)
	})
	for _, g := range groups {
		switch {
		case !g.fallback:
			maps.Copy(s.gone, g.gone)
		case others:
			maps.Copy(s.gone, g.gone)
			continue
		}
		for _, t := range g.tools {
			if other, taken := s.owner[t.Name]; taken {
				return nil, fmt.Errorf("tool %q of %s: %s has one of that name", t.Name, g.source,
					other)
			}
			s.owner[t.Name] = g.source
			s.byName[t.Name] = len(s.Tools)
			s.Tools = append(s.Tools, t)
		}
	}
	return s, nil
}

// voidPrefix matches a name with the six random characters that Void puts before an MCP tool's
// name. Void makes names unique in this way, and calls the tool by the longer name:
// a1b2c3_search_docs.
var voidPrefix = regexp.MustCompile(`^[a-z0-9]{6}_(.+)$`)

// Find returns the tool with the given name, or false if there is none. The name may have the
// random prefix that the client Void adds to names of tools (see voidPrefix). The full name is
// tried first, so that a tool whose own name looks prefixed is found.
func (s *Snapshot) Find(name string) (Tool, bool) {
	if i, ok := s.byName[name]; ok {
		return s.Tools[i], true
	}
	if m := voidPrefix.FindStringSubmatch(name); m != nil {
		if i, ok := s.byName[m[1]]; ok {
			return s.Tools[i], true
		}
	}
	return Tool{}, false
}

// Source returns the source that offers the tool with the given name, or an empty string if none
// does.
func (s *Snapshot) Source(name string) string { return s.owner[name] }

// The limits of a tool's name (MCP).
const (
	longestName = 128
	nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
)

// ValidName reports whether name is valid for a tool: 1 to 128 characters of A-Z a-z 0-9 _ - and
// dots. MCP's rule is wider than OpenAI's, which takes 64 characters and no dots.
func ValidName(name string) bool {
	return name != "" && len(name) <= longestName && strings.Trim(name, nameLetters) == ""
}

// looksAs reports whether t has the same name, schemas and timeout as the parameter checked, which
// is a tool that was found valid before. Schemas are the same if they are in the same memory. When
// one of a thousand tools changes, most of the others need no second check.
func (t Tool) looksAs(checked Tool) bool {
	same := func(a, b json.RawMessage) bool {
		return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	}
	return t.Name == checked.Name && t.Call != nil && t.Timeout == checked.Timeout &&
		same(t.Schema, checked.Schema) && same(t.Output, checked.Output)
}

// check returns an error if the tool is not valid. A wrong schema is found here, when the tool is
// registered, and not later by the first call or by a client that refuses the whole list.
func (t Tool) check() error {
	if !ValidName(t.Name) {
		return fmt.Errorf("tool %q: a name is 1 to 128 of A-Z a-z 0-9 . _ -", t.Name)
	}
	if t.Call == nil {
		return fmt.Errorf("tool %q has no function", t.Name)
	}
	if t.Timeout < 0 {
		return fmt.Errorf("tool %q: the time of a call cannot be %v", t.Name, t.Timeout)
	}
	// true is a schema too, and null is not; MCP and OpenAI's API require an object.
	for _, schema := range []json.RawMessage{t.Schema, t.Output} {
		var object map[string]json.RawMessage
		if len(schema) > 0 && (json.Unmarshal(schema, &object) != nil || object == nil) {
			return fmt.Errorf("tool %q: a schema is not a JSON object", t.Name)
		}
	}
	return nil
}
