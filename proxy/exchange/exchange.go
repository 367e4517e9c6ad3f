// Package exchange runs one exchange: it reads the body of a request, asks the model, writes the
// reply in the client's form while it comes, and notes what became of it in the log and in the
// trace.
//
// The order in it matters. The body is read to its end before anything is answered, the form is
// opened before the model is asked (it may offer more tools, or hold calls back), and the reply is
// closed whatever happened, so that every stream ends in exactly one way: its end, or one error.
package exchange

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/limit"
	"toolnorm/internal/trace"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// Runner runs exchanges. Model and MaxBody are needed.
type Runner struct {
	Model        chat.Model
	DefaultModel string                   // answers requests that name no model; empty: such requests are an error
	Real         func(name string) string // returns the model that an alias stands for; nil: there are no aliases

	May func(ctx context.Context, model string) error // refuses who may not ask a model by this name; nil: all may

	Log   zerolog.Logger                                               // one line an exchange; the zero value logs nothing
	Trace *trace.Log                                                   // keeps the last exchanges; nil: none are kept
	Count trace.Counter                                                // counts every exchange; nil: nobody does
	Watch func(ctx context.Context, r *chat.Request, o *chat.Observer) // adds to what is observed of a request; nil: nobody does

	MaxBody  int64         // of a request, in bytes
	Stall    time.Duration // until a client that takes nothing is given up; 0: never
	Thoughts string        // as form.Out.Thoughts
}

// Handler serves a path. An error of a handler that has written nothing is written for it.
type Handler func(http.ResponseWriter, *http.Request) error

// Ask answers requests of one API.
func (s *Runner) Ask(api form.API) Handler {
	return s.Logged(api, func(w http.ResponseWriter, r *http.Request, x *Record) error {
		body, err := s.Body(w, r)
		if err != nil {
			return err
		}
		return s.Answer(w, r, api, x, body)
	})
}

// Logged returns a handler that gives each request an id and a line in the log. An error before the
// first byte becomes a status; a later one is written in the reply's own form. The id begins as
// that of the API's own service does (chatcmpl-…), and is the reply's id, too.
func (s *Runner) Logged(api form.API, h func(w http.ResponseWriter, r *http.Request, x *Record) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		m := &meter{ResponseWriter: w}
		x := &Record{api: api.Name, start: time.Now(), id: api.Prefix + rand.Text()}
		m.Header().Set("X-Request-Id", x.id)
		if s.Count != nil {
			s.Count.Begin(r.Context(), api.Name)
		}
		defer func() { // also of a reply that is broken off
			x.log(r.Context(), s.Log, m, err)
			x.keep(s.Trace, m, err)
			x.end(r.Context(), s.Count, m, err)
			err = nil
		}()
		err = errPanicked // unless h returns
		if err = h(m, r, x); err != nil && m.status == 0 {
			api.Fail(m, err)
		}
		return err
	}
}

// errPanicked is what the log says of a request whose handler did not return. front.Front answers
// it.
var errPanicked = fault.New(fault.Internal, "the handler panicked")

// Answer reads the request and runs its reply. The model is filled in twice: forms are chosen by
// its name, and "@shell" alone leaves none once the suffix is taken off.
func (s *Runner) Answer(w http.ResponseWriter, r *http.Request, api form.API, x *Record, body []byte) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	x.trace(s.Trace, r.URL.Path, func() { cancel(errStopped) })
	ask, err := api.Read(body)
	if err != nil {
		return err
	}
	if err := s.OrDefault(ctx, &ask.Model); err != nil {
		return err
	}
	x.Model, x.stream = ask.Model, ask.Stream
	reply, err := api.Open(r.Header, ask, form.Out{Context: ctx, W: w, ID: x.id, Created: x.start, Stall: s.Stall, Notes: x.told, PromptTokens: x.promptTokens, Told: x.finished, Thoughts: s.Thoughts})
	if err != nil {
		return err
	}
	if s.fill(&ask.Model); ask.Model == "" { // a suffix was all of it
		return noModel()
	}
	x.real = ask.Model
	o := x.observer(w.Header(), limit.Caller(r), ask, reply)
	o.OnPrompt = func(tokens int) {
		x.prompt = tokens
		if err := limit.Fits(ctx, tokens); err != nil {
			cancel(err)
		}
	}
	if s.Watch != nil {
		s.Watch(ctx, &ask.Request, o)
	}
	if ask.Form != "" && ask.Form != form.OpenAI {
		o.OnNote("Client-Form", ask.Form)
	}
	for _, note := range ask.Notes {
		o.OnNote(note.Word, note.Text)
	}
	err = s.run(chat.WithObserver(ctx, o), ask, reply, x)
	if err != nil && ctx.Err() != nil {
		err = unfinished(ctx, err)
	}
	if err != nil {
		err = api.Renamed(err)
	}
	if end := reply.Close(err); err == nil {
		err = end
	}
	return err
}

