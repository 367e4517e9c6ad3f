package kbstore

import (
	"context"
	"database/sql"
	"errors"

	"toolnorm/internal/store"
)

// The errors of Move.
var (
	ErrNoDocument = errors.New("there is no such document in the knowledge base")
	ErrThere      = errors.New(
		"the other knowledge base has a document with this path in a collection of the same name; delete one of the two first")
	ErrChanged = errors.New("the document was imported again meanwhile; try again")
)

// Move moves a document with its passages to another base, into the collection of the same name,
// which is created if necessary. At any time a search sees the document in exactly one of the two
// bases. A document of its base's tenant gets the tenant of the other base, since nobody could see
// it there otherwise; its other access rights stay.
//
// If the vectors were made again, embedded has the passages with their new vectors, and d has the
// summary's new vector. If embedded is empty, all vectors stay. Move returns ErrNoDocument,
// ErrThere or ErrChanged, ErrNotFound for a base that does not exist, or another error if the
// database fails.
func (s *Store) Move(ctx context.Context, from, to Base, d *Document, embedded []Chunk) error {
	return s.db.Alone(ctx, func(tx *store.Tx) error {
		left, err := next(ctx, tx, from.ID)
		if err != nil {
			return err
		}
		arrived, err := next(ctx, tx, to.ID)
		if err != nil {
			return err
		}
		if err := moveRow(ctx, tx, from, to, d.ID, arrived); err != nil {
			return err
		}
		if err := leave(ctx, tx, from.ID, d.ID, left); err != nil {
			return err
		}
		// An index of the new base learns that the document is back if it ever was there.
		if _, err := tx.ExecContext(ctx,
			"DELETE FROM removed_documents WHERE knowledge_base_id = $1 AND document_id = $2",
			to.ID, d.ID); err != nil {
			return err
		}
		if len(embedded) > 0 {
			if err := embedAnew(ctx, tx, d, embedded, s.vectors); err != nil {
				return err
			}
		}
		return s.db.Notify(ctx, tx, topic)
	})
}

// moveRow gives a document's row its new collection and tenant. Passages and departments belong to
// the row and move with it. It returns ErrNoDocument if the old base has no such document, ErrThere
// if the new base has one with the same source, or another error if the database fails.
func moveRow(ctx context.Context, tx *store.Tx, from, to Base, document string,
	version int64) error {
	var name, source string
	err := tx.QueryRowContext(ctx, "SELECT c.name, d.source"+of+
		"WHERE c.knowledge_base_id = $1 AND d.id = $2", from.ID, document).Scan(&name, &source)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNoDocument
	}
	if err != nil {
		return err
	}
	collection, err := collect(ctx, tx, to.ID, name)
	if err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx,
		"SELECT count(*) FROM documents WHERE collection_id = $1 AND source = $2", collection,
		source).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return ErrThere
	}
	_, err = tx.ExecContext(ctx,
		"UPDATE documents SET collection_id = $1, tenant = CASE WHEN tenant = $2 THEN $3 ELSE tenant END, version = $4 WHERE id = $5",
		collection, from.Tenant, to.Tenant, version, document)
	return err
}

// embedAnew replaces the vectors of a document. It returns ErrChanged if a passage is gone:
// passages get new ids with every import, so vectors of another text are never written. It returns
// another error if the database fails.
func embedAnew(ctx context.Context, tx *store.Tx, d *Document, chunks []Chunk,
	compares bool) error {
	if _, err := tx.ExecContext(ctx, "UPDATE documents SET model = $1, vector = $2 WHERE id = $3",
		d.Model, d.packed(), d.ID); err != nil {
		return err
	}
	for i := range chunks {
		c := &chunks[i]
		res, err := tx.ExecContext(ctx,
			"UPDATE chunks SET model = $1, vector = $2 WHERE id = $3 AND document_id = $4", c.Model,
			c.packed(), c.ID, d.ID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			return ErrChanged
		}
	}
	if !compares {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "UPDATE chunks SET embedding = NULL WHERE document_id = $1",
		d.ID); err != nil {
		return err
	}
	return embeddings(ctx, tx, chunks)
}
