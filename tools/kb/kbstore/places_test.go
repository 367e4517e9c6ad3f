package kbstore_test

import (
	"fmt"
	"testing"

	"toolnorm/internal/store"
	"toolnorm/tools/kb/kbstore"
)

// older makes the table of the words of passages as the version before had it.
const older = `
DROP TRIGGER segments_gone%[1]s;
CREATE TABLE older (segment BIGINT NOT NULL REFERENCES segments (id) ON DELETE CASCADE, passage INTEGER NOT NULL,
	chunk TEXT NOT NULL, tokens %[2]s NOT NULL, PRIMARY KEY (segment, passage));
INSERT INTO older SELECT place >> 32, place & 4294967295, chunk, tokens FROM streams;
DROP TABLE streams;
ALTER TABLE older RENAME TO streams;
DELETE FROM toolnorm_migrations WHERE name = 'places';`

// TestAnOlderIndexStays opens a database of the version before, whose words of passages had another
// key: they are the same afterwards, no document is indexed again, and a base that is deleted takes
// its words with it.
func TestAnOlderIndexStays(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		s.Words.Sizes = kbstore.Sizes{Fresh: 1, Small: 8, Many: 9, Large: 16}
		b, collection := base(t, s, "acme")
		for i := range 3 {
			put(t, s, b.ID, collection, fmt.Sprint(i), "one", "two")
		}
		db, err := store.Open(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		statements := fmt.Sprintf(older, "", "BLOB")
		if db.Kind == store.Postgres {
			statements = "SET LOCAL search_path = knowledge;" + fmt.Sprintf(older, " ON segments; DROP FUNCTION segments_gone", "BYTEA")
		}
		if err := db.Alone(t.Context(), func(tx *store.Tx) error {
			_, err := tx.ExecContext(t.Context(), statements)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		places := []kbstore.Place{kbstore.PlaceOf(3, 1), kbstore.PlaceOf(1, 0)}
		s = open(t, where)
		r, err := s.Words.Reader(t.Context(), b.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		now, _, err := r.Look(t.Context(), nil)
		if err == nil {
			err = r.Rest(t.Context(), &now)
		}
		if err != nil || len(now.Segments) != 3 || len(now.Fresh) != 0 {
			t.Fatalf("%+v, %v", now, err)
		}
		streams, err := r.Streams(t.Context(), places)
		if err != nil || len(streams) != 2 || streams[0].Chunk == streams[1].Chunk {
			t.Fatalf("%v, %v", streams, err)
		}
		r.Close()
		if err := s.Delete(t.Context(), b.ID); err != nil {
			t.Fatal(err)
		}
		n, prefix := -1, map[store.Kind]string{store.Postgres: "knowledge."}[db.Kind]
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+prefix+"streams").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d passages of no base have words: %v", n, err)
		}
	})
}
