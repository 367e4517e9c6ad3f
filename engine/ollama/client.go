package ollama

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Client is a client of one Ollama server. It is safe for concurrent use. It uses the native API
// and never the server's own /v1, because only the native API reports errors in mid-stream, and
// accepts num_ctx, keep_alive, think and truncate.
type Client struct {
	base  string // without a slash at its end
	calls upstream.Caller
}

// Waiting returns how many requests wait because the server is busy.
func (c *Client) Waiting() int { return int(c.calls.Queue.Waiting.Load()) }

// New returns a client of the server at base, which should be a result of ParseHost, or an error if
// base is not a URL. A nil transport means the network, with settings for streams: no compression,
// small buffers, connections kept open.
func New(base string, rt http.RoundTripper) (*Client, error) {
	if _, err := url.Parse(base); err != nil {
		return nil, err
	}
	return &Client{base: base, calls: upstream.Caller{
		HTTP: upstream.HTTP(rt),
		Gone: "Ollama cannot be reached at " + base +
			": start it with \"ollama serve\", or set OLLAMA_HOST to where it runs",
		Refused: func(resp *http.Response, text []byte) *fault.Error {
			return upstream.RefusalOf(resp.StatusCode, resp.Header, text)
		},
	}}, nil
}

// Chat begins a reply of /api/chat, for which the server renders the prompt and looks for calls
// itself. The server may be silent for as long as a call takes to write (Withheld), since its
// parsers send a whole call at once. The probabilities of tokens are kept only if the client asked
// for them and no token can be part of a call. Chat returns an error if the server refuses the
// request or cannot be reached.
func (o *Client) Chat(ctx context.Context, p *wait.Pulse, r *ChatRequest) (chat.Source, error) {
	s := new(stream)
	if r.Logprobs && len(r.Tools) == 0 {
		s.probs = new(upstream.Probs)
	}
	return o.stream(ctx, p, "/api/chat", r, p.UntilFirst(), p.Withheld(), s)
}

// Tap sends the request as Chat does, but the returned source has everything that the model wrote,
// including the text of its calls. The text is taken from the tokens that the server sends
// (logprobs), because it sends even those that its own parser withholds, so a long argument
// streams. This costs about twice the bytes per token, but no time. It returns an error if the
// server refuses or cannot be reached. For example, a native-mode server (0.30 and later, jinja
// template) answers 400, since it does not accept logprobs with tools and stream.
func (o *Client) Tap(ctx context.Context, p *wait.Pulse, r *ChatRequest, m Marks) (
	chat.Source, error) {
	q := *r
	q.Logprobs = true
	return o.stream(ctx, p, "/api/chat", &q, p.UntilFirst(), p.Later(),
		&stream{tap: &tap{marks: m}})
}

// Generate begins a reply of /api/generate, which is the raw text of the model. The server
// withholds nothing here, so silence between two records becomes an error sooner than with Chat.
// Generate itself returns an error if the server refuses the request or cannot be reached.
func (o *Client) Generate(ctx context.Context, p *wait.Pulse, r *GenerateRequest) (
	chat.Source, error) {
	s := new(stream)
	if r.Logprobs {
		s.probs = new(upstream.Probs)
	}
	return o.stream(ctx, p, "/api/generate", r, p.First(), p.Later(), s)
}

// identity is the template that passes a prompt unchanged to a server that parses the reply itself.
// Raw would do that too, but with raw no tags are passed to the runner, and control tokens vanish:
// call:get_weather{city:Lugano} without <|tool_call> around it.
const identity = "{{ .Prompt }}"

// Tokens sends the request as Generate does, and returns the reply's text taken from its tokens. It
// is for a server that leaves control tokens out of raw text. The server is asked to parse the
// reply, because it then shows the control tokens that it knows, but what it parses is ignored. If
// the server gives up parsing, the reply ends with an estimate of its tokens and chat.Abandoned. It
// returns an error if the server refuses or cannot be reached. Tokens must not be used for a model
// whose description has messages, because the server would send these to the model twice.
func (o *Client) Tokens(ctx context.Context, p *wait.Pulse, r *GenerateRequest) (
	chat.Source, error) {
	q := *r
	q.Raw, q.Template, q.Logprobs = false, identity, true
	return o.stream(ctx, p, "/api/generate", &q, p.First(), p.Later(),
		&stream{tap: &tap{ours: true}})
}

