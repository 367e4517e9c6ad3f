package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// Ollama is a client of one Ollama server. It is safe for concurrent use.
type Ollama struct {
	base    string
	http    *http.Client
	api     *api.Client
	scratch scratches
	queue   queue
}

// NewOllama makes a client of the server at base, as ParseHost gives it. A nil transport means the network, with
// settings for streams: nothing compressed, small buffers, connections kept.
func NewOllama(base string, rt http.RoundTripper) (*Ollama, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if rt == nil {
		rt = transport()
	}
	c := &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Ollama{base: base, http: c, api: api.NewClient(u, c)}, nil
}

// Chat begins a reply of /api/chat: the server renders the prompt and looks for calls itself.
func (o *Ollama) Chat(ctx context.Context, p *Pulse, r *ChatRequest) (chat.Source, error) {
	s, err := o.records(ctx, p, "/api/chat", r, p.untilFirst(), p.withheld())
	if err != nil {
		return nil, err
	}
	if r.Logprobs && len(r.Tools) == 0 {
		s.probs = new(probs)
	}
	return s, nil
}

// Tap is Chat, but what comes is the text that the model wrote, calls and all, as far as the server shows its tokens.
func (o *Ollama) Tap(ctx context.Context, p *Pulse, r *ChatRequest, m Marks) (chat.Source, error) {
	q := *r
	q.Logprobs = true
	s, err := o.records(ctx, p, "/api/chat", &q, p.untilFirst(), p.later())
	if err != nil {
		return nil, err
	}
	s.tap = &tap{marks: m}
	return s, nil
}

// Generate begins a reply of /api/generate: the raw text of the model.
func (o *Ollama) Generate(ctx context.Context, p *Pulse, r *GenerateRequest) (chat.Source, error) {
	return o.stream(ctx, p, "/api/generate", r, p.first(), p.later())
}

// identity is the template by which a server that reads the reply itself gets a prompt as it is.
const identity = "{{ .Prompt }}"

// Tokens is Generate for a server that leaves control tokens out of raw text: it is asked to read the reply itself, since
// then it has the marks that it knows written out, and what comes is the text of the tokens, whatever it reads. A reply that
// it could not read to its end ends with an estimate of its tokens and chat.Abandoned. Messages that the description
// of the model holds would come twice: such a model is not to be asked.
func (o *Ollama) Tokens(ctx context.Context, p *Pulse, r *GenerateRequest) (chat.Source, error) {
	q := *r
	q.Raw, q.Template, q.Logprobs = false, identity, true
	s, err := o.records(ctx, p, "/api/generate", &q, p.first(), p.later())
	if err != nil {
		return nil, err
	}
	s.tap = &tap{ours: true}
	return s, nil
}

// Render gives the prompt that r comes to with the model's own template. It loads the model. A server that does not
// know how to render only gives an empty string; so that it loses no time, r should ask for few tokens.
func (o *Ollama) Render(ctx context.Context, p *Pulse, r *ChatRequest) (string, error) {
	q := *r
	q.RenderOnly, q.Stream = true, false
	resp, err := o.post(ctx, p, "/api/chat", &q, p.loading())
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(p.reader(resp.Body, p.loading(), wait{}), maxRender))
	if err != nil {
		return "", broken(ctx, "", err)
	}
	var reply api.ChatResponse
	if err := json.Unmarshal(body, &reply); err != nil {
		return "", fault.New(fault.Unavailable, "the model server's rendering cannot be read: %w", err)
	}
	if reply.DebugInfo == nil {
		return "", nil
	}
	return reply.DebugInfo.RenderedTemplate, nil
}

// stream posts a request and gives the events of the reply.
func (o *Ollama) stream(ctx context.Context, p *Pulse, path string, body any, first, later wait) (chat.Source, error) {
	s, err := o.records(ctx, p, path, body, first, later)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// records posts a request whose reply is a stream of records.
func (o *Ollama) records(ctx context.Context, p *Pulse, path string, body any, first, later wait) (*stream, error) {
	resp, err := o.post(ctx, p, path, body, first)
	if err != nil {
		return nil, err
	}
	in := o.scratch.get(p.reader(resp.Body, first, later))
	return &stream{ctx: ctx, body: resp.Body, scratch: in, pool: &o.scratch}, nil
}

// post sends a request and waits for the head of the answer, which must be 200. While the server is busy it waits in the
// queue.
func (o *Ollama) post(ctx context.Context, p *Pulse, path string, body any, w wait) (*http.Response, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	return o.queue.pass(ctx, p, func() (*http.Response, error) { return o.send(ctx, p, path, data, w) })
}

// send is post, once.
func (o *Ollama) send(ctx context.Context, p *Pulse, path string, data []byte, w wait) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.base+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	p.begin(w)
	resp, err := o.http.Do(req)
	p.end()
	if err != nil {
		return nil, broken(ctx, o.base, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(p.reader(resp.Body, w, wait{}), maxError))
		return nil, refused(resp.StatusCode, resp.Header, text)
	}
	if err := misplaced(resp); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// Show describes a model: capabilities, template, parser, trained context length.
func (o *Ollama) Show(ctx context.Context, model string) (*api.ShowResponse, error) {
	return quick(ctx, o, func(ctx context.Context) (*api.ShowResponse, error) {
		return o.api.Show(ctx, &api.ShowRequest{Model: model})
	})
}

// Trained is the context that a model was trained with, in tokens; 0 when its server does not say.
func Trained(show *api.ShowResponse) int {
	for key, value := range show.ModelInfo {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			return int(n)
		}
	}
	return 0
}

// Tags lists the models that the server has, with their digests.
func (o *Ollama) Tags(ctx context.Context) (*api.ListResponse, error) {
	return quick(ctx, o, o.api.List)
}

// Version is the server's version.
func (o *Ollama) Version(ctx context.Context) (string, error) {
	return quick(ctx, o, o.api.Version)
}

// quick runs a call that needs no model and so has little time; its error becomes a fault.
func quick[T any](ctx context.Context, o *Ollama, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, quickTime)
	defer cancel()
	v, err := call(ctx)
	var status api.StatusError
	var auth api.AuthorizationError
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &status):
		return v, explain(status.StatusCode, unwrap([]byte(status.ErrorMessage)))
	case errors.As(err, &auth):
		return v, explain(auth.StatusCode, "not signed in")
	}
	return v, broken(ctx, o.base, err)
}
