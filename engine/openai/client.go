package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Client is a client of one OpenAI-compatible server: vLLM, llama-server, LM Studio, OpenAI itself. It is safe for
// concurrent use. No part of it depends on which of them it is: what a server can do is asked (Backend.Probe).
type Client struct {
	base, root string // of /v1, and of what lies beside it: /props, /apply-template, /completion
	key        string // sent as a bearer; never in an error's text
	http       *http.Client
	scratch    upstream.Scratches
	calls      upstream.Caller
}

// New makes a client of the server at base, as ParseURL gives it; a base without a path has its API under /v1. An
// empty key sends none. A nil transport means the network, with settings for streams.
func New(base, key string, rt http.RoundTripper) *Client {
	if u, err := url.Parse(base); err != nil || u.Path == "" {
		base += "/v1"
	}
	o := &Client{base: base, root: strings.TrimSuffix(base, "/v1"), key: key, http: upstream.HTTP(rt)}
	o.calls.Refused = o.refused
	o.calls.Do = func(ctx context.Context, url string, body []byte) (*http.Response, error) {
		return o.do(ctx, http.MethodPost, url, body)
	}
	return o
}

// Model is one entry of /v1/models.
type Model struct {
	ID      string `json:"id"`
	Created int64  `json:"created"`       // Unix seconds; 0 when unknown
	Owner   string `json:"owned_by"`      // "llamacpp", "vllm", …
	Context int    `json:"max_model_len"` // tokens that a prompt and its reply may have, at a vLLM; 0: not said
}

// Models lists what the server has. It needs no model and must answer within upstream.QuickTime.
func (o *Client) Models(ctx context.Context) ([]Model, error) {
	var list struct {
		Data []Model `json:"data"`
	}
	return list.Data, o.get(ctx, o.base+"/models", &list)
}

// Properties are what a llama-server says of the model that it serves. Unlike an entry of /v1/models this tells
// the template, so the server is known to render, and what reads calls in that template (Caps).
type Properties struct {
	Template   string          `json:"chat_template"`      // in jinja
	Caps       map[string]bool `json:"chat_template_caps"` // "supports_tools", …; nil in old versions
	Modalities map[string]bool `json:"modalities"`         // "vision", …; nil in old versions
	Model      string          `json:"model_path"`
	Slots      int             `json:"total_slots"` // requests that are answered at a time
	Build      string          `json:"build_info"`  // its version
	Generation struct {
		Context int `json:"n_ctx"` // tokens that a prompt and its reply may have
	} `json:"default_generation_settings"`
}

// Properties asks a llama-server for its own. Other servers answer NotFound or some other refusal, which says that
// they are none.
func (o *Client) Properties(ctx context.Context) (*Properties, error) {
	p := new(Properties)
	err := o.get(ctx, o.root+"/props", p)
	return p, err
}

// get reads a small JSON document that needs no model and so has little time. Of an answer MaxRecord (16 MiB) are
// read.
func (o *Client) get(ctx context.Context, url string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, upstream.QuickTime)
	defer cancel()
	resp, err := o.do(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, upstream.MaxRecord))
	switch {
	case err != nil:
		return wait.Broken(ctx, "", err)
	case resp.StatusCode != http.StatusOK:
		return o.refused(resp, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.New(fault.Unavailable, "the answer of %s cannot be read: %v", url, err)
	}
	return nil
}

// do sends a request and waits for the head of the answer. The message of an error names the server's address,
// which is what a user can put right; the key is not part of it.
func (o *Client) do(ctx context.Context, method, address string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if o.key != "" {
		req.Header.Set("Authorization", "Bearer "+o.key)
	}
	req.Header["Idempotency-Key"] = []string{} // not sent: allows to try again when a kept connection turns out to be closed
	resp, err := o.http.Do(req)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return nil, wait.Broken(ctx, "", err)
	}
	return nil, &fault.Error{Kind: fault.Unavailable, Message: "the model server cannot be reached at " + o.root + ": start it, or set its URL", Cause: err}
}

