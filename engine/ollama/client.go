package ollama

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Client is a client of one Ollama server. It is safe for concurrent use.
type Client struct {
	base    string
	http    *http.Client
	api     *api.Client
	scratch upstream.Scratches
	renders upstream.Documents
	queue   wait.Queue
}

// New makes a client of the server at base, as ParseHost gives it. A nil transport means the network, with
// settings for streams: nothing compressed, small buffers, connections kept.
func New(base string, rt http.RoundTripper) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if rt == nil {
		rt = upstream.Transport()
	}
	c := &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{base: base, http: c, api: api.NewClient(u, c)}, nil
}

// Chat begins a reply of /api/chat: the server renders the prompt and looks for calls itself.
func (o *Client) Chat(ctx context.Context, p *wait.Pulse, r *ChatRequest) (chat.Source, error) {
	s, err := o.records(ctx, p, "/api/chat", r, p.UntilFirst(), p.Withheld())
	if err != nil {
		return nil, err
	}
	if r.Logprobs && len(r.Tools) == 0 {
		s.probs = new(upstream.Probs)
	}
	return s, nil
}

// Tap is Chat, but what comes is the text that the model wrote, calls and all, as far as the server shows its tokens.
func (o *Client) Tap(ctx context.Context, p *wait.Pulse, r *ChatRequest, m Marks) (chat.Source, error) {
	q := *r
	q.Logprobs = true
	s, err := o.records(ctx, p, "/api/chat", &q, p.UntilFirst(), p.Later())
	if err != nil {
		return nil, err
	}
	s.tap = &tap{marks: m}
	return s, nil
}

// Generate begins a reply of /api/generate: the raw text of the model.
func (o *Client) Generate(ctx context.Context, p *wait.Pulse, r *GenerateRequest) (chat.Source, error) {
	return o.stream(ctx, p, "/api/generate", r, p.First(), p.Later())
}

// identity is the template by which a server that reads the reply itself gets a prompt as it is.
const identity = "{{ .Prompt }}"

// Tokens is Generate for a server that leaves control tokens out of raw text: it is asked to read the reply itself, since
// then it has the marks that it knows written out, and what comes is the text of the tokens, whatever it reads. A reply that
// it could not read to its end ends with an estimate of its tokens and chat.Abandoned. Messages that the description
// of the model holds would come twice: such a model is not to be asked.
func (o *Client) Tokens(ctx context.Context, p *wait.Pulse, r *GenerateRequest) (chat.Source, error) {
	q := *r
	q.Raw, q.Template, q.Logprobs = false, identity, true
	s, err := o.records(ctx, p, "/api/generate", &q, p.First(), p.Later())
	if err != nil {
		return nil, err
	}
	s.tap = &tap{ours: true}
	return s, nil
}

// Render gives the prompt that r comes to with the model's own template. It loads the model. A server that does not
// know how to render only gives an empty string; so that it loses no time, r should ask for few tokens. Rendering itself takes
// 3 to 5 ms (0.17 to 0.34): the field is meant for debugging, and is the only way to a prompt that the template itself wrote.
func (o *Client) Render(ctx context.Context, p *wait.Pulse, r *ChatRequest) (string, error) {
	q := *r
	q.RenderOnly, q.Stream = true, false
	resp, err := o.post(ctx, p, "/api/chat", &q, p.Loading())
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	prompt, err := o.renders.Read(p.Reader(resp.Body, p.Loading(), wait.Limit{}), upstream.MaxRender, "_debug_info", "rendered_template")
	var unread *fault.Error
	if err != nil && !errors.As(err, &unread) {
		return "", wait.Broken(ctx, "", err)
	}
	return prompt, err
}

// stream posts a request and gives the events of the reply.
func (o *Client) stream(ctx context.Context, p *wait.Pulse, path string, body any, first, later wait.Limit) (chat.Source, error) {
	s, err := o.records(ctx, p, path, body, first, later)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// records posts a request whose reply is a stream of records.
func (o *Client) records(ctx context.Context, p *wait.Pulse, path string, body any, first, later wait.Limit) (*stream, error) {
	resp, err := o.post(ctx, p, path, body, first)
	if err != nil {
		return nil, err
	}
	in := o.scratch.Get(p.Reader(resp.Body, first, later))
	return &stream{ctx: ctx, body: resp.Body, scratch: in, pool: &o.scratch}, nil
}

// post sends a request and waits for the head of the answer, which must be 200. While the server is busy it waits in the
// queue.
func (o *Client) post(ctx context.Context, p *wait.Pulse, path string, body any, w wait.Limit) (*http.Response, error) {
	data, err := chat.JSON(body) // marks as they are: a prompt is full of them, and longer with each as \u003c
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	return o.queue.Pass(ctx, p, func() (*http.Response, error) { return o.send(ctx, p, path, data, w) })
}

// send is post, once.
func (o *Client) send(ctx context.Context, p *wait.Pulse, path string, data []byte, w wait.Limit) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.base+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	p.Begin(w)
	resp, err := o.http.Do(req)
	p.End()
	if err != nil {
		return nil, wait.Broken(ctx, o.base, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(p.Reader(resp.Body, w, wait.Limit{}), upstream.MaxError))
		return nil, upstream.Refused(resp.StatusCode, resp.Header, text)
	}
	if err := upstream.Misplaced(resp); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// Show describes a model: capabilities, template, parser, trained context length.
func (o *Client) Show(ctx context.Context, model string) (*api.ShowResponse, error) {
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
func (o *Client) Tags(ctx context.Context) (*api.ListResponse, error) {
	return quick(ctx, o, o.api.List)
}

// Version is the server's version.
func (o *Client) Version(ctx context.Context) (string, error) {
	return quick(ctx, o, o.api.Version)
}

// quick runs a call that needs no model and so has little time; its error becomes a fault.
func quick[T any](ctx context.Context, o *Client, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, upstream.QuickTime)
	defer cancel()
	v, err := call(ctx)
	var status api.StatusError
	var auth api.AuthorizationError
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &status):
		return v, upstream.Explain(status.StatusCode, upstream.Sentence([]byte(status.ErrorMessage)))
	case errors.As(err, &auth):
		return v, upstream.Explain(auth.StatusCode, "not signed in")
	}
	return v, wait.Broken(ctx, o.base, err)
}
