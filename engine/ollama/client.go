package ollama

import (
	"bytes"
	"context"
	"errors"
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
	calls   upstream.Caller
}

// New makes a client of the server at base, as ParseHost gives it. A nil transport means the network, with
// settings for streams: nothing compressed, small buffers, connections kept.
func New(base string, rt http.RoundTripper) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	c := upstream.HTTP(rt)
	o := &Client{base: base, http: c, api: api.NewClient(u, c)}
	o.calls.Do = o.send
	o.calls.Refused = func(resp *http.Response, text []byte) *fault.Error {
		return upstream.Refused(resp.StatusCode, resp.Header, text)
	}
	return o, nil
}

// Chat begins a reply of /api/chat: the server renders the prompt and looks for calls itself. It may be silent for
// as long as a call takes to write (Withheld), since its parsers send a call whole. Tokens beside text are kept
// only where the client asked for them and no call may be among them.
func (o *Client) Chat(ctx context.Context, p *wait.Pulse, r *ChatRequest) (chat.Source, error) {
	return o.stream(ctx, p, "/api/chat", r, p.UntilFirst(), p.Withheld(), func(s *stream) {
		if r.Logprobs && len(r.Tools) == 0 {
			s.probs = new(upstream.Probs)
		}
	})
}

// Tap is Chat, but what comes is the text that the model wrote, calls and all, as far as the server shows its
// tokens. With logprobs every token has a record, also those that the parser withholds, so a long argument
// streams; the price is about twice the bytes a token and no speed. A native-mode server (0.30 and later, jinja
// template) answers 400: it takes no logprobs with tools and stream.
func (o *Client) Tap(ctx context.Context, p *wait.Pulse, r *ChatRequest, m Marks) (chat.Source, error) {
	q := *r
	q.Logprobs = true
	return o.stream(ctx, p, "/api/chat", &q, p.UntilFirst(), p.Later(), func(s *stream) { s.tap = &tap{marks: m} })
}

// Generate begins a reply of /api/generate: the raw text of the model. Nothing is withheld here, so a silence
// between two records is a fault sooner than with Chat.
func (o *Client) Generate(ctx context.Context, p *wait.Pulse, r *GenerateRequest) (chat.Source, error) {
	return o.stream(ctx, p, "/api/generate", r, p.First(), p.Later(), plain)
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
	return o.stream(ctx, p, "/api/generate", &q, p.First(), p.Later(), func(s *stream) { s.tap = &tap{ours: true} })
}

// Render gives the prompt that r comes to with the model's own template. It loads the model. A server that does not
// know how to render only gives an empty string; so that it loses no time, r should ask for few tokens. Rendering itself takes
// 3 to 5 ms (0.17 to 0.34): the field is meant for debugging, and is the only way to a prompt that the template itself wrote.
func (o *Client) Render(ctx context.Context, p *wait.Pulse, r *ChatRequest) (string, error) {
	q := *r
	q.RenderOnly, q.Stream = true, false
	resp, err := o.calls.Post(ctx, p, o.base+"/api/chat", &q, p.Loading())
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

// stream posts a request whose reply is a stream of records. Ollama sends its head with the first record, so the
// wait for the head is that for the model to load and to read the prompt; first stands for both waits.
func (o *Client) stream(ctx context.Context, p *wait.Pulse, path string, body any, first, later wait.Limit, reading func(*stream)) (chat.Source, error) {
	resp, err := o.calls.Post(ctx, p, o.base+path, body, first)
	if err != nil {
		return nil, err
	}
	s := &stream{Stream: o.scratch.Stream(ctx, resp.Body, p.Reader(resp.Body, first, later))}
	s.Read = s.read
	reading(s)
	return s, nil
}

// plain has a stream read as it is.
func plain(*stream) {}

// send sends a request and waits for the head of the answer. While the server is busy it waits
// in the queue: Ollama says 503 "server busy, please try again" once OLLAMA_MAX_QUEUE requests wait for models,
// and most of them pass soon.
func (o *Client) send(ctx context.Context, url string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := o.http.Do(req)
	if err != nil {
		return nil, wait.Broken(ctx, o.base, err)
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
