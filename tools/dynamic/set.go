package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"toolnorm/internal/sleep"
	"toolnorm/internal/store"
	"toolnorm/tools"
)

// source is the name of the custom tools in the registry.
const source = "custom"

// pollEvery is how often the change counter is read, beside the notices: a notice can
// be lost between PostgreSQL and here (a connection pooler in between passes none on),
// and a change should be live within a second or two all the same.
const pollEvery = 2 * time.Second

// Config says where the tools are kept, and what they may ask.
type Config struct {
	DB          *store.DB
	Registry    *tools.Registry
	Fit         func(t tools.Tool, args json.RawMessage) (json.RawMessage, error) // the registry's; for test runs
	Connections map[string]string                                                 // by name: an absolute path of SQLite[#table,…], postgres://…, or env:VARIABLE
	Asks        Asks                                                              // of the connections to PostgreSQL
	Data        string                                                            // folder of the sample
	Store       string                                                            // what DB was opened with
	Reserved    map[string]bool                                                   // names of built-in tools, also of those that are not offered now
	Audit       func(ctx context.Context, done Run)                               // told of each call; nil: nobody is
	Failed      func(error)                                                       // told of what goes wrong beside; nil: nobody is
}

// Set is the custom tools: those in the store, and of them those that the registry has.
// It may be used by many at once. The store is the truth, and the registry follows it:
// no change goes to the registry alone, so a crash between the two leaves nothing to
// repair but the next reading.
type Set struct {
	config      Config
	connections *connections

	mu      sync.Mutex // one reading at a time, so that an older one never replaces a newer one
	last    []Tool     // what was read last
	own     map[string]bool
	follows bool // other programs' changes are followed

	offeredChoices choicesCache
	outcomes       outcomes
	changed        atomic.Pointer[func()]
	beside         sleep.Group
}

// Open makes the tables and the sample when they are not there, reads the tools, and
// offers the active ones.
func Open(ctx context.Context, c Config) (*Set, error) {
	if c.Audit == nil {
		c.Audit = func(context.Context, Run) {}
	}
	if c.Failed == nil {
		c.Failed = func(error) {}
	}
	sample := filepath.Join(c.Data, "db", "sample.db")
	if err := makeSample(ctx, sample); err != nil {
		c.Failed(err) // a folder that cannot be written to: the tools of other connections work
	}
	s := &Set{config: c, own: map[string]bool{}, connections: newConnections(c.Connections, c.Asks, c.Store, sample)}
	if err := c.DB.Migrate(ctx, "custom_tools", steps()...); err != nil {
		return nil, fmt.Errorf("custom tools: %w", err)
	}
	if err := s.refresh(ctx); err != nil {
		c.Failed(err) // and is tried again: whatever is wrong with the tools, everything else works
	}
	return s, nil
}

// Close ends Follow and closes the connections. Calls that still run fail.
func (s *Set) Close() {
	if s != nil {
		s.beside.Close()
		s.connections.close()
	}
}

// Changed has do called after each change of the tools, by this program or another.
func (s *Set) Changed(do func()) { s.changed.Store(&do) }

// Follow reads the tools again after changes by other programs, until ctx ends.
func (s *Set) Follow(ctx context.Context) error {
	notices, err := s.config.DB.Listen(ctx, topic, s.config.Failed)
	if err != nil {
		return err
	}
	// Read here and not in the goroutine: what changed since the tools were read is
	// seen by the reading below, and what changes from now on by another number.
	seen := s.counter(ctx)
	if err := s.refresh(ctx); err != nil {
		seen = unread
		s.config.Failed(err)
	}
	s.mu.Lock()
	s.follows = true
	s.mu.Unlock()
	look := s.describer(ctx)
	s.beside.Go(ctx, func(ctx context.Context) {
		told := ""
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case _, open := <-notices:
				if !open {
					return
				}
			case <-tick.C:
				n := s.counter(ctx)
				if n == seen {
					continue
				}
				seen = n
			}
			err := s.refresh(ctx)
			if err != nil {
				seen = unread // tried again with the next tick
			}
			look()
			// The same sentence every two seconds would bury the rest of the log.
			if err != nil && ctx.Err() == nil && err.Error() != told {
				s.config.Failed(err)
			}
			told = ""
			if err != nil {
				told = err.Error()
			}
		}
	})
	return nil
}

