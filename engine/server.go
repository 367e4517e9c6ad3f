package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"toolnorm/chat"
	ollamaapi "toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
)

// backend is one kind of model server: what a turn asks of it.
type backend interface {
	// models lists what the server has.
	models(ctx context.Context) ([]chat.Info, error)
	// probe says what the turn's model can do, and remembers it for as long as the model stays the same.
	probe(ctx context.Context, t *turn) (facts, error)
	// open begins the reply by the turn's strategy. Tail is the end of the rendered prompt, empty when it is not known.
	open(ctx context.Context, t *turn) (src chat.Source, tail string, err error)
}

// demoName is the name of the server that needs no model.
const demoName = "demo"

// server is a model server under the name that its models have in front of theirs: "box/qwen3". The first one's models
// go by their own names.
type server struct {
	backend // nil as long as only the guess is there
	name    string
	guess   *guess
	memory  memory
}

// known is the server with the backend of its kind.
func (s *server) known(ctx context.Context) (*server, error) {
	if s.backend != nil {
		return s, nil
	}
	return s.guess.find(ctx, s.name)
}

// list is what the server has.
func (s *server) list(ctx context.Context) ([]chat.Info, error) {
	known, err := s.known(ctx)
	if err != nil {
		return nil, err
	}
	return known.models(ctx)
}

// Upstream is a model server besides the first one.
type Upstream struct {
	Name string // in front of its models' names: "box" for "box/qwen3"; letters, digits and -_. only
	URL  string // as upstream.ParseURL takes it
	Kind string // upstream.KindOllama or upstream.KindOpenAI; empty: as the URL says, else found out at the first request
	Key  string // bearer token, for servers that speak OpenAI's API; empty: none is sent
}

// parse checks an Upstream. The error says what is wrong, without the name.
func (u Upstream) parse() (kind, base string, err error) {
	if kind, base, err = upstream.ParseURL(u.URL); err != nil {
		return "", "", fmt.Errorf("url: %w", err)
	}
	switch {
	case strings.Trim(u.Name, nameLetters) != "" || u.Name == "":
		return "", "", errors.New("its name must be letters, digits and -_. only")
	case u.Name == demoName:
		return "", "", errors.New("this name is the built-in demo's")
	case u.Kind != "" && u.Kind != upstream.KindOllama && u.Kind != upstream.KindOpenAI:
		return "", "", fmt.Errorf("kind: %q is neither %s nor %s", u.Kind, upstream.KindOllama, upstream.KindOpenAI)
	case u.Kind != "":
		kind = u.Kind
	}
	if u.Key != "" && kind == upstream.KindOllama {
		return "", "", errors.New("key: Ollama takes none")
	}
	return kind, base, nil
}

// nameLetters are what an upstream's name is made of.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// newServer makes the server of an Upstream.
func newServer(u Upstream) (*server, error) {
	kind, base, err := u.parse()
	if err != nil {
		return nil, err
	}
	if kind == "" {
		return &server{name: u.Name, guess: &guess{base: base, key: u.Key}}, nil
	}
	return &server{name: u.Name, backend: newBackend(kind, base, u.Key)}, nil
}

// newBackend makes the backend of a kind of server.
func newBackend(kind, base, key string) backend {
	if kind == upstream.KindOpenAI {
		return newCompatible(base, key)
	}
	o, err := ollamaapi.New(base, nil)
	return newOllama("ollama", o, err)
}

// facts are what is known of a model, as long as its digest stays the same.
type facts struct {
	window   int      // the longest context, in tokens: what the model was trained with, or what its server has it loaded with; 0: not known
	context  int      // that the model's own parameters ask for; 0: none
	digest   string   // empty: the server does not list the model
	tools    bool     // its template can print tools
	thinking bool     // its thinking can be switched
	levels   []string // of thinking, in the server's words; empty: only on and off
	always   bool     // it thinks whether it is told to or not
	blind    bool     // it is known to see no images
	chooses  bool     // the server obeys tool_choice by itself
	render   bool     // the server gives the rendered prompt, so raw works
	structs  bool     // its template is known to print tools as Go prints them, so that only raw can mend the prompt
	hidden   []string // the marks of its family that are control tokens
	lacks    bool     // raw text lacks those
	shown    shown    // how they are had
	tap      bool     // the server may show the tokens of calls that it withholds, so tap may work
}

// route finds the server of a model, which may be an alias, and the name that the model has there. Only a server whose
// kind must be found out can be an error.
func (e *Engine) route(ctx context.Context, model string) (*server, string, error) {
	s, name := e.place(model)
	s, err := s.known(ctx)
	return s, name, err
}

// place is route without asking the server what it is.
func (e *Engine) place(model string) (*server, string) {
	model = e.real(model)
	if name, rest, ok := strings.Cut(model, "/"); ok && rest != "" {
		for _, s := range e.servers[1:] {
			if s.name == name {
				return s, rest
			}
		}
	}
	return e.servers[0], model
}

// real is the model that a name stands for: by alias, else itself.
func (e *Engine) real(name string) string {
	for _, name := range []string{name, strings.TrimPrefix(name, e.cfg.Prefix)} {
		if model, ok := e.cfg.Aliases[name]; ok {
			return model
		}
	}
	return strings.TrimPrefix(name, e.cfg.Prefix)
}