// Render returns the prompt that the model's own template makes of r. It returns "" if the server
// cannot render without answering. To lose little time in that case, r should ask for few tokens.
// It returns an error if the request fails. Render loads the model. Rendering itself takes 3 to 5
// ms (with Ollama 0.17 to 0.34). The request's field _debug_render_only is meant for debugging, but
// there is no other way to get a prompt from the model's own template.
func (o *Client) Render(ctx context.Context, p *wait.Pulse, r *ChatRequest) (string, error) {
	q := *r
	q.RenderOnly, q.Stream = true, false
	return o.calls.Text(ctx, p, o.base+"/api/chat", &q, "_debug_info", "rendered_template")
}

// stream posts a request whose reply is a stream of records. It prepares s, which reads the
// records, and returns it. The parameter first limits the wait for the first record, and later the
// silence between two records. It returns an error if the server refuses the request or cannot be
// reached.
func (o *Client) stream(ctx context.Context, p *wait.Pulse, path string, body any, first,
	later wait.Limit, s *stream) (_ chat.Source, err error) {
	if s.Stream, err = o.calls.Stream(ctx, p, o.base+path, body, first, later); err != nil {
		return nil, err
	}
	s.Read = s.read
	return s, nil
}

// Show returns the description of a model: capabilities, template, parser, trained context length.
// If the server does not have the model, the error is fault.NotFound.
func (o *Client) Show(ctx context.Context, model string) (*api.ShowResponse, error) {
	show := new(api.ShowResponse)
	return show, o.calls.Quick(ctx, o.base+"/api/show", api.ShowRequest{Model: model}, show)
}

// TrainedContext returns the context length with which a model was trained, in tokens, or 0 if its
// server does not say. The length is under a key that begins with the model's architecture, as in
// llama.context_length, so the key is found by its end.
func TrainedContext(show *api.ShowResponse) int {
	for key, value := range show.ModelInfo {
		if n, ok := value.(float64); ok && strings.HasSuffix(key, ".context_length") {
			return int(n)
		}
	}
	return 0
}

// Tags returns the models that the server has, with their digests, or an error if it cannot be
// reached. It needs no model, so its time limit is short.
func (o *Client) Tags(ctx context.Context) (*api.ListResponse, error) {
	list := new(api.ListResponse)
	return list, o.calls.Quick(ctx, o.base+"/api/tags", nil, list)
}

// Running returns the models that are loaded, or an error if the server cannot be reached. Each has
// the context length with which it is loaded, if the server says so.
func (o *Client) Running(ctx context.Context) (*api.ProcessResponse, error) {
	list := new(api.ProcessResponse)
	return list, o.calls.Quick(ctx, o.base+"/api/ps", nil, list)
}

// Version returns the server's version, or an error if the server cannot be reached.
func (o *Client) Version(ctx context.Context) (string, error) {
	var v struct{ Version string }
	err := o.calls.Quick(ctx, o.base+"/api/version", nil, &v)
	return v.Version, err
}

// Describe returns the server's whole answer to /api/show, because api.ShowResponse would lose
// members that are newer than it. It returns an error if the request fails.
func (o *Client) Describe(ctx context.Context, model string, verbose bool) (
	json.RawMessage, error) {
	said := map[string]any{"model": model}
	if verbose {
		said["verbose"] = true
	}
	var show json.RawMessage
	err := o.calls.Quick(ctx, o.base+"/api/show", said, &show)
	return show, err
}

const (
	// time limit for unloading a model, for which the client of a hung reply waits
	unloadTime = 30 * time.Second
	unloadLook = 200 * time.Millisecond // between two checks
)

// Unload has the server remove a model from its memory, and waits until it is gone. It returns true
// if the model was loaded and is gone now. A model that other requests use stays, so none of them
// is cut off. In servers before 0.32.15 a call that the server's parser refuses can block the model
// for all clients, and Unload frees it. It returns an error if a request fails.
func (o *Client) Unload(ctx context.Context, p *wait.Pulse, model string) (bool, error) {
	model = fullName(model)
	there, err := o.isLoaded(ctx, model)
	if !there || err != nil {
		return false, err
	}
	// Ollama unloads a model on a request without a prompt and with keep_alive 0.
	now := map[string]any{"model": model, "keep_alive": "0s", "stream": false}
	err = o.calls.Quick(ctx, o.base+"/api/generate", now, new(json.RawMessage))
	for until := time.Now().Add(unloadTime); there && err == nil && time.Now().Before(until) &&
		p.Sleep(ctx, unloadLook); {
		there, err = o.isLoaded(ctx, model)
	}
	return !there && err == nil, err
}

// isLoaded reports whether a model is in the server's memory. It returns an error if the request
// fails.
func (o *Client) isLoaded(ctx context.Context, model string) (bool, error) {
	list, err := o.Running(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Models,
		func(m api.ProcessModelResponse) bool { return strings.EqualFold(m.Name, model) }), nil
}
