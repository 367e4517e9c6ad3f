package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/tools"
)

// BasePrefix before the name of a knowledge base makes the name of a model. For example, the model
// kb/Office answers from the documents of the base Office, and cites the passages that it has read.
const BasePrefix = "kb/"

// Base is a knowledge base from which a model can answer.
type Base struct{ ID, Name string }

// Bases are the knowledge bases of the program.
type Bases interface {
	// Bases lists the knowledge bases that the caller of ctx may see.
	Bases(ctx context.Context) ([]Base, error)
	// Link returns the address at which the caller can read a passage of a document, or "" if there
	// is none.
	Link(ctx context.Context, base, document string, passage int) string
}

// Listed returns the given models, followed by those that this loop adds. It adds NAME@SUFFIX for
// each suffix and each model that is shown, and a model for each knowledge base that the caller of
// ctx may see. If the bases cannot be listed, they are left out with a warning in the log.
func (l *Loop) Listed(ctx context.Context, models []chat.Info, suffixes []string) []chat.Info {
	all := slices.Clone(models)
	for _, m := range models {
		for _, suffix := range suffixes {
			if !m.Hidden && !strings.Contains(m.ID, "@") {
				m := m
				m.ID += "@" + strings.TrimPrefix(suffix, "@")
				all = append(all, m)
			}
		}
	}
	if l.cfg.Bases == nil || l.baseModel(models) == "" {
		return all
	}
	bases, err := l.cfg.Bases.Bases(ctx)
	if err != nil {
		l.cfg.Log.Warn().Err(err).Msg("the models of knowledge bases are left out")
	}
	for _, b := range bases {
		all = append(all, chat.Info{ID: BasePrefix + b.Name, Owner: "toolnorm"})
	}
	return all
}

// Answers reports whether requests for the model name are answered by this loop, and not by the
// model alone.
func (l *Loop) Answers(name string) bool {
	if l.cfg.Catalog != nil {
		name = l.cfg.Catalog.Real(name)
	}
	return strings.HasSuffix(name, Suffix) || l.cfg.Bases != nil && strings.HasPrefix(name,
		BasePrefix)
}

// Behind returns the model that writes the answers for a name. For the name of a knowledge base it
// returns an error if the bases cannot be read, there is no such base, or no model is set for it.
func (l *Loop) Behind(ctx context.Context, name string) (string, error) {
	_, model, isBase, err := l.baseOf(ctx, name)
	if isBase {
		return model, err
	}
	if l.cfg.Catalog != nil {
		name = l.cfg.Catalog.Real(name)
	}
	return cmp.Or(strings.TrimSuffix(name, Suffix), l.cfg.DefaultModel), nil
}

// baseModel returns the model that answers from knowledge bases: the one in the settings, or else
// the first in models that is not hidden and has no suffix. It returns "" if there is none.
func (l *Loop) baseModel(models []chat.Info) string {
	if name := cmp.Or(l.cfg.BaseModel, l.cfg.DefaultModel); name != "" &&
		!strings.HasPrefix(name, BasePrefix) {
		return name
	}
	for _, m := range models {
		if !m.Hidden && !strings.Contains(m.ID, "@") {
			return m.ID
		}
	}
	return ""
}

// baseOf returns the knowledge base that a model's name means, and the model that answers from it.
// The third result is false, without an error, if the name means no knowledge base. It returns an
// error if the bases cannot be read, there is no such base, or no model is set that answers.
func (l *Loop) baseOf(ctx context.Context, name string) (b Base, model string, ok bool, err error) {
	if l.cfg.Bases == nil {
		return b, "", false, nil
	}
	if l.cfg.Catalog != nil {
		if real := l.cfg.Catalog.Real(name); strings.HasPrefix(real, BasePrefix) {
			name = real
		}
	}
	name, ok = strings.CutPrefix(strings.TrimSuffix(name, Suffix), BasePrefix)
	if !ok {
		return b, "", false, nil
	}
	all, err := l.cfg.Bases.Bases(ctx)
	if err != nil {
		return b, "", true, fault.New(fault.Unavailable, "the knowledge bases cannot be read: %w",
			err)
	}
	at := slices.IndexFunc(all, func(b Base) bool {
		return strings.EqualFold(b.Name, name) || b.ID == name
	})
	if at < 0 {
		return b, "", true, fault.New(fault.NotFound,
			"there is no knowledge base %q; GET /v1/models lists those that you may see", name)
	}
	var models []chat.Info
	if l.cfg.Catalog != nil && cmp.Or(l.cfg.BaseModel, l.cfg.DefaultModel) == "" {
		models, _ = l.cfg.Catalog.Models(ctx) // a server that does not answer lists nothing
	}
	if model = l.baseModel(models); model == "" {
		return b, "", true, fault.New(fault.Invalid,
			"no model is set that answers from knowledge bases; --kb-model names one")
	}
	return all[at], model, true, nil
}

