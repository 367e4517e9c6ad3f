package shared

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/sleep"
)

// Replica is one of the programs that share a store. Name is its address for messages, and Label
// its name for people.
type Replica = struct{ Name, Label string }

// Mail lets replicas send messages to each other. *Store implements it.
type Mail interface {
	Name() string                 // the name of this replica
	Replicas() ([]Replica, error) // all other replicas
	Send(to string, body []byte) error
	Receive(ctx context.Context, got func(body []byte), failed func(error))
}

const (
	replicaKind = "replica"
	// for how long a replica that was killed is listed, and how often one that runs says so
	listedFor = 10 * time.Minute
	listEvery = 3 * time.Minute
)

// List registers this replica for the others until ctx ends. A replica that was killed stays listed
// for some minutes, so that others can notice its absence.
func (s *Store) List(ctx context.Context, label string) {
	body, _ := json.Marshal(Replica{s.name, label}) // of strings
	for pause := listEvery; ctx.Err() == nil; sleep.For(ctx, pause) {
		if pause = listEvery; s.Put(replicaKind, s.name, "", body, listedFor) != nil {
			pause = retryEvery
		}
	}
	_, _ = s.Remove(replicaKind, s.name, "") // or it ends by itself
}

// Replicas implements Mail. It returns the other replicas, sorted by their labels. An entry that
// cannot be decoded is empty in the result, and the cause is in the error.
func (s *Store) Replicas() ([]Replica, error) {
	notes, err := s.Others(replicaKind, s.name, listedFor)
	all := make([]Replica, len(notes))
	for i, n := range notes {
		err = errors.Join(err, json.Unmarshal(n.Body, &all[i]))
	}
	slices.SortFunc(all, func(a, b Replica) int { return strings.Compare(a.Label, b.Label) })
	return all, err
}

// Desk asks questions of other replicas and answers theirs, with messages of its Mail. Questions
// and answers are encoded as JSON.
type Desk struct {
	Mail
	asked sync.Map // the id of a question -> chan json.RawMessage with a buffer of one
	hears sync.Map // the subject of questions -> func(context.Context, json.RawMessage) any
}

// letter is a message between two replicas: a question, or the answer to one.
type letter struct {
	// the id of the question; empty: no answer is wanted
	ID    string          `json:"id,omitempty"`
	From  string          `json:"from,omitempty"` // the replica to which the answer goes
	About string          `json:"about,omitempty"`
	Body  json.RawMessage `json:"body"`
}

// Hear registers a function that answers the questions about a subject. It replaces the function
// that was registered before. The function may block until its context ends. What it returns is
// sent as the answer. No answer is sent if it returns nil, or if the message came from Tell.
func (d *Desk) Hear(about string, f func(ctx context.Context, question json.RawMessage) any) {
	d.hears.Store(about, f)
}

// Tell sends v to another replica, as a message that gets no answer. It fails if v cannot be
// encoded or the message cannot be sent.
func (d *Desk) Tell(to, about string, v any) error { return d.send(to, letter{About: about}, v) }

// TellAll sends v to all other replicas, as Tell does. The errors of all of them are joined.
func (d *Desk) TellAll(about string, v any) error {
	all, err := d.Replicas()
	for _, r := range all {
		err = errors.Join(err, d.Tell(r.Name, about, v))
	}
	return err
}

// Ask sends a question to another replica and decodes its answer into the value to which answer
// points. It fails if the question cannot be sent, if the answer cannot be decoded, or when ctx
// ends, because a replica that has stopped never answers.
func (d *Desk) Ask(ctx context.Context, to, about string, question, answer any) error {
	ask := letter{ID: rand.Text(), From: d.Name(), About: about}
	got := make(chan json.RawMessage, 1)
	d.asked.Store(ask.ID, got)
	defer d.asked.Delete(ask.ID)
	if err := d.send(to, ask, question); err != nil {
		return err
	}
	select {
	case body := <-got:
		return json.Unmarshal(body, answer)
	case <-ctx.Done():
		return fmt.Errorf("shared: replica %s does not answer: %w", to, context.Cause(ctx))
	}
}

// send encodes v as the body of a letter and sends the letter to a replica. It fails if v cannot be
// encoded or the message cannot be sent.
func (d *Desk) send(to string, l letter, v any) (err error) {
	if l.Body, err = write(v); err != nil {
		return err
	}
	body, err := write(l)
	if err != nil {
		return err
	}
	return d.Send(to, body)
}

// write returns v as JSON without escaping <, > and &, so that texts arrive as they were sent. It
// fails if v cannot be encoded.
func write(v any) ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	err := out.Encode(v)
	return b.Bytes(), err
}

// Run receives messages until ctx ends, and then waits for answers that are being made. It calls
// the function failed with errors that delay or lose a message.
func (d *Desk) Run(ctx context.Context, failed func(error)) {
	var answering sync.WaitGroup
	defer answering.Wait()
	d.Receive(ctx, func(body []byte) {
		var l letter
		if json.Unmarshal(body, &l) != nil {
			return // of a program that we do not know
		}
		if l.About == "" {
			if got, ok := d.asked.Load(l.ID); ok {
				select {
				case got.(chan json.RawMessage) <- l.Body:
				default: // answered before
				}
			}
			return
		}
		answering.Go(func() {
			if err := d.answer(ctx, l); err != nil {
				failed(err)
			}
		})
	}, failed)
}

// answer calls the function that Hear registered for the subject of a letter, and sends its result.
// If no function is registered it does nothing. It fails if the answer cannot be sent.
func (d *Desk) answer(ctx context.Context, l letter) error {
	f, ok := d.hears.Load(l.About)
	if !ok {
		return nil
	}
	v := f.(func(context.Context, json.RawMessage) any)(ctx, l.Body)
	if l.ID == "" || v == nil {
		return nil
	}
	return d.send(l.From, letter{ID: l.ID}, v)
}
