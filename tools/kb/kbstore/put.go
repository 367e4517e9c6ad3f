package kbstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"toolnorm/internal/store"
	"toolnorm/internal/vector"
)

// change calls the function do in a transaction that gives the base its next version, and notifies
// other programs. It returns the error of do, ErrNotFound if there is no such base, or another
// error if the database fails.
func (s *Store) change(ctx context.Context, base string,
	do func(tx *store.Tx, version int64) error) error {
	return s.db.Alone(ctx, func(tx *store.Tx) error {
		version, err := next(ctx, tx, base)
		if err != nil {
			return err
		}
		if err := do(tx, version); err != nil {
			return err
		}
		return s.db.Notify(ctx, tx, topic)
	})
}

// next gives a base its next version and returns the new version. The row of the base is written
// before anything else. In PostgreSQL, writers of one base therefore wait for each other, and a
// reader of version n has seen everything older. next returns ErrNotFound if there is no such base,
// or another error if the database fails.
func next(ctx context.Context, tx *store.Tx, base string) (version int64, err error) {
	err = tx.QueryRowContext(ctx,
		"UPDATE knowledge_bases SET version = version + 1, updated = $1 WHERE id = $2 RETURNING version",
		stamp(time.Now()), base).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return version, err
}

// Collect returns the id of the collection with the given name, and creates the collection if there
// is none. It looks the name up before it begins a change, since the usual import then needs no
// transaction, for which others would have to wait. It returns an error if the base does not exist
// or the database fails.
func (s *Store) Collect(ctx context.Context, base, name string) (id string, err error) {
	err = s.db.QueryRowContext(ctx, collectionOf, base, name).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	err = s.change(ctx, base, func(tx *store.Tx, _ int64) (err error) {
		id, err = collect(ctx, tx, base, name)
		return err
	})
	return id, err
}

// collectionOf is the statement that finds a collection by its name.
const collectionOf = "SELECT id FROM collections WHERE knowledge_base_id = $1 AND name = $2"

// collect returns the id of the collection with the given name, and creates the collection if there
// is none. Unlike Collect it is called within a change of the base.
func collect(ctx context.Context, tx *store.Tx, base, name string) (id string, err error) {
	err = tx.QueryRowContext(ctx, collectionOf, base, name).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	id = newID()
	_, err = tx.ExecContext(ctx,
		"INSERT INTO collections (id, knowledge_base_id, name, summary, model) VALUES ($1, $2, $3, '', '')", id, base, name)
	return id, err
}

// Describe sets the summary of a collection, and the summary's vector. Searches find the collection
// by them. It returns an error if the base does not exist or the database fails.
func (s *Store) Describe(ctx context.Context, base, collection, summary string, e Embedding) error {
	return s.change(ctx, base, func(tx *store.Tx, _ int64) error {
		_, err := tx.ExecContext(ctx,
			"UPDATE collections SET summary = $1, model = $2, vector = $3 WHERE id = $4 AND knowledge_base_id = $5",
			summary, e.Model, e.packed(), collection, base)
		return err
	})
}

// packed returns the vector as the tables store it, or nil if there is none. nil becomes NULL, so
// that a search can distinguish "no vector" from a vector of zeros.
func (e *Embedding) packed() []byte {
	if len(e.Vector) == 0 {
		return nil
	}
	return vector.Bytes(e.Vector)
}

