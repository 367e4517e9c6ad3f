// Package exchange runs one exchange: it reads the body of a request, asks the model, writes the
// reply in the client's form as it arrives, and records the outcome in the log and in the trace.
//
// The order of these steps matters. The body is read to its end before anything is answered, the
// form is opened before the model is asked (the form may offer more tools, or hold calls back), and
// the reply is closed whatever happens, so that every stream ends in exactly one way: with its
// regular end or with one error.
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

// Runner runs exchanges, each of which is a client's request and its reply. The fields Model and
// MaxBody must be set.
type Runner struct {
	Model chat.Model
	// the model for requests that name none; empty: such requests are an error
	DefaultModel string
	// returns the name that an alias stands for; nil: there are no aliases
	Real func(name string) string

	// returns an error if the caller may not ask this model; nil: every caller may
	May func(ctx context.Context, model string) error

	// gets one line per exchange; the zero value logs nothing
	Log zerolog.Logger
	// records the last exchanges; nil: none are recorded
	Trace *trace.Log
	// counts every exchange; nil: they are not counted
	Count trace.Counter
	// adds functions to the observer of a request; nil: nothing is added
	Watch func(ctx context.Context, r *chat.Request, o *chat.Observer)

	MaxBody  int64         // of a request, in bytes
	Stall    time.Duration // how long a client may read nothing of its reply; 0: for ever
	Thoughts string        // as in form.Out
}

// Handler answers a request. If it returns an error and has written nothing, its caller writes the
// error.
type Handler func(http.ResponseWriter, *http.Request) error

// Ask returns the handler that answers requests of one API. The handler also answers every error,
// in the same way as a handler of Logged.
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
// first byte becomes a status; a later one has been written in the reply's own form. The handler
// itself always returns nil. The id begins like the ids of the API's own service (chatcmpl-…), and
// is also the reply's id.
func (s *Runner) Logged(api form.API, h func(w http.ResponseWriter, r *http.Request,
	x *Record) error) Handler {
	return func(w http.ResponseWriter, r *http.Request) (err error) {
		m := &meter{ResponseWriter: w}
		x := &Record{api: api.Name, start: time.Now(), id: api.Prefix + rand.Text()}
		m.Header().Set("X-Request-Id", x.id)
		if s.Count != nil {
			s.Count.Begin(r.Context(), api.Name)
		}
		defer func() { // also runs if the reply is broken off
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

// errPanicked is logged for a request whose handler panicked. Package front answers the client.
var errPanicked = fault.New(fault.Internal, "the handler panicked")

// Answer reads the request in body and runs its reply. It returns an error if the request is
// invalid or the reply fails. If the reply had begun, the error has also been written to the
// client. The default model is filled in before the form is chosen by the model's name, and again
// after that, because a name such as "@shell" is empty without its suffix.
func (s *Runner) Answer(w http.ResponseWriter, r *http.Request, api form.API, x *Record,
	body []byte) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	x.trace(s.Trace, r.URL.Path, func() { cancel(errStopped) })
	ask, err := api.Read(body)
	if err != nil {
		return err
	}
	ask.OfferOnce()
	if err := s.OrDefault(ctx, &ask.Model); err != nil {
		return err
	}
	x.Model, x.stream = ask.Model, ask.Stream
	reply, err := api.Open(r.Header, ask, form.Out{Context: ctx, W: w, ID: x.id, Created: x.start,
		Stall: s.Stall, Thoughts: s.Thoughts, Notes: func() []string { return x.notes },
		PromptTokens: func() int { return x.prompt },
		Told:         func(reason string) { x.reason = reason }})
	if err != nil {
		return err
	}
	if s.fill(&ask.Model); ask.Model == "" { // the name was only a suffix
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
		err = whyUnfinished(ctx, err)
	}
	if err != nil {
		err = api.Renamed(err)
	}
	if end := reply.Close(err); err == nil {
		err = end
	}
	return err
}

// errStopped is the answer to a request that an administrator has stopped. Its kind tells the
// client not to retry by itself.
var errStopped = fault.New(fault.Unable, "an administrator of this server has stopped the request")

// whyUnfinished returns the error of a request that ended before its reply. If ctx was cancelled
// with a fault as its cause, it returns that fault, which the client then gets. Otherwise it
// returns a fault that says that the client went away, with err as its cause.
func whyUnfinished(ctx context.Context, err error) error {
	var told *fault.Error
	if errors.As(context.Cause(ctx), &told) {
		return told
	}
	return fault.New(fault.Canceled, "the client went away: %w", err)
}

// mostPromised is the most bytes that are allocated for a body only because of its Content-Length.
// Most requests are shorter, and a large value in a header costs its sender nothing. 200
// connections that promised 20 MiB and sent one byte each once took 4 GiB.
const mostPromised = 64 << 10

// Body returns the whole body of a request. The body must be read before anything is answered,
// since only then net/http notices a client that goes away. It returns an error if the body is
// longer than MaxBody, incomplete or compressed. Compressed bodies are not unpacked, so a small
// body cannot become a large one. A byte order mark, which .NET writes, is left out.
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
	case r.Header.Get("Content-Encoding") != "" && !mayBeObject(body):
		return nil, fault.New(fault.Invalid,
			"the body is compressed (Content-Encoding: %.20s), and is read only as plain JSON here",
			r.Header.Get("Content-Encoding"))
	}
	return bytes.TrimPrefix(body, byteOrderMark), nil
}

