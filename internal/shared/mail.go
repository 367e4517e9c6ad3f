package shared

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"toolnorm/internal/sleep"
)

const (
	mailLife = 30 * time.Second // the time after which nobody waits for a message
	// the pause before listening again if the database cannot be reached
	retryEvery = time.Second
	nameLength = 20 // of a replica
	letters    = "abcdefghijklmnopqrstuvwxyz"
)

// newName returns a random name for a replica. The name has only lower-case letters, because names
// of PostgreSQL's channels are made from it.
func newName() string {
	name := make([]byte, nameLength)
	for i := range name {
		name[i] = letters[rand.IntN(len(letters))]
	}
	return string(name)
}

// Name returns the name by which other replicas reach this one. It is different after each start.
func (s *Store) Name() string { return s.name }

// topic returns the channel on which a replica is notified of messages.
func topic(name string) string { return "mail_" + name }

// Send sends a message to the replica whose name is in to. It fails if to cannot be the name of a
// replica, or if the database fails. A replica that has stopped does not get the message, which is
// removed after half a minute.
func (s *Store) Send(to string, body []byte) error {
	ctx, cancel := asking()
	defer cancel()
	if len(to) != nameLength || strings.Trim(to, letters) != "" { // it may be a client's
		return fmt.Errorf("shared: %q is no replica", to)
	}
	if err := s.Put(topic(to), newName(), s.name, body, mailLife); err != nil {
		return err
	}
	return s.db.Notify(ctx, s.db, topic(to))
}

// Receive calls the function got with each message that was sent to this replica, once and in no
// particular order, until ctx ends. It does not poll, because PostgreSQL notifies it of messages.
// The function got must not block. Receive calls the function failed with errors that delay
// messages.
func (s *Store) Receive(ctx context.Context, got func(body []byte), failed func(error)) {
	for ; ctx.Err() == nil; sleep.For(ctx, retryEvery) {
		notices, err := s.db.Listen(ctx, topic(s.name), failed)
		if err != nil {
			failed(err)
			continue
		}
		// also at once, for what was sent before it listened
		for more := true; more; _, more = <-notices {
			if err := s.collect(got); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
	}
}

// collect removes the messages that were sent to this replica from the table, and calls the
// function got with each. It fails if the database does.
func (s *Store) collect(got func([]byte)) error {
	ctx, cancel := asking()
	defer cancel()
	rows, err := s.db.QueryContext(ctx, "DELETE FROM h_shared WHERE kind = $1 RETURNING body",
		topic(s.name))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return err
		}
		got(body)
	}
	return rows.Err()
}
