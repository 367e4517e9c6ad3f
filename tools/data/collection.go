package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
	"toolnorm/internal/vector"
)

// collection stores documents in the tools' database, with vectors if a model made some, and
// searches them in memory. The database is the source of truth. The indexes are made from it and
// can be dropped at any time. No vector database is needed, since 100,000 vectors of 1,024 numbers
// are searched in a tenth of a second.
type collection struct {
	db   *store.DB
	name string
	warn func(string) // called for rows that cannot be used; may be nil

	mu    sync.Mutex
	state string // the state of the tables when the indexes were made
	ready *indexes
}

// indexes are the indexes of a collection at one moment. They are never modified, so that a running
// search continues with the indexes with which it began.
type indexes struct {
	texts  []string
	words  *lexical.Index
	dense  *vector.Index
	placed []int  // the document of each row of dense
	model  string // the model that made the vectors; empty: there are none
}

// longestText is the largest size of a document in bytes.
const longestText = 1 << 20

// standardName is the name of the collection if the settings do not name one.
const standardName = "documents"

// openCollection returns the collection with the given name, and creates the tables if they do not
// exist. The table data_changes counts imports; other processes read the count to find out whether
// their indexes are outdated. It returns an error if the tables cannot be created.
func openCollection(ctx context.Context, db *store.DB, name string, warn func(string)) (
	*collection, error) {
	if name == "" {
		name = standardName
	}
	blob := "BLOB"
	if db.Kind == store.Postgres {
		blob = "BYTEA"
	}
	return &collection{db: db, name: name, warn: warn}, db.Migrate(ctx, "data", store.SQL(
		"documents", `
CREATE TABLE data_documents (collection TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL,
	model TEXT NOT NULL, vector `+blob+`, PRIMARY KEY (collection, id));
CREATE TABLE data_changes (collection TEXT PRIMARY KEY, n INTEGER NOT NULL);`))
}

// odd warns about a row of the database that cannot be used; why is the reason.
func (c *collection) odd(r *store.Row, why string) {
	if c.warn != nil {
		c.warn(fmt.Sprintf("the row %.40q of data_documents cannot be used: %s", r.ID, why))
	}
}

// count returns the number of documents in the collection, or an error if the database fails.
// Unless the settings decide whether the data tools are offered, they are offered only if there are
// documents.
func (c *collection) count(ctx context.Context) (n int, err error) {
	err = c.db.QueryRowContext(ctx, "SELECT count(*) FROM data_documents WHERE collection = $1",
		c.name).Scan(&n)
	return n, err
}

// index returns the indexes, and rebuilds them if an import has changed something. The command
// toolnorm docs import is another process and cannot notify this one, but reading one number at
// each search is cheap. index returns an error if there was no import or the database fails.
func (c *collection) index(ctx context.Context) (*indexes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var state string
	err := c.db.QueryRowContext(ctx,
		"SELECT CAST(n AS TEXT) FROM data_changes WHERE collection = $1", c.name).Scan(&state)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errors.New(
			"there are no documents to search; toolnorm docs import FILE puts some in")
	case err != nil:
		return nil, fmt.Errorf("read the collection: %w", err)
	case c.ready != nil && c.state == state:
		return c.ready, nil
	}
	fresh, err := c.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the collection: %w", err)
	}
	c.ready, c.state = fresh, state
	return fresh, nil
}

