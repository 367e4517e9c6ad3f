package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/internal/fault"
)

// tailLength is how much of a prompt's end the decoder sees, in bytes.
const tailLength = 64

// ollama is a server that speaks Ollama's native API, and what has been found out about its models.
type ollama struct {
	client *ollamaapi.Client
	owner  string // of its models, for those who list them

	mu      sync.Mutex
	digests map[string]string // by full name; a new list is a new map
	listed  time.Time
	known   map[string]facts

	contexts map[string]int // that models are loaded with, by full name
	looked   time.Time      // when the server said so
}

var _ backend = (*ollama)(nil)

// newOllama wraps a client. Making one fails only for a URL that ParseHost would not have given.
func newOllama(owner string, c *ollamaapi.Client, err error) *ollama {
	if err != nil {
		c, _ = ollamaapi.New("", nil)
	}
	return &ollama{client: c, owner: owner, known: map[string]facts{}, contexts: map[string]int{}}
}

// models lists what the server has pulled.
func (o *ollama) models(ctx context.Context) ([]chat.Info, error) {
	list, err := o.client.Tags(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]chat.Info, len(list.Models))
	for i, m := range list.Models {
		all[i] = chat.Info{ID: m.Name, Created: max(m.ModifiedAt.Unix(), 0), Owner: o.owner}
	}
	return all, nil
}

// open begins the reply. See backend.
func (o *ollama) open(ctx context.Context, t *turn) (src chat.Source, tail string, err error) {
	r, rendered := t.request, t.facts.render && !pictures(t.request)
	if t.strategy == Prompt || t.force != nil && (!rendered || !t.facts.tools) {
		r = t.described()
	}
	body, err := wireRequest(ctx, t, r)
	if err != nil {
		return nil, "", err
	}
	if rendered && (t.strategy == Prompt || t.force != nil) || t.strategy == Raw || t.strategy == Tokens {
		return o.raw(ctx, t, body, r.Tools)
	}
	body.Stream = true
	switch {
	case t.force != nil:
		body.Format = t.force.schema
		if t.facts.thinking {
			body.Think = json.RawMessage("false") // else the server forgets about the schema
		}
		src, err = o.client.Chat(ctx, t.pulse, body)
	case t.strategy == Tap:
		src, err = o.client.Tap(ctx, t.pulse, body, ollamaapi.Marks{ThinkEnd: t.format.ThinkEnd(), Openings: t.format.Openings()})
	default:
		src, err = o.client.Chat(ctx, t.pulse, body)
	}
	return src, "", err
}

// curable is err as one that another strategy may cure, if the server has refused a way of asking. A server that is busy,
// silent or gone has said nothing.
func curable(err error) error {
	f := *fault.From(err)
	switch f.Kind {
	case fault.Invalid, fault.NotFound, fault.Unable, fault.Unavailable:
		f.Curable = f.Cause == nil && f.Code != "context_length_exceeded"
	}
	return &f
}

// raw renders the prompt and has it continued.
func (o *ollama) raw(ctx context.Context, t *turn, body *ollamaapi.ChatRequest, tools []chat.Tool) (chat.Source, string, error) {
	options := body.Options
	body.Options = with(options, "num_predict", 1) // a server that does not render but answers is soon done
	prompt, err := o.client.Render(ctx, t.pulse, body)
	if err != nil {
		return nil, "", err
	}
	if prompt == "" {
		return nil, "", &fault.Error{Kind: fault.Unavailable, Curable: true, Message: fmt.Sprintf("the model server does not render prompts alone: strategy %s cannot work with %q", t.strategy, t.model)}
	}
	prompt = mended(prompt, body.Tools, tools)
	q := &ollamaapi.GenerateRequest{Model: t.model, Prompt: prompt, Raw: true, Stream: true, Options: options, KeepAlive: body.KeepAlive}
	if t.force != nil {
		q.Prompt += t.format.Lead(prompt, t.force.said, t.force.name)
		q.Format = t.force.schema
	}
	var src chat.Source
	if t.byTokens() {
		src, err = o.tokens(ctx, t, q)
	} else {
		src, err = o.client.Generate(ctx, t.pulse, q)
	}
	if err != nil && t.strategy == Tokens {
		return nil, "", curable(err) // a server that does not take such a request may be read in another way
	}
	if err != nil {
		f := *fault.From(err)
		f.Curable = false // there is no other reading of the reply than ours
		return nil, "", &f
	}
	return src, strings.Clone(prompt[max(len(prompt)-tailLength, 0):]), nil // the prompt itself may go
}
