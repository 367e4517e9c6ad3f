package kbstore

import (
	"context"
	"strings"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// tables are those of knowledge bases. The names of the first three tables and of their ids and
// counts are the specification's, which gives the statement of the summary; the others are ours.
//
// version is the number that the base had when the row was written: by it an index learns what is
// new. Times are text in RFC 3339, which both kinds of database read alike.
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

// words are the tokens by which PostgreSQL finds passages: lexical.Lexemes of title, headings and
// text.
const words = `
ALTER TABLE chunks ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN words tsvector;
CREATE INDEX chunks_words ON chunks USING gin (words);
CREATE TABLE tokens_version (version INTEGER NOT NULL);
INSERT INTO tokens_version VALUES (0);`

// segments are the index of words in a SQLite file. A segment indexes some documents, and does not
// change. Triggers note in the transaction of a change which documents are in no segment as they
// are now (fresh), and which of a segment are not to be found by it any more (gone): whatever
// changes a document, the index says no more than its tables.
const segments = `
CREATE TABLE tokens_version (version INTEGER NOT NULL);
INSERT INTO tokens_version VALUES (0);
CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT,
	knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
	passages INTEGER NOT NULL, about BLOB NOT NULL);
CREATE INDEX segments_base ON segments (knowledge_base_id);
CREATE TABLE postings (segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE, kind INTEGER NOT NULL,
	token TEXT NOT NULL, list BLOB NOT NULL, PRIMARY KEY (segment, kind, token)) WITHOUT ROWID;
CREATE TABLE streams (segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE, passage INTEGER NOT NULL,
	chunk TEXT NOT NULL, tokens BLOB NOT NULL, PRIMARY KEY (segment, passage)) WITHOUT ROWID;
CREATE TABLE placed (document TEXT PRIMARY KEY, segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE,
	place INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX placed_segment ON placed (segment);
CREATE TABLE gone (segment INTEGER NOT NULL REFERENCES segments (id) ON DELETE CASCADE, place INTEGER NOT NULL,
	PRIMARY KEY (segment, place)) WITHOUT ROWID;
CREATE TABLE fresh (document TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT OR IGNORE INTO fresh SELECT id FROM documents WHERE id IS NOT NULL;
CREATE TRIGGER documents_new AFTER INSERT ON documents WHEN NEW.id IS NOT NULL BEGIN
	INSERT OR IGNORE INTO fresh VALUES (NEW.id);
END;
CREATE TRIGGER documents_gone AFTER DELETE ON documents BEGIN
	INSERT OR IGNORE INTO gone SELECT segment, place FROM placed WHERE document = OLD.id;
	DELETE FROM placed WHERE document = OLD.id;
	DELETE FROM fresh WHERE document = OLD.id;
END;
CREATE TRIGGER documents_changed AFTER UPDATE OF id, collection_id, tenant, clearance, title, summary, version ON documents BEGIN
	INSERT OR IGNORE INTO gone SELECT segment, place FROM placed WHERE document = OLD.id;
	DELETE FROM placed WHERE document = OLD.id;
	DELETE FROM fresh WHERE document = OLD.id;
	INSERT OR IGNORE INTO fresh SELECT NEW.id WHERE NEW.id IS NOT NULL;
END;`

// steps returns the changes of the tables so far.
func steps(kind store.Kind) []store.Step {
	if kind == store.SQLite {
		return []store.Step{store.SQL("tables", tables), store.SQL("segments", segments)}
	}
	return []store.Step{store.SQL("tables", strings.ReplaceAll(tables, " BLOB", " BYTEA")),
		store.SQL("words", words)}
}

// onNewTokens calls renew in a transaction if what is stored was made by another version of
// lexical.Tokens: the tokens of a query would miss it. It runs once, at the first start of a
// program that brings another version.
func onNewTokens(ctx context.Context, db *store.DB, renew func(tx *store.Tx) error) error {
	const query = "SELECT version FROM tokens_version"
	var version int
	if err := db.QueryRowContext(ctx, query).Scan(&version); err != nil ||
		version == lexical.Version {
		return err
	}
	return db.Alone(ctx, func(tx *store.Tx) error {
		if err := tx.QueryRowContext(ctx, query).Scan(&version); err != nil ||
			version == lexical.Version {
			return err // another program did it
		}
		if err := renew(tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE tokens_version SET version = $1", lexical.Version)
		return err
	})
}

// tokenize makes the tokens of all passages anew, see onNewTokens.
func tokenize(ctx context.Context, db *store.DB) error {
	return onNewTokens(ctx, db, func(tx *store.Tx) error {
		all, err := store.Read(ctx, tx.Tx, nil, func(r *store.Row) (row [4]string, err error) {
			err = r.Scan(store.Needed(&row[0]), store.Named(&row[1]), store.Named(&row[2]),
				store.Text(&row[3], longestText))
			return row, err
		},
			"SELECT k.id, d.title, k.heading, k.text FROM chunks k JOIN documents d ON d.id = k.document_id")
		if err != nil {
			return err
		}
		for _, row := range all {
			lexemes, n := tokensOf(row[1], row[2], row[3])
			if _, err := tx.ExecContext(ctx,
				"UPDATE chunks SET words = $1::tsvector, tokens = $2 WHERE id = $3", lexemes, n,
				row[0]); err != nil {
				return err
			}
		}
		return nil
	})
}

// tokensOf returns the tokens of a passage, as PostgreSQL's tsvector, and their number. Both kinds
// of store index the same text: candidates of PostgreSQL are scored again by the index that SQLite
// has.
func tokensOf(title, heading, text string) (lexemes string, n int) {
	whole := title + "\n" + heading + "\n" + text
	return lexical.Lexemes(whole), len(lexical.Tokens(whole))
}
