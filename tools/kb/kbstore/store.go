package kbstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
)

// Store stores knowledge bases in a database. Several goroutines and several programs may use it at
// the same time.
type Store struct {
	Words *Words // its index of words

	db      *store.DB
	vectors bool // pgvector compares vectors
	odd     oddRows
}

// schema is the PostgreSQL schema of the tables. The tools' own store may be in the same database,
// and has a table called documents as well.
const schema = "knowledge"

// topic is the topic of the notifications about changes.
const topic = "knowledge"

// OpenStore opens the store at the location where, which is the path of a SQLite file or the URL of
// a PostgreSQL database. In PostgreSQL it creates its own schema. It returns an error if the
// database cannot be opened or its tables cannot be created.
func OpenStore(ctx context.Context, where string) (*Store, error) {
	var err error
	if strings.HasPrefix(where, "postgres") {
		if where, err = inSchema(ctx, where); err != nil {
			return nil, fmt.Errorf("knowledge bases: %w", err)
		}
	}
	db, err := store.Open(ctx, where)
	if err != nil {
		return nil, fmt.Errorf("knowledge bases: %w", err)
	}
	s := &Store{db: db}
	s.Words = &Words{Sizes: standardSizes, store: s}
	if err = db.Migrate(ctx, topic, steps(db.Kind)...); err == nil {
		err = forgetOld(ctx, db)
	}
	if err == nil && db.Kind == store.Postgres {
		err = s.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("knowledge bases: %w", err), db.Close())
	}
	return s, nil
}

// prepare creates what PostgreSQL needs to compare vectors, if it has pgvector. It returns an error
// if the database fails.
func (s *Store) prepare(ctx context.Context) (err error) {
	if s.vectors, err = findVector(ctx, s.db); err == nil && s.vectors {
		err = prepareVectors(ctx, s.db)
	}
	return err
}

// inSchema creates the schema if it does not exist, and returns the URL with the schema as its
// search path, followed by public, where extensions are. It first checks whether the schema exists,
// since creating one needs a right that the role of a running server need not have. It returns an
// error if the schema cannot be created or the URL cannot be parsed.
func inSchema(ctx context.Context, where string) (string, error) {
	db, err := store.Open(ctx, where)
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.Alone(ctx, func(tx *store.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM pg_namespace WHERE nspname = $1",
			schema).Scan(&n); err != nil || n > 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, "CREATE SCHEMA "+schema); err != nil {
			return fmt.Errorf(
				"the schema %s cannot be made (its database's owner can: CREATE SCHEMA %[1]s AUTHORIZATION the role of this program; or set kb-tools to never): %w", schema, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	u, err := url.Parse(where)
	if err != nil {
		// the error would repeat it, password included
		return "", errors.New("the postgres:// URL cannot be read")
	}
	values := u.Query()
	values.Set("search_path", schema+",public")
	u.RawQuery = values.Encode()
	return u.String(), nil
}

// Close closes the store. Calls that are still running fail. Listeners end with their own contexts.
func (s *Store) Close() error { return s.db.Close() }

// Listen returns a channel that receives a value within a quarter of a second after a change of any
// knowledge base, by this program or another. An index need not listen, since it compares the
// version of the base at each search. Listen returns an error if the database cannot be listened
// to; the function failed is called for later errors.
func (s *Store) Listen(ctx context.Context, failed func(error)) (<-chan struct{}, error) {
	return s.db.Listen(ctx, topic, failed)
}

// ErrTaken is the error for a name or an id that another knowledge base has.
var ErrTaken = errors.New("there is a knowledge base with this name or id already")

// Create creates a knowledge base and returns it. If b.ID is empty, it gets a new id. An empty
// tenant means callers whose tokens name no tenant. The name is unique among those of the tenant,
// since people name bases by it; two tenants may both have a Handbook and must not learn of each
// other by an error. It returns ErrTaken if the tenant has the name or the id exists, and another
// error if the name is empty, the id is not a UUID, or the database fails.
func (s *Store) Create(ctx context.Context, b Base) (Base, error) {
	if b.Name = strings.TrimSpace(b.Name); b.Name == "" {
		return b, errors.New("a knowledge base needs a name")
	}
	if b.ID == "" {
		b.ID = newID()
	}
	if b.ID = strings.ToLower(b.ID); !ValidID(b.ID) {
		return b, fmt.Errorf("the id of a knowledge base is a UUID, which %q is not", b.ID)
	}
	b.Version, b.Created = 1, time.Now().UTC()
	b.Updated = b.Created
	err := s.db.Alone(ctx, func(tx *store.Tx) error {
		at, there := stamp(b.Created), ""
		err := tx.QueryRowContext(ctx,
			"SELECT id FROM knowledge_bases WHERE name = $1 AND tenant = $2 OR id = $3",
			b.Name, b.Tenant, b.ID).Scan(&there)
		switch {
		case err == nil:
			return fmt.Errorf("%w: %s", ErrTaken, there)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		_, err = tx.ExecContext(ctx,
			"INSERT INTO knowledge_bases (id, name, description, tenant, version, created, updated) VALUES ($1, $2, $3, $4, 1, $5, $5)",
			b.ID, b.Name, b.Description, b.Tenant, at)
		if err != nil {
			return err
		}
		return s.db.Notify(ctx, tx, topic)
	})
	if err != nil {
		return b, fmt.Errorf("create the knowledge base: %w", err)
	}
	return b, nil
}

// Delete removes a knowledge base with everything in it, in one transaction (ON DELETE CASCADE). It
// returns ErrNotFound if there is none, or another error if the database fails.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.db.Alone(ctx, func(tx *store.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM knowledge_bases WHERE id = $1",
			strings.ToLower(id))
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrNotFound)
		}
		return s.db.Notify(ctx, tx, topic)
	})
}

