package kbstore

import (
	"context"
	"strings"

	"toolnorm/internal/lexical"
	"toolnorm/internal/store"
)

// tables creates the tables of knowledge bases. The names of the first three tables and of their
// ids and counts are the specification's, which prescribes the statement of the summary. The others
// are ours.
//
// The column version is the base's version when the row was written; from it an index learns what
// is new. Times are text in RFC 3339, which both kinds of database read alike.
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

// words creates the tokens with which PostgreSQL searched before it had segments.
const words = `
ALTER TABLE chunks ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chunks ADD COLUMN words tsvector;
CREATE INDEX chunks_words ON chunks USING gin (words);
CREATE TABLE tokens_version (version INTEGER NOT NULL);
INSERT INTO tokens_version VALUES (0);`

// segments creates the index of words, in SQLite's dialect. A segment indexes some documents, and
// does not change. In the transaction of each change, triggers record which documents are in no
// current segment (fresh), and which documents of a segment must not be found by it any more
// (gone). So the index never contradicts the tables, whatever changes a document.
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

// postgresSegments returns the statements that create the tables of the index of words in
// PostgreSQL, and drop the columns in which older versions stored words. Lists are not compressed,
// because they hardly become shorter. The trigger that records changed documents has a search path
// of its own, so that it finds its tables whatever the search path of the role that changes a
// document is.
func postgresSegments() string {
	_, made, _ := strings.Cut(segments, "INSERT INTO tokens_version VALUES (0);")
	made, _, _ = strings.Cut(made, "INSERT OR IGNORE")
	made = strings.NewReplacer(" BLOB", " BYTEA", " WITHOUT ROWID", "",
		"INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
		"segment INTEGER", "segment BIGINT", "token TEXT", `token TEXT COLLATE "C"`).Replace(made)
	return "ALTER TABLE chunks DROP COLUMN words, DROP COLUMN tokens;" + made + `
ALTER TABLE segments ALTER COLUMN about SET STORAGE EXTERNAL;
ALTER TABLE postings ALTER COLUMN list SET STORAGE EXTERNAL;
INSERT INTO fresh SELECT id FROM documents WHERE id IS NOT NULL ON CONFLICT DO NOTHING;
CREATE FUNCTION documents_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
	IF TG_OP <> 'INSERT' THEN
		INSERT INTO gone SELECT segment, place FROM placed WHERE document = OLD.id ON CONFLICT DO NOTHING;
		DELETE FROM placed WHERE document = OLD.id;
		DELETE FROM fresh WHERE document = OLD.id;
	END IF;
	IF TG_OP <> 'DELETE' THEN
		INSERT INTO fresh SELECT NEW.id WHERE NEW.id IS NOT NULL ON CONFLICT DO NOTHING;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER documents_words AFTER INSERT OR DELETE OR UPDATE OF id, collection_id, tenant, clearance, title, summary, version ON documents
	FOR EACH ROW EXECUTE FUNCTION documents_words();`
}

// placedStreams gives the words of a passage one number as their key, see Place. In SQLite, a table
// with such a key is three pages deep for a million passages. One with two columns as its key has
// whole rows in its inner pages as well, which do not fit into the cache of a connection.
const placedStreams = `
CREATE TABLE placed_streams (place BIGINT PRIMARY KEY, chunk TEXT NOT NULL, tokens BLOB NOT NULL);
INSERT INTO placed_streams SELECT (segment << 32) | passage, chunk, tokens FROM streams ORDER BY segment, passage;
DROP TABLE streams;
ALTER TABLE placed_streams RENAME TO streams;`

// streamsGone is a trigger for SQLite that deletes the words of a deleted segment.
const streamsGone = `
CREATE TRIGGER segments_gone AFTER DELETE ON segments BEGIN
	DELETE FROM streams WHERE place BETWEEN OLD.id << 32 AND (OLD.id << 32) | 4294967295;
END;`

// postgresStreamsGone is streamsGone for PostgreSQL.
const postgresStreamsGone = `
CREATE FUNCTION segments_gone() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
	DELETE FROM streams WHERE place BETWEEN OLD.id << 32 AND (OLD.id << 32) | 4294967295;
	RETURN NULL;
END $$;
CREATE TRIGGER segments_gone AFTER DELETE ON segments FOR EACH ROW EXECUTE FUNCTION segments_gone();`

// steps returns the migrations of the tables. In SQLite, the first segments had no checksums yet,
// so one migration empties the index.
func steps(kind store.Kind) []store.Step {
	if kind == store.SQLite {
		return []store.Step{store.SQL("tables", tables), store.SQL("segments", segments),
			{Name: "sealed", Do: forgetAll}, store.SQL("places",
				strings.ReplaceAll(placedStreams, "BIGINT", "INTEGER")+streamsGone)}
	}
	bytes := strings.NewReplacer(" BLOB", " BYTEA")
	return []store.Step{store.SQL("tables", bytes.Replace(tables)), store.SQL("words", words),
		store.SQL("segments", postgresSegments()),
		store.SQL("places", bytes.Replace(placedStreams)+postgresStreamsGone)}
}

// forgetAll empties the index of words, so that all documents will be indexed again. It returns an
// error if the database fails.
func forgetAll(ctx context.Context, tx *store.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO fresh SELECT document FROM placed WHERE TRUE ON CONFLICT DO NOTHING;
		DELETE FROM postings; DELETE FROM streams; DELETE FROM gone; DELETE FROM placed; DELETE FROM segments`)
	return err
}

// forgetOld empties an index whose tokens come from another version of lexical.Tokens, because a
// query would not match them. This happens once, at the first start of a program with another
// version. It returns an error if the database fails.
func forgetOld(ctx context.Context, db *store.DB) error {
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
		if err := forgetAll(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE tokens_version SET version = $1", lexical.Version)
		return err
	})
}
