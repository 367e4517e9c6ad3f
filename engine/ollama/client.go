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

// Client is a client of one Ollama server. It is safe for concurrent use. It speaks the native API, never the
// server's own /v1: only the former tells of errors in mid-stream, and takes num_ctx, keep_alive, think and
// truncate.
type Client struct {
	base    string             // without a slash at its end
	http    *http.Client       // for replies: no time limit besides the context's
	api     *api.Client        // for what needs no model, by Ollama's own types
	scratch upstream.Scratches // buffers of replies, used again
	renders upstream.Documents // buffers of rendered prompts
	queue   wait.Queue         // for a server that says 503
}

// New makes a client of the server at base, as ParseHost gives it. A nil transport means the network, with
// settings for streams: nothing compressed, small buffers, connections kept. Redirections are not followed: a POST
// would become a GET, and the answer one of another server.
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

// Chat begins a reply of /api/chat: the server renders the prompt and looks for calls itself. It may be silent for
// as long as a call takes to write (Withheld), since its parsers send a call whole. Tokens beside text are kept
// only where the client asked for them and no call may be among them.
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

// Tap is Chat, but what comes is the text that the model wrote, calls and all, as far as the server shows its
// tokens. With logprobs every token has a record, also those that the parser withholds, so a long argument
// streams; the price is about twice the bytes a token and no speed. A native-mode server (0.30 and later, jinja
// template) answers 400: it takes no logprobs with tools and stream.
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

// Generate begins a reply of /api/generate: the raw text of the model. Nothing is withheld here, so a silence
// between two records is a fault sooner than with Chat.
func (o *Client) Generate(ctx context.Context, p *wait.Pulse, r *GenerateRequest) (chat.Source, error) {
	return o.stream(ctx, p, "/api/generate", r, p.First(), p.Later())
}

// identity is the template by which a server that reads the reply itself gets a prompt as it is. Raw would do that
// too, but with raw no marks are named to the runner, and control tokens vanish: call:get_weather{city:Lugano}
// without <|tool_call> around it.
const identity = "{{ .Prompt }}"

// Tokens is Generate for a server that leaves control tokens out of raw text: it is asked to read the reply
// itself, since then it has the marks that it knows written out, and what comes is the text of the tokens,
// whatever it reads. A reply that it could not read to its end ends with an estimate of its tokens and
// chat.Abandoned. Messages that the description of the model holds would come twice: such a model is not to be
// asked (see readers).
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
	// A document that was read and is no rendering says so itself; anything else is the connection's error.
	var unread *fault.Error
	if err != nil && !errors.As(err, &unread) {
		return "", wait.Broken(ctx, "", err)
	}
	return prompt, err
}

// stream posts a request and gives the events of the reply. It exists so that a nil *stream is never a chat.Source
// that is not nil.
func (o *Client) stream(ctx context.Context, p *wait.Pulse, path string, body any, first, later wait.Limit) (chat.Source, error) {
	s, err := o.records(ctx, p, path, body, first, later)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// records posts a request whose reply is a stream of records. Ollama sends its head with the first record, so the
// wait for the head is that for the model to load and to read the prompt; first stands for both waits.
func (o *Client) records(ctx context.Context, p *wait.Pulse, path string, body any, first, later wait.Limit) (*stream, error) {
	resp, err := o.post(ctx, p, path, body, first)
	if err != nil {
		return nil, err
	}
	in := o.scratch.Get(p.Reader(resp.Body, first, later))
	return &stream{ctx: ctx, body: resp.Body, scratch: in, pool: &o.scratch}, nil
}

// post sends a request and waits for the head of the answer, which must be 200. While the server is busy it waits
// in the queue: Ollama says 503 "server busy, please try again" once OLLAMA_MAX_QUEUE requests wait for models,
// and most of them pass soon.
func (o *Client) post(ctx context.Context, p *wait.Pulse, path string, body any, w wait.Limit) (*http.Response, error) {
	data, err := chat.JSON(body) // marks as they are: a prompt is full of them, and longer with each as \u003c
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be written as JSON: %w", err)
	}
	return o.queue.Pass(ctx, p, func() (*http.Response, error) { return o.send(ctx, p, path, data, w) })
}

// send is post, once. What is no 200 is read to MaxError bytes and explained; a 200 that is a page or another
// API's answer is an error too (Misplaced), since what stands at the address is no Ollama.
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
	// A router's login page comes with status 200.
	if err := upstream.Misplaced(resp); err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

// Show describes a model: capabilities, template, parser, trained context length. A model that the server lacks is
// fault.NotFound.
func (o *Client) Show(ctx context.Context, model string) (*api.ShowResponse, error) {
	return quick(ctx, o, func(ctx context.Context) (*api.ShowResponse, error) {
		return o.api.Show(ctx, &api.ShowRequest{Model: model})
	})
}

// Trained is the context that a model was trained with, in tokens; 0 when its server does not say. The key has the
// architecture in front, as llama.context_length, so it is found by its end.
func Trained(show *api.ShowResponse) int {
	for key, value := range show.ModelInfo {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			return int(n)
		}
	}
	return 0
}

// Tags lists the models that the server has, with their digests. It needs no model, so it has little time.
func (o *Client) Tags(ctx context.Context) (*api.ListResponse, error) {
	return quick(ctx, o, o.api.List)
}

// Version is the server's version.
func (o *Client) Version(ctx context.Context) (string, error) {
	return quick(ctx, o, o.api.Version)
}

// quick runs a call that needs no model and so has little time (upstream.QuickTime); its error becomes a fault, as
// that of a reply does, so that a client sees one wording for both.
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
