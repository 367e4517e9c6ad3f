package ollama

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// digestAge is how old the list of digests may be. For that long a replaced model is read like its
// predecessor. Asking before each request would cost a round trip, in which the server lists all
// its models.
const digestAge = 5 * time.Second

// digest returns the model's digest, from a list that is at most digestAge old. If the list does
// not have the model, a new list is requested, since the model may have been pulled in the
// meantime. It returns "" if the server does not list the model, as some imitations of Ollama do
// not, and an error if the server cannot be reached.
func (b *Backend) digest(ctx context.Context, name string) (string, error) {
	name = fullName(name)
	b.mu.Lock()
	fresh := time.Since(b.listed) < cmp.Or(b.ListAge, digestAge)
	d := b.digests[name]
	b.mu.Unlock()
	if fresh && d != "" {
		return d, nil
	}
	list, err := b.Tags(ctx)
	if err != nil {
		return "", err
	}
	digests := make(map[string]string, len(list.Models))
	for _, m := range list.Models {
		digests[strings.ToLower(m.Name)] = m.Digest
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// if two requests have asked at once, the later answer is kept
	b.digests, b.listed = digests, time.Now()
	return digests[name], nil
}

// fullName returns a model's name in the form in which Ollama compares names, so that "Qwen3" and
// "qwen3:latest" are the same. A colon begins the tag only after the last slash, since before the
// slash there may be a host with a port.
func fullName(model string) string {
	if !strings.Contains(model[strings.LastIndexByte(model, '/')+1:], ":") {
		model += ":latest"
	}
	return strings.ToLower(model)
}

// knownAs returns the key under which facts are stored. It has the family's name, because facts
// include the tags of the family, which may change with the settings. It has the digest, which may
// differ with each request if one address has several servers.
func knownAs(o *upstream.Order, digest string) string {
	return o.Model + "\x00" + o.Format.Name + "\x00" + digest
}

// lookup returns the stored facts about the model with that digest, or false if there are none. A
// model that the server does not list has no digest, so nothing is stored about it, and it is
// probed with each request.
func (b *Backend) lookup(o *upstream.Order, digest string) (upstream.Facts, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.known[knownAs(o, digest)]
	return f, ok && digest != "" && f.Digest == digest
}

// remember stores the facts about a model.
func (b *Backend) remember(o *upstream.Order, f upstream.Facts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known = map[string]upstream.Facts{}
	}
	b.known[knownAs(o, f.Digest)] = f
}

// Probe returns the facts about the model that the order names. It asks for them once per digest,
// with three requests: two for the description, one of them with the vocabulary, and one for a
// rendered prompt. Nothing is concluded from the server's version or the model's name alone,
// because the maker of a model may change templates and parsers. If it returns an error, nothing is
// stored, and the next request asks again. A refusal to render or to send the vocabulary is not an
// error, but a fact.
func (b *Backend) Probe(ctx context.Context, o *upstream.Order) (upstream.Facts, error) {
	digest, err := b.digest(ctx, o.Model)
	if err != nil {
		return upstream.Facts{}, err
	}
	if f, ok := b.lookup(o, digest); ok {
		return f, nil
	}
	show, err := b.Show(ctx, o.Model)
	if err != nil {
		return upstream.Facts{}, err
	}
	f := capabilities(show)
	f.Reader = reader(Parser(show))
	f.BeginsThinking = slices.Contains(thinkers, Parser(show))
	f.Digest, f.NoVision, f.PlainSchemas = digest, blind(show), !b.ReadsSchemas
	f.Window, f.Context = TrainedContext(show), wantedContext(show)
	f.EffortLevels, f.AlwaysThinks = levels(show, o.Format.Name)
	q := *o
	q.Facts = f
	prompt, err := b.rendered(ctx, &q)
	if err != nil {
		return upstream.Facts{}, err
	}
	f.Renders, f.PrintsGoStructs = prompt != "", printsStructs(prompt)
	if err = b.findControls(ctx, o, show, &f); err != nil {
		return upstream.Facts{}, err
	}
	b.remember(o, f)
	o.Log.Info().Str("model", o.Model).Str("format", o.Format.Name).Bool("tools", f.Tools).
		Bool("thinking", f.Thinking).Bool("render", f.Renders).Strs("control", f.ControlMarks).Msg(
		"model probed")
	if !f.Tools {
		o.Log.Warn().Str("model", o.Model).Msg(
			"the model has no template for tools: they are described in the system text")
	}
	return f, nil
}

// reader returns the name of a model that writes calls in the form that one of Ollama's parsers
// reads. By that name the family of models is found. The parameter parser is the parser's name, as
// in a Modelfile's PARSER, and for most parsers the result is the same name.
func reader(parser string) string {
	if name, ok := readFor[parser]; ok {
		return name
	}
	return parser
}

