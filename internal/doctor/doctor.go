// Package doctor examines model servers and their models, and reports what toolnorm will do with
// them.
//
// [Doctor.Servers] reports what the configured servers say of themselves, without loading a model.
// [Doctor.Model] loads one model and asks it short questions, by every way in which its calls can
// be read.
//
//	doctor.go   the configuration, and the servers to examine
//	servers.go  what servers say of themselves, by their kind:
//	ollama.go, compatible.go
//	model.go    a model: what it can do, and names similar to one that does not exist
//	context.go  its context length, and how many requests run at a time
//	ask.go      one question
//	calls.go    the questions about tools, by every strategy
//	chatter.go  small talk, for which no tool is needed
//	advise.go   the verdict and the settings
//	report.go   the report as data
//	print.go    the report as text
//
// Everything is asked through the proxy's own engine, with its settings, so that a finding is true
// for clients. A finding says what was found and what follows: [OK], a [Note] about something that
// toolnorm handles, or a [Problem] that a person has to solve. The only change on a server is that
// a model is loaded. Requests that are known to hang some versions are skipped.
package doctor

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/engine/upstream"
	"toolnorm/internal/exam"
)

// Config defines what is examined.
type Config struct {
	Engine    engine.Config   // the configuration of the proxy, so that findings are true for it
	Questions []exam.Question // the questions that a model is asked; empty: the built-in ones
	// the tools that are offered with the questions; empty: the built-in ones
	Tools []chat.Tool
	// called before each step; in a series of questions, n counts from 1 and of is their number;
	// may be nil
	Progress func(step string, n, of int)
}

//go:embed questions.txt
var questions string

//go:embed tools.json
var tools []byte

// Doctor examines servers and models. It must be used by one goroutine only. It uses the same
// engine as the proxy, so it sees what a client would.
type Doctor struct {
	cfg    Config
	engine *engine.Engine
	hosts  []host // the models of the first one have no prefix in their names
}

// host is a model server as configured.
type host struct {
	name, url, kind, key string // kind is empty until it is asked for
}

// demoHost is the name of the built-in server, which needs no model.
const demoHost = "demo"

// New returns a Doctor. It fails if the configuration is invalid. One of the servers is the
// built-in demo, so that an examination can be tried without any model.
func New(cfg Config) (*Doctor, error) {
	if err := cfg.Engine.Validate(); err != nil {
		return nil, err
	}
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	cfg.Engine.Gate = map[string]string{"*": engine.GateNever} // its effect is measured separately
	bases, err := ollama.ParseHosts(cfg.Engine.Ollama)
	if err != nil {
		return nil, err
	}
	d := &Doctor{cfg: cfg, engine: engine.New(cfg.Engine)}
	for _, base := range bases {
		d.hosts = append(d.hosts, host{name: "ollama", url: base, kind: upstream.KindOllama})
	}
	for _, u := range cfg.Engine.Upstreams {
		kind, bases, err := upstream.ParseURLs(u.URL)
		if err != nil {
			return nil, fmt.Errorf("upstream %q: url: %w", u.Name, err)
		}
		if u.Kind != "" {
			kind = u.Kind
		}
		for _, base := range bases {
			d.hosts = append(d.hosts, host{u.Name, base, kind, u.Key})
		}
	}
	d.hosts = append(d.hosts, host{name: demoHost, kind: upstream.KindOllama})
	return d, nil
}

// fill sets missing questions and tools to the built-in ones. It fails only if those are broken.
func (c *Config) fill() (err error) {
	if c.Progress == nil {
		c.Progress = func(string, int, int) {}
	}
	if len(c.Questions) == 0 {
		if c.Questions, err = exam.Parse(questions); err != nil {
			return err
		}
	}
	if len(c.Tools) == 0 {
		c.Tools, err = chat.ParseTools(tools)
	}
	return err
}

// host returns the server with the given name. If several have the name because they form a pool,
// it returns the first that lists the model; if none does, the first of the pool. For an unknown
// name it returns the first of all servers.
func (d *Doctor) host(ctx context.Context, name, model string) host {
	var all []host
	for _, h := range d.hosts {
		if h.name == name {
			all = append(all, h)
		}
	}
	for _, h := range all {
		var s Server
		if len(all) == 1 {
			break
		}
		if s = d.server(ctx, h); s.Missing == "" {
			h.kind = s.Kind
			d.list(ctx, h, &s)
		}
		if slices.ContainsFunc(s.Models, func(l Listed) bool {
			return l.Name == d.called(h, model) || l.Name == d.called(h, model)+":latest"
		}) {
			return h
		}
	}
	return append(all, d.hosts[0])[0]
}

// ollama returns a client of a host that implements Ollama's API. It fails if the host's URL is
// invalid.
func (d *Doctor) ollama(h host) (*ollama.Client, error) {
	if h.name == demoHost {
		demo := d.cfg.Engine.Demo
		// as the engine does: otherwise the demo of a user-defined family would be missing only
		// here
		if demo.Formats == nil {
			demo.Formats = d.cfg.Engine.Formats
		}
		return ollama.New("http://demo", upstream.InProcess(&demo))
	}
	return ollama.New(h.url, nil)
}

// why returns the reason why an examination ended early, or "" if it did not. An incomplete report
// must contain it, because silence about a check would look like a good result.
func why(ctx context.Context) string {
	switch {
	case ctx.Err() == nil:
		return ""
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "time is over: a longer --limit shows the rest"
	}
	return "interrupted"
}