// byteOrderMark may stand in front of a text in UTF-8.
var byteOrderMark = []byte("\uFEFF")

// mayBeObject reports whether a body, or what there is of it, could begin a JSON object.
func mayBeObject(body []byte) bool {
	first := bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	return len(first) == 0 || first[0] == '{'
}

// readBody returns the whole body of a request, or an error if it cannot be read to its end. The
// parameter promised is its Content-Length. The buffer never has more than eight times the bytes
// that have arrived, so a few bytes with a large promise take little memory. It grows by factors of
// eight, because doubling copies a body of 200 KiB twice, and took 32 MiB for a body of 19 MiB. If
// a body does not begin a JSON object, it is read to its end, but not kept.
func readBody(r io.Reader, promised int) ([]byte, error) {
	body := new(bytes.Buffer)
	for trusted := min(promised, mostPromised); ; trusted = min(promised, 8*body.Len()) {
		room := make([]byte, body.Len(), max(trusted, body.Len())+bytes.MinRead)
		copy(room, body.Bytes())
		body = bytes.NewBuffer(room)
		if trusted == promised {
			_, err := body.ReadFrom(r)
			return body.Bytes(), err
		}
		if n, err := body.ReadFrom(io.LimitReader(r, int64(trusted-body.Len()))); err != nil ||
			n == 0 {
			return body.Bytes(), err
		}
		// A body that does not begin an object will be refused, so the rest of it is read but not
		// kept: many clients read no answer before they have sent everything.
		if !mayBeObject(body.Bytes()) {
			_, err := io.Copy(io.Discard, r)
			return body.Bytes(), err
		}
	}
}

// OrDefault sets the default model if the request names none. It returns an error if there is no
// default, or if the caller may not ask the model.
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

// noModel returns the error for a request that names no model if there is no default.
func noModel() error {
	return field.AsFault(field.Bad("model", "must name a model; GET /v1/models lists them"))
}

// fill sets the default model if the request names none. It also replaces an alias by its target if
// the target has a suffix and the alias has none, because the suffix chooses the form of the reply
// or the agent. For example, the alias helper may stand for qwen3@agent.
func (s *Runner) fill(model *string) {
	*model = cmp.Or(*model, s.DefaultModel)
	if s.Real != nil {
		if real := s.Real(*model); strings.Contains(real, "@") && !strings.Contains(*model, "@") {
			*model = real
		}
	}
}

// tooLarge returns the error for a body above the limit.
func (s *Runner) tooLarge() error {
	return fault.New(fault.TooLarge, "the request is larger than the limit of %d bytes", s.MaxBody)
}

// run passes the model's events to the reply, which writes them in the client's form. Whenever the
// model pauses, it flushes the reply. Nothing is buffered between the two, so a client that reads
// slowly slows down the reading from the model, and is cut off if it reads nothing for the time
// Stall. It returns an error if the model fails or the client cannot be written to.
//
// If a request asks for several replies, the model is asked once for each, with a different seed
// each time.
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

// one asks the model for one reply and passes its events on. It returns the error of the model or
// of the reply.
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