// Reading is what the reader of a reply must know of the request. Text is decoded elsewhere; this is for the
// server's own calls.
type Reading struct {
	Tools []chat.Tool // that were offered: names are matched with them, damaged arguments read by their schemas
	Hold  int         // bytes of a call's arguments that wait before it leaves, as in adapters.Options
}

// Chat begins a reply of /v1/chat/completions: the server renders the prompt and looks for calls itself. With
// tools it may be silent for as long as a call takes (Withheld): vLLM's parsers hold arguments back too, for 32 s
// in vllm-project/vllm#50627.
func (o *Client) Chat(ctx context.Context, p *wait.Pulse, r *Request, how Reading) (chat.Source, error) {
	later := p.Later()
	if len(how.Tools) > 0 {
		later = p.Withheld()
	}
	return o.stream(ctx, p, o.base+"/chat/completions", r.body(true), later, func(d *deltas) {
		d.record, d.calls.tools, d.calls.hold = d.chunk, how.Tools, how.Hold
	})
}

// Template gives the prompt that r comes to with the model's own template, at a llama-server. It fails where the
// template raises an error, as many do for roles that are not in turn; that is a refusal, by upstream.IsRefusal.
func (o *Client) Template(ctx context.Context, p *wait.Pulse, r *Request) (string, error) {
	data, err := o.calls.Document(ctx, p, o.root+"/apply-template", r.body(false), p.Loading(), wait.Limit{}, upstream.MaxRender)
	if err != nil {
		return "", err
	}
	var reply struct{ Prompt string }
	if err := json.Unmarshal(data, &reply); err != nil || reply.Prompt == "" {
		return "", fault.New(fault.Unavailable, "the model server's rendering cannot be read: %w", err)
	}
	return reply.Prompt, nil
}

// Continue begins a reply of llama-server's /completion: the raw text of the model, of which control tokens are
// missing but for those that the request names (Continuation.Preserved).
func (o *Client) Continue(ctx context.Context, p *wait.Pulse, c *Continuation) (chat.Source, error) {
	return o.stream(ctx, p, o.root+"/completion", c.body(), p.Later(), pieces)
}

// pieces has a stream read as llama-server writes its own, chunks as OpenAI has it.
func pieces(d *deltas) { d.record = d.piece }
func chunks(d *deltas) { d.record = d.chunk }

// stream posts a request and reads its events. An answer that is JSON although a stream was asked for is one event.
func (o *Client) stream(ctx context.Context, p *wait.Pulse, url string, body any, later wait.Limit, reading func(*deltas)) (chat.Source, error) {
	first := p.UntilFirst()
	resp, err := o.calls.Post(ctx, p, url, body, first)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	d := o.deltas(ctx, resp.Body, p.Reader(resp.Body, first, later))
	d.whole = kind == "application/json"
	reading(d)
	return d, nil
}

// deltas reads the events of an answer.
func (o *Client) deltas(ctx context.Context, body io.ReadCloser, in *wait.Reader) *deltas {
	d := &deltas{Stream: o.scratch.Stream(ctx, body, in), in: in, fault: o.failed}
	d.Read, d.events.scratch = d.read, d.Scratch
	return d
}

// KindOf asks the server at base what it speaks: Ollama tells its version, the others list models under /v1. A
// server that does neither is an error, as is one that cannot be reached. The port says nothing: each of them is
// run at any. Ollama is asked about first, since it lists models under /v1 too.
func KindOf(ctx context.Context, base, key string) (string, error) {
	o := New(base, key, nil)
	defer o.http.CloseIdleConnections()
	var version struct{ Version string }
	if err := o.get(ctx, base+"/api/version", &version); err == nil && version.Version != "" {
		return upstream.KindOllama, nil
	}
	if _, err := o.Models(ctx); err != nil {
		f := *fault.From(err)
		f.Message = "the server at " + base + " does not say whether it is Ollama or OpenAI-compatible: " + f.Message
		return "", &f
	}
	return upstream.KindOpenAI, nil
}
