package engine

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/valyala/fastjson"

	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// passing is the transport for requests of Ollama's own API that are passed on unread. A request
// for a reply goes to the server that the key of its conversation selects, like every other
// request. A request that changes the models of a server goes to the first server of a pool.
type passing struct {
	engine       *Engine
	server       *server
	name, called string // the model's name as its server calls it, and as the client does
	root         string // the key of the request's conversation
}

var _ http.RoundTripper = (*passing)(nil)

// RoundTrip implements http.RoundTripper: it passes a request on. Until there is an answer, it
// tries the other servers of a pool, and it returns the last error if none answers.
func (p *passing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !slices.Contains(ollama.Replies, r.URL.Path) || r.Body == nil {
		s := p.server
		if s.pool != nil {
			s = s.pool.members[0].server
		}
		return p.ask(r, s, &turn{engine: p.engine})
	}
	if err := repeatable(r); err != nil {
		return nil, err
	}
	t := p.engine.newTurn(p.root)
	for {
		resp, err := p.attempt(r, t)
		switch {
		case err == nil:
			resp.Body = &held{resp.Body, t}
			return resp, nil
		case !t.elsewhere(r.Context(), err):
			err = t.told(err)
			t.end()
			return nil, err
		}
	}
}

// repeatable makes sure that a request's body can be read more than once. It returns an error if
// the body cannot be read. The proxy sets GetBody itself, so no large body is copied.
func repeatable(r *http.Request) error {
	if r.GetBody != nil {
		return r.Body.Close()
	}
	body, err := io.ReadAll(r.Body)
	err = errors.Join(err, r.Body.Close())
	upstream.SetBody(r, body)
	return err
}

// attempt sends the request to one server. It returns an error if the server fails. It also returns
// an error if the server is busy and another server may still be asked.
func (p *passing) attempt(r *http.Request, t *turn) (*http.Response, error) {
	s := p.server
	if s.pool != nil {
		var err error
		if s, err = s.pool.known(t.context(r.Context()), p.name); err != nil {
			return nil, err
		}
	}
	c := r.Clone(r.Context())
	c.Header[upstream.ConversationHeader] = []string{t.key}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	c.Body = body
	resp, err := p.ask(c, s, t)
	if err == nil && t.at != nil && !t.patient && resp.StatusCode == http.StatusServiceUnavailable {
		return nil, errors.Join(fault.New(fault.Busy, "the model server is busy"),
			resp.Body.Close())
	}
	return resp, err
}

// ask asks a server. It returns an error if the server cannot be reached, or turns out to speak
// another API, which is possible if its kind was a guess.
func (p *passing) ask(r *http.Request, s *server, t *turn) (*http.Response, error) {
	s, err := s.known(r.Context())
	if err != nil {
		return nil, err
	}
	n, ok := s.backend.(native)
	if !ok {
		return nil, fault.New(fault.NotFound, "the server of %s does not speak Ollama's API",
			p.called)
	}
	return ollama.WatchAnswers(n, t.timeouts(false), p.name, p.called).RoundTrip(r)
}

// held is the body of a server's HTTP answer. Until it is closed, the request is one of the running
// requests of its server.
type held struct {
	io.ReadCloser
	turn *turn
}

// Close implements io.Closer: it closes the answer and releases the turn. It returns the error of
// closing.
func (h *held) Close() error {
	defer h.turn.end()
	return h.ReadCloser.Close()
}

// Broken returns the reason why the answer broke off. It returns nil if the answer ended well, or
// if the underlying body does not record such a reason.
func (h *held) Broken() error {
	if b, ok := h.ReadCloser.(interface{ Broken() error }); ok {
		return b.Broken()
	}
	return nil
}

// passedRoot returns the key of the conversation of a request that is passed on unread. It is made
// of the same parts as the key of other requests: the model, the tools and everything before the
// first answer. If v, the parsed body, is nil, it is made of the model alone.
func passedRoot(model string, v *fastjson.Value) string {
	var k upstream.Root
	k.Add(model)
	k.Add(string(v.GetStringBytes("system")))
	prompt := v.GetStringBytes("prompt")
	k.Add(string(prompt[:min(len(prompt), continuedRoot)]))
	for _, m := range v.GetArray("messages") {
		role := string(m.GetStringBytes("role"))
		if role != "system" && role != "user" {
			break
		}
		k.Add(string(m.GetStringBytes("content")))
	}
	if input := v.Get("input"); input != nil {
		k.Add(string(input.MarshalTo(nil)))
	}
	return k.Key()
}
