package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/internal/fault"
	"toolnorm/internal/spelling"
)

// examination is the examination of one model. Later steps need what earlier ones have recorded, so
// their order in Model matters.
type examination struct {
	*Doctor
	on     host
	server *Server
	client *ollama.Client // nil: the server does not implement Ollama's API
	facts  engine.Findings
	m      *Model

	tokens  int           // tokens written so far with the strategy in use
	writing time.Duration // the time that writing them took
}

// Model examines one model and returns the report. Its server loads the model, which is then asked
// about seventy short questions, or as many as possible until ctx ends. The first step that fails
// ends the examination, since later steps would only repeat the same error. If the server cannot be
// reached, the report has no Model.
func (d *Doctor) Model(ctx context.Context, name string) *Report {
	plan := d.engine.Plan(name)
	x := examination{Doctor: d, on: d.host(ctx, plan.Server, plan.Model)}
	d.cfg.Progress("asking "+x.on.name, 0, 0)
	r := &Report{Servers: []Server{d.server(ctx, x.on)}}
	x.server = &r.Servers[0]
	if x.on.kind = x.server.Kind; x.server.Missing != "" {
		r.Cut = why(ctx)
		return r
	}
	x.m = &Model{Name: name, Server: plan.Server, Model: plan.Model, Format: plan.Format}
	r.Model = x.m
	for _, step := range []func(context.Context) bool{x.describe, x.probe, x.chat, x.places,
		x.context, x.template, x.control, x.calls, x.chatter} {
		if !step(ctx) || ctx.Err() != nil {
			break
		}
	}
	x.advise()
	r.Cut = why(ctx)
	return r
}

// finding adds a finding to the report.
func (x *examination) finding(level Level, what, found, does string) {
	x.m.Findings = append(x.m.Findings, Finding{level, what, found, does})
}

// failed adds a problem to the report for a step that failed, unless it failed because ctx has
// ended. It always returns false, for the step to return.
func (x *examination) failed(ctx context.Context, what string, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	f := fault.From(err)
	found := f.Message
	if f.Kind == fault.Internal && f.Cause != nil {
		found = f.Cause.Error()
	}
	x.finding(Problem, what, found, "")
	return false
}

// describe records what the server says about the model, and reports whether the examination can go
// on.
func (x *examination) describe(ctx context.Context) bool { return kinds[x.on.kind].model(ctx, x) }

// probe finds out which format the model writes and by which strategy toolnorm gets its calls, and
// records both. It returns false if the model does not answer.
func (x *examination) probe(ctx context.Context) bool {
	x.cfg.Progress("loading "+x.m.Name, 0, 0)
	var err error
	if x.facts, err = x.engine.Examine(ctx, x.m.Name); err != nil {
		return x.failed(ctx, "probe", err)
	}
	x.m.Format, x.m.Template = x.facts.Format, x.facts.Template
	x.m.Strategy, x.m.Strategies = x.facts.Strategy, x.facts.Strategies
	if x.facts.Strategy == engine.Prompt {
		x.m.Wording = x.facts.Wording.String()
	}
	return true
}

// chat asks for a short answer, and reports whether it comes, whether it is streamed, and whether
// the model thinks first. It asks the model to count, because that gives an answer of known length
// with more than a few pieces, and no reason to call a tool. It returns false if there is no
// answer.
func (x *examination) chat(ctx context.Context) bool {
	x.cfg.Progress("a short answer", 0, 0)
	a := ask(ctx, x.engine, user(x.m.Name, "Count from one to ten in words."))
	if a.err != nil {
		return x.failed(ctx, "chat", a.err)
	}
	x.finding(OK, "chat", fmt.Sprintf("answers, %s, finish %s", plural(a.Usage.Completion, "token"),
		a.finish), "")
	x.m.Speed.First = a.first.Seconds()
	level, found, does := OK, fmt.Sprintf("%s, the first after %s", plural(a.pieces, "piece"),
		seconds(x.m.Speed.First)), ""
	if a.pieces < 2 && a.Usage.Completion > 4 {
		level, does = Problem, "a proxy in front of the server may hold replies back"
	}
	x.finding(level, "streaming", found, does)
	x.thinking(ctx, a)
	return true
}

