package dynamic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"toolnorm/internal/sqlsafe"
)

// Sample is the name of the connection that comes with the program. Its data is fictitious.
const Sample = "sample"

// connection is a database that SQL tools may query. It is opened when it is first needed. If that
// fails, the next call tries again, so a server that is down keeps nothing else from working. A
// SQLite file is opened read-only, and a PostgreSQL role is restricted to SELECT. Unless
// Asks.AnyRole is set, a role that can do more is refused when it connects. So a superuser's URL in
// the settings results in an error and not in a tool.
type connection struct {
	Name   string
	Kind   sqlsafe.Kind
	where  string // a path or a URL, which may contain a password
	tables []string
	asks   Asks
	made   bool  // it is the sample, whose data is fictitious
	odd    error // why its setting cannot be used

	mu sync.Mutex
	db database // nil: not open
}

// connections contains the connection to the sample database and the connections in the settings.
type connections struct {
	all map[string]*connection
}

// ReadConnections returns the connections in the settings, by name, as the command serve reads
// them. It is for programs that do not parse flags. The parameter file has the content of the
// settings file. The parameter env is the value of the environment variable: NAME=WHERE, separated
// by semicolons. If env is not empty, the connections in file are ignored. ReadConnections returns
// an error if env or file has the wrong form.
func ReadConnections(env string, file map[string]any) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range []string{"connection", "connections"} {
		switch value := file[name].(type) {
		case nil:
		case map[string]any:
			for name, where := range value {
				all[name] = fmt.Sprint(where)
			}
		default:
			return nil, fmt.Errorf("%s: must be a mapping of names to databases", name)
		}
	}
	if env == "" {
		return all, nil
	}
	clear(all)
	for word := range strings.SplitSeq(env, ";") {
		name, where, ok := strings.Cut(word, "=")
		if !ok {
			return nil, errors.New(
				"TOOLNORM_CONNECTION: each connection is NAME=WHERE, with ; between")
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(where)
	}
	return all, nil
}

// Asks are the settings for statements on every PostgreSQL connection.
type Asks struct {
	Functions []string     // further functions that may be called
	AnyRole   bool         // accept a role that can do more than read, and call Warn
	Warn      func(string) // may be nil
}

// newConnections returns the connections in the settings. The settings map a name to the absolute
// path of a SQLite file, with #table,table for the tables that may be read, or to postgres://…. A
// value env:VARIABLE means that an environment variable contains either. The parameter own is the
// file of this program's own store, which is refused unless tables are listed. Only settings make
// connections, never the page, since an author of tools could otherwise read any file of the
// machine.
//
// A connection that cannot be used stays in the result with the reason, so that a tool that names
// no connection does not query another one instead.
func newConnections(settings map[string]string, asks Asks, own, sample string) *connections {
	all := map[string]*connection{Sample: {Name: Sample, where: sample, tables: sampleNames,
		made: true}}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		one := &connection{Name: name, where: settings[name], asks: asks}
		if err := one.read(own); err != nil {
			one.odd = fmt.Errorf("the connection %s cannot be used: %w", one.Name, err)
			if asks.Warn != nil {
				asks.Warn(one.odd.Error())
			}
		}
		all[one.Name] = one
	}
	return &connections{all}
}

// read parses the setting in c.where into the other fields of c. The parameter own is the file of
// this program's own store, which is refused unless tables are listed. read returns an error if the
// name or the setting is not valid, or if the setting's environment variable is not set.
func (c *connection) read(own string) error {
	if !toolName.MatchString(c.Name) {
		c.Name = fmt.Sprintf("%.64q", c.Name)
		return errors.New("a name is a letter and up to 63 of A-Z a-z 0-9 _ -")
	}
	if variable, ok := strings.CutPrefix(c.where, "env:"); ok {
		if c.where = os.Getenv(variable); c.where == "" {
			return fmt.Errorf("the environment has no %s", variable)
		}
	}
	if strings.HasPrefix(c.where, "postgres://") || strings.HasPrefix(c.where, "postgresql://") {
		c.Kind = sqlsafe.PostgreSQL
		return nil
	}
	return c.file(own)
}

// file parses the path of a SQLite file into c. It returns an error if the path is not absolute. It
// also returns an error if the file is the program's own store (the parameter own) and no tables
// are listed.
func (c *connection) file(own string) error {
	path, list, _ := strings.Cut(c.where, "#")
	if !filepath.IsAbs(path) {
		// not repeated: it may be a URL with a password
		return errors.New("neither an absolute path nor a postgres:// URL")
	}
	c.where = path
	for table := range strings.SplitSeq(list, ",") {
		if table = strings.TrimSpace(table); table != "" {
			c.tables = append(c.tables, table)
		}
	}
	if len(c.tables) == 0 && sameFile(path, own) {
		return errOwnStore
	}
	return nil
}