// load reads all documents and returns indexes of them, or an error if the database fails. The
// documents are in the order of the import, which decides between documents with equal scores. Only
// vectors of one model and one length can be compared. So load uses the model and length that most
// vectors have, and leaves the other vectors out.
func (c *collection) load(ctx context.Context) (*indexes, error) {
	type read struct {
		text, model string
		vector      []float32
	}
	all, err := store.Read(ctx, c.db, c.odd, func(r *store.Row) (d read, err error) {
		err = r.Scan(store.Needed(&r.ID), store.Text(&d.text, longestText), store.Named(&d.model),
			vector.Column{Into: &d.vector, Odd: r.Without})
		return d, err
	},
		"SELECT id, text, model, vector FROM data_documents WHERE collection = $1 ORDER BY source, place", c.name)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	kind := func(d *read) string { return fmt.Sprint(len(d.vector), " ", d.model) }
	most := ""
	for i := range all {
		if k := kind(&all[i]); all[i].vector != nil {
			if counts[k]++; counts[k] > counts[most] {
				most = k
			}
		}
	}
	x := new(indexes)
	var vectors [][]float32
	for i := range all {
		if d := &all[i]; d.vector != nil && kind(d) == most {
			x.model, vectors, x.placed = d.model, append(vectors, d.vector), append(x.placed, i)
		}
		x.texts = append(x.texts, all[i].text)
	}
	x.words, x.dense = lexical.New(x.texts), vector.New(vectors)
	return x, nil
}

// nearest returns the rows of the n documents whose vectors are nearest to v. Row numbers of
// vectors are converted into those of documents, since a document may have no vector.
func (x *indexes) nearest(v []float32, n int) (rows []int) {
	for _, hit := range x.dense.Search(v, n, nil) {
		rows = append(rows, x.placed[hit.Row])
	}
	return rows
}

// matching returns the rows of at most n documents that match the query's words best. A document
// that shares no word with the query is never among them.
func (x *indexes) matching(query string, n int) (rows []int) {
	for _, hit := range x.words.Search(query, n, nil) {
		rows = append(rows, hit.Row)
	}
	return rows
}

// document is a document to be stored. Its id is a hash of its source and its text, so equal texts
// in two files are two documents.
type document struct {
	id, text string
	vector   []float32 // nil: no model made one
}

// replace replaces the documents of a source by the given ones. It uses one transaction, so an
// import that is interrupted changes nothing. A text that occurs twice becomes one document, since
// its id is the same. It returns an error if the database fails.
func (c *collection) replace(ctx context.Context, source, model string, all []document) error {
	return c.db.Alone(ctx, func(tx *store.Tx) error {
		if _, err := tx.ExecContext(ctx,
			"DELETE FROM data_documents WHERE collection = $1 AND source = $2", c.name,
			source); err != nil {
			return err
		}
		for place, d := range all {
			var packed []byte
			if d.vector != nil {
				packed = vector.Bytes(d.vector)
			}
			_, err := tx.ExecContext(ctx,
				`INSERT INTO data_documents (collection, id, source, place, text, model, vector) VALUES ($1, $2, $3, $4, $5, $6, $7)
				ON CONFLICT (collection, id) DO NOTHING`, c.name, d.id, source, place, d.text, model, packed)
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO data_changes (collection, n) VALUES ($1, 1)
			ON CONFLICT (collection) DO UPDATE SET n = data_changes.n + 1`, c.name)
		return err
	})
}

// vectors returns the stored vectors of a model, by the documents' ids. They make a second import
// of a large file fast. It returns an error if the database fails.
func (c *collection) vectors(ctx context.Context, model string) (map[string][]float32, error) {
	all := map[string][]float32{}
	_, err := store.Read(ctx, c.db, nil, func(r *store.Row) (id string, err error) {
		var v []float32
		if err = r.Scan(store.Needed(&id), vector.Column{Into: &v, Odd: r.Without}); v != nil {
			all[id] = v
		}
		return id, err
	},
		"SELECT id, vector FROM data_documents WHERE collection = $1 AND model = $2 AND vector IS NOT NULL", c.name, model)
	return all, err
}

// without returns how many documents of a source have an id that is not in the map have. An import
// removes these documents, and shows their number to the user. It returns an error if the database
// fails.
func (c *collection) without(ctx context.Context, source string, have map[string]bool) (
	n int, err error) {
	ids, err := store.Read(ctx, c.db, nil, func(r *store.Row) (string, error) {
		err := r.Scan(store.Named(&r.ID))
		return r.ID, err
	}, "SELECT id FROM data_documents WHERE collection = $1 AND source = $2", c.name, source)
	for _, id := range ids {
		if !have[id] {
			n++
		}
	}
	return n, err
}