// thinking reports whether the model thinks before it answers, and whether it can be told not to.
// Each finding says what a client can do: choose another format, tell the model to think, or tell
// it not to.
func (x *examination) thinking(ctx context.Context, a reply) {
	switch {
	case a.Reasoning.Len() == 0 && strings.Contains(a.Text.String(), "</think>"):
		x.finding(Note, "thinking", "its thinking stands in its answer, in marks that format "+
			x.m.Format+" does not know", "another --format reads it")
		return
	case a.Reasoning.Len() == 0 && !x.facts.Thinking:
		x.finding(OK, "thinking", "none", "")
		return
	case a.Reasoning.Len() == 0:
		x.finding(OK, "thinking", "only when it is told to", "reasoning_effort and think tell it")
		return
	}
	found := "it thinks before it answers, "
	if a.heard.thought {
		found += "and its server tells that apart"
	} else {
		found += "in its text, between the marks of format " + x.m.Format
	}
	does := "comes out as reasoning, apart from the answer"
	switch {
	case x.facts.AlwaysThinks:
		does += "; it cannot be switched off"
	case !x.facts.Thinking:
		does += "; its server knows no way to switch it off"
	default:
		does += "; " + x.unthinking(ctx)
	}
	x.finding(OK, "thinking", found, does)
}

// unthinking asks the model not to think, and returns a phrase for the report that says whether it
// obeys.
func (x *examination) unthinking(ctx context.Context) string {
	r, no := user(x.m.Name, "Count from one to ten in words."), false
	r.Think = &no
	switch a := ask(ctx, x.engine, r); {
	case a.err != nil:
		return "told not to, it answers nothing: " + fault.From(a.err).Message
	case a.Reasoning.Len() > 0:
		return "told not to, it thinks all the same"
	}
	return `"think": false or "reasoning_effort": "none" switch it off`
}

// template reports whether the model sees the tools that it is offered. Ollama's templates with {{
// .Function }} print the tools as Go structs, in all versions of Ollama. It always returns true.
func (x *examination) template(context.Context) bool {
	switch {
	case !x.facts.Tools:
		does := "the tools are described in the system text, worded as " + x.m.Wording
		if x.m.Wording == "" {
			does = "the tools are described in the system text, as schemas: it understood them in no wording"
		}
		x.finding(Note, "template", "has no place for tools", does)
	case x.facts.PrintsGoStructs && slices.Contains(x.facts.Strategies, engine.Raw):
		x.finding(Note, "template",
			"prints tools as Go prints a struct, so that the model sees no schema",
			"raw puts JSON in the place of that text")
	case x.facts.PrintsGoStructs:
		x.finding(Problem, "template",
			"prints tools as Go prints a struct, so that the model sees no schema",
			"strategy prompt describes them itself")
	case !x.facts.Renders:
		x.finding(Note, "template", "takes tools; how it prints them the server does not show", "")
	default:
		x.finding(OK, "template", "prints tools as JSON", "")
	}
	return true
}

// control records a finding if tags of the model's family, such as <tool_call>, are control tokens.
// Ollama 0.30 and later omit these from raw text, and with them the tags by which calls are found.
// That is a problem only if the server does not reveal such tokens in any other way either. control
// always returns true, as a step of the examination that never ends it.
func (x *examination) control(context.Context) bool {
	marks := x.facts.ControlMarks
	if len(marks) == 0 {
		return true
	}
	found := strings.Join(marks[:min(len(marks), mostMarks)], " ")
	if more := len(marks) - mostMarks; more > 0 {
		found += fmt.Sprintf(" and %d more", more)
	}
	found += " are control tokens, "
	switch {
	case !x.facts.RawLacksMarks:
		x.finding(OK, "control tokens", found+"which raw text of this server holds", "")
	case x.facts.Strategy == engine.Raw:
		x.finding(Problem, "control tokens", found+
			"which its server shows nobody: calls and thoughts come without their marks",
			"calls are found by what else tells them; in Ollama's own model of the family a PARSER shows the marks")
	default:
		x.finding(OK, "control tokens", found+"which raw text of this server lacks", "strategy "+
			x.facts.Strategy+" sees them")
	}
	return true
}

// mostMarks is how many tags a finding names. A family may have dozens, and six are enough to
// recognise it.
const mostMarks = 6

// offered returns a request with one message of the user and the tools.
func (x *examination) offered(text string) *chat.Request {
	r := user(x.m.Name, text)
	r.Tools = x.cfg.Tools
	return r
}

// mostNear is the most names that are suggested for one that does not exist.
const mostNear = 3

// near returns the names that may have been meant, the most similar first. A tag is often forgotten
// (qwen3 for qwen3:8b), so names are also compared without their tags.
func near(wanted string, names []string) []string {
	return spelling.Near(wanted, names, mostNear, func(name string) string {
		base, _, _ := strings.Cut(name, ":")
		return base
	})
}