// sameFile reports whether two paths lead to the same file, also by links. Comparing the paths is
// not enough: /data/link.db may be a link to the store, which contains the session keys and the
// drafts of others.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// named returns the connection with the given name. An empty name means the only configured one, or
// the sample if none is configured. It returns an error if there is no such connection, or if the
// name is empty and there are several.
func (c *connections) named(name string) (*connection, error) {
	if name == "" {
		name = c.standard()
	}
	if name == "" {
		return nil, fmt.Errorf("the tool names no connection, and there are several: %s",
			strings.Join(c.names(), ", "))
	}
	if c.all[name] == nil {
		return nil, fmt.Errorf("there is no connection %q; there are %s", name,
			strings.Join(c.names(), ", "))
	}
	return c.all[name], nil
}

// standard returns the name of the connection for tools that name none, or "" if there are several.
func (c *connections) standard() string {
	switch names := c.names(); len(names) {
	case 1: // the sample, if no setting has replaced it
		return names[0]
	case 2:
		if c.all[Sample].made {
			return names[1-slices.Index(names, Sample)]
		}
	}
	return ""
}

// names returns the sorted names of the connections.
func (c *connections) names() []string { return slices.Sorted(maps.Keys(c.all)) }

// database returns the open database, and opens it if necessary. It returns an error if the setting
// is not usable or opening fails.
func (c *connection) database(ctx context.Context) (database, error) {
	// The lock is held while the database is opened. Calls at the same time wait for one pool,
	// instead of opening pools of their own that would leak.
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db != nil || c.odd != nil {
		return c.db, c.odd
	}
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	if c.Kind == sqlsafe.PostgreSQL {
		db, err := sqlsafe.OpenPostgres(c.postgres())
		if err != nil {
			return nil, fmt.Errorf("the connection %s cannot be opened: %w", c.Name, err)
		}
		c.db = db
		return db, nil
	}
	db, err := sqlsafe.OpenSQLite(ctx, sqlsafe.SQLiteConfig{Path: c.where, Tables: c.tables})
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil && !exists(c.where):
		return nil, fmt.Errorf("the connection %s cannot be opened: its file is not there", c.Name)
	case err != nil:
		return nil, fmt.Errorf("the connection %s cannot be opened: %w", c.Name, err)
	}
	c.db = db
	return db, nil
}

// postgres returns the configuration for opening a PostgreSQL connection. It has the settings that
// apply to every statement.
func (c *connection) postgres() sqlsafe.PostgresConfig {
	return sqlsafe.PostgresConfig{URL: c.where, Functions: c.asks.Functions,
		AnyRole: c.asks.AnyRole, Warn: func(text string) {
			if c.asks.Warn != nil {
				c.asks.Warn("connection " + c.Name + ": " + text)
			}
		}}
}

// exists reports whether there is a file at path that can be examined.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// close closes all open databases.
func (c *connections) close() {
	for _, one := range c.all {
		one.mu.Lock()
		switch db := one.db.(type) {
		case *sqlsafe.SQLiteDB:
			_ = db.Close()
		case *sqlsafe.PostgresDB:
			db.Close()
		}
		one.mu.Unlock()
	}
}

// Connection describes a connection for people, without its path or URL.
type Connection struct {
	Name    string             `json:"name"`
	Kind    string             `json:"kind"`
	Error   string             `json:"error,omitempty"`   // why it cannot be queried now
	Default bool               `json:"default,omitempty"` // tools that name no connection use it
	MadeUp  bool               `json:"made_up,omitempty"` // its data is fictitious
	Tables  []sqlsafe.Relation `json:"tables"`
}

// Connections returns the databases that SQL tools may query, with their tables. They are queried
// in parallel, since one may be slow. If one cannot be queried, its Error says why.
func (s *Set) Connections(ctx context.Context) []Connection {
	// In the order of the names, so that the explorer does not jump.
	names := s.connections.names()
	all := make([]Connection, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() {
			on := s.connections.all[name]
			all[i] = Connection{Name: name, Kind: "sqlite", Tables: []sqlsafe.Relation{},
				Default: name == s.connections.standard(), MadeUp: on.made}
			if on.Kind == sqlsafe.PostgreSQL {
				all[i].Kind = "postgres"
			}
			db, err := on.database(ctx)
			if err == nil {
				var found []sqlsafe.Relation
				if found, err = db.Relations(ctx); found != nil {
					all[i].Tables = found
				}
			}
			if err != nil {
				all[i].Error = err.Error()
			}
		})
	}
	asked.Wait()
	return all
}
