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

// The intervals of listening. Polling five times a second seems immediate to a person, and each
// poll takes microseconds.
const (
	pollEvery  = 200 * time.Millisecond // for changes of a SQLite file
	retryEvery = time.Second            // to reconnect to PostgreSQL
)

// Execer is the part of DB and Tx that runs statements.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// validTopic matches topics that LISTEN accepts without quotes, because LISTEN takes no parameter
// for the name of a channel.
var validTopic = regexp.MustCompile(`^[a-z][a-z_]{0,39}$`)

// Notify notifies all listeners of a topic, in this program and others, that something changed. The
// name of a topic has lower-case letters and _, at most 40; another name is an error. If the
// parameter in is a transaction, the listeners are notified after the commit. For SQLite Notify
// does nothing, because every listener sees every commit. Notices have no content, which could be
// outdated when it arrives; a listener reads the database again.
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

// channel returns the name of PostgreSQL's channel for a topic. The prefix distinguishes it from
// other channels in the database.
func channel(topic string) string { return "toolnorm_" + topic }

// Listen returns a channel that gets a value after changes of a topic, until ctx ends; then it is
// closed. If the reader is slow, several changes give one value. A value may come without a change:
// with SQLite after every commit, with PostgreSQL after a lost connection, because changes may have
// been missed. A superfluous value is harmless, as a listener reads again, but a missed one would
// show old settings for ever. Listen calls the function failed, unless it is nil, with later errors
// of the connection. Listen fails if the topic is invalid or the first connection fails.
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

// tell sends a value to c unless one is waiting there already. The channel has a buffer of one. So
// a receiver that was slow gets one value for several changes.
func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// listenSQLite implements Listen by polling, because SQLite does not report commits of other
// processes. It polls data_version, which changes whenever another connection commits, and for that
// needs the same connection each time. It fails if the first poll does.
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

// listenPostgres implements Listen with a connection of its own, and reconnects if that is lost. It
// cannot use a connection of the pool, because those are used by others between two statements.
// After a reconnection it always sends a value, since notices may have been lost. It fails if the
// first connection does.
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

// listening returns a new connection that listens to a channel, or an error. A connection that
// cannot listen is closed even if ctx has ended, since otherwise it would stay open at the server.
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

// waitFor waits for notices from PostgreSQL, and sends a value to the channel named changed after
// each. It returns an error when the connection is lost or ctx ends, and then closes the
// connection.
func waitFor(ctx context.Context, conn *pgx.Conn, changed chan<- struct{}) error {
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("store: listen: %w", err)
		}
		tell(changed)
	}
}
