package kbstore

import (
	"context"
	"database/sql"

	"toolnorm/internal/store"
	"toolnorm/internal/vector"
)

// Changes are what an index of a knowledge base has to do to be of its Version. A document that changed is among Documents
// with all its chunks, which take the place of all that it had.
type Changes struct {
	Version     int64
	Collections []Collection // all of them, whenever there is any change
	Documents   []Document   // new ones, and those that changed
	Chunks      []Chunk      // of these documents, by document and index
	Removed     []string     // documents that are gone
}

// Changes reads what changed since a version of the base; 0 gives all of it. It reads one moment: the rights of a
// document are those of the chunks beside it. Nothing is filtered, so what is made of it has to ask a Filter.
// The unit is the document: a change replaces all of its chunks, so there is no order of chunks to keep in step.
func (s *Store) Changes(ctx context.Context, base string, since int64) (*Changes, error) {
	c := new(Changes)
	err := s.snapshot(ctx, func(tx *sql.Tx) (err error) {
		err = tx.QueryRowContext(ctx, "SELECT version FROM knowledge_bases WHERE id = $1", base).Scan(&c.Version)
		if err == sql.ErrNoRows {
			return ErrNotFound
		}
		if err != nil || c.Version == since {
			return err
		}
		if c.Collections, err = collectionsOf(ctx, tx, base); err != nil {
			return err
		}
		if c.Documents, err = documentsOf(ctx, tx, "c.knowledge_base_id = $1 AND d.version > $2", base, since); err != nil {
			return err
		}
		if c.Chunks, err = chunksOf(ctx, tx, "c.knowledge_base_id = $1 AND d.version > $2", base, since); err != nil {
			return err
		}
		c.Removed, err = textsOf(ctx, tx, "SELECT document_id FROM removed_documents WHERE knowledge_base_id = $1 AND version > $2", base, since)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// snapshot runs do in a transaction that sees one moment and writes nothing.
// SQLite's always see one moment, and ours would lock out writers unless they are read-only; PostgreSQL's see each
// statement's own moment unless told otherwise.
func (s *Store) snapshot(ctx context.Context, do func(tx *sql.Tx) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.db.Kind == store.Postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to keep
	return do(tx)
}

// collectionsOf are the collections of a base.
func collectionsOf(ctx context.Context, tx *sql.Tx, base string) ([]Collection, error) {
	return read(ctx, tx, func(scan func(...any) error) (c Collection, err error) {
		var packed []byte
		err = scan(&c.ID, &c.Base, &c.Name, &c.Summary, &c.Model, &packed)
		c.Vector = vector.Read(packed)
		return c, err
	}, "SELECT id, knowledge_base_id, name, summary, model, vector FROM collections WHERE knowledge_base_id = $1 ORDER BY name, id", base)
}

// of is what documents and chunks are selected from.
const of = " FROM collections c JOIN documents d ON d.collection_id = c.id "

// documentsOf are the documents for which a condition holds, with who may see them.
// The two statements see the same moment, as they run in a snapshot; otherwise new text could meet old rights.
func documentsOf(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]Document, error) {
	at := map[string]int{}
	all, err := read(ctx, tx, func(scan func(...any) error) (d Document, err error) {
		var packed []byte
		var imported string
		err = scan(&d.ID, &d.Collection, &d.Title, &d.Source, &d.Summary, &d.Chunks, &d.Tenant, &d.Clearance, &d.Model, &packed, &d.Hash, &imported)
		d.Vector, d.Imported, d.Departments = vector.Read(packed), moment(imported), []string{}
		at[d.ID] = len(at)
		return d, err
	}, "SELECT d.id, d.collection_id, d.title, d.source, d.summary, d.chunk_count, d.tenant, d.clearance, d.model, d.vector, d.hash, d.imported"+
		of+"WHERE "+where+" ORDER BY d.source, d.id", args...)
	if err != nil {
		return nil, err
	}
	rows, err := read(ctx, tx, func(scan func(...any) error) (row [2]string, err error) {
		return row, scan(&row[0], &row[1])
	}, "SELECT p.document_id, p.department"+of+"JOIN document_departments p ON p.document_id = d.id WHERE "+where+" ORDER BY p.department", args...)
	for _, row := range rows {
		d := &all[at[row[0]]]
		if row[1] == "" {
			d.Public = true
		} else {
			d.Departments = append(d.Departments, row[1])
		}
	}
	return all, err
}

// chunksOf are the chunks of the documents for which a condition holds.
func chunksOf(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]Chunk, error) {
	return read(ctx, tx, func(scan func(...any) error) (k Chunk, err error) {
		var packed []byte
		err = scan(&k.ID, &k.Document, &k.Index, &k.Heading, &k.Text, &k.Model, &packed)
		k.Vector = vector.Read(packed)
		return k, err
	}, "SELECT k.id, k.document_id, k.chunk_index, k.heading, k.text, k.model, k.vector"+of+
		"JOIN chunks k ON k.document_id = d.id WHERE "+where+" ORDER BY d.source, d.id, k.chunk_index", args...)
}

// textsOf reads one column of texts.
func textsOf(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]string, error) {
	return read(ctx, tx, func(scan func(...any) error) (s string, err error) { return s, scan(&s) }, query, args...)
}

// read makes a value of each row.
// Rows are closed before the next statement: a transaction has one connection, and PostgreSQL's takes one query at a time.
func read[T any](ctx context.Context, tx *sql.Tx, one func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := one(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