// ofBase answers a request from a knowledge base. It calls one of the tools of the base first, and
// the model then answers from the result, without tools. Small models that are offered the tools
// again call them again. It returns an error if the program has no such tools, or if the model
// fails before anything can be shown.
func (s *stream) ofBase(ctx context.Context, l *Loop, request chat.Request, b Base) error {
	ts, err := l.knowledge(ctx)
	if err != nil {
		return err
	}
	request.Tools, request.Required, request.Allowed = nil, false, nil
	r := &run{loop: l, ask: Ask{Request: request, Steps: defaultSteps, Closing: true, Base: b.ID},
		tools: ts, speech: newContract(ts), turns: request.Messages, shape: passages}
	r.tell, r.beats = func(p Progress) { s.tell(p) }, s.beats
	r.pass = func(e chat.Event) bool { return s.pass(r.out.Steps, &native{tools: ts}, e) }
	if err := r.begin(ctx); err != nil {
		return err
	}
	r.out.Steps++
	if err := r.step(ctx, false); err != nil {
		return r.failed(ctx, err)
	}
	r.out.Stop = Final
	if !r.isAnswer(r.last.got.Text.String()) {
		if err := r.close(ctx); err != nil {
			return err
		}
	}
	if sources := r.sources(ctx, l, b.ID); sources != "" && !s.left {
		s.send(chat.Event{Kind: chat.Text, Text: sources})
	}
	return s.finish(r)
}

// searched is the part of a result of search_documents that the model reads and that answers cite.
type searched struct {
	Results []struct {
		Content  string `json:"content"`
		Metadata struct {
			Document string `json:"document_id"`
			Index    int    `json:"chunk_index"`
			Title    string `json:"title"`
			Heading  string `json:"heading"`
		} `json:"metadata"`
	} `json:"results"`
	Message string `json:"message"`
}

// passages returns the result of a search as a numbered list of its passages, without the details
// of the search stages. It returns any other result unchanged.
func passages(res tools.Result) tools.Result {
	var f searched
	if res.IsError || json.Unmarshal(res.Structured, &f) != nil || f.Results == nil {
		return res
	}
	var b strings.Builder
	for i, p := range f.Results {
		fmt.Fprintf(&b, "\n[%d] %s: %s", i+1, titled(p.Metadata.Title, p.Metadata.Heading),
			strings.TrimSpace(p.Content))
	}
	if len(f.Results) == 0 {
		b.WriteString(cmp.Or(f.Message, "nothing was found"))
	}
	out := tools.TextOf(strings.TrimSpace(b.String()))
	out.Structured = res.Structured
	return out
}

// titled returns a document's title with the headings above a passage.
func titled(title, heading string) string {
	if heading == "" || heading == title {
		return title
	}
	return title + ", " + heading
}

// mostSources is how many passages an answer cites.
const mostSources = 5

// sources returns the passages that an answer is based on, as a list of links in Markdown, or "" if
// there are none.
func (r *run) sources(ctx context.Context, l *Loop, base string) string {
	var b strings.Builder
	n := 0
	for _, fact := range r.facts {
		var f searched
		if json.Unmarshal(fact.structured, &f) != nil {
			continue
		}
		for _, p := range f.Results {
			if n++; n > mostSources {
				break
			}
			title := titled(p.Metadata.Title, p.Metadata.Heading)
			if link := l.cfg.Bases.Link(ctx, base, p.Metadata.Document,
				p.Metadata.Index); link != "" {
				title = fmt.Sprintf("[%s](%s)", strings.NewReplacer("[", "(", "]", ")").Replace(
					title), link)
			}
			fmt.Fprintf(&b, "\n%d. %s", n, title)
		}
	}
	if n == 0 {
		return ""
	}
	return "\n\nSources:" + b.String()
}
