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

// source is the registry's name for the source of the custom tools.
const source = "custom"

// pollEvery is how often the change counter is read in addition to the notifications. A
// notification can be lost on its way from PostgreSQL, since a connection pooler does not pass
// notifications on. A change should take effect within a second or two all the same.
const pollEvery = 2 * time.Second

// Config says where the tools are stored, and which databases they may query.
type Config struct {
	DB       *store.DB
	Registry *tools.Registry
	// the registry's Options.Fit, for test runs
	Fit func(t tools.Tool, args json.RawMessage) (json.RawMessage, error)
	// by name: an absolute path of a SQLite file with optional #table,…, postgres://…, or
	// env:VARIABLE
	Connections map[string]string
	// settings of the PostgreSQL connections
	Asks Asks
	// folder for the sample database
	Data string
	// with what DB was opened, such as its path
	Store string
	// names of built-in tools, including those that are not offered now
	Reserved map[string]bool
	// called after each call; may be nil
	Audit func(ctx context.Context, done Run)
	// called with errors that no caller gets; may be nil
	Failed func(error)
}

// Set is the set of custom tools. It is safe for concurrent use. The store is the source of truth,
// and the registry follows it. No change is made in the registry alone, so after a crash between
// the two, the next reading repairs everything.
type Set struct {
	config      Config
	connections *connections
	Groups      Groups // the sets of tools

	mu   sync.Mutex // one reading at a time, so that an older one never replaces a newer one
	read []Tool     // the tools as they were read last
	last []Tool     // the same tools, with whether each is offered
	seen int        // the change counter when they were read, or an earlier value
	made map[int]made
	// names of the custom tools in the registry
	own     map[string]bool
	follows bool // changes by other programs are followed

	offeredChoices choicesCache
	promises       watcher
	changed        atomic.Pointer[func()]
	beside         sleep.Group
}

// Open creates the tables and the sample database if they do not exist, reads the tools, and offers
// the active ones. It returns an error if the tables cannot be created. Other errors are only
// reported to Config.Failed, and the tools are read again later.
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

// Close ends Follow and closes the connections. Calls that are still running fail. It does nothing
// if s is nil.
func (s *Set) Close() {
	if s != nil {
		s.beside.Close()
		s.connections.close()
	}
}

// Changed sets the function that is called after each change of the tools, by this program or
// another. It replaces any earlier function.
func (s *Set) Changed(do func()) { s.changed.Store(&do) }

// Follow starts reading the tools again after changes by other programs, until ctx ends or the Set
// is closed. It returns an error if it cannot listen for notifications.
func (s *Set) Follow(ctx context.Context) error {
	notices, err := s.config.DB.Listen(ctx, topic, s.config.Failed)
	if err != nil {
		return err
	}
	// The counter is read here and not in the goroutine. The refresh below sees every earlier
	// change, and a later change makes the counter differ.
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

// unread stands for a change counter that differs from every real one, after the tools could not be
// read.
const unread = -2

// counter returns the value of the counter that every saved change of a tool increases. It returns
// -1 if the counter cannot be read, which callers take for a change.
func (s *Set) counter(ctx context.Context) int {
	var n int
	if err := s.config.DB.QueryRowContext(ctx, "SELECT n FROM h_custom_tool_change").Scan(
		&n); err != nil {
		return -1
	}
	return n
}

// tell calls the function that Changed has set, if there is one.
func (s *Set) tell() {
	if do := s.changed.Load(); do != nil {
		(*do)()
	}
}

// errTaken is the error for a name that another tool has.
var errTaken = errors.New("a tool that comes with the program, or of another server, has that name")
