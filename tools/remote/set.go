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

// Config configures a Set. Path and Registry are required; all other fields may be zero.
type Config struct {
	Path     string          // of mcp.json
	Registry *tools.Registry // gets the servers' tools
	Version  string          // version of this program, for the servers
	Accounts string          // file with the user's sign-ins; empty: requests are not signed
	Log      zerolog.Logger

	CallTime time.Duration // of one call; 0: 30 s
	// how long a request waits for a server that does not list its tools; 0: 5 s
	ListTime time.Duration

	// Private reports whether the caller may add a server at a private or loopback address while
	// the program runs. If Private is nil, no caller may.
	Private func(context.Context) bool
}

// Set is the set of MCP servers in mcp.json. It is safe for concurrent use. The file is
// authoritative: every change is written into it first and then read from it, so that a restart
// changes nothing.
type Set struct {
	cfg     Config
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	links  map[string]*link // by name, only servers that are not disabled
	file   *file
	stamp  stamp // of the file when it was read or written last
	broken error // why the file cannot be read now; the last valid content is used meanwhile

	relayMu sync.Mutex
	relays  map[relayKey]*relay
	visits  visits
	levels  map[string]json.RawMessage // the log level that each session has set, as it was sent
	places  directory
	tell    atomic.Pointer[func(method string)]
}

// stamp has what shows that a file has changed, such as its size and time. Two edits of the same
// size within one step of the file system's clock look alike, but people do not edit that fast.
type stamp struct {
	at   time.Time
	size int64
}

// watchTime is how often the file is checked for changes. A check is one stat, so no file events
// are needed, which differ by system and miss files that are replaced.
const watchTime = 2 * time.Second

// Open reads mcp.json, starts to connect to its servers, and returns without waiting for them:
// their tools appear when they answer. A server or a whole file that cannot be used is logged and
// listed (List), and read again when the file changes. Everything else still works. The caller must
// Close the Set when it is no longer needed.
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

// Close ends all connections and commands, and waits until they have ended. That takes some seconds
// for a command that does not end by itself.
func (s *Set) Close() {
	s.end()
	s.running.Wait()
}

// take replaces the set's file by f: it connects to new servers and ends the connections of removed
// servers. A server whose entry is unchanged keeps its connection, so that an edit of one server
// does not end the calls of the others. The caller holds s.mu.
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

// connect makes a link that keeps a server of the file connected. It does nothing if an equal entry
// has a link already, and ends the link of another entry of the same name. The caller holds s.mu.
func (s *Set) connect(w written) {
	e := w.entry
	old := s.links[e.Name]
	// It is kept, since a call may be running on it.
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

// forget ends the connection of a server and removes the server from s.links. Its tools are removed
// later, together with its place in the registry's order (see take), so that clients of /mcp are
// notified only once. The caller holds s.mu.
func (s *Set) forget(l *link) {
	l.end()
	delete(s.links, l.entry.Name)
}

// withdraw ends the connection of a server that stays in the file, for example because it was
// disabled, and removes its tools. The caller holds the mu of the set.
func (l *link) withdraw() {
	l.set.forget(l)
	_ = l.set.cfg.Registry.Set(source(l.entry.Name)) // setting no tools cannot fail
}

// source returns the name under which the registry groups the tools of a server. The parameter name
// is the server's name. All tools of one group are replaced together, and no others.
func source(name string) string { return "mcp server " + name }

// Settle waits until every server has answered or failed once, but for each server no longer than
// Config.ListTime after it was added. It is for clients that request the tools only once, right at
// the start.
func (s *Set) Settle(ctx context.Context) { s.Collect(ctx, s.Names()) }

// publish registers a server's tools. It returns the names of the tools that it leaves out because
// another source has them. It returns an error if the registry refuses the tools, or if the server
// has been removed meanwhile. In that case a late list would bring back tools that no server has
// any more.
func (s *Set) publish(l *link, all []tools.Tool) (taken []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The name may belong to another link by now, if it was removed and added again.
	if s.links[l.entry.Name] != l {
		return nil, errRemoved
	}
	name := source(l.entry.Name)
	for range 3 { // another source may take a name between the check and the change
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

// errRemoved is the error for work on a server that has been removed in the meantime.
var errRemoved = errors.New("the server has been removed")

// change reads the file, changes it by the function do, saves it and uses it from then on. It
// starts from the file and not from memory, so that an edit that watch has not seen yet is not
// lost. A removed file is written again with its last content. change returns an error, and changes
// nothing, if the file cannot be read or written, or if do returns an error.
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

// fresh returns the content of mcp.json as it is now, for a caller that will change and save it. If
// the file was removed, fresh returns a copy of the content that the set has in memory. If the
// caller then cannot save its change, the content in memory is still the old one. fresh returns an
// error if the file cannot be read.
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

// Add registers a server by its URL; a server that has the name already gets the new URL. A request
// cannot add a command, and variables are refused: http://evil.example/${OPENAI_API_KEY} would send
// a key there. The error is fault.Invalid if the name, URL or a header is not allowed, and
// fault.Unable if the file cannot be changed.
func (s *Set) Add(ctx context.Context, a Asked) error {
	e := Entry{Name: a.Name, URL: a.URL, Headers: a.Headers, Include: a.Include, Exclude: a.Exclude}
	// It is written into the file, so that it still holds after a restart.
	if s.cfg.Private == nil || !s.cfg.Private(ctx) {
		e.Private = new(bool)
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

// Remove removes a server. The server's tools are gone when Remove returns; its running calls end
// with the connection. It returns an error of kind fault.NotFound if no server has the name, or an
// error if the file cannot be changed.
func (s *Set) Remove(name string) error {
	return s.change(func(f *file) error {
		if !f.drop(name) {
			return noServer(name)
		}
		return nil
	})
}

// noServer returns the fault for a name that no server of the file has.
func noServer(name string) error {
	return fault.New(fault.NotFound, "there is no MCP server %q", name)
}

// errNone means that no server in use has the given name. For Collect, a disabled server is not in
// use.
var errNone = errors.New("there is no such server")

// Names returns the names of the servers in use. They are in the order of the file, in which the
// agent also offers their tools.
func (s *Set) Names() []string {
	var names []string
	for _, l := range s.all() {
		names = append(names, l.entry.Name)
	}
	return names
}

// Collect returns the tools of the named servers, which it asks at the same time. The map down has
// the reason for each server that does not answer. Collect waits at most Config.ListTime for a
// server that has just been added or lost, counted from that moment and not for each request again.
// A server that is known to be down is left out at once, and tried again in the background.
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
