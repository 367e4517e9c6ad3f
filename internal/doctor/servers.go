package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/types/model"

	"toolnorm/engine"
	"toolnorm/engine/openai"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// mostListed is the most models of a server for which details are requested, with a short request
// each.
const mostListed = 200

// Servers examines every configured server and lists its models. It loads no model, so it is fast
// enough to be called at any time.
func (d *Doctor) Servers(ctx context.Context) *Report {
	r := &Report{Servers: make([]Server, len(d.hosts))}
	// servers are asked at the same time: one that does not answer must not delay the others
	var asked sync.WaitGroup
	for i, h := range d.hosts {
		d.cfg.Progress("asking "+h.name, 0, 0)
		asked.Go(func() {
			s := &r.Servers[i]
			if *s = d.server(ctx, h); s.Missing == "" {
				d.list(ctx, h, s)
			}
		})
	}
	asked.Wait()
	r.compare()
	r.Cut = why(ctx)
	return r
}

// compare adds a finding for each model that two servers of a pool have in different builds.
func (r *Report) compare() {
	for i := range r.Servers {
		s := &r.Servers[i]
		for _, before := range r.Servers[:i] {
			for _, m := range s.Models {
				if before.Name == s.Name &&
					slices.ContainsFunc(before.Models, func(l Listed) bool {
						return l.Name == m.Name && l.Digest != m.Digest
					}) {
					s.Findings = append(s.Findings,
						Finding{Note, "pool", m.Name + " is another build here than at " +
							before.URL,
							"pull it on each server, so that a conversation can go on at any of them"})
				}
			}
		}
	}
}

// kind is what the doctor does differently for each kind of server, for example for Ollama's API
// and for OpenAI's.
type kind interface {
	// title returns the name of the kind for people.
	title() string
	// describe records in s what the server reports about itself. It fails if the server does not
	// answer.
	describe(ctx context.Context, d *Doctor, h host, s *Server) error
	// list records the server's models in s, and how the calls of each would be read.
	list(ctx context.Context, d *Doctor, h host, s *Server) error
	// model records what the server reports about a model, and returns whether the model can be
	// examined. If not, it adds a finding that says why.
	model(ctx context.Context, x *examination) bool
	// pull returns advice how to add a model to a server.
	pull(model string) string
}

// kinds maps the name of each kind to its implementation.
var kinds = map[string]kind{upstream.KindOllama: native{}, upstream.KindOpenAI: compatible{}}

// server returns what a server reports about itself. If it cannot be reached, Missing says why. A
// server that could not answer before ctx ended is not called unreachable.
func (d *Doctor) server(ctx context.Context, h host) Server {
	s := Server{Name: h.name, URL: h.url, Kind: h.kind}
	var err error
	if s.Kind == "" {
		s.Kind, err = openai.KindOf(ctx, h.url, h.key)
	}
	if err == nil {
		err = kinds[s.Kind].describe(ctx, d, h, &s)
	}
	if err != nil && ctx.Err() == nil { // otherwise it is unknown whether the server answers
		s.Kind, s.Missing = "", fault.From(err).Message
	}
	return s
}

// list records the models of a server, and how the calls of each would be read. A server without
// models gets a problem as a finding, because every request to it would be a 404.
func (d *Doctor) list(ctx context.Context, h host, s *Server) {
	err := kinds[s.Kind].list(ctx, d, h, s)
	switch {
	case err != nil:
		s.Findings = append(s.Findings, Finding{Problem, "models", "it does not list them: " +
			fault.From(err).Message, ""})
	case len(s.Models) == 0:
		s.Findings = append(s.Findings, Finding{Problem, "models", "it has none",
			kinds[s.Kind].pull("qwen3")})
	}
}

// called returns the name that clients use for a server's model.
func (d *Doctor) called(h host, name string) string {
	if h.name == d.hosts[0].name {
		return name
	}
	return h.name + "/" + name
}

// expectedStrategy returns the strategy to expect for a model that was not examined, or "" if none
// can be derived. A strategy in the settings comes first. Without one, the strategy is derived from
// the model's capabilities. Only an examination gives certainty, because a template may accept
// tools and print them in a form that the model does not understand.
func expectedStrategy(plan engine.Plan, capabilities []string) string {
	switch {
	case plan.Strategy != "":
		return plan.Strategy
	case capabilities == nil:
		return ""
	case slices.Contains(capabilities, string(model.CapabilityTools)):
		return engine.Raw
	case slices.Contains(capabilities, string(model.CapabilityCompletion)):
		return engine.Prompt
	}
	return ""
}

// unknown returns the finding for a model that a server does not have. Similar names are searched
// among the models of all servers, because what people forget most easily is the prefix with the
// name of the server.
func (d *Doctor) unknown(ctx context.Context, h host, name string) Finding {
	f := Finding{Problem, "model", fmt.Sprintf("%s has no model %q", h.name, name),
		kinds[h.kind].pull(name)}
	infos, err := d.engine.Models(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return f
	}
	var names []string
	for _, m := range infos {
		names = append(names, m.ID)
	}
	if all := near(d.called(h, name), names); len(all) > 0 {
		f.Does = "perhaps " + strings.Join(all, " or ") + " was meant; else " + f.Does
	}
	return f
}
