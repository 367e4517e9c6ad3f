package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/engine/openai"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// mostListed is how many models of a server are looked at, one short request each.
const mostListed = 200

// Servers looks at every server of the settings and lists its models. None of them is loaded.
// What it finds needs no model, so it is quick enough to be asked at any time.
func (d *Doctor) Servers(ctx context.Context) *Report {
	r := &Report{Servers: make([]Server, len(d.hosts))}
	var asked sync.WaitGroup // at the same time: one that does not answer must not hold up the others
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
	r.Cut = why(ctx)
	return r
}

// server is what a server says of itself.
// A server that was cut off by the time limit is not called unreachable.
func (d *Doctor) server(ctx context.Context, h host) Server {
	s := Server{Name: h.name, URL: h.url, Kind: h.kind}
	var err error
	if s.Kind == "" {
		s.Kind, err = openai.KindOf(ctx, h.url, h.key)
	}
	switch {
	case err != nil:
	case s.Kind == upstream.KindOpenAI:
		err = s.compatible(ctx, openai.New(h.url, h.key, nil))
	default:
		err = d.native(ctx, h, &s)
	}
	if err != nil && ctx.Err() == nil { // else nobody knows
		s.Kind, s.Missing = "", fault.From(err).Message
	}
	return s
}

// native asks a server that speaks Ollama's API.
func (d *Doctor) native(ctx context.Context, h host, s *Server) error {
	client, err := d.ollama(h)
	if err != nil {
		return err
	}
	if s.Version, err = client.Version(ctx); err != nil || h.name == demoHost {
		return err
	}
	s.Findings = known(s.Version)
	loaded, err := client.Running(ctx)
	if err != nil {
		s.Findings = append(s.Findings, Finding{Note, "loaded models", "it does not say which are: " + fault.From(err).Message, ""})
		return nil
	}
	for _, m := range loaded.Models {
		s.Loaded = append(s.Loaded, Loaded{m.Name, m.ContextLength, m.Size})
	}
	return nil
}

// compatible asks a server that speaks OpenAI's API. Only llama-server says more than its models.
// /props is llama-server's own; elsewhere it is missing, and that is no fault.
func (s *Server) compatible(ctx context.Context, client *openai.Client) error {
	if _, err := client.Models(ctx); err != nil {
		return err
	}
	if p, err := client.Properties(ctx); err == nil && p.Template != "" {
		s.Version, s.Slots = p.Build, p.Slots
	}
	return nil
}

// list finds out which models a server has, and how each would be read.
// A server without models is a problem: every request to it will be a 404.
func (d *Doctor) list(ctx context.Context, h host, s *Server) {
	var err error
	if s.Kind == upstream.KindOpenAI {
		err = d.listCompatible(ctx, h, s)
	} else {
		err = d.listNative(ctx, h, s)
	}
	switch {
	case err != nil:
		s.Findings = append(s.Findings, Finding{Problem, "models", "it does not list them: " + fault.From(err).Message, ""})
	case len(s.Models) == 0:
		s.Findings = append(s.Findings, Finding{Problem, "models", "it has none", pull(h, "qwen3")})
	}
}

// pull says how a model comes to a server.
// qwen3 is named since it knows tools and comes in many sizes.
func pull(h host, name string) string {
	if h.kind == upstream.KindOpenAI {
		return "start it with one"
	}
	return "ollama pull " + name
}

// called is the name of a server's model as clients call it.
func (d *Doctor) called(h host, name string) string {
	if h.name == d.hosts[0].name {
		return name
	}
	return h.name + "/" + name
}

// Such a list says little: names, and of some servers the context.
func (d *Doctor) listCompatible(ctx context.Context, h host, s *Server) error {
	list, err := openai.New(h.url, h.key, nil).Models(ctx)
	for _, m := range list {
		plan := d.engine.Plan(d.called(h, m.ID))
		s.Models = append(s.Models, Listed{Name: d.called(h, m.ID), Trained: m.Context, Format: plan.Format, Strategy: expected(plan, nil)})
	}
	return err
}

