// Package shared keeps what all replicas of the program must know, and what no client carries:
// replies that are gone on with by their id, calls that are too long for a command line, ended
// sessions, and secrets. It is kept in PostgreSQL, for as long as it is good; a program with a
// SQLite file is alone, and keeps these in memory. So do the counts of callers with limits.
// Replicas also ask each other (Desk), by letters in the same table.
package shared

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"toolnorm/internal/store"
)

// The bounds of what one owner has of one kind, the oldest of which goes first. They are those that
// one process has in memory.
const (
	mostKept  = 1000
	mostBytes = 64 << 20
)

const (
	// for one statement; who waits longer waits for a database that is away
	askWait    = 3 * time.Second
	pruneEvery = 64 // entries, until what is old or too much is removed
)

// steps make the table. What is kept there is lost when it is dropped, and no more.
var steps = []store.Step{store.SQL("shared", `CREATE TABLE h_shared (
	kind TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, body BYTEA NOT NULL, taken BOOLEAN NOT NULL DEFAULT false,
	since TIMESTAMPTZ NOT NULL DEFAULT now(), until TIMESTAMPTZ NOT NULL, PRIMARY KEY (kind, id));
	CREATE INDEX h_shared_until ON h_shared (until)`)}

// Store is the table of one program. It may be used by many at once.
type Store struct {
	db      *store.DB
	name    string // of this replica
	entries atomic.Int64
}

// Open makes the table where there is none. It is nil with a database that is not shared.
func Open(ctx context.Context, db *store.DB) (*Store, error) {
	if db == nil || db.Kind != store.Postgres {
		return nil, nil
	}
	if err := db.Migrate(ctx, "shared", steps...); err != nil {
		return nil, err
	}
	return &Store{db: db, name: newName()}, nil
}

// asking bounds one statement. It belongs to no request: what is kept behind a reply is kept also
// when its client has left.
func asking() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), askWait)
}

// Put keeps a body for so long. One of the same id is replaced.
func (s *Store) Put(kind, id, owner string, body []byte, life time.Duration) error {
	ctx, cancel := asking()
	defer cancel()
	if len(body) > mostBytes {
		return fmt.Errorf("shared: %d bytes are more than %d", len(body), mostBytes)
	}
	if body == nil {
		body = []byte{}
	}
	_, err := s.db.ExecContext(ctx,
		`INSERT INTO h_shared (kind, id, owner, body, until) VALUES ($1, $2, $3, $4, now() + $5 * INTERVAL '1 second')
		ON CONFLICT (kind, id) DO UPDATE SET owner = excluded.owner, body = excluded.body, until = excluded.until`, kind, id, owner, body, life.Seconds())
	if err == nil && s.entries.Add(1)%pruneEvery == 0 {
		err = s.prune(ctx, kind)
	}
	return err
}

// prune removes what is old, and what an owner has too much of one kind.
func (s *Store) prune(ctx context.Context, kind string) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM h_shared WHERE until < now()"); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, `DELETE FROM h_shared h USING (SELECT kind, id,
			row_number() OVER newest AS n, sum(length(body)) OVER newest AS bytes
			FROM h_shared WHERE kind = $1 AND owner <> '' WINDOW newest AS (PARTITION BY owner ORDER BY since DESC, id)) old
		WHERE h.kind = old.kind AND h.id = old.id AND (old.n > $2 OR old.bytes > $3)`, kind, mostKept, mostBytes)
	return err
}

// Get returns a body of that owner; false if there is none.
func (s *Store) Get(kind, id, owner string) (body []byte, ok bool, err error) {
	return s.row(
		"SELECT body FROM h_shared WHERE kind = $1 AND id = $2 AND owner = $3 AND until > now()",
		kind, id, owner)
}

// Take returns a body once; false if there is none, or it was taken. Get finds it still.
func (s *Store) Take(kind, id, owner string) (body []byte, ok bool, err error) {
	return s.row(
		"UPDATE h_shared SET taken = true WHERE kind = $1 AND id = $2 AND owner = $3 AND until > now() AND NOT taken RETURNING body", kind, id, owner)
}

// Remove removes a body, and reports whether there was one.
func (s *Store) Remove(kind, id, owner string) (bool, error) {
	_, ok, err := s.row(
		"DELETE FROM h_shared WHERE kind = $1 AND id = $2 AND owner = $3 AND until > now() RETURNING body", kind, id, owner)
	return ok, err
}

// Note is a body of one kind, and how long ago it was put.
type Note = struct {
	Body []byte
	Age  time.Duration
}

// Others returns what was put of a kind under other ids than this one, for so long each.
func (s *Store) Others(kind, id string, life time.Duration) ([]Note, error) {
	ctx, cancel := asking()
	defer cancel()
	return store.Read(ctx, s.db, nil, func(r *store.Row) (n Note, err error) {
		var left float64
		err = r.Scan(&n.Body, &left)
		n.Age = max(life-time.Duration(left*float64(time.Second)), 0)
		return n, err
	}, "SELECT body, EXTRACT(EPOCH FROM until - now())::float8 FROM h_shared WHERE kind = $1 AND id <> $2 AND until > now()", kind, id)
}

// row asks for the body of one row.
func (s *Store) row(statement string, args ...any) (body []byte, ok bool, err error) {
	ctx, cancel := asking()
	defer cancel()
	err = s.db.QueryRowContext(ctx, statement, args...).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// secretBytes is how long a secret is, and secretLife for how long it is kept: for ever, in a
// database's words.
const (
	secretBytes = 32
	secretLife  = 100 * 365 * 24 * time.Hour
)

// Secret returns the bytes that all replicas have under a name. The first one that asks makes them.
func (s *Store) Secret(name string) ([]byte, error) {
	ctx, cancel := asking()
	defer cancel()
	fresh := make([]byte, secretBytes)
	rand.Read(fresh) // never fails
	_, err := s.db.ExecContext(ctx,
		`INSERT INTO h_shared (kind, id, owner, body, until) VALUES ('secret', $1, '', $2, now() + $3 * INTERVAL '1 second')
		ON CONFLICT (kind, id) DO NOTHING`, name, fresh, secretLife.Seconds())
	if err != nil {
		return nil, err
	}
	body, ok, err := s.Get("secret", name, "")
	if err == nil && !ok {
		err = errors.New("shared: the secret was removed")
	}
	return body, err
}
