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
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"toolnorm/internal/sleep"
)

// Kind is the kind of a database.
// Statements that differ between the two ask for it; most do not.
type Kind uint8

// The kinds of database.
const (
	SQLite Kind = iota
	Postgres
)

// busyWait is how long a statement waits for another program that writes. A first start waits as
// long for its tables. Our own transactions take milliseconds, so a longer wait means that a
// program is stuck.
const busyWait = 5 * time.Second

// connections is the most connections that a program holds open. PostgreSQL accepts 100 from all
// programs together by default.
const connections = 8

// DB is an open database. It may be used by several goroutines at once.
type DB struct {
	*sql.DB
	Kind      Kind
	where     string // the argument of Open; it may contain a password
	steps     string // the table of Migrate, with its schema where there are any
	listeners sleep.Group
}

// Open opens the database at where: the absolute path of a SQLite file, which is made if it does
// not exist (with access for its owner only: 0700 for the folder, 0600 for the file), or the URL of
// a PostgreSQL database, postgres://…, which has to answer within ctx. Errors never contain parts
// of a URL. A relative path is refused, as toolnorm and toolrun start in different folders and
// would each make a file.
func Open(ctx context.Context, where string) (*DB, error) {
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		return openPostgres(ctx, where)
	}
	if !filepath.IsAbs(where) {
		return nil, fmt.Errorf("store: neither an absolute path nor a postgres:// URL: %q", where)
	}
	return openSQLite(ctx, where)
}

// OpenFor opens a database as [Open] does, and brings the tables of a domain up to date. Unless
// make is set, it makes no file: where there is none, the database is nil.
func OpenFor(ctx context.Context, where, domain string, make bool, steps ...Step) (*DB, error) {
	if _, err := os.Stat(where); !make && filepath.IsAbs(where) && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := Open(ctx, where)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, domain, steps...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close ends all listeners, waits up to closeWait for running statements, then closes the database.
// database/sql does not wait: it closes a connection in use once that is returned, and until then
// SQLite makes and removes files beside its own.
func (d *DB) Close() error {
	d.listeners.Close()
	for end := time.Now().Add(closeWait); d.Stats().InUse > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return d.DB.Close()
}

// closeWait is long enough for a statement whose context has ended, and short enough not to be
// noticed at the program's end.
const closeWait = time.Second

// openSQLite opens a file in WAL mode, so that readers and one writer, of this program and others,
// do not wait for each other. NORMAL is safe with WAL: a crash of the machine may take back the
// last commits, and never harms the file. The schema of the file is not trusted, since a user may
// put another file there. Foreign keys are off in SQLite by default.
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

// cachePages is how much of a file each connection holds. SQLite's own 2 MB are less than what a
// search in a large knowledge base looks up again and again.
const cachePages = "cache_size(-16000)"

// patiently tries again while the file is locked: programs that switch a new file to WAL at the
// same time do not wait for each other. The busy timeout does not cover that change of mode.
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

// sqliteBusy is SQLITE_BUSY.
const sqliteBusy = 5

// openPostgres opens a pool and asks once, for the schema in which tables are made. The error for
// an invalid URL would repeat it with its password, so it is not passed on.
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
