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

// Replica is one of the programs that share a store: the name by which it is reached, and the one
// by which people know it.
type Replica = struct{ Name, Label string }

// Mail is how replicas reach each other. Store is one.
type Mail interface {
	Name() string                 // of this replica
	Replicas() ([]Replica, error) // the others
	Send(to string, body []byte) error
	Receive(ctx context.Context, got func(body []byte), failed func(error))
}

const (
	replicaKind = "replica"
	// for how long a replica that was killed is listed, and how often one that runs says so
	listedFor = 10 * time.Minute
	listEvery = 3 * time.Minute
)

// List lists this replica for the others until ctx ends. One that was killed stays in the list for
// some minutes, so that its absence can be told.
func (s *Store) List(ctx context.Context, label string) {
	body, _ := json.Marshal(Replica{s.name, label}) // of strings
	for pause := listEvery; ctx.Err() == nil; sleep.For(ctx, pause) {
		if pause = listEvery; s.Put(replicaKind, s.name, "", body, listedFor) != nil {
			pause = retryEvery
		}
	}
	_, _ = s.Remove(replicaKind, s.name, "") // or it ends by itself
}

// Replicas returns the other replicas, by their labels.
func (s *Store) Replicas() ([]Replica, error) {
	notes, err := s.Others(replicaKind, s.name, listedFor)
	all := make([]Replica, len(notes))
	for i, n := range notes {
		err = errors.Join(err, json.Unmarshal(n.Body, &all[i]))
	}
	slices.SortFunc(all, func(a, b Replica) int { return strings.Compare(a.Label, b.Label) })
	return all, err
}

// Desk asks other replicas and answers what they ask, by their mail. Questions and answers are
// written as JSON.
type Desk struct {
	Mail
	asked sync.Map // the id of a question -> chan json.RawMessage, with room for one
	hears sync.Map // what questions are about -> func(context.Context, json.RawMessage) any
}

// letter is a question, or the answer to one.
type letter struct {
	ID    string          `json:"id,omitempty"`   // of the question; empty: it wants no answer
	From  string          `json:"from,omitempty"` // who wants the answer
	About string          `json:"about,omitempty"`
	Body  json.RawMessage `json:"body"`
}

// Hear has f answer questions about something. f may wait until its context ends. nil is no answer,
// and what Tell tells gets none.
func (d *Desk) Hear(about string, f func(ctx context.Context, question json.RawMessage) any) {
	d.hears.Store(about, f)
}

// Tell tells another replica something.
func (d *Desk) Tell(to, about string, v any) error { return d.send(to, letter{About: about}, v) }

// TellAll tells all other replicas something.
func (d *Desk) TellAll(about string, v any) error {
	all, err := d.Replicas()
	for _, r := range all {
		err = errors.Join(err, d.Tell(r.Name, about, v))
	}
	return err
}

// Ask asks another replica, and reads its answer. It waits until ctx ends, as a replica that has
// stopped never answers.
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

// send writes a letter.
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

// write writes JSON with <, > and & as themselves, so that texts arrive as they were sent.
func write(v any) ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	err := out.Encode(v)
	return b.Bytes(), err
}

// Run receives letters until ctx ends, and waits for the answers that are being made. failed is
// told why letters are late.
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

// answer answers a question, if anybody here hears of such.
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
