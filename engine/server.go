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

// makes has how the backend of each kind of server is made.
var makes = map[string]func(base, key string) backend{
	upstream.KindOllama: func(base, _ string) backend { return newOllama("ollama", base, nil) },
	upstream.KindOpenAI: func(base, key string) backend { return openai.NewBackend(base, key) },
}

// backend is one kind of model server: what the engine asks of it. What only some kinds can do is
// in an interface of its own below.
type backend interface {
	// Models lists what the server has.
	Models(ctx context.Context) ([]chat.Info, error)
	// Probe says what the order's model can do, and remembers it for as long as the model stays the
	// same.
	Probe(ctx context.Context, o *upstream.Order) (upstream.Facts, error)
	// Open begins the reply by the order's strategy. Tail is the end of the rendered prompt, empty
	// when it is not known.
	Open(ctx context.Context, o *upstream.Order) (src chat.Source, tail string, err error)
	// Complete writes a text on. What comes is the model's text as it is: nothing is looked for in
	// it.
	Complete(ctx context.Context, o *upstream.Order) (chat.Source, error)
	// Embed makes vectors, with the model's name on that server. It gets no Order: an embedding has
	// no format, no strategy and no facts.
	Embed(ctx context.Context, p *wait.Pulse, model string, r *chat.EmbedRequest) (
		*chat.Embeddings, error)
	// Waiting returns how many requests wait for the server, since it is busy.
	Waiting() int
	// Template renders conversations with the model's own template. Of a server that does not
	// render it is an error.
	Template(ctx context.Context, o *upstream.Order) (derive.Template, error)
}

// sizer is a backend that gives a model the context that an order needs.
type sizer interface {
	Size(ctx context.Context, o *upstream.Order) int
}

// unloader is a backend that unloads models. It reports whether the model is gone.
type unloader interface {
	Unload(ctx context.Context, p *wait.Pulse, model string) (bool, error)
}

// native is a backend that takes requests of Ollama's own API.
type native interface {
	http.RoundTripper
	Tags(ctx context.Context) (*api.ListResponse, error)
	Running(ctx context.Context) (*api.ProcessResponse, error)
	Describe(ctx context.Context, model string, verbose bool) (json.RawMessage, error)
	Version(ctx context.Context) (string, error)
}

// What the kinds can do.
var (
	_ sizer    = (*ollama.Backend)(nil)
	_ unloader = (*ollama.Backend)(nil)
	_ native   = (*ollama.Backend)(nil)
)

// firstName is the name of the first server, whose models go by their own names.
const firstName = "ollama"

// demoName is the name of the server that needs no model. It stands in front of its models' names,
// "demo/hermes", so no upstream may have it.
const demoName = "demo"

// server is a model server under the name that its models have in front of theirs: "box/qwen3". The
// first one's models go by their own names. What was learned of its models is kept with it, since
// two servers may have different models of one name.
type server struct {
	backend // nil as long as only the guess is there, and of a pool
	name    string
	guess   *guess
	pool    *pool // nil: it is one server
	memory  *memory
}

// known returns the server with the backend of its kind. What is found is the server's for good:
// its kind does not change.
func (s *server) known(ctx context.Context) (*server, error) {
	if s.backend != nil {
		return s, nil
	}
	return s.guess.find(ctx, s.name, s.memory)
}

// guess is a server of unknown kind: it is asked when it is first needed, and again until it
// answers. To ask at the start would tie this program's start to that of every server in its
// settings.
type guess struct {
	base, key string

	mu    sync.Mutex
	found *server // nil until the kind is known
}

// find returns the server of that name with the backend of its kind. The lock is not held while the
// server is asked: one that does not answer would else hold up every request, those that are about
// to give up included.
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

// list returns the models that the server has.
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

// Upstream is a model server besides the first one.
type Upstream struct {
	// in front of its models' names: "box" for "box/qwen3"; letters, digits and -_. only
	Name string
	URL  string // as upstream.ParseURL takes it; several with commas between them are a pool
	// upstream.KindOllama or upstream.KindOpenAI; empty: as the URL says, else found out at the
	// first request
	Kind string
	Key  string // bearer token, for servers that speak OpenAI's API; empty: none is sent
}

// parse checks an Upstream. The error says what is wrong, without the name. A kind that is named
// goes before the URL's; a key for Ollama is an error rather than ignored, since whoever sets one
// believes the server to be guarded.
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

// nameLetters are what an upstream's name is made of. A slash would make "a/b/model" a riddle, and
// * is for patterns of settings.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// newServer makes the server of an Upstream. It asks nothing: an unknown kind is a guess
// until the first request.
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

// oneOrPool makes the server of one address, or the pool of several.
func oneOrPool(name string, bases []string, one func(base string) *server) *server {
	if len(bases) > 1 {
		return newPool(name, bases, one)
	}
	s := one(bases[0])
	s.memory = new(memory)
	return s
}

// newOllama makes the backend of an Ollama server. Of a URL that ParseHost would not have given it
// takes the default.
func newOllama(owner, base string, rt http.RoundTripper) *ollama.Backend {
	client, err := ollama.New(base, rt)
	if err != nil {
		client, _ = ollama.New("", rt)
	}
	return &ollama.Backend{Client: client, Owner: owner}
}

// probe finds out what the model and its server can do. It is asked again after the family became
// another one, since which marks count is the family's.
func (j *job) probe(ctx context.Context) (*job, error) {
	facts, err := j.server.memory.probes.do(ctx, j.pulse, wanted{j.server, j.model, j.format.Name},
		func() (upstream.Facts, error) {
			return j.server.Probe(ctx, j.orderFor(j.request))
		})
	k := *j
	k.facts = facts
	return &k, err
}

// route finds the server of a model, which may be an alias, and the name that the model has there.
// Only a server whose kind must be found out can be an error.
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

// single returns every server by itself, those of pools too, and how its models' names begin. A
// server whose kind cannot be found out is left as it is.
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

// prefix returns the prefix of the names of a server's models. The first one's go by
// their own.
func (e *Engine) prefix(m *member) string {
	first := e.servers[0]
	if m.server == first || first.pool != nil && slices.Contains(first.pool.members, m) {
		return ""
	}
	return m.name + "/"
}

// place returns the server of a model, and the model's name there, without asking the server what
// it is, as route does. A name with a slash is not always a server's: Ollama's own models are
// called "hf.co/user/model", and go to the first server unless one of the settings has that very
// name.
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

// Real returns the model of a name: by alias, else the name itself without the prefix. An alias
// wins with the prefix and without, so a client that must have the prefix can use aliases, too. A
// name of its own wins over a pattern: with "claude-*" and "claude-haiku-5" each of an agent's
// names can have a model.
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
