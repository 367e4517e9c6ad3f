package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"

	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/openai"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/pattern"
)

// makes has the constructor of the backend for each kind of server.
var makes = map[string]func(base, key string) backend{
	upstream.KindOllama: func(base, _ string) backend { return newOllama("ollama", base, nil) },
	upstream.KindOpenAI: func(base, key string) backend { return openai.NewBackend(base, key) },
}

// backend is the interface of every kind of model server. Abilities of only some kinds are in
// separate interfaces below.
type backend interface {
	// Models returns the models that the server has.
	Models(ctx context.Context) ([]chat.Info, error)
	// Probe returns what the order's model can do. It remembers the answer for as long as the model
	// stays the same.
	Probe(ctx context.Context, o *upstream.Order) (upstream.Facts, error)
	// Open begins the reply with the order's strategy. Tail is the end of the rendered prompt, or
	// empty if that is not known.
	Open(ctx context.Context, o *upstream.Order) (src chat.Source, tail string, err error)
	// Complete continues a text. The source has the model's text as it is, in which nothing is
	// looked for.
	Complete(ctx context.Context, o *upstream.Order) (chat.Source, error)
	// Embed returns the vectors of texts. The model's name is the one on that server. There is no
	// Order, because an embedding has no format, no strategy and no facts.
	Embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (
		*chat.Embeddings, error)
	// Waiting returns how many requests wait because the server is busy.
	Waiting() int
	// Template returns a renderer of conversations with the model's own template, or an error if
	// the server cannot render it.
	Template(ctx context.Context, o *upstream.Order) (derive.Template, error)
}

// sizer is a backend that can choose the length of a model's context. Size returns the length, in
// tokens, that a generation with the order o needs.
type sizer interface {
	Size(ctx context.Context, o *upstream.Order) int
}

// unloader is a backend that unloads models. Unload reports whether the model is gone.
type unloader interface {
	Unload(ctx context.Context, p *wait.Pulse, model string) (bool, error)
}

// native is a backend that accepts requests of Ollama's own API.
type native interface {
	http.RoundTripper
	Tags(ctx context.Context) (*api.ListResponse, error)
	Running(ctx context.Context) (*api.ProcessResponse, error)
	Describe(ctx context.Context, model string, verbose bool) (json.RawMessage, error)
	Version(ctx context.Context) (string, error)
}

// These show what each kind can do.
var (
	_ sizer    = (*ollama.Backend)(nil)
	_ unloader = (*ollama.Backend)(nil)
	_ native   = (*ollama.Backend)(nil)
)

// firstName is the name of the first server. The names of its models have no prefix.
const firstName = "ollama"

// demoName is the name of the server that needs no model. It is the prefix of its models' names, as
// in "demo/hermes", so no upstream may have this name.
const demoName = "demo"

// server is a model server. Its name is the prefix of its models' names, as in "box/qwen3". Only
// the models of the first server have no prefix. What was learned about its models is stored with
// the server, since two servers may have different models with the same name.
type server struct {
	backend // nil while its kind is only a guess, and for a pool
	name    string
	guess   *guess
	pool    *pool // nil: it is one server
	memory  *memory
}

// known returns the server with the backend of its kind, or an error if the kind cannot be found
// out. The result is cached, because the kind of a server does not change.
func (s *server) known(ctx context.Context) (*server, error) {
	if s.backend != nil {
		return s, nil
	}
	return s.guess.find(ctx, s.name, s.memory)
}

// guess is a server of unknown kind. It is asked for its kind when it is first needed, and again
// until it answers. If it were asked at the start, this program's start would depend on every
// server in its settings.
type guess struct {
	base, key string

	mu    sync.Mutex
	found *server // nil until the kind is known
}

// find returns the server with the given name, with the backend of its kind. It returns an error if
// the server does not answer. The lock is not held while the server is asked. Otherwise a server
// that does not answer would delay every request, even those that are about to give up.
func (g *guess) find(ctx context.Context, name string, memory *memory) (*server, error) {
	g.mu.Lock()
	found := g.found
	g.mu.Unlock()
	if found != nil {
		return found, nil
	}
	kind, err := openai.KindOf(ctx, g.base, g.key)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.found == nil { // else another request was faster, and may have found out about models
		g.found = &server{backend: makes[kind](g.base, g.key), name: name, memory: memory}
	}
	return g.found, nil
}

// list returns the models that the server has, or an error if it cannot be reached.
func (s *server) list(ctx context.Context) ([]chat.Info, error) {
	if s.pool != nil {
		return s.pool.list(ctx)
	}
	known, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	return known.Models(ctx)
}

// Upstream configures a model server besides the first one.
type Upstream struct {
	// the prefix of its models' names: "box" for "box/qwen3"; only letters, digits and -_.
	Name string
	URL  string // as for upstream.ParseURL; several with commas are a pool
	// upstream.KindOllama or upstream.KindOpenAI; empty: as the URL says, or else found out at the
	// first request
	Kind string
	Key  string // bearer token, for servers that speak OpenAI's API; empty: none is sent
}

