// Package doctor examines model servers and their models, and says what toolnorm will do with them.
//
// [Doctor.Servers] looks at what the configured servers say of themselves; no model is loaded for
// it. [Doctor.Model] loads one and asks it a few short questions, by every way in which its calls
// can be read.
//
//	doctor.go   what it is given, and the two examinations
//	servers.go  what servers say of themselves, by their kind:
//	ollama.go, compatible.go
//	model.go    a model: what it can do, and names like one that does not exist
//	context.go  how much it reads, and how many requests run at a time
//	ask.go      one question
//	calls.go    the questions about tools, by every strategy
//	chatter.go  small talk, for which no tool is needed
//	advise.go   the verdict and the settings
//	report.go   the report as data
//	print.go    the report as text
//
// Everything is asked through the proxy's own engine, with its settings, so that a finding is true
// of what clients get. A finding says what was found and what follows: [OK], a [Note] that toolnorm
// copes with, or a [Problem] that wants a person. It changes nothing on a server but that a model
// is loaded, and skips what is known to hang some versions.
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

// Config says what is examined.
type Config struct {
	Engine    engine.Config                // the proxy's, so that what is found is true of it
	Questions []exam.Question              // that a model is asked; none: those that come with the program
	Tools     []chat.Tool                  // that are offered with them; none: likewise
	Progress  func(step string, n, of int) // is told what is done next, and where it is a row of questions which of how many, counted from 1; nil: nobody is
}

//go:embed questions.txt
var questions string

//go:embed tools.json
var tools []byte

// Doctor examines. It is for one goroutine.
// It uses the same engine as the proxy, and so sees what a client would.
type Doctor struct {
	cfg    Config
	engine *engine.Engine
	hosts  []host // the first one's models go by their own names
}

// host is a model server by its settings.
type host struct {
	name, url, kind, key string // kind: empty as long as nobody asked
}

// demoHost is the name of the server that needs no model.
const demoHost = "demo"

// New makes a Doctor. The error says what is wrong with the configuration.
// The demo stands among the servers, so that an examination can be tried without any model.
func New(cfg Config) (*Doctor, error) {
	if err := cfg.Engine.Validate(); err != nil {
		return nil, err
	}
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	cfg.Engine.Gate = map[string]string{"*": engine.GateNever} // what it would do is measured apart
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

// fill puts in what comes with the program.
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

// host returns the server of that name; of a pool, the first one that lists the model.
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
		if slices.ContainsFunc(s.Models, func(l Listed) bool { return l.Name == d.called(h, model) || l.Name == d.called(h, model)+":latest" }) {
			return h
		}
	}
	return append(all, d.hosts[0])[0]
}

// ollama returns a client of a host that speaks Ollama's API.
func (d *Doctor) ollama(h host) (*ollama.Client, error) {
	if h.name == demoHost {
		demo := d.cfg.Engine.Demo
		if demo.Formats == nil { // as the engine does: else the demo of a family of the user's own is missing here alone
			demo.Formats = d.cfg.Engine.Formats
		}
		return ollama.New("http://demo", upstream.InProcess(&demo))
	}
	return ollama.New(h.url, nil)
}

// why returns the reason for which an examination ended early, empty when it did not.
// A report says that it is not whole: silence about a check would read as a good result.
func why(ctx context.Context) string {
	switch {
	case ctx.Err() == nil:
		return ""
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "time is over: a longer --limit shows the rest"
	}
	return "interrupted"
}
