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

// collection keeps documents, and their vectors where a model made some, in the store of the tools, and searches them in memory.
// The store is the source of truth; the indexes are made of it and can be dropped at any time. 100,000 vectors
// of 1,024 numbers are searched in a tenth of a second, so no database of vectors is needed for that.
type collection struct {
	db   *store.DB
	name string

	mu    sync.Mutex
	state string // of the tables, when the indexes were made
	ready *indexes
}

// indexes are those of a collection at one moment.
// They never change once they are made: a search that runs keeps the ones that it began with.
type indexes struct {
	texts  []string
	words  *lexical.Index
	dense  *vector.Index
	placed []int  // the document of each row of dense
	model  string // that made the vectors; empty: there are none
}

// standardName is that of a collection that the settings do not name.
const standardName = "documents"

// openCollection makes the tables when they are not there.
// data_changes counts imports: it is what other processes look at to know that their indexes are old.
func openCollection(ctx context.Context, db *store.DB, name string) (*collection, error) {
	if name == "" {
		name = standardName
	}
	blob := "BLOB"
	if db.Kind == store.Postgres {
		blob = "BYTEA"
	}
	return &collection{db: db, name: name}, db.Migrate(ctx, "data", store.SQL("documents", `
CREATE TABLE data_documents (collection TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL,
	model TEXT NOT NULL, vector `+blob+`, PRIMARY KEY (collection, id));
CREATE TABLE data_changes (collection TEXT PRIMARY KEY, n INTEGER NOT NULL);`))
}

// count is the number of its documents.
// It decides whether the tools are offered when nothing is set.
func (c *collection) count(ctx context.Context) (n int, err error) {
	err = c.db.QueryRowContext(ctx, "SELECT count(*) FROM data_documents WHERE collection = $1", c.name).Scan(&n)
	return n, err
}

// index gives the indexes, made anew when another import has changed something.
// toolnorm docs import is another process, so nobody tells this one; a look at one number each time is cheap.
func (c *collection) index(ctx context.Context) (*indexes, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var state string
	err := c.db.QueryRowContext(ctx, "SELECT CAST(n AS TEXT) FROM data_changes WHERE collection = $1", c.name).Scan(&state)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, errors.New("there are no documents to search; toolnorm docs import FILE puts some in")
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

// load reads all documents. Their order is that of the import, so that equals come as they were written.
// Vectors of another model than the first one's are left out, since they cannot be compared with it.
func (c *collection) load(ctx context.Context) (*indexes, error) {
	rows, err := c.db.QueryContext(ctx, "SELECT text, model, vector FROM data_documents WHERE collection = $1 ORDER BY source, place", c.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	x := new(indexes)
	var vectors [][]float32
	for rows.Next() {
		var text, model string
		var packed []byte
		if err := rows.Scan(&text, &model, &packed); err != nil {
			return nil, err
		}
		if v := vector.Read(packed); len(v) > 0 && (len(vectors) == 0 || model == x.model && len(v) == len(vectors[0])) {
			x.model, vectors, x.placed = model, append(vectors, v), append(x.placed, len(x.texts))
		}
		x.texts = append(x.texts, text)
	}
	x.words, x.dense = lexical.New(x.texts), vector.New(vectors)
	return x, rows.Err()
}

// nearest are the documents nearest to a vector.
// Rows of the vectors are not those of the texts: a document may have none.
func (x *indexes) nearest(v []float32, n int) (rows []int) {
	for _, hit := range x.dense.Search(v, n, nil) {
		rows = append(rows, x.placed[hit.Row])
	}
	return rows
}

// matching are the documents that match a query's words best.
// A document that shares no word with the query is not among them, however few there are.
func (x *indexes) matching(query string, n int) (rows []int) {
	for _, hit := range x.words.Search(query, n, nil) {
		rows = append(rows, hit.Row)
	}
	return rows
}

// document is one to be kept.
// Its id is a hash of where it came from and what it says, so the same text of two files is two documents.
type document struct {
	id, text string
	vector   []float32 // nil: no model made one
}

// replace makes the documents of a source those given, in one transaction.
// An import that breaks off leaves what was there. The same text twice is one document: its id is the same.
func (c *collection) replace(ctx context.Context, source, model string, all []document) error {
	return c.db.Alone(ctx, func(tx *store.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM data_documents WHERE collection = $1 AND source = $2", c.name, source); err != nil {
			return err
		}
		for place, d := range all {
			var packed []byte
			if d.vector != nil {
				packed = vector.Bytes(d.vector)
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO data_documents (collection, id, source, place, text, model, vector) VALUES ($1, $2, $3, $4, $5, $6, $7)
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

// vectors are those of a model that are there already, by the documents' ids.
// They are what makes a second import of a large file fast.
func (c *collection) vectors(ctx context.Context, model string) (map[string][]float32, error) {
	rows, err := c.db.QueryContext(ctx, "SELECT id, vector FROM data_documents WHERE collection = $1 AND model = $2 AND vector IS NOT NULL", c.name, model)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string][]float32{}
	for rows.Next() {
		var id string
		var packed []byte
		if err := rows.Scan(&id, &packed); err != nil {
			return nil, err
		}
		all[id] = vector.Read(packed)
	}
	return all, rows.Err()
}

// without is how many documents of a source are none of those in have.
// It is counted before they go, for the line that tells the user.
func (c *collection) without(ctx context.Context, source string, have map[string]bool) (n int, err error) {
	rows, err := c.db.QueryContext(ctx, "SELECT id FROM data_documents WHERE collection = $1 AND source = $2", c.name, source)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		if !have[id] {
			n++
		}
	}
	return n, rows.Err()
}
