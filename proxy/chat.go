package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// question is one form of asking a model: how it is read, and how its reply is opened.
type question struct {
	name   string // in the log
	prefix string // of the reply's id
	read   func(body []byte) (*Ask, error)
	open   func(h http.Header, a *Ask, out Out) (Reply, error)
	fail   func(w http.ResponseWriter, err error) // answers with an error
}

// ask answers questions of one form.
func (s *Server) ask(q question) handler {
	return s.logged(q, func(w http.ResponseWriter, r *http.Request, t *turn) error {
		body, err := s.body(w, r)
		if err != nil {
			return err
		}
		return s.answer(w, r, q, t, body)
	})
}

// logged gives requests an id and a line in the log. What goes wrong before the first byte becomes a status; later it is
// told in the reply's own form.
func (s *Server) logged(q question, h func(w http.ResponseWriter, r *http.Request, t *turn) error) handler {
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		m := &meter{ResponseWriter: w}
		t := &turn{question: q.name, start: time.Now(), id: q.prefix + rand.Text()}
		m.Header().Set("X-Request-Id", t.id)
		defer func() { t.log(s.cfg.Log, m, err); t.keep(s.cfg.Trace, m, err); err = nil }() // also of a reply that is broken off
		err = errPanicked                                                                   // unless h returns
		if err = h(m, r, t); err != nil && m.status == 0 {
			q.fail(m, err)
		}
		return err
	}
}

// errPanicked is what the log says of a request whose handler did not return. front.Front answers it.
var errPanicked = fault.New(fault.Internal, "the handler panicked")

// answer reads the request and runs its reply.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q question, t *turn, body []byte) error {
	t.trace(s.cfg.Trace, r.URL.Path)
	ask, err := q.read(body)
	if err != nil {
		return err
	}
	if err := s.orDefault(&ask.Model); err != nil {
		return err
	}
	t.model, t.stream = ask.Model, ask.Stream
	reply, err := q.open(r.Header, ask, Out{W: w, ID: t.id, Created: t.start, Stall: s.cfg.Stall, Notes: t.told, Told: t.finished, Thoughts: s.cfg.Thoughts})
	if err != nil {
		return err
	}
	if err := s.orDefault(&ask.Model); err != nil { // a suffix may have been all of it
		return err
	}
	o := t.observer(w.Header(), ask, reply)
	if ask.Form != "" && ask.Form != formOpenAI {
		o.OnNote("Dialect", ask.Form)
	}
	err = s.run(chat.WithObserver(r.Context(), o), ask, reply, t)
	if gone := r.Context().Err(); err != nil && gone != nil {
		err = fault.New(fault.Canceled, "the client went away: %w", err)
	}
	if end := reply.Close(err); err == nil {
		err = end
	}
	return err
}

// mostPromised is how much memory is taken for a body on its header's word, in bytes: most requests are shorter, and what a
// header says costs its sender nothing.
const mostPromised = 64 << 10

// body reads the whole body, which must happen before anything is answered: net/http watches for a client that goes
// away only once the body is read.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	if r.ContentLength > s.cfg.MaxBody {
		return nil, s.tooLarge()
	}
	body.Grow(int(min(max(r.ContentLength, 0), mostPromised)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, s.tooLarge()
	case err != nil:
		return nil, fault.New(fault.Invalid, "the request's body ended early: %w", err)
	}
	return body.Bytes(), nil
}

// orDefault fills in the model that answers requests which name none.
func (s *Server) orDefault(model *string) error {
	if *model == "" {
		*model = s.cfg.DefaultModel
	}
	if *model == "" {
		return asFault(bad("model", "must name a model; GET /v1/models lists them"))
	}
	return nil
}

// tooLarge names the limit.
func (s *Server) tooLarge() error {
	return fault.New(fault.TooLarge, "the request is larger than the limit of %d bytes", s.cfg.MaxBody)
}

// run is the one loop: events in, the client's form out. The model's reader flushes the reply whenever it must wait.
func (s *Server) run(ctx context.Context, a *Ask, reply Reply, t *turn) error {
	for e, err := range s.cfg.Model.Stream(ctx, &a.Request) {
		if err != nil {
			return err
		}
		t.note(e)
		if err := reply.Event(e); err != nil {
			return err
		}
	}
	return nil
}
