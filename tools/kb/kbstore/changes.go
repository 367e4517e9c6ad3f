package kbstore

import (
	"context"
	"database/sql"
	"slices"

	"toolnorm/internal/store"
)

// Changes are the changes that bring an index of a knowledge base to Version. A changed document is
// in Documents, with all its chunks in Chunks, which replace the chunks that it had.
type Changes struct {
	Version     int64
	Collections []Collection // all collections, if there is any change
	Documents   []Document   // new and changed documents
	Chunks      []Chunk      // of these documents, sorted by document and index
	Removed     []string     // ids of documents that are gone
}

// Changes returns what has changed in a base after a version, the parameter since, or everything if
// since is 0. All of it is from one moment, so that documents, their rights and their chunks belong
// together. Nothing is filtered, so users of the result must apply a Filter. A changed document is
// returned with all its chunks. It returns ErrNotFound if there is no such base, or another error
// if the database fails.
func (s *Store) Changes(ctx context.Context, base string, since int64) (*Changes, error) {
	c := new(Changes)
	err := s.snapshot(ctx, func(tx *sql.Tx) (err error) {
		err = tx.QueryRowContext(ctx, "SELECT version FROM knowledge_bases WHERE id = $1",
			base).Scan(store.Whole(&c.Version))
		if err == sql.ErrNoRows {
			return ErrNotFound
		}
		if err != nil || c.Version == since {
			return err
		}
		if c.Collections, err = s.collectionsOf(ctx, tx, base); err != nil {
			return err
		}
		// A row whose version is of another type is read with all.
		const changed = "c.knowledge_base_id = $1 AND (d.version > $2 OR $2 = 0)"
		if c.Documents, err = s.documentsOf(ctx, tx, base, changed, since); err != nil {
			return err
		}
		there := map[string]bool{}
		for i := range c.Documents {
			there[c.Documents[i].ID] = true
		}
		s.odd.forget(base, func(o Odd) bool {
			return o.Table == tableChunks && (since == 0 || there[o.document])
		})
		if c.Chunks, err = s.chunksOf(ctx, tx, base, changed, since); err != nil {
			return err
		}
		c.Chunks = slices.DeleteFunc(c.Chunks, func(k Chunk) bool { return !there[k.Document] })
		c.Removed, err = textsOf(ctx, tx,
			"SELECT document_id FROM removed_documents WHERE knowledge_base_id = $1 AND version > $2", base, since)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// snapshot calls the function do in a read-only transaction that sees the data of one moment. It
// returns the error of do, or of beginning the transaction.
func (s *Store) snapshot(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to keep
	return do(tx)
}

// begin begins a read-only transaction that sees the data of one moment, or returns an error if the
// database fails. SQLite's transactions always see one moment, and would block writers if they were
// not read-only. In PostgreSQL each statement of a transaction would see its own moment by default.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	options := &sql.TxOptions{ReadOnly: true}
	if s.db.Kind == store.Postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	return s.db.BeginTx(ctx, options)
}

// The tables of a base, as reports of odd rows name them.
const (
	tableBases       = "knowledge_bases"
	tableCollections = "collections"
	tableDocuments   = "documents"
	tableRights      = "document_departments"
	tableChunks      = "chunks"
)

// collectionsOf returns the collections of a base, sorted by name. It returns an error if the
// database fails.
func (s *Store) collectionsOf(ctx context.Context, tx *sql.Tx, base string) ([]Collection, error) {
	s.odd.forget(base, func(o Odd) bool { return o.Table == tableCollections })
	return store.Read(ctx, tx, s.from(base, tableCollections),
		func(r *store.Row) (c Collection, err error) {
			err = r.Scan(store.Needed(&r.ID), store.Needed(&c.Base), store.Named(&c.Name),
				store.Named(&c.Summary), store.Named(&c.Model), vectorOf(r, &c.Vector))
			c.ID = r.ID
			return c, err
		},
		"SELECT id, knowledge_base_id, name, summary, model, vector FROM collections WHERE knowledge_base_id = $1 ORDER BY name, id", base)
}

// of is the FROM clause of statements that select documents and chunks.
const of = " FROM collections c JOIN documents d ON d.collection_id = c.id "

// documentsOf returns the documents of a base that satisfy an SQL condition, with their access
// rights. The condition is the parameter where. It uses two statements, so tx must be a snapshot;
// otherwise new text could meet old rights. A row of access rights that cannot be used (see Odd) is
// reported, and gives access to no one. It returns an error if the database fails.
func (s *Store) documentsOf(ctx context.Context, tx *sql.Tx, base, where string, more ...any) (
	[]Document, error) {
	s.odd.forget(base, func(o Odd) bool {
		return o.Table == tableDocuments || o.Table == tableRights
	})
	return documentRows(ctx, s, tx, base, where, more...)
}

// documentRows returns the documents of a base that satisfy the SQL condition where, with their
// access rights. It may read only some of the base's documents, so it keeps what was recorded about
// unusable rows, while documentsOf first removes it. It returns an error if the database fails.
func documentRows(ctx context.Context, s *Store, tx *sql.Tx, base, where string, more ...any) (
	[]Document, error) {
	args := append([]any{base}, more...)
	all, err := store.Read(ctx, tx, s.from(base, tableDocuments),
		func(r *store.Row) (d Document, err error) {
			var imported string
			err = r.Scan(store.Needed(&r.ID), store.Needed(&d.Collection), store.Named(&d.Title),
				store.Named(&d.Source), store.Named(&d.Summary), store.Count(&d.Chunks, 0),
				store.Told(&d.Tenant), store.Whole(&d.Clearance), store.Named(&d.Model),
				vectorOf(r, &d.Vector), store.Named(&d.Hash), store.Named(&imported))
			d.ID, d.Imported, d.Departments = r.ID, moment(imported), []string{}
			return d, err
		},
		"SELECT d.id, d.collection_id, d.title, d.source, d.summary, d.chunk_count, d.tenant, d.clearance, d.model, d.vector, d.hash, d.imported"+
			of+"WHERE "+where+" ORDER BY d.source, d.id", args...)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i := range all {
		at[all[i].ID] = i
	}
	_, err = store.Read(ctx, tx, s.from(base, tableRights), func(r *store.Row) (
		department string, err error) {
		if err = r.Scan(store.Needed(&r.ID), store.Told(&department)); err != nil {
			return "", err
		}
		if i, there := at[r.ID]; there && department == "" {
			all[i].Public = true
		} else if there { // but not a chunk of a document that was left out
			all[i].Departments = append(all[i].Departments, department)
		}
		return "", nil
	}, "SELECT p.document_id, p.department"+of+
		"JOIN document_departments p ON p.document_id = d.id WHERE "+where+" ORDER BY p.department",
		args...)
	return all, err
}

// chunksOf returns the chunks of the documents of a base that satisfy an SQL condition, the
// parameter where. It returns an error if the database fails.
func (s *Store) chunksOf(ctx context.Context, tx *sql.Tx, base, where string, more ...any) (
	[]Chunk, error) {
	return store.Read(ctx, tx, s.from(base, tableChunks), func(r *store.Row) (k Chunk, err error) {
		err = r.Scan(store.Needed(&r.ID), store.Needed(&r.Of), store.Count(&k.Index, 0),
			store.Named(&k.Heading), store.Text(&k.Text, longestText), store.Named(&k.Model),
			vectorOf(r, &k.Vector))
		k.ID, k.Document = r.ID, r.Of
		return k, err
	}, "SELECT k.id, k.document_id, k.chunk_index, k.heading, k.text, k.model, k.vector"+of+
		"JOIN chunks k ON k.document_id = d.id WHERE "+where+
		" ORDER BY d.source, d.id, k.chunk_index", append([]any{base}, more...)...)
}

// textsOf returns the results of a query that selects one text column. It returns an error if the
// database fails.
func textsOf(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]string, error) {
	return store.Read(ctx, tx, nil, func(r *store.Row) (string, error) {
		err := r.Scan(store.Needed(&r.ID))
		return r.ID, err
	}, query, args...)
}