// /api/tags does not say what a model can do, so each costs one request of /api/show.
func (d *Doctor) listNative(ctx context.Context, h host, s *Server) error {
	client, err := d.ollama(h)
	if err != nil {
		return err
	}
	list, err := client.Tags(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list.Models, func(a, b api.ListModelResponse) int { return cmp.Compare(a.Name, b.Name) })
	s.Models = make([]Listed, len(list.Models))
	var shown sync.WaitGroup
	places := make(chan struct{}, showAtOnce)
	for i, m := range list.Models {
		places <- struct{}{}
		shown.Go(func() {
			defer func() { <-places }()
			l := Listed{Name: d.called(h, m.Name), Bytes: m.Size, Family: m.Details.Family, Parameters: m.Details.ParameterSize, Quantization: m.Details.QuantizationLevel}
			plan := d.engine.Plan(l.Name)
			l.Format = plan.Format
			if i < mostListed {
				if show, err := client.Show(ctx, m.Name); err == nil {
					l.Trained, l.Capabilities = ollama.Trained(show), capabilities(show)
				}
			}
			l.Strategy = expected(plan, l.Capabilities)
			s.Models[i] = l
		})
	}
	shown.Wait()
	return nil
}

// showAtOnce is how many models a server is asked about at a time. Ollama reads a file for each; a hundred took seconds one by one.
const showAtOnce = 8

// expected is the strategy of a model that was not asked: by the settings, else by what its server says it can do.
// Only asking the model can tell: a template may take tools and print them so that nothing is understood.
func expected(plan engine.Plan, capabilities []string) string {
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

// capabilities are the words in which a server says what a model can do. Servers before 0.6 have none: then its template
// says whether it takes tools.
func capabilities(show *api.ShowResponse) (all []string) {
	for _, c := range show.Capabilities {
		all = append(all, string(c))
	}
	if all == nil {
		all = []string{string(model.CapabilityCompletion)}
		if strings.Contains(show.Template, ".Tools") {
			all = append(all, string(model.CapabilityTools))
		}
	}
	return all
}

// unknown is what to say of a model that its server does not have.
// Names are looked for among all servers' models: the prefix of one is what is forgotten most easily.
func (d *Doctor) unknown(ctx context.Context, h host, name string) Finding {
	f := Finding{Problem, "model", fmt.Sprintf("%s has no model %q", h.name, name), pull(h, name)}
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

// defect is a fault of Ollama that some versions have.
type defect struct {
	before string // the first version without it; empty: none so far
	Finding
}

// wedges is the first version of Ollama that does not hang after a call which its own reader refuses.
const wedges = "0.32.15"

// defects are those that matter to a proxy. What depends on the model's template is found by looking at the model.
var defects = []defect{
	{"0.6.0", Finding{Note, "capabilities", "this version does not report what its models can do", "toolnorm looks for tools in their templates"}},
	{"0.12.10", Finding{Note, "call ids", "this version gives calls no ids", "toolnorm generates them"}},
	{wedges, Finding{Note, "hang", "before " + wedges + ", one call that its parser cannot read hangs a model with a PARSER for everyone, until the model is unloaded",
		"strategy raw avoids that parser; do not set tap or native for such a model"}},
	{"", Finding{Note, "templates", "Ollama templates with {{ .Function }} render tools as Go structs, not JSON (all versions)", "strategy raw puts JSON there; toolnorm doctor MODEL reports whether a model is affected"}},
	{"", Finding{Note, "calls", "Ollama drops malformed calls or turns them into errors (all versions)", "toolnorm parses the model's raw text"}},
}

// known are the defects of a version.
// A version that cannot be read may be a fork or a proxy, so nothing is claimed of it.
func known(version string) (all []Finding) {
	v := ollama.VersionNumbers(version)
	if v == [3]int{} {
		return []Finding{{Note, "version", "the server does not report its version, so its defects are unknown", "before " + wedges + ", tap and native can hang it"}}
	}
	for _, d := range defects {
		if d.before == "" || ollama.Older(version, d.before) {
			all = append(all, d.Finding)
		}
	}
	return all
}
