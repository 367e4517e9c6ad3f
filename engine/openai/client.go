package openai

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/fault"
)

// Client is a client of one OpenAI-compatible server: vLLM, llama-server, LM Studio, OpenAI itself.
// It is safe for concurrent use. It has no code for particular servers, because Backend.Probe asks
// each server for its abilities.
type Client struct {
	// the URL of /v1, and that of the addresses outside it: /props, /apply-template, /completion
	base, root string
	key        string // sent as a bearer token; never in the message of an error
	calls      upstream.Caller
}

// Waiting returns how many requests wait because the server is busy.
func (c *Client) Waiting() int { return int(c.calls.Queue.Waiting.Load()) }

// New returns a client of the server at base, which should be a result of ParseURL. If base has no
// path, the API is under /v1. If key is empty, no key is sent. A nil transport means the network,
// with settings for streams.
func New(base, key string, rt http.RoundTripper) *Client {
	if u, err := url.Parse(base); err != nil || u.Path == "" {
		base += "/v1"
	}
	root := strings.TrimSuffix(base, "/v1")
	o := &Client{base: base, root: root, key: key, calls: upstream.Caller{
		HTTP:   upstream.HTTP(rt),
		Header: http.Header{},
		Gone:   "the model server cannot be reached at " + root + ": start it, or set its URL",
	}}
	o.calls.Refused = o.refused
	if key != "" {
		o.calls.Header.Set("Authorization", "Bearer "+key)
	}
	return o
}

// Model is one entry of /v1/models.
type Model struct {
	ID      string `json:"id"`
	Created int64  `json:"created"`  // Unix seconds; 0: unknown
	Owner   string `json:"owned_by"` // "llamacpp", "vllm", …
	// tokens that a prompt and its reply may have, from a vLLM; 0: unknown
	Context int `json:"max_model_len"`
}

// Models returns the server's models. It needs no model, and returns an error if the server cannot
// be reached within upstream.QuickTime.
func (o *Client) Models(ctx context.Context) ([]Model, error) {
	var list struct {
		Data []Model `json:"data"`
	}
	err := o.calls.Quick(ctx, o.base+"/models", nil, &list)
	return list.Data, err
}

// Properties are a llama-server's description of its model. Unlike an entry of /v1/models they have
// the template, which shows that the server renders, and the template's abilities with calls
// (Caps).
type Properties struct {
	Template string `json:"chat_template"` // in jinja
	// "supports_tools", …; nil in old versions
	Caps       map[string]bool `json:"chat_template_caps"`
	Modalities map[string]bool `json:"modalities"` // "vision", …; nil in old versions
	Model      string          `json:"model_path"`
	Slots      int             `json:"total_slots"` // requests that are answered at the same time
	Build      string          `json:"build_info"`  // its version
	Generation struct {
		Context int `json:"n_ctx"` // tokens that a prompt and its reply may have
	} `json:"default_generation_settings"`
}

// Properties returns the properties of a llama-server. It returns an error for other servers, which
// answer with 404 or another refusal. Callers use that to recognize a llama-server.
func (o *Client) Properties(ctx context.Context) (*Properties, error) {
	p := new(Properties)
	err := o.calls.Quick(ctx, o.root+"/props", nil, p)
	return p, err
}

// Reading holds what is needed to read the calls that a server itself has parsed: the offered
// tools, and how many bytes of a call are held back. Calls in the text of a reply are decoded by
// other code, which does not use it.
type Reading struct {
	// the offered tools; names are compared with theirs, and damaged arguments are read by their
	// schemas
	Tools []chat.Tool
	// bytes of a call's arguments that wait before it is sent, as in adapters.Options
	Hold int
}

// Chat begins a reply of /v1/chat/completions, for which the server renders the prompt and looks
// for calls itself. It returns an error if the server refuses the request or cannot be reached.
// With tools the server may be silent for as long as a call takes (Withheld), because vLLM's
// parsers hold arguments back too, for 32 s in vllm-project/vllm#50627.
func (o *Client) Chat(ctx context.Context, p *wait.Pulse, r *Request, how Reading) (
	chat.Source, error) {
	later := p.Later()
	if len(how.Tools) > 0 {
		later = p.Withheld()
	}
	return o.stream(ctx, p, o.base+"/chat/completions", r.body(true), later, func(d *deltas) {
		d.record, d.calls.tools, d.calls.hold = d.chunk, how.Tools, how.Hold
	})
}

// Template returns the prompt that the model's own template makes of r, from a llama-server. It
// returns an error if the request fails. It also does so if the template raises an error, as many
// do when roles do not alternate. For an error of the template upstream.IsRefusal returns true.
func (o *Client) Template(ctx context.Context, p *wait.Pulse, r *Request) (string, error) {
	prompt, err := o.calls.Text(ctx, p, o.root+"/apply-template", r.body(false), "prompt")
	if err == nil && prompt == "" {
		err = fault.New(fault.Unavailable, "the model server's rendering cannot be read")
	}
	return prompt, err
}

