package kbstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/store"
)

// Store keeps knowledge bases. It may be used by many at once, in several programs.
type Store struct {
	Words *Words // its index of words

	db      *store.DB
	vectors bool // pgvector compares
	odd     oddRows
}

// schema is where the tables are in a PostgreSQL. The tools' store may be the same database and has
// a table called documents, too.
const schema = "knowledge"

// topic is the name under which changes are notified.
const topic = "knowledge"

// OpenStore opens the store at where: the path of a SQLite file, or the URL of a PostgreSQL, in
// which it makes a schema of its own.
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

// prepare makes what PostgreSQL compares vectors by, where pgvector is.
func (s *Store) prepare(ctx context.Context) (err error) {
	if s.vectors, err = findVector(ctx, s.db); err == nil && s.vectors {
		err = prepareVectors(ctx, s.db)
	}
	return err
}

// inSchema makes the schema if it does not exist, and returns the URL with which tables are found
// in it. It checks first whether the schema exists, since making one takes a right that the role of
// a running server need not have. public comes after it, where extensions are.
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

// Close closes the store. Calls that still run fail.
// Listeners are closed with their own contexts.
func (s *Store) Close() error { return s.db.Close() }

// Listen returns a channel that receives a value after changes of any knowledge base, by this
// program or another, within a quarter of a second: see store.DB.Listen. An index need not listen,
// since the base that it looks up has the version.
func (s *Store) Listen(ctx context.Context, failed func(error)) (<-chan struct{}, error) {
	return s.db.Listen(ctx, topic, failed)
}

// Create makes a knowledge base, whose ID it gives. The tenant may be empty: then it is for those
// whose tokens name none. The name need not be unique: two tenants may both have a Handbook, and
// must not learn of each other by an error.
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
		at := stamp(b.Created)
		_, err := tx.ExecContext(ctx,
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

// Delete removes a knowledge base with all that is in it.
// The rows below it go by ON DELETE CASCADE, in the same transaction.
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

// columns of knowledge_bases, as basesWhere reads them.
const columns = "id, name, description, tenant, version, created, updated"

// Base returns a knowledge base, whoever the caller is, or ErrNotFound when there is none.
func (s *Store) Base(ctx context.Context, id string) (Base, error) {
	all, err := s.basesWhere(ctx, " WHERE id = $1", strings.ToLower(id))
	if err != nil || len(all) == 0 {
		return Base{}, cmp.Or(err, ErrNotFound)
	}
	return all[0], nil
}

// Readable looks a knowledge base up for a principal: ErrNotFound when there is none, ErrDenied
// when it may not look in. It asks for the row first and for the right second, since the
// specification tells 404 from 403.
func (s *Store) Readable(ctx context.Context, p *auth.Principal, id string) (Base, error) {
	b, err := s.Base(ctx, id)
	if err == nil && !b.ReadableBy(p) {
		return Base{}, ErrDenied
	}
	return b, err
}

// Bases returns the knowledge bases that a principal may look into, sorted by their names. There
// are dozens of bases and not millions, so one rule in Go is better than a second form of it in
// SQL.
func (s *Store) Bases(ctx context.Context, p *auth.Principal) ([]Base, error) {
	all, err := s.basesWhere(ctx, " ORDER BY name, id")
	return slices.DeleteFunc(append([]Base{}, all...),
		func(b Base) bool { return !b.ReadableBy(p) }), err
}

// Count returns the number of all knowledge bases. It decides whether the tools are offered.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM knowledge_bases").Scan(&n)
	return n, err
}

// basesWhere reads the rows of bases for which a condition holds.
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

// stamp formats a time as the tables have it: always of one length, so that texts compare as the
// times do.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// moment reads a stamp; what cannot be read is the zero time, which is shown and decides nothing.
func moment(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}