// readFor maps parsers to the names of their models, if the names differ.
var readFor = map[string]string{"harmony": "gpt-oss", "deepseek3": "deepseek-v3.1",
	"cogito": "cogito-v2", "ornith": "qwen3.5",
	"laguna": "laguna-xs", "cohere": "command-a", passthrough: ""}

// thinkers are the parsers of Ollama that take a reply for a thought up to </think>, whatever the
// end of the prompt is.
var thinkers = []string{"qwen3-thinking", "qwen3-vl-thinking", "olmo3-think"}

// capabilities returns the abilities of a model, as the server reports them. For servers before
// 0.6, which do not list capabilities, the template decides. "tools" means that the Go template
// mentions tools, that the PARSER has them, or, from 0.30 on, that the jinja template contains the
// word.
func capabilities(show *api.ShowResponse) upstream.Facts {
	if len(show.Capabilities) == 0 {
		return upstream.Facts{Tools: strings.Contains(show.Template, ".Tools")}
	}
	return upstream.Facts{
		Tools:    slices.Contains(show.Capabilities, model.CapabilityTools),
		Thinking: slices.Contains(show.Capabilities, model.CapabilityThinking),
	}
}

// printsStructs reports whether the prompt that a server rendered for the probe's tool shows that
// tool as a Go struct. Templates with {{ .Function }} print it so (qwen2.5, hermes). In the prompts
// of such models, replaceGoStructs replaces the struct with JSON.
func printsStructs(prompt string) bool {
	f := upstream.ProbeTool.Function
	return replaceGoStructs(prompt, []upstream.Tool{upstream.ProbeTool},
		[]chat.Tool{{Name: f.Name, Description: f.Description, Schema: f.Parameters}}) != prompt
}

// blind reports whether the server says that the model sees no images. Servers before 0.6 say
// nothing, so their models are assumed to see images.
func blind(show *api.ShowResponse) bool {
	return len(show.Capabilities) > 0 && !slices.Contains(show.Capabilities, model.CapabilityVision)
}

// rendered returns the prompt that the server renders for a short message, or "" if it cannot or
// refuses to. Rendering loads the model, so the request has the context length that the order
// needs, for otherwise the server would load the model again for the reply. Servers that do not
// know the flag for rendering reply instead, so the request allows only one token. rendered returns
// an error if the server is busy, silent or gone, because then it is not known whether it renders.
func (b *Backend) rendered(ctx context.Context, o *upstream.Order) (string, error) {
	r := &ChatRequest{
		Model:    o.Model,
		Messages: []Message{{Role: "user", Content: "probe"}},
		Options:  upstream.WithOption(b.sizedOptions(ctx, o), "num_predict", 1),
	}
	if o.Facts.Tools {
		r.Tools = []upstream.Tool{upstream.ProbeTool}
	}
	prompt, err := b.Render(ctx, o.Pulse, r)
	if err != nil && upstream.IsRefusal(err) && fault.From(err).Kind != fault.NotFound {
		o.Log.Warn().Str("model", o.Model).Str("says", fault.From(err).Message).Msg(
			"the prompt cannot be rendered alone")
		return "", nil
	}
	return prompt, err
}

// errNoRender is the error for a server that answers instead of rendering because it does not know
// the field.
var errNoRender = fault.New(fault.Unable, "the server does not show how it renders a prompt")

// Template returns the chat template of the model that the order names, with a function Render that
// has the server render it. Thinking is switched on for a model that can think, because many
// templates print reasoning only then. The field Source has the Go template, and after it the jinja
// template of the model's file, because the server may use either. The model need not have been
// probed before. Template returns an error if the server cannot describe the model. Render returns
// the server's error, or errNoRender.
func (b *Backend) Template(ctx context.Context, o *upstream.Order) (derive.Template, error) {
	show, err := b.Show(ctx, o.Model)
	if err != nil {
		return derive.Template{}, err
	}
	source := show.Template
	if jinja, ok := show.ModelInfo["tokenizer.chat_template"].(string); ok {
		source += "\n" + jinja
	}
	options := upstream.WithOption(b.sizedOptions(ctx, o), "num_predict", 1)
	thinks := slices.Contains(show.Capabilities, model.CapabilityThinking)
	return o.Rendering(source, thinks, func(q *upstream.Order) (string, error) {
		body := chatRequest(q)
		body.Options = options
		prompt, err := b.Render(ctx, o.Pulse, body)
		if err == nil && prompt == "" {
			err = errNoRender
		}
		return prompt, err
	}), nil
}