// unread is the count of changes of a set whose tools could not be read.
const unread = -2

// counter is the number of changes; -1 when it cannot be read, which counts as a
// change.
func (s *Set) counter(ctx context.Context) int {
	var n int
	if err := s.config.DB.QueryRowContext(ctx, "SELECT n FROM h_custom_tool_change").Scan(&n); err != nil {
		return -1
	}
	return n
}

// refresh reads the tools and offers the active ones. When nothing changed nobody is
// told. Reading all is cheaper than keeping track: a thousand tools are read in
// milliseconds, changes are rare, and a reading cannot be out of step with the store.
func (s *Set) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := readTools(ctx, s.config.DB, 0)
	if err != nil {
		return err
	}
	if s.last != nil && same(s.last, all) {
		return nil
	}
	for range 3 { // another source may take a name between the look and the change
		if err = s.offer(ctx, all); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	s.last = append([]Tool{}, all...) // not nil, which is a set that was not read yet
	if do := s.changed.Load(); do != nil {
		(*do)()
	}
	return nil
}

// same says that two readings of the store are the same. SQLite tells of every commit
// to the file, also of a document that was imported; clients must not reload their
// lists for that.
func same(a, b []Tool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		one := a[i]
		// What this program found out about the tool is no change of it.
		one.Tokens, one.Offered, one.Problem = b[i].Tokens, b[i].Offered, b[i].Problem
		if !reflect.DeepEqual(one, b[i]) {
			return false
		}
	}
	return true
}

// offer puts the active tools into the registry, and notes in each tool whether it is
// there. One that cannot be offered keeps no other one from it. Names of others come
// first: a remote server's or a built-in tool's callers were there before, and a custom
// tool that took such a name would get their calls.
func (s *Set) offer(ctx context.Context, all []Tool) error {
	taken := map[string]bool{}
	for _, t := range s.config.Registry.Snapshot().Tools {
		taken[t.Name] = !s.own[t.Name]
	}
	var offered []tools.Tool
	gone, own, keys := map[string]string{}, map[string]bool{}, map[string]bool{}
	for i := range all {
		t := &all[i]
		t.Offered = false
		if _, n, err := t.offered(unknownChoices); err == nil {
			t.Tokens = n
		}
		if !t.Active {
			gone[t.Name] = fmt.Sprintf("tool %s is not active", t.Name)
			continue
		}
		one, key, why := s.ready(ctx, t, taken[t.Name] || s.config.Reserved[t.Name])
		if why == "" && own[t.Name] {
			why = "another custom tool has that name"
			t.Problem = why
			continue // the name can be called
		}
		if why != "" {
			t.Problem = why
			gone[t.Name] = fmt.Sprintf("tool %s cannot be called: %s", t.Name, why)
			continue
		}
		t.Offered = true
		own[t.Name] = true
		keys[key] = true
		offered = append(offered, one)
	}
	if err := s.config.Registry.Replace(source, gone, offered...); err != nil {
		return err
	}
	s.own = own
	s.outcomes.keep(keys)
	return nil
}

// ready is a tool of the registry with the key of its statement, or why there is none. It does not ask the databases:
// a start must not wait for one that is down, and what they would refuse they refuse at
// the call.
func (s *Set) ready(ctx context.Context, t *Tool, taken bool) (one tools.Tool, key, why string) {
	switch {
	case t.Problem != "":
		return one, "", t.Problem
	case taken:
		return one, "", "a built-in or remote tool has that name"
	}
	c, p := s.compile(ctx, t.Draft, false)
	if c == nil {
		return one, "", (&Refused{p}).Error()
	}
	return c.tool(s.config.Audit), c.key(), ""
}

// errTaken is of a name that is another tool's.
var errTaken = errors.New("a tool that comes with the program, or of another server, has that name")