// columns are the columns of knowledge_bases that basesWhere reads.
const columns = "id, name, description, tenant, version, created, updated"

// Base returns a knowledge base, whoever the caller is. It returns ErrNotFound if there is none, or
// another error if the database fails.
func (s *Store) Base(ctx context.Context, id string) (Base, error) {
	all, err := s.basesWhere(ctx, " WHERE id = $1", strings.ToLower(id))
	if err != nil || len(all) == 0 {
		return Base{}, cmp.Or(err, ErrNotFound)
	}
	return all[0], nil
}

// Readable returns a knowledge base if the principal may read it. It returns ErrNotFound if there
// is none, and ErrDenied if the principal may not read it, since the specification distinguishes
// 404 from 403. It returns another error if the database fails.
func (s *Store) Readable(ctx context.Context, p *auth.Principal, id string) (Base, error) {
	b, err := s.Base(ctx, id)
	if err == nil && !b.ReadableBy(p) {
		return Base{}, ErrDenied
	}
	return b, err
}

// Bases returns the knowledge bases that a principal may read, sorted by name. They are filtered in
// Go, because there are only dozens, and the rule then need not be written in SQL as well. It
// returns an error if the database fails.
func (s *Store) Bases(ctx context.Context, p *auth.Principal) ([]Base, error) {
	all, err := s.basesWhere(ctx, " ORDER BY name, id")
	return slices.DeleteFunc(append([]Base{}, all...),
		func(b Base) bool { return !b.ReadableBy(p) }), err
}

// Count returns the number of all knowledge bases, which decides whether the tools are offered. It
// returns an error if the database fails.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM knowledge_bases").Scan(&n)
	return n, err
}

// basesWhere returns the knowledge bases that an SQL statement selects. The parameter where is the
// end of the statement, with a condition, an order or both. It returns an error if the database
// fails.
func (s *Store) basesWhere(ctx context.Context, where string, args ...any) ([]Base, error) {
	s.odd.forget("", func(Odd) bool { return len(args) == 0 })
	return store.Read(ctx, s.db, s.from("", tableBases), func(r *store.Row) (b Base, err error) {
		var created, updated string
		err = r.Scan(store.Needed(&r.ID), store.Needed(&b.Name), store.Named(&b.Description),
			store.Told(&b.Tenant), store.Whole(&b.Version), store.Named(&created),
			store.Named(&updated))
		b.ID, b.Created, b.Updated = r.ID, moment(created), moment(updated)
		switch {
		case err != nil:
		case !ValidID(b.ID) || b.ID != strings.ToLower(b.ID):
			err = store.Unusable("its id is not a UUID in small letters")
		case b.Version < 1:
			err = store.Unusable(fmt.Sprintf("its version is %d and not 1 or more", b.Version))
		}
		return b, err
	}, "SELECT "+columns+" FROM knowledge_bases"+where, args...)
}

// stamp returns a time as the tables store it. The text always has the same length, so that the
// texts sort as the times do.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// moment parses a time that stamp has made. It returns the zero time if that fails, since times are
// only shown and decide nothing.
func moment(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}
