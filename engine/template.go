package engine

import (
	"context"
	"strings"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/pattern"
)

// reading is what a model's chat template shows about the way in which the model writes. It is
// stored with the model's digest even if the template shows nothing, since the template will not
// show more the next time.
type reading struct {
	format *adapters.Format // nil: the format that the model's name means
	says   string           // a sentence for logs and doctor
	lines  string           // the declaration of a format that is no family's
	// the template writes calls in a form that cannot be read, so tools are described in the prompt
	unread bool
}

// readTemplate returns the job with the format of the model's own chat template. It does this if no
// family matches the model's name, or if the template shows that the family is the wrong one. A
// format from the settings is not changed. The first request to a model costs two renderings if a
// family claims its name, and about twenty otherwise. The result is valid for as long as the model
// stays the same. If the server cannot be asked, the job is unchanged, and the next request asks
// again. It returns an error if ctx has ended, or if the new format's facts cannot be found out.
func (j *job) readTemplate(ctx context.Context) (*job, error) {
	if !j.facts.Renders || !j.facts.Tools || j.engine.cfg.NamesOnly ||
		j.engine.formatSet(j.server, j.name) {
		return j, nil
	}
	r := j.known().reading
	if r == nil {
		var err error
		r, err = j.server.memory.readings.do(ctx, j.pulse,
			wanted{model: j.model, by: j.facts.Digest}, func() (*reading, error) {
				return j.askTemplate(ctx, j.orderFor(j.request))
			})
		if err != nil {
			return j, ctx.Err() // a server that is busy: the next request asks again
		}
		j.learn(func(l *lessons) { l.reading = r })
	}
	if r.says != "" {
		j.tell(noteTemplate, r.says)
	}
	if r.format == nil {
		return j, nil
	}
	k := *j
	// The template says how calls are printed in a conversation. That the model writes nothing else
	// can be claimed only for a family with test cases, so a derived format is not enforced by a
	// grammar.
	k.format, k.template = r.format, templateUse{named: true, unread: r.unread}
	return k.probe(ctx) // which marks are control tokens depends on the family
}

// askTemplate renders the model's template with a few calls, and returns what this shows about the
// way in which the model writes. If the name is that of a known model family, the template is only
// compared with the family (two renderings), and wins if it prints other calls: the name is chosen
// by whoever made the file, but the model was trained with the template. askTemplate returns an
// error if the server did not answer.
func (t *target) askTemplate(ctx context.Context, o *upstream.Order) (*reading, error) {
	claimed := len(t.format.Models) > 0 && t.format.Name != "generic"
	if r := t.readBy(claimed); r != nil {
		return r, nil
	}
	template, err := t.server.Template(ctx, o)
	if err != nil {
		return nil, err
	}
	render := template.Render
	var down error // what is found is not an answer then: derive takes any error for the template's
	template.Render = func(messages []chat.Message, tools []chat.Tool) (string, error) {
		prompt, err := render(messages, tools)
		if err != nil && !upstream.IsRefusal(err) {
			down = err
		}
		return prompt, err
	}
	log := t.engine.cfg.Log.With().Str("model", t.name).Logger()
	if claimed && derive.Agrees(t.format, template) {
		return &reading{}, down
	}
	found, err := derive.From(t.model, t.engine.cfg.formats(), template)
	switch {
	case down != nil:
		return nil, down
	case err != nil:
		log.Info().Str("because", sentence(err)).Msg(
			"the model's template says nothing about its calls")
		return &reading{says: sentence(err)}, nil
	case len(found.Wrong) > 0 && (claimed || found.Rest == nil):
		log.Warn().Str("because", sentence(found.Wrong[0])).Msg(
			"what the model's template says about its calls cannot be used")
		return &reading{says: sentence(found.Wrong[0])}, nil
	case len(found.Wrong) > 0:
		// What the model was trained to write cannot be read, so it is asked to write something
		// else.
		log.Warn().Str("because", sentence(found.Wrong[0])).Msg(
			"the calls of the model's template cannot be read: tools are described in the system text instead (strategy prompt; toolnorm formats guess shows what was tried)")
		return &reading{format: found.Rest,
			says:   "its calls cannot be read, so tools are described in the system text",
			unread: true}, nil
	}
	r := &reading{format: found.Format, lines: found.Lines, says: "a form of its own"}
	if found.Known != "" {
		r.says = "calls as " + found.Known + " writes them"
	}
	if claimed {
		log.Warn().Str("family", t.format.Name).Str("template", r.says).Msg(
			"the model's template writes other calls than the family that its name says, and is believed (the setting format says otherwise)")
	} else {
		log.Info().Str("template", r.says).Str("declaration", found.Lines).Msg(
			"no family claims the model's name; it is read as its template writes")
	}
	return r, nil
}

// readBy returns a reading, which says how the model writes calls. It is made from the model's
// PARSER, the name of the parser that Ollama uses for its calls, because the maker of the model
// chose that, while a template may be a stranger's. If the model's name is that of a known family
// (claimed), the reading changes nothing if the parser is of the same family. It is nil if the
// parser is of another one, or if there is no known parser, and then the template decides.
func (t *target) readBy(claimed bool) *reading {
	family := t.engine.cfg.formats().For(t.facts.Reader)
	switch {
	case t.facts.Reader == "" || family.Name == "generic":
		return nil
	case claimed && family.Name == t.format.Name:
		return new(reading)
	case claimed:
		return nil
	}
	says := "calls as " + family.Name + " writes them, as the server reads them so"
	t.engine.cfg.Log.Info().Str("model", t.name).Str("template", says).Msg(
		"no family claims the model's name; it is read as its PARSER says")
	return &reading{format: family, says: says}
}

// sentence returns the first line of an error, because texts of many lines may follow.
func sentence(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// formatSet reports whether a model's format is fixed, either by the settings or because the model
// is a demo model.
func (e *Engine) formatSet(s *server, name string) bool {
	_, set := pattern.Find(e.cfg.Format, name)
	return set || s.name == demoName
}
