package doctor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"toolnorm/engine/ollama"
	"toolnorm/internal/fault"
)

// native is the kind of servers that implement Ollama's API.
type native struct{}

// title implements kind: it returns the name of the kind.
func (native) title() string { return "Ollama" }

// pull returns the command that downloads a model.
func (native) pull(model string) string { return "ollama pull " + model }

// describe implements kind: it records the server's version, the defects of the version and the
// loaded models. It fails if the server does not report its version.
func (native) describe(ctx context.Context, d *Doctor, h host, s *Server) error {
	client, err := d.ollama(h)
	if err != nil {
		return err
	}
	if s.Version, err = client.Version(ctx); err != nil || h.name == demoHost {
		return err
	}
	s.Findings = defectsOf(s.Version)
	loaded, err := client.Running(ctx)
	if err != nil {
		s.Findings = append(s.Findings,
			Finding{Note, "loaded models", "it does not say which are: " + fault.From(err).Message,
				""})
		return nil
	}
	for _, m := range loaded.Models {
		s.Loaded = append(s.Loaded, Loaded{m.Name, m.ContextLength, m.Size})
	}
	return nil
}

// list implements kind: it records the server's models. /api/tags does not say what a model can do,
// so each of the first mostListed models needs a request to /api/show. It fails only if /api/tags
// does.
func (native) list(ctx context.Context, d *Doctor, h host, s *Server) error {
	client, err := d.ollama(h)
	if err != nil {
		return err
	}
	list, err := client.Tags(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list.Models, func(a, b api.ListModelResponse) int {
		return cmp.Compare(a.Name, b.Name)
	})
	s.Models = make([]Listed, len(list.Models))
	var shown sync.WaitGroup
	places := make(chan struct{}, showAtOnce)
	for i, m := range list.Models {
		places <- struct{}{}
		shown.Go(func() {
			defer func() { <-places }()
			l := Listed{Name: d.called(h, m.Name), Digest: m.Digest, Bytes: m.Size,
				Family: m.Details.Family, Parameters: m.Details.ParameterSize,
				Quantization: m.Details.QuantizationLevel}
			plan := d.engine.Plan(l.Name)
			l.Format = plan.Format
			if i < mostListed {
				if show, err := client.Show(ctx, m.Name); err == nil {
					l.Trained, l.Capabilities = ollama.TrainedContext(show), capabilities(show)
				}
			}
			l.Strategy = expectedStrategy(plan, l.Capabilities)
			s.Models[i] = l
		})
	}
	shown.Wait()
	return nil
}

// showAtOnce is how many models are requested from a server at the same time. Ollama reads a file
// for each, and a hundred took seconds one by one.
const showAtOnce = 8

// model records what the server reports about the model that is examined. It returns false if the
// server has no such model or does not answer, and also for an embedding model, which would answer
// every question with an error.
func (native) model(ctx context.Context, x *examination) bool {
	var err error
	if x.client, err = x.ollama(x.on); err != nil {
		return x.failed(ctx, "model", err)
	}
	show, err := x.client.Show(ctx, x.m.Model)
	if err != nil {
		if fault.From(err).Kind == fault.NotFound {
			x.m.Findings = append(x.m.Findings, x.unknown(ctx, x.on, x.m.Model))
			return false
		}
		return x.failed(ctx, "model", err)
	}
	x.m.Family, x.m.Parameters, x.m.Quantization = show.Details.Family, show.Details.ParameterSize,
		show.Details.QuantizationLevel
	x.m.Capabilities, x.m.Parser, x.m.Context.Trained = capabilities(show), ollama.Parser(show),
		ollama.TrainedContext(show)
	if !slices.Contains(x.m.Capabilities, string(model.CapabilityCompletion)) {
		x.finding(Problem, "model", "it writes no text: its server says that it can do "+
			strings.Join(x.m.Capabilities, ", "), "")
		return false
	}
	return true
}

// capabilities returns what a model can do, in the server's words. Servers before 0.6 do not report
// this; then the template shows whether the model accepts tools.
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

// defect is a known fault of some versions of Ollama.
type defect struct {
	before string // the first version without the fault; empty: all have it
	Finding
}

// wedges is the first version of Ollama that does not hang after a call that its own parser
// refuses.
const wedges = "0.32.15"

// defects are the faults that matter to a proxy. Those that depend on a model's template are found
// by examining the model.
var defects = []defect{
	{"0.6.0", Finding{Note, "capabilities", "this version does not report what its models can do",
		"toolnorm looks for tools in their templates"}},
	{"0.12.10", Finding{Note, "call ids", "this version gives calls no ids",
		"toolnorm generates them"}},
	{wedges, Finding{Note, "hang", "before " + wedges +
		", one call that its parser cannot read hangs a model with a PARSER for everyone, until the model is unloaded",
		"strategy raw avoids that parser; do not set tap or native for such a model"}},
	{"", Finding{Note, "templates",
		"Ollama templates with {{ .Function }} render tools as Go structs, not JSON (all versions)",
		"strategy raw puts JSON there; toolnorm doctor MODEL reports whether a model is affected"}},
	{"", Finding{Note, "calls",
		"Ollama drops malformed calls or turns them into errors (all versions)",
		"toolnorm parses the model's raw text"}},
}

// defectsOf returns findings about the defects of a version. A server whose version cannot be
// parsed may be a fork or a proxy, so the only finding is that its defects are unknown.
func defectsOf(version string) (all []Finding) {
	v := ollama.VersionNumbers(version)
	if v == [3]int{} {
		return []Finding{{Note, "version",
			"the server does not report its version, so its defects are unknown", "before " +
				wedges + ", tap and native can hang it"}}
	}
	for _, d := range defects {
		if d.before == "" || ollama.Older(version, d.before) {
			all = append(all, d.Finding)
		}
	}
	return all
}
