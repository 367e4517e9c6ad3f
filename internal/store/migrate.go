package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Tx is a transaction during which no other program writes; see DB.Alone.
type Tx struct {
	*sql.Tx
	Kind Kind
}

// Step is one change of a domain's tables. A released step must never be edited; a further change
// is a new step. Databases in use have already run the old step, and Migrate compares only the
// number of steps and their names.
type Step struct {
	Name string
	Do   func(ctx context.Context, tx *Tx) error
}

// SQL returns a step that runs statements, which both kinds of database must accept. Several
// statements are separated by semicolons, which the driver accepts if they have no parameters.
func SQL(name, statements string) Step {
	return Step{name, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, statements)
		return err
	}}
}

// stepsTable is the table that records which steps were run. It is created before the first step
// and by none. It stores names to detect that two versions disagree. In PostgreSQL it is always
// written with its schema. Otherwise a prepared statement could go on to read the table of one
// schema in the search path after another program has created one in an earlier schema.
const stepsTable = "toolnorm_migrations"

// stepsColumns are the columns of stepsTable.
const stepsColumns = "(domain TEXT NOT NULL, step INTEGER NOT NULL, name TEXT NOT NULL, taken TEXT NOT NULL, PRIMARY KEY (domain, step))"

// Migrate runs the steps of a domain that have not been run yet; if it fails, none of them has been
// run. If several programs start at the same time, each step is run once. It fails if a step fails,
// or if the database has steps that this program does not know, because a newer program made them.
// It checks whether there is anything to do before it takes the lock, because nearly every start
// finds all steps done, and toolrun starts for each call.
func (db *DB) Migrate(ctx context.Context, domain string, steps ...Step) error {
	if taken, err := db.takenSteps(ctx, db, domain); err == nil && len(taken) == len(steps) {
		return matching(domain, taken, steps) // the usual start, which writes nothing
	}
	return db.Alone(ctx, func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+db.steps+" "+
			stepsColumns); err != nil {
			return fmt.Errorf("make the table of steps: %w", err)
		}
		taken, err := db.takenSteps(ctx, tx, domain)
		if err != nil {
			return fmt.Errorf("read the steps of %s: %w", domain, err)
		}
		if err := matching(domain, taken, steps); err != nil {
			return err
		}
		for i, step := range steps[len(taken):] {
			if err := step.Do(ctx, tx); err != nil {
				return fmt.Errorf("%s, step %q: %w", domain, step.Name, err)
			}
			_, err := tx.ExecContext(ctx, "INSERT INTO "+db.steps+
				" (domain, step, name, taken) VALUES ($1, $2, $3, $4)",
				domain, len(taken)+i, step.Name, time.Now().UTC().Format(time.RFC3339))
			if err != nil {
				return fmt.Errorf("note the steps of %s: %w", domain, err)
			}
		}
		return nil
	})
}

// takenSteps returns the names of the steps that were run for a domain, in order. It fails if the
// table of steps is missing, which Migrate takes for a first start.
func (db *DB) takenSteps(ctx context.Context, in Asker, domain string) ([]string, error) {
	return Read(ctx, in, nil, func(r *Row) (name string, err error) {
		return name, r.Scan(&name)
	}, "SELECT name FROM "+db.steps+" WHERE domain = $1 ORDER BY step", domain)
}

// matching returns an error unless the steps that were run are the first of the known steps. The
// parameter taken has the names of the steps that were run. An older program must not work on
// tables that it does not know, and two branches of development must not have different steps with
// the same number.
func matching(domain string, taken []string, known []Step) error {
	if len(taken) > len(known) {
		return fmt.Errorf(
			"store: the tables of %s were made by a newer version (it has %d steps, this one knows %d)", domain, len(taken), len(known))
	}
	for i, name := range taken {
		if name != known[i].Name {
			return fmt.Errorf("store: step %d of %s is %q in the database, and %q here", i, domain,
				name, known[i].Name)
		}
	}
	return nil
}

// Alone calls the function do in a transaction. No two transactions of Alone run at the same time,
// in this program or others. If the function fails, everything is rolled back and its error is
// returned. SQLite takes its write lock at the beginning (_txlock=immediate), since a transaction
// that begins by reading could not get the lock after another has written. PostgreSQL runs
// transactions concurrently, so Alone takes an advisory lock, which ends with the transaction.
func (db *DB) Alone(ctx context.Context, do func(tx *Tx) error) (err error) {
	tx, err := db.BeginTx(ctx, nil) // with SQLite this waits for the lock
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if db.Kind == Postgres {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey); err != nil {
			return fmt.Errorf("store: lock: %w", err)
		}
	}
	if err := do(&Tx{tx, db.Kind}); err != nil {
		return err
	}
	return tx.Commit()
}

// lockKey is the number of the advisory lock in PostgreSQL. It is an arbitrary number that other
// programs on the same server will not use.
const lockKey = 0x746f6f6c6e6f726d // "toolnorm"

// HasTable reports whether a table or view with that name exists. In PostgreSQL it looks only in
// the current schema, since other schemas may have tables with the same name. It fails if the query
// does.
func (tx *Tx) HasTable(ctx context.Context, name string) (bool, error) {
	query := "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND name = $1"
	if tx.Kind == Postgres {
		query = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = $1"
	}
	var n int
	err := tx.QueryRowContext(ctx, query, name).Scan(&n)
	return n > 0, err
}