// Put stores a document and its chunks, and replaces the document of the same source. It does so in
// one transaction, so nobody ever sees half of it, or new text with the old rights. It sets the ids
// of the document and the chunks. It returns an error if the base or its collection does not exist,
// or if the database fails.
func (s *Store) Put(ctx context.Context, base string, d *Document, chunks []Chunk) error {
	d.Chunks, d.Imported = len(chunks), time.Now().UTC()
	err := s.change(ctx, base, func(tx *store.Tx, version int64) error {
		if err := ownCollection(ctx, tx, base, d.Collection); err != nil {
			return err
		}
		err := tx.QueryRowContext(ctx,
			"SELECT id FROM documents WHERE collection_id = $1 AND source = $2", d.Collection,
			d.Source).Scan(store.Needed(&d.ID))
		switch _, odd := store.Oddness(err); {
		case errors.Is(err, sql.ErrNoRows), odd:
			d.ID = newID()
		case err != nil:
			return err
		}
		// Chunks and departments go with the row.
		if _, err := tx.ExecContext(ctx,
			"DELETE FROM documents WHERE collection_id = $1 AND source = $2", d.Collection,
			d.Source); err != nil {
			return err
		}
		if err := insertDocument(ctx, tx, d, version); err != nil {
			return err
		}
		if err := insertChunks(ctx, tx, d, chunks); err != nil || !s.vectors {
			return err
		}
		return embeddings(ctx, tx, chunks)
	})
	if err != nil {
		return err
	}
	return s.Words.note(ctx, base, len(chunks))
}

// ownCollection returns an error if the collection belongs to another base, since the change would
// then be missing in the version of that base. It also returns an error if the database fails.
func ownCollection(ctx context.Context, tx *store.Tx, base, collection string) error {
	var n int
	err := tx.QueryRowContext(ctx,
		"SELECT count(*) FROM collections WHERE id = $1 AND knowledge_base_id = $2", collection,
		base).Scan(&n)
	if err == nil && n == 0 {
		err = fmt.Errorf("the knowledge base has no collection %s", collection)
	}
	return err
}

// insertDocument inserts a document with its access rights. Departments are rows and not one text
// with commas, because a name may contain any character, and the filter compares whole names. It
// returns an error if a department has no name or the database fails.
func insertDocument(ctx context.Context, tx *store.Tx, d *Document, version int64) error {
	_, err := tx.ExecContext(ctx,
		`INSERT INTO documents (id, collection_id, chunk_count, tenant, clearance, title, source, hash, summary, model, vector, version, imported)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		d.ID, d.Collection, d.Chunks, d.Tenant, d.Clearance, d.Title, d.Source, d.Hash, d.Summary,
		d.Model, d.packed(), version, stamp(d.Imported))
	if err != nil {
		return err
	}
	departments := d.Departments
	if d.Public {
		departments = []string{""} // as Filter.where wants it
	}
	for _, name := range departments {
		if name == "" && !d.Public {
			return errors.New("a department needs a name")
		}
		_, err := tx.ExecContext(ctx,
			"INSERT INTO document_departments (document_id, department) VALUES ($1, $2) ON CONFLICT DO NOTHING", d.ID, name)
		if err != nil {
			return err
		}
	}
	return nil
}

// insertChunks inserts the passages of a document and sets their ids. It returns an error if the
// database fails.
func insertChunks(ctx context.Context, tx *store.Tx, d *Document, chunks []Chunk) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO chunks (id, document_id, chunk_index, heading, text, model, vector) VALUES ($1, $2, $3, $4, $5, $6, $7)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := range chunks {
		c := &chunks[i]
		c.ID, c.Document, c.Index = newID(), d.ID, i
		if _, err := insert.ExecContext(ctx, c.ID, d.ID, i, c.Heading, c.Text, c.Model,
			c.packed()); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes documents. It ignores ids that are not in the base, so that two imports that prune
// at the same time both succeed. It returns an error if the base does not exist or the database
// fails.
func (s *Store) Remove(ctx context.Context, base string, documents ...string) error {
	if len(documents) == 0 {
		return nil
	}
	return s.change(ctx, base, func(tx *store.Tx, version int64) error {
		for _, id := range documents {
			res, err := tx.ExecContext(ctx,
				"DELETE FROM documents WHERE id = $1 AND collection_id IN (SELECT id FROM collections WHERE knowledge_base_id = $2)", id, base)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			if err := leave(ctx, tx, base, id, version); err != nil {
				return err
			}
		}
		return nil
	})
}

// leave records that a document has left a base, so that indexes that have the document remove it.
// It returns an error if the database fails.
func leave(ctx context.Context, tx *store.Tx, base, document string, version int64) error {
	_, err := tx.ExecContext(ctx,
		"INSERT INTO removed_documents (knowledge_base_id, document_id, version) VALUES ($1, $2, $3)", base, document, version)
	return err
}
