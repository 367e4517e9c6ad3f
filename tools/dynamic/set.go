package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"toolnorm/internal/sleep"
	"toolnorm/internal/store"
	"toolnorm/tools"
)

// source is the name of the custom tools in the registry.
const source = "custom"

// pollEvery is how often the change counter is read, in addition to the notices: a notice can be
// lost on its way from PostgreSQL (a connection pooler does not pass notices on), and a change
// should take effect within a second or two all the same.
const pollEvery = 2 * time.Second

// Config holds where the tools are kept, and which databases they may query.
type Config struct {
	DB       *store.DB
	Registry *tools.Registry
	// the registry's; for test runs
	Fit func(t tools.Tool, args json.RawMessage) (json.RawMessage, error)
	// by name: an absolute path of SQLite[#table,…], postgres://…, or env:VARIABLE
	Connections map[string]string
	// of the connections to PostgreSQL
	Asks Asks
	// folder of the sample
	Data string
	// what DB was opened with
	Store string
	// names of built-in tools, also of those that are not offered now
	Reserved map[string]bool
	// told of each call; nil: nobody is
	Audit func(ctx context.Context, done Run)
	// told of what goes wrong beside; nil: nobody is
	Failed func(error)
}

// Set is the custom tools: those in the store, and of them those that the registry has. It is safe
// for concurrent use. The store is the source of truth, and the registry follows it: no change is
// made in the registry alone, so after a crash between the two the next reading repairs everything.
type Set struct {
	config      Config
	connections *connections
	Groups      Groups // the sets of tools

	mu      sync.Mutex // one reading at a time, so that an older one never replaces a newer one
	read    []Tool     // what was read last
	last    []Tool     // the same, with whether each is offered
	seen    int        // the number of changes at that time, or an earlier one
	made    map[int]made
	own     map[string]bool
	follows bool // other programs' changes are followed

	offeredChoices choicesCache
	promises       watcher
	changed        atomic.Pointer[func()]
	beside         sleep.Group
}

// Open makes the tables and the sample if they do not exist, reads the tools, and offers the active
// ones.
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
	s := &Set{config: c, own: map[string]bool{}, connections: newConnections(c.Connections, c.Asks,
		c.Store, sample)}
	s.Groups.set, s.promises.set = s, s
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

// Changed registers do to be called after each change of the tools, by this program or another.
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
	look := s.promises.follow(ctx)
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

// counter returns the number of changes; it is -1 when it cannot be read, which counts as a change.
func (s *Set) counter(ctx context.Context) int {
	var n int
	if err := s.config.DB.QueryRowContext(ctx, "SELECT n FROM h_custom_tool_change").Scan(
		&n); err != nil {
		return -1
	}
	return n
}

// tell calls the function that Changed registered.
func (s *Set) tell() {
	if do := s.changed.Load(); do != nil {
		(*do)()
	}
}

// errTaken is the error for a name that another tool has.
var errTaken = errors.New("a tool that comes with the program, or of another server, has that name")
