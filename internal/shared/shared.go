// Package shared stores what all replicas of the program must know and no client sends: replies
// that a client continues by their id, calls that are too long for a command line, ended sessions,
// secrets, and the counts of callers with limits. The store is in PostgreSQL, and entries are
// deleted after some time. A program with a SQLite file has no replicas, and keeps these data in
// memory.
//
// With a Desk, replicas also ask each other questions, by messages in the same table.
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

// The bounds for the entries of one owner and kind; beyond them the oldest entries are removed.
// They are the same as those of a process that has its entries in memory.
const (
	mostKept  = 1000
	mostBytes = 64 << 20
)

const (
	// for one statement; if it takes longer, the database cannot be reached
	askWait    = 3 * time.Second
	pruneEvery = 64 // the number of new entries after which old or excess ones are removed
)

// steps create the table. If the table is dropped, only its entries are lost.
var steps = []store.Step{store.SQL("shared", `CREATE TABLE h_shared (
	kind TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, body BYTEA NOT NULL, taken BOOLEAN NOT NULL DEFAULT false,
	since TIMESTAMPTZ NOT NULL DEFAULT now(), until TIMESTAMPTZ NOT NULL, PRIMARY KEY (kind, id));
	CREATE INDEX h_shared_until ON h_shared (until)`)}

// Store is what the replicas of the program share: a table in PostgreSQL, in which they keep
// entries and leave messages for each other. It may be used by several goroutines at once.
type Store struct {
	db      *store.DB
	name    string // the name of this replica
	entries atomic.Int64
}

// Open returns the store in db, and creates its table if there is none. It returns nil without an
// error if db is nil or is not PostgreSQL, because no other program then shares it.
func Open(ctx context.Context, db *store.DB) (*Store, error) {
	if db == nil || db.Kind != store.Postgres {
		return nil, nil
	}
	if err := db.Migrate(ctx, "shared", steps...); err != nil {
		return nil, err
	}
	return &Store{db: db, name: newName()}, nil
}

// asking returns a context that bounds one statement. It does not derive from the context of a
// request, because an entry must be stored after a reply even if the client has left.
func asking() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), askWait)
}

// Put stores body under kind and id, until the duration life has passed. An entry with the same
// kind and id is replaced. It fails if the body has more than mostBytes or the database fails.
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

// prune deletes expired entries, and entries of a kind beyond the bounds of their owner. It fails
// if the database does.
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

// Get returns the body stored under kind and id for owner; ok is false if there is none. The error
// is one of the database.
func (s *Store) Get(kind, id, owner string) (body []byte, ok bool, err error) {
	return s.row(
		"SELECT body FROM h_shared WHERE kind = $1 AND id = $2 AND owner = $3 AND until > now()",
		kind, id, owner)
}

// Take returns a body as Get does, but only once: ok is false if there is none or it was taken
// before. Get still finds a body that was taken. The error is one of the database.
func (s *Store) Take(kind, id, owner string) (body []byte, ok bool, err error) {
	return s.row(
		"UPDATE h_shared SET taken = true WHERE kind = $1 AND id = $2 AND owner = $3 AND until > now() AND NOT taken RETURNING body", kind, id, owner)
}

// Remove deletes a body and reports whether there was one. The error is one of the database.
func (s *Store) Remove(kind, id, owner string) (bool, error) {
	_, ok, err := s.row(
		"DELETE FROM h_shared WHERE kind = $1 AND id = $2 AND owner = $3 AND until > now() RETURNING body", kind, id, owner)
	return ok, err
}

// Note is an entry of one kind: its body, and the time since it was stored.
type Note = struct {
	Body []byte
	Age  time.Duration
}

// Others returns the entries of a kind with other ids than id. life must be the time for which each
// was stored, because the age is computed from it. The error is one of the database.
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

// row returns the body in the one row that a statement returns; ok is false if it returns none. The
// error is one of the database.
func (s *Store) row(statement string, args ...any) (body []byte, ok bool, err error) {
	ctx, cancel := asking()
	defer cancel()
	err = s.db.QueryRowContext(ctx, statement, args...).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// secretBytes is the length of a secret, and secretLife the time for which it is stored, which is
// meant to be for ever.
const (
	secretBytes = 32
	secretLife  = 100 * 365 * 24 * time.Hour
)

// Secret returns the random bytes that all replicas share under a name. The first replica that asks
// creates them. It fails if the database does, or if the secret is removed meanwhile.
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
