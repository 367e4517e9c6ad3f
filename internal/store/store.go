// Package store opens the database in which tools and settings are kept, SQLite or PostgreSQL,
// makes its tables, and reports changes by other programs.
//
// Statements are written with $1, $2, …, which both kinds accept. Each domain passes its own steps
// to Migrate, and declares the methods that it needs from a database.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"toolnorm/internal/sleep"
)

// Kind is the kind of a database. The few statements that differ between the two kinds depend on
// it.
type Kind uint8

// The kinds of database.
const (
	SQLite Kind = iota
	Postgres
)

// busyWait is how long a statement waits while another program writes. At a first start, creating
// the tables may take as long. Our own transactions take milliseconds, so a longer wait means that
// a program is stuck.
const busyWait = 5 * time.Second

// connections is the largest number of open connections of a program. By default PostgreSQL accepts
// 100 from all programs together.
const connections = 8

// DB is an open database. It may be used by several goroutines at once.
type DB struct {
	*sql.DB
	Kind      Kind
	where     string // the argument of Open, which may contain a password
	steps     string // the table of Migrate, in PostgreSQL with its schema
	listeners sleep.Group
}

// Open opens the database that the parameter where names: the absolute path of a SQLite file or the
// URL of a PostgreSQL database, postgres://…. A missing file is created, with access for its owner
// only (0700 for the folder, 0600 for the file). It fails if the file cannot be opened, the server
// does not answer before ctx ends, or the path is relative. A relative path is refused because
// toolnorm and toolrun start in different folders, and each would create a file. Errors never
// contain the password of a URL.
func Open(ctx context.Context, where string) (*DB, error) {
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		return openPostgres(ctx, where)
	}
	if !filepath.IsAbs(where) {
		return nil, fmt.Errorf("store: neither an absolute path nor a postgres:// URL: %q", where)
	}
	return openSQLite(ctx, where)
}

// Lazy is a database with the tables of one domain, which is opened when it is first needed. It may
// be used by several goroutines at once.
type Lazy struct {
	Where, Domain string // as Open and Migrate take them
	Steps         []Step

	mu sync.Mutex
	db *DB // nil until it is needed
}

// Open returns the database. The first call opens it as the function [Open] does, and creates or
// changes the tables of l.Domain by l.Steps. If the file does not exist and make is true, Open
// creates it; if make is false, Open returns nil without an error. It returns an error if the
// database cannot be opened or its tables cannot be changed.
func (l *Lazy) Open(ctx context.Context, make bool) (*DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db != nil {
		return l.db, nil
	}
	if _, err := os.Stat(l.Where); !make && filepath.IsAbs(l.Where) &&
		errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := Open(ctx, l.Where)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, l.Domain, l.Steps...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	l.db = db
	return db, nil
}

// Close closes the database, if it was opened.
func (l *Lazy) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db == nil {
		return nil
	}
	return l.db.Close()
}

// Close ends all listeners, waits up to closeWait for running statements, and closes the database.
// The wait is needed because the Close of database/sql does not wait: a connection that runs a
// statement is closed later, and until that is done SQLite creates and removes files beside the
// database.
func (d *DB) Close() error {
	d.listeners.Close()
	for end := time.Now().Add(closeWait); d.Stats().InUse > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return d.DB.Close()
}

// closeWait is long enough for a statement whose context has ended, and too short to be noticed at
// the end of the program.
const closeWait = time.Second

// openSQLite opens a file in WAL mode, in which readers do not wait for a writer, in this program
// or others. Synchronous mode NORMAL is safe with WAL: a crash of the machine may lose the last
// commits, but never damages the file. The schema of the file is not trusted, since a user may
// replace the file. Foreign keys are turned on, since they are off in SQLite by default. It fails
// if the file cannot be created or opened.
func openSQLite(ctx context.Context, path string) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	// SQLite would make it readable for everyone
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	// They are part of the URL, since each connection of the pool is configured by it.
	options := url.Values{
		"_busy_timeout": {fmt.Sprint(busyWait.Milliseconds())}, "_journal_mode": {"WAL"},
		"_synchronous":  {"NORMAL"},
		"_foreign_keys": {"1"}, "_txlock": {"immediate"},
		"_pragma": {"trusted_schema(0)", cachePages},
	}
	connector, err := sqlite.NewConnector(
		(&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", path, err)
	}
	db := &DB{DB: sql.OpenDB(connector), Kind: SQLite, where: path, steps: stepsTable}
	db.SetMaxOpenConns(connections)
	if err := patiently(ctx, db.PingContext); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w", path, err), db.Close())
	}
	return db, nil
}

// cachePages sets how much of a file each connection caches. SQLite's default of 2 MB is less than
// a search in a large knowledge base reads again and again.
const cachePages = "cache_size(-16000)"

// patiently calls the function try, and calls it again while it fails because the file is locked,
// for at most busyWait. It returns the function's last error. Programs that switch a new file to
// WAL at the same time do not wait for each other, because the busy timeout does not apply to that
// switch.
func patiently(ctx context.Context, try func(context.Context) error) error {
	for deadline := time.Now().Add(busyWait); ; {
		err := try(ctx)
		var locked *sqlite.Error
		if !errors.As(err, &locked) || locked.Code()&0xFF != sqliteBusy ||
			time.Now().After(deadline) {
			return err
		}
		if !sleep.For(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// sqliteBusy is SQLite's error code SQLITE_BUSY.
const sqliteBusy = 5

// openPostgres opens a pool of connections and asks for the current schema, in which tables are
// created. The error for an invalid URL would contain the URL with its password, so it is replaced.
func openPostgres(ctx context.Context, where string) (*DB, error) {
	config, err := pgx.ParseConfig(where)
	if err != nil {
		return nil, errors.New("store: the postgres:// URL cannot be read")
	}
	db := &DB{DB: stdlib.OpenDB(*config), Kind: Postgres, where: where, steps: stepsTable}
	db.SetMaxOpenConns(connections)
	var schema sql.NullString // null: no schema of the search path exists
	if err := db.QueryRowContext(ctx, "SELECT current_schema()").Scan(&schema); err != nil {
		return nil, errors.Join(fmt.Errorf("store: PostgreSQL at %s does not answer: %w",
			config.Host, err), db.Close())
	}
	if schema.Valid {
		db.steps = pgx.Identifier{schema.String, stepsTable}.Sanitize()
	}
	return db, nil
}
