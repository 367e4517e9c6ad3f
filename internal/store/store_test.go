package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// open opens a database for as long as the test runs.
func open(t *testing.T, where string) *store.DB {
	t.Helper()
	db := must.Have(store.Open(t.Context(), where))(t)
	t.Cleanup(func() { must.OK(t, db.Close()) })
	return db
}

// notes are steps that make a table with one row.
var notes = []store.Step{
	store.SQL("table", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"),
	store.SQL("first row", "INSERT INTO notes (id, text) VALUES (1, 'one')"),
}

// count is the number of rows of a table.
func count(t *testing.T, db *store.DB, table string) (n int) {
	t.Helper()
	must.OK(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func TestStepsAreTakenOnceAndInOrder(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := open(t, where)
		for n := range 3 {
			must.OK(t, db.Migrate(t.Context(), "notes", notes[:min(n+1, 2)]...))
			if got := count(t, db, "notes"); got != min(n, 1) {
				t.Errorf("after start %d there are %d rows", n, got)
			}
		}
		var text string
		if err := db.QueryRowContext(t.Context(), "SELECT text FROM notes WHERE text LIKE $2 AND id = $1", 1, "o%").Scan(&text); err != nil || text != "one" {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

func TestADatabaseOfANewerVersionIsLeftAlone(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := open(t, where)
		must.OK(t, db.Migrate(t.Context(), "notes", notes...))
		other := store.SQL("another first row", "INSERT INTO notes (id, text) VALUES (2, 'two')")
		for want, steps := range map[string][]store.Step{
			"made by a newer version (it has 2 steps, this one knows 1)":                   notes[:1],
			`step 1 of notes is "first row" in the database, and "another first row" here`: {notes[0], other, other},
		} {
			if err := db.Migrate(t.Context(), "notes", steps...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Migrate = %v, want %q", err, want)
			}
		}
		if got := count(t, db, "notes"); got != 1 {
			t.Errorf("%d rows", got)
		}
	})
}

func TestAFailedStepTakesAllBack(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := open(t, where)
		wrong := errors.New("no")
		steps := append(notes[:2:2], store.Step{Name: "wrong", Do: func(context.Context, *store.Tx) error { return wrong }})
		if err := db.Migrate(t.Context(), "notes", steps...); !errors.Is(err, wrong) || !strings.Contains(err.Error(), `notes, step "wrong"`) {
			t.Errorf("Migrate = %v", err)
		}
		err := db.Alone(t.Context(), func(tx *store.Tx) error {
			for _, table := range []string{"notes", "toolnorm_migrations"} {
				if there, err := tx.HasTable(t.Context(), table); err != nil || there {
					t.Errorf("%s: %v, %v", table, there, err)
				}
			}
			return nil
		})
		must.OK(t, err)
		if err := db.Migrate(t.Context(), "notes", notes...); err != nil || count(t, db, "notes") != 1 {
			t.Errorf("Migrate = %v", err)
		}
	})
}

// TestManyFirstStarts opens a new database as several programs would: each with a pool of its own.
func TestManyFirstStarts(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				db, err := store.Open(t.Context(), where)
				if err != nil {
					t.Error(err)
					return
				}
				defer db.Close()
				if err := db.Migrate(t.Context(), "notes", notes...); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := count(t, open(t, where), "notes"); got != 1 {
			t.Errorf("%d rows", got)
		}
	})
}

func TestAFileIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder", "it's 100%?.db")
	db := open(t, path)
	must.OK(t, db.Migrate(t.Context(), "notes", notes...))
	for _, name := range []string{path, path + "-wal", path + "-shm", filepath.Dir(path)} {
		info := must.Have(os.Stat(name))(t)
		if want := map[bool]fs.FileMode{false: 0o600, true: 0o700}[info.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v", name, info.Mode().Perm(), want)
		}
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.db")
	must.Write(t, broken, strings.Repeat("no database ", 100))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	for where, want := range map[string]string{
		"data.db":                               `neither an absolute path nor a postgres:// URL: "data.db"`,
		broken:                                  "not a database",
		"/dev/null/a.db":                        "not a directory",
		"postgres://user:hunter2@127.0.0.1:1/x": "PostgreSQL at 127.0.0.1 does not answer",
		"postgres://user:hunter2@127.0.0.1:port/x":       "the postgres:// URL cannot be read",
		"postgresql://user:hunter2@/x?host=/nonexistent": "PostgreSQL at /nonexistent does not answer",
	} {
		db, err := store.Open(ctx, where)
		if err == nil {
			db.Close()
			t.Errorf("%s was opened", where)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open(%s) = %v, want %q", where, err, want)
		}
	}
}

func TestChangesAreTold(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db, other := open(t, where), open(t, where)
		must.OK(t, db.Migrate(t.Context(), "notes", notes...))
		ctx, cancel := context.WithCancel(t.Context())
		changed := must.Have(db.Listen(ctx, "notes", func(err error) { t.Error(err) }))(t)
		for i := range 3 {
			err := other.Alone(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.ExecContext(t.Context(), "INSERT INTO notes (id, text) VALUES ($1, $2)", 10+i, "new"); err != nil {
					return err
				}
				return other.Notify(t.Context(), tx, "notes")
			})
			must.OK(t, err)
			select {
			case <-changed:
			case <-time.After(10 * time.Second):
				t.Fatalf("change %d was not told", i)
			}
		}
		cancel()
		for range changed { // closed after ctx
		}
	})
}

func TestATopicIsAWord(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	for _, topic := range []string{"", "Tools", "a;b", strings.Repeat("a", 41)} {
		if err := db.Notify(t.Context(), db, topic); err == nil {
			t.Errorf("Notify took %q", topic)
		}
		if _, err := db.Listen(t.Context(), topic, nil); err == nil {
			t.Errorf("Listen took %q", topic)
		}
	}
}

// TestALostConnectionIsMadeAgain cuts the connections of those that listen, as a restart would.
func TestALostConnectionIsMadeAgain(t *testing.T) {
	db := open(t, databases.Postgres(t))
	lost := make(chan error, 10)
	changed := must.Have(db.Listen(t.Context(), "notes", func(err error) { lost <- err }))(t)
	must.Have(db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"))(t)
	select {
	case <-lost:
	case <-time.After(10 * time.Second):
		t.Fatal("the loss was not told")
	}
	<-changed // something may have gone by
	must.OK(t, db.Notify(t.Context(), db, "notes"))
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is heard any more")
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(dir, "notes.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	err = db.Migrate(ctx, "notes", store.SQL("table", "CREATE TABLE notes (text TEXT)"), store.SQL("row", "INSERT INTO notes (text) VALUES ('hello')"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var text string
	err = db.QueryRowContext(ctx, "SELECT text FROM notes WHERE text LIKE $1", "h%").Scan(&text)
	fmt.Println(text, err)
	// Output: hello <nil>
}