// Continue begins a reply of llama-server's /completion, which is the raw text of the model,
// without control tokens except those that the body lists as preserved. It returns an error if the
// server refuses the request or cannot be reached.
func (o *Client) Continue(ctx context.Context, p *wait.Pulse, body map[string]any) (
	chat.Source, error) {
	return o.stream(ctx, p, o.root+"/completion", body, p.Later(), pieces)
}

// pieces makes the reader d expect a stream in llama-server's own form, which differs from OpenAI's
// chunks.
func pieces(d *deltas) { d.record = d.piece }

// stream posts a request and returns the source of its events. An answer that is one JSON document,
// although a stream was asked for, is read as well. It returns an error if the server refuses the
// request or cannot be reached.
func (o *Client) stream(ctx context.Context, p *wait.Pulse, url string, body any, later wait.Limit,
	reading func(*deltas)) (chat.Source, error) {
	in, err := o.calls.Stream(ctx, p, url, body, p.UntilFirst(), later)
	if err != nil {
		return nil, err
	}
	d := o.deltas(in)
	reading(d)
	return d, nil
}

// deltas returns a reader of an answer's events.
func (o *Client) deltas(in upstream.Stream) *deltas {
	kind, _, _ := mime.ParseMediaType(in.Header.Get("Content-Type"))
	d := &deltas{Stream: in, whole: kind == "application/json", fault: o.failed}
	d.Read, d.events.scratch = d.read, d.Scratch
	return d
}

// KindOf returns which API the server at base has. Ollama answers with its version, and the others
// list models under /v1. It returns an error if a server does neither, or cannot be reached. The
// port says nothing, since each of them may run at any port. Ollama's version is asked for first,
// since Ollama lists models under /v1 too.
func KindOf(ctx context.Context, base, key string) (string, error) {
	o := New(base, key, nil)
	defer o.calls.HTTP.CloseIdleConnections()
	var version struct{ Version string }
	if err := o.calls.Quick(ctx, base+"/api/version", nil, &version); err == nil &&
		version.Version != "" {
		return upstream.KindOllama, nil
	}
	if _, err := o.Models(ctx); err != nil {
		f := *fault.From(err)
		f.Message = "the server at " + base +
			" does not say whether it is Ollama or OpenAI-compatible: " + f.Message
		return "", &f
	}
	return upstream.KindOpenAI, nil
}

// Complete begins a reply of /v1/completions, in which the model continues prompt. If suffix is not
// empty, the model fills the gap between the two. The fields are the same as for a chat. The
// server's events are like those of a chat, with the text in "text" instead of a delta. It returns
// an error if the server refuses the request or cannot be reached.
func (o *Client) Complete(ctx context.Context, p *wait.Pulse, model, prompt, suffix string,
	fields map[string]json.RawMessage) (chat.Source, error) {
	said := map[string]any{"model": model, "prompt": prompt, "stream": true,
		"stream_options": countOptions}
	if suffix != "" {
		said["suffix"] = suffix
	}
	return o.stream(ctx, p, o.base+"/completions", with(fields, said), p.Later(),
		func(d *deltas) { d.record = d.chunk })
}

// Embed returns a vector for each text, in the order of the texts, and the number of tokens in all.
// Entries may come in any order, each with its index. An index that is missing or comes twice is an
// error, since a vector for a wrong text would never be noticed. This API cannot truncate as Ollama
// can (Truncate), so callers that ask for it get fault.Invalid. The encoding is always "float". A
// client that asks for base64 gets it from this program, whatever its server can do.
func (o *Client) Embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (
	*chat.Embeddings, error) {
	if r.Truncate {
		return nil, fault.Wrong("truncate",
			"the model's server cuts no texts: leave truncate out")
	}
	said := map[string]any{"model": model, "input": r.Input, "encoding_format": "float"}
	if r.Dimensions > 0 {
		said["dimensions"] = r.Dimensions
	}
	var reply struct {
		Data []struct {
			Index     int
			Embedding []float32
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	if err := o.calls.Embed(ctx, p, o.base+"/embeddings", model, said, &reply); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(reply.Data))
	for _, e := range reply.Data {
		// If two vectors have the same index, another text has none.
		if e.Index < 0 || e.Index >= len(vectors) || vectors[e.Index] != nil {
			return nil, fault.New(fault.Unavailable,
				"the model server numbered its embeddings wrongly")
		}
		vectors[e.Index] = e.Embedding
	}
	return &chat.Embeddings{Vectors: vectors, Tokens: reply.Usage.Prompt}, nil
}

// Infill begins to fill the gap between prompt and suffix, by the /infill call of a llama-server,
// whose /v1/completions silently ignores the suffix. The parameter fields has the options of the
// request, such as temperature. The server adds the model's own tokens that mark a gap. If the
// model's vocabulary has none, the error is fault.Invalid with Param "suffix".
func (o *Client) Infill(ctx context.Context, p *wait.Pulse, model, prompt, suffix string,
	fields map[string]json.RawMessage) (chat.Source, error) {
	said := map[string]any{"model": model, "input_prefix": prompt, "input_suffix": suffix,
		"stream": true}
	src, err := o.stream(ctx, p, o.root+"/infill", with(fields, said), p.Later(), pieces)
	return src, upstream.Meant(err, "Infill is not supported", "suffix", "the model "+model+
		" cannot fill a gap: it has no marks for one")
}
