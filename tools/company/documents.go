package company

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"toolnorm/internal/store"
)

// Document is one of the company's documents.
// The category is the company's own word, such as HR; the program does not use it.
type Document struct {
	ID       int64  `json:"id"`
	Title    string `json:"title"`
	Content  string `json:"content"`
	Category string `json:"category"`
}

// longestText is the longest content of a document, in bytes.
const longestText = 1 << 20

// ErrNoDocument is the error for an id that no document has. With it, the MCP server distinguishes
// a resource that does not exist from a database that fails.
var ErrNoDocument = errors.New("there is no such document")

// Documents returns the company's documents in the order of their ids, but at most limit of them.
// The MCP server lists them as resources, such as company://documents/1. It returns an error if the
// database fails.
func (c *Company) Documents(ctx context.Context, limit int) ([]Document, error) {
	return c.documents(ctx, "", limit)
}

// Document returns the document with the given id. It returns ErrNoDocument if there is none, or
// another error if the database fails.
func (c *Company) Document(ctx context.Context, id int64) (d Document, err error) {
	row := c.db.QueryRowContext(ctx,
		"SELECT id, title, content, category FROM documents WHERE id = $1", id)
	err = row.Scan(&d.ID, &d.Title, &d.Content, &d.Category)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoDocument
	}
	return d, err
}

// documents returns at most limit documents that satisfy the SQL clause where, in the order of
// their ids, so that equal calls have equal results. The clause refers to values as $1, $2, … It
// must be the program's own text, because input from a model may only be in values. documents
// returns an error if the database fails.
func (c *Company) documents(ctx context.Context, where string, limit int, values ...any) (
	[]Document, error) {
	query := fmt.Sprintf(
		"SELECT id, title, content, category FROM documents %s ORDER BY id LIMIT %d", where, limit)
	all, err := store.Read(ctx, c.db, nil, func(r *store.Row) (d Document, err error) {
		err = r.Scan(store.Whole(&d.ID), store.Named(&d.Title), store.Text(&d.Content, longestText),
			store.Named(&d.Category))
		return d, err
	}, query, values...)
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	// An empty list is [] in JSON and not null: the tool's schema promises a list.
	return append([]Document{}, all...), nil
}
