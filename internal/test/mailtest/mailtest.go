// Package mailtest lets the replicas of a test send messages to each other without a database.
package mailtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"toolnorm/internal/shared"
)

// Office delivers the messages of one test. The zero value is ready for use.
type Office struct {
	mu    sync.Mutex
	names []string
	boxes map[string]chan []byte
	sent  int
}

// Join adds a replica and returns its Desk, which answers until the test ends. The replica's label
// is "replica " and its name.
func (o *Office) Join(t testing.TB, name string) *shared.Desk {
	t.Helper()
	d := &shared.Desk{Mail: &mailbox{o, name, o.open(name)}}
	go d.Run(t.Context(), func(err error) { t.Error(err) })
	return d
}

// Silent adds a replica that never answers, and returns the channel of the messages to it.
func (o *Office) Silent(name string) <-chan []byte { return o.open(name) }

// open adds a replica and returns the channel of the messages to it.
func (o *Office) open(name string) chan []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.boxes == nil {
		o.boxes = map[string]chan []byte{}
	}
	o.names = append(o.names, name)
	o.boxes[name] = make(chan []byte, 1000)
	return o.boxes[name]
}

// Kill makes a replica lose all messages from and to it. The replica stays in the list of replicas.
func (o *Office) Kill(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.boxes, name)
}

// Sent returns how many messages were sent.
func (o *Office) Sent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// mailbox implements shared.Mail for one replica of an Office.
type mailbox struct {
	office *Office
	name   string
	box    chan []byte
}

// Name returns the replica's name.
func (m *mailbox) Name() string { return m.name }

// Replicas returns all other replicas, including killed ones. It never fails.
func (m *mailbox) Replicas() (all []shared.Replica, _ error) {
	m.office.mu.Lock()
	defer m.office.mu.Unlock()
	for _, name := range m.office.names {
		if name != m.name {
			all = append(all, shared.Replica{Name: name, Label: "replica " + name})
		}
	}
	return all, nil
}

// Send delivers a message to another replica. If one of the two was killed, the message is dropped
// without an error. It fails if a thousand messages are already waiting for that replica.
func (m *mailbox) Send(to string, body []byte) error {
	m.office.mu.Lock()
	defer m.office.mu.Unlock()
	if m.office.boxes[m.name] == nil || m.office.boxes[to] == nil {
		return nil
	}
	m.office.sent++
	select {
	case m.office.boxes[to] <- body:
		return nil
	default:
		return errors.New("mailtest: the mailbox is full")
	}
}

// Receive calls the function got with each message to this replica until ctx ends.
func (m *mailbox) Receive(ctx context.Context, got func([]byte), _ func(error)) {
	for {
		select {
		case body := <-m.box:
			got(body)
		case <-ctx.Done():
			return
		}
	}
}
