package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"toolnorm/internal/sleep"
)

// The intervals of listening. Five times a second looks immediate to a person, and takes
// microseconds.
const (
	pollEvery  = 200 * time.Millisecond // for changes of a SQLite file
	retryEvery = time.Second            // to reach a PostgreSQL again
)

// Execer is a DB or a Tx.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// validTopic matches topics that LISTEN accepts without quotes; the name of a channel cannot be a
// parameter there.
var validTopic = regexp.MustCompile(`^[a-z][a-z_]{0,39}$`)

// Notify tells all listeners of a topic (lower-case letters and _, at most 40), in this program and
// others, that something changed. In a transaction they are told after the commit. With SQLite
// there is nothing to do: every listener sees every commit. A notice has no content, since a
// listener reads again and compares: content could be outdated when it arrives.
func (db *DB) Notify(ctx context.Context, in Execer, topic string) error {
	if !validTopic.MatchString(topic) {
		return fmt.Errorf("store: %q is no topic", topic)
	}
	if db.Kind == SQLite {
		return nil
	}
	_, err := in.ExecContext(ctx, "SELECT pg_notify($1, '')", channel(topic))
	return err
}

// channel returns the name by which PostgreSQL knows a topic. The prefix keeps it apart from
// channels of others in the database.
func channel(topic string) string { return "toolnorm_" + topic }

// Listen sends a value after changes, several in one when the reader is slow, until ctx ends; then
// the channel is closed. It may send one when nothing of the topic changed: with SQLite for every
// commit, with PostgreSQL after a lost connection, during which there may have been changes. Errors
// of the connection are passed to failed, which may be nil. Too many notices are harmless, as a
// listener reads again; a missed one would show old settings for ever.
func (db *DB) Listen(ctx context.Context, topic string, failed func(error)) (
	<-chan struct{}, error) {
	if !validTopic.MatchString(topic) {
		return nil, fmt.Errorf("store: %q is no topic", topic)
	}
	if failed == nil {
		failed = func(error) {}
	}
	if db.Kind == Postgres {
		return db.listenPostgres(ctx, channel(topic), failed)
	}
	return db.listenSQLite(ctx, failed)
}

// tell wakes the reader of c, unless a notice is already waiting.
// The channel holds one notice, so however many changes there were, a slow reader reads again once.
func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// listenSQLite asks repeatedly, on a separate connection, whether others have committed. SQLite
// does not report commits in other processes. data_version changes with each of them, and only when
// another connection has committed, so the question needs the same connection each time.
func (db *DB) listenSQLite(ctx context.Context, failed func(error)) (<-chan struct{}, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	version := func(ctx context.Context) (n int64, err error) {
		err = conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n)
		return n, err
	}
	last, err := version(ctx)
	if err != nil {
		conn.Close()
		return nil, err
	}
	changed := make(chan struct{}, 1)
	db.listeners.Go(ctx, func(ctx context.Context) {
		defer close(changed)
		defer conn.Close()
		for sleep.For(ctx, pollEvery) {
			now, err := version(ctx)
			switch {
			case err != nil && ctx.Err() == nil:
				failed(err)
			case err == nil && now != last:
				last = now
				tell(changed)
			}
		}
	})
	return changed, nil
}

// listenPostgres holds a separate connection, and reconnects if it is lost. The pool's connections
// cannot be used, since they serve others between two statements. After a loss it always sends a
// value, since notices in between are lost.
func (db *DB) listenPostgres(ctx context.Context, channel string, failed func(error)) (
	<-chan struct{}, error) {
	conn, err := db.listening(ctx, channel)
	if err != nil {
		return nil, err
	}
	changed := make(chan struct{}, 1)
	db.listeners.Go(ctx, func(ctx context.Context) {
		defer close(changed)
		for ctx.Err() == nil {
			err := waitFor(ctx, conn, changed)
			for ctx.Err() == nil && err != nil {
				failed(err)
				sleep.For(ctx, retryEvery)
				conn, err = db.listening(ctx, channel)
			}
			tell(changed)
		}
	})
	return changed, nil
}

// listening returns a new connection that listens to a channel. A connection that cannot listen is
// closed even if ctx has ended, since otherwise it would stay open at the server.
func (db *DB) listening(ctx context.Context, channel string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, db.where)
	if err != nil {
		return nil, fmt.Errorf("store: listen: %w", err)
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("store: listen: %w", err)
	}
	return conn, nil
}

// waitFor passes notices on until the connection is lost or ctx ends.
// It closes the connection, even if that is lost.
func waitFor(ctx context.Context, conn *pgx.Conn, changed chan<- struct{}) error {
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("store: listen: %w", err)
		}
		tell(changed)
	}
}