// parse returns the kind and the URLs of an Upstream. It returns an error if a member is wrong. The
// error does not contain the Upstream's name. A Kind that is set takes precedence over the URL's. A
// key for Ollama is an error and not ignored, because whoever sets one believes that the server is
// protected.
func (u Upstream) parse() (kind string, bases []string, err error) {
	if kind, bases, err = upstream.ParseURLs(u.URL); err != nil {
		return "", nil, fmt.Errorf("url: %w", err)
	}
	switch {
	case strings.Trim(u.Name, nameLetters) != "" || u.Name == "":
		return "", nil, errors.New("its name must be letters, digits and -_. only")
	case u.Name == demoName:
		return "", nil, errors.New("this name is the built-in demo's")
	case u.Kind != "":
		if err := upstream.CheckKind(u.Kind); err != nil {
			return "", nil, fmt.Errorf("kind: %w", err)
		}
		kind = u.Kind
	}
	if u.Key != "" && kind == upstream.KindOllama {
		return "", nil, errors.New("key: Ollama takes none")
	}
	return kind, bases, nil
}

// nameLetters are the characters of an upstream's name. With a slash "a/b/model" would be
// ambiguous, and * is for patterns of settings.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// newServer returns the server of an Upstream, or an error if a member of u is wrong. It sends no
// request, so an unknown kind is a guess until the first request.
func newServer(u Upstream) (*server, error) {
	kind, bases, err := u.parse()
	if err != nil {
		return nil, err
	}
	return oneOrPool(u.Name, bases, func(base string) *server {
		if kind == "" {
			return &server{name: u.Name, guess: &guess{base: base, key: u.Key}}
		}
		return &server{name: u.Name, backend: makes[kind](base, u.Key)}
	}), nil
}

// oneOrPool returns the server at one address, or the pool of the servers at several. The parameter
// one is a function that returns the server at a single address.
func oneOrPool(name string, bases []string, one func(base string) *server) *server {
	if len(bases) > 1 {
		return newPool(name, bases, one)
	}
	s := one(bases[0])
	s.memory = new(memory)
	return s
}

// newOllama returns the backend of an Ollama server. If base is not a URL as returned by ParseHost,
// the default is used.
func newOllama(owner, base string, rt http.RoundTripper) *ollama.Backend {
	client, err := ollama.New(base, rt)
	if err != nil {
		client, _ = ollama.New("", rt)
	}
	return &ollama.Backend{Client: client, Owner: owner}
}

// probe returns the job with the facts about the model and its server, such as which of the
// family's tags are control tokens, or the server's error. It is called again after the family has
// changed, because another family has other tags.
func (j *job) probe(ctx context.Context) (*job, error) {
	facts, err := j.server.memory.probes.do(ctx, j.pulse, wanted{j.server, j.model, j.format.Name},
		func() (upstream.Facts, error) {
			return j.server.Probe(ctx, j.orderFor(j.request))
		})
	k := *j
	k.facts = facts
	return &k, err
}

// route returns the server of a model, which may be an alias, and the name that the model has
// there. It returns an error if the kind of the server cannot be found out, or if no server of a
// pool answers.
func (e *Engine) route(ctx context.Context, model string) (*server, string, error) {
	s, name := e.place(model)
	var err error
	if s.pool != nil {
		s, err = s.pool.known(ctx, name)
	} else {
		s, err = s.known(ctx)
	}
	return s, name, err
}

// single returns all servers one by one. For a pool it returns the members. A server whose kind
// cannot be found out is included as it is.
func (e *Engine) single() (all []*member) {
	for _, s := range e.servers {
		if s.pool == nil {
			all = append(all, &member{server: s})
			continue
		}
		all = append(all, s.pool.members...)
	}
	return all
}

// prefix returns what precedes the names of the models on the server m, such as "box/" in
// "box/qwen3". It returns "" for the first server, and for the members of a pool that is the first
// server.
func (e *Engine) prefix(m *member) string {
	first := e.servers[0]
	if m.server == first || first.pool != nil && slices.Contains(first.pool.members, m) {
		return ""
	}
	return m.name + "/"
}

// place returns the server of a model, and the model's name there. It sends nothing to the server.
// In a name with a slash, the part before it is a server only if the settings have a server of that
// name. Otherwise, as in Ollama's own "hf.co/user/model", the whole name is a model of the first
// server.
func (e *Engine) place(model string) (*server, string) {
	model = e.Real(model)
	if name, rest, ok := strings.Cut(model, "/"); ok && rest != "" {
		for _, s := range e.servers[1:] {
			if s.name == name {
				return s, rest
			}
		}
	}
	return e.servers[0], model
}

// Real implements chat.Catalog: it returns the model that a name stands for, by alias, or else the
// name itself without the prefix. An alias may be used with the prefix and without it, so that
// clients that need the prefix can use aliases, too. An exact name takes precedence over a pattern,
// so that with "claude-*" and "claude-haiku-5" each of an agent's names can have a model.
func (e *Engine) Real(name string) string {
	for _, name := range []string{name, strings.TrimPrefix(name, e.cfg.Prefix)} {
		if model, ok := e.cfg.Aliases[name]; ok {
			return model
		}
		if model, ok := pattern.Find(e.cfg.Aliases, name); ok {
			return model
		}
	}
	return strings.TrimPrefix(name, e.cfg.Prefix)
}
