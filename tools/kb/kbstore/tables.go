package kbstore

import (
	"context"
	"strings"

	"toolnorm/internal/store"
)

// tables are those of knowledge bases. The names of the first three tables and of their ids and counts are the
// specification's, which gives the statement of the summary; the others are ours.
//
// version is the number that the base had when the row was written: by it an index learns what is new. Times are text in
// RFC 3339, which both kinds of database read alike.
const tables = `
CREATE TABLE knowledge_bases (id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, tenant TEXT NOT NULL,
	version BIGINT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL);
CREATE TABLE collections (id TEXT PRIMARY KEY, knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
	name TEXT NOT NULL, summary TEXT NOT NULL, model TEXT NOT NULL, vector BLOB, UNIQUE (knowledge_base_id, name));
CREATE TABLE documents (id TEXT PRIMARY KEY, collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
	chunk_count INTEGER NOT NULL, tenant TEXT NOT NULL, clearance INTEGER NOT NULL, title TEXT NOT NULL, source TEXT NOT NULL,
	hash TEXT NOT NULL, summary TEXT NOT NULL, model TEXT NOT NULL, vector BLOB, version BIGINT NOT NULL, imported TEXT NOT NULL,
	UNIQUE (collection_id, source));
CREATE TABLE document_departments (document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE, department TEXT NOT NULL,
	PRIMARY KEY (document_id, department));
CREATE TABLE chunks (id TEXT PRIMARY KEY, document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
	chunk_index INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL, model TEXT NOT NULL, vector BLOB,
	UNIQUE (document_id, chunk_index));
CREATE TABLE removed_documents (knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
	document_id TEXT NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (knowledge_base_id, document_id));`

// steps are the changes of the tables so far.
func steps(kind store.Kind) []store.Step {
	return []store.Step{{Name: "tables", Do: func(ctx context.Context, tx *store.Tx) error {
		text := tables
		if kind == store.Postgres {
			text = strings.ReplaceAll(text, " BLOB", " BYTEA")
		}
		_, err := tx.ExecContext(ctx, text)
		return err
	}}}
}