// errStopped answers a request that an administrator has ended. The client should not ask again by
// itself.
var errStopped = fault.New(fault.Unable, "an administrator of this server has stopped the request")

// unfinished returns why a request ended before its reply: its client went away, or ctx was
// cancelled with a fault as its cause, which a client that is still there is told.
func unfinished(ctx context.Context, err error) error {
	var told *fault.Error
	if errors.As(context.Cause(ctx), &told) {
		return told
	}
	return fault.New(fault.Canceled, "the client went away: %w", err)
}

// mostPromised is how much memory is taken for a body on its header's word, in bytes: most requests
// are shorter, and what a header says costs its sender nothing. 200 connections that promised 20
// MiB and sent a byte each once took 4 GiB.
const mostPromised = 64 << 10

// Body reads the whole body, which must happen before anything is answered: net/http watches for a
// client that goes away only once the body is read. Compressed bodies are not unpacked, so none can
// grow here.
func (s *Runner) Body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.MaxBody {
		return nil, s.tooLarge()
	}
	body, err := readBody(http.MaxBytesReader(w, r.Body, s.MaxBody), int(max(r.ContentLength, 0)))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, s.tooLarge()
	case err != nil:
		return nil, fault.New(fault.Invalid, "the request's body ended early: %w", err)
	}
	return body, nil
}

// readBody reads a body whose header promises so many bytes. Four times what has come is believed:
// doubling step by step would copy a body of 200 KiB twice, and to believe all of it would let a
// few bytes take as much memory as the limit allows.
func readBody(r io.Reader, promised int) ([]byte, error) {
	var body bytes.Buffer
	for trusted := min(promised, mostPromised); ; trusted = min(promised, 4*body.Len()) {
		body.Grow(max(trusted-body.Len(), 0) + bytes.MinRead)
		if trusted == promised {
			_, err := body.ReadFrom(r)
			return body.Bytes(), err
		}
		if n, err := body.ReadFrom(io.LimitReader(r, int64(trusted-body.Len()))); err != nil || n == 0 {
			return body.Bytes(), err
		}
		// What begins as no object is refused, so the rest of it is read and not kept: many clients
		// read no answer before they have sent all.
		if first := bytes.TrimLeft(body.Bytes(), " \t\r\n"); len(first) > 0 && first[0] != '{' {
			_, err := io.Copy(io.Discard, r)
			return body.Bytes(), err
		}
	}
}

// OrDefault fills in the model that answers requests which name none, and refuses who may not ask
// the model.
func (s *Runner) OrDefault(ctx context.Context, model *string) error {
	asked := cmp.Or(*model, s.DefaultModel)
	if s.fill(model); *model == "" {
		return noModel()
	}
	if s.May != nil {
		return s.May(ctx, asked)
	}
	return nil
}

// noModel returns the error of a request that names no model where no setting does.
func noModel() error {
	return field.AsFault(field.Bad("model", "must name a model; GET /v1/models lists them"))
}

// fill fills in the model that answers requests which name none. An alias for a name with a suffix
// is replaced by that name, since the suffix chooses the form of the reply, or the agent: helper
// may stand for qwen3@agent.
func (s *Runner) fill(model *string) {
	*model = cmp.Or(*model, s.DefaultModel)
	if s.Real != nil {
		if real := s.Real(*model); strings.Contains(real, "@") && !strings.Contains(*model, "@") {
			*model = real
		}
	}
}

// tooLarge names the limit.
func (s *Runner) tooLarge() error {
	return fault.New(fault.TooLarge, "the request is larger than the limit of %d bytes", s.MaxBody)
}

// run is the one loop: events in, the client's form out. The model's reader flushes the reply
// whenever it must wait. Nothing is buffered between the two: a client that reads slowly slows the
// model's reader down, and is given up after Stall.
//
// Several replies to one request are asked for one after the other, each with a seed of its own.
func (s *Runner) run(ctx context.Context, a *form.Ask, reply form.Reply, x *Record) error {
	several, ok := reply.(form.Several)
	if a.Choices > 1 && !ok {
		return field.AsFault(field.Bad("n", "only n=1 is supported in this form"))
	}
	for n := range max(a.Choices, 1) {
		if n > 0 {
			several.Next()
		}
		if err := s.one(ctx, a.Nth(n), reply, x); err != nil {
			return err
		}
	}
	return nil
}

// one asks for one reply.
func (s *Runner) one(ctx context.Context, r *chat.Request, reply form.Reply, x *Record) error {
	for e, err := range s.Model.Stream(ctx, r) {
		if err != nil {
			return err
		}
		x.note(e)
		if err := reply.Event(e); err != nil {
			return err
		}
	}
	return nil
}
