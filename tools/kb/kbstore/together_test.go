package kbstore_test

import (
	"sync"
	"testing"

	"toolnorm/internal/store"
	"toolnorm/tools/kb/kbstore"
)

// TestReplicasThatStartTogetherAllStart opens a new database as several programs do that start at
// once: the store of the tools first, whose schema also has a table of steps, then this one.
func TestReplicasThatStartTogetherAllStart(t *testing.T) {
	for range 3 {
		where := databases.Postgres(t)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				first, err := store.Open(t.Context(), where)
				if err != nil {
					t.Error(err)
					return
				}
				defer first.Close()
				if err := first.Migrate(t.Context(), "notes", store.SQL("table", "CREATE TABLE documents (id INTEGER)")); err != nil {
					t.Error(err)
				}
				s, err := kbstore.OpenStore(t.Context(), where)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
