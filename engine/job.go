package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/history"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/engine/window"
)

// job is one request with all decisions about it: server, format, strategy, and the messages and
// tools that the model is shown. A job is never changed once another function has it. Instead each
// step that decides something returns a changed copy (see pipeline.go), as http.Request.WithContext
// does. So a repair or a second strategy cannot affect the original reply.
type job struct {
	target
	pulse    *wait.Pulse
	request  *chat.Request // as the model will see it; the client's own request is never changed
	names    *names        // the names of the tools for the model; nil: the client's names
	strategy string
	wording  adapters.Wording // the wording of strategy prompt; zero: the family's
	force    *forcing         // the constraint of the reply; nil: none
	before   beforehand       // what was asked of the model before the reply
	context  int              // context length of the request, in tokens; 0: not known
	dropped  int              // number of messages that were left out
	// what is recorded of the reply before it is decoded; nil: the request is one of the engine's
	// own
	seen *seen
	// what the server said about the tokens when it refused this request; zero: it did not refuse
	counted window.Meter

	// the form that an answer without calls must have, as in chat.Request.Format; nil: any
	answerForm json.RawMessage
}

// target is the model that a request goes to, with its server and the facts about it.
type target struct {
	engine   *Engine
	server   *server
	observer *chat.Observer
	name     string // the model, by the client's name
	model    string // the model, by its server's name
	format   *adapters.Format
	template templateUse
	facts    upstream.Facts
}

// beforehand is the result of asking the model before the reply which tool it needs.
type beforehand struct {
	spent  chat.Counts // tokens of that question
	picked string      // the tool that the model said it needs; empty: it was not asked
}

// templateUse has the decisions about a request that depend on the model's chat template.
type templateUse struct {
	named bool // the format comes from the template, not the model's name or a setting
	// calls in the template's form cannot be read, so tools are described in the system text
	// instead
	unread bool
}

// with returns a copy of the job with another request. It is the only way to change the request of
// a job, so that a job always shows what its model was asked.
func (j *job) with(r *chat.Request) *job {
	k := *j
	k.request = r
	return &k
}

// aside returns a copy of the job for one of the engine's own requests. It has no observer, since
// such a request is not part of the reply.
func (j *job) aside(r *chat.Request) *job {
	k := j.with(r)
	k.observer = &chat.Observer{}
	return k
}

// known returns what was learned from earlier requests to the model. The result is empty as long as
// the server was not asked about the model, because the digest that identifies it is unknown then.
func (t *target) known() lessons { return t.server.memory.of(t.model, t.facts.Digest) }

// learn applies the function change to the stored lessons about the model.
func (t *target) learn(change func(*lessons)) {
	t.server.memory.learn(t.model, t.facts.Digest, change)
}

// order returns the task for the model server, which is made from the job. With strategy prompt,
// the tools are described in the system text. For a forced call they are also described there, if
// the template has no place for tools or the server does not render prompts. A request with
// pictures is not rendered, because a rendered prompt is only text.
func (j *job) order(ctx context.Context) *upstream.Order {
	r, renders := inPrompt(j.request, j.strategy), j.facts.Renders && !pictures(j.request)
	if j.strategy == Prompt || j.force != nil && (!renders || !j.facts.Tools) {
		r = describeTools(r, j.format, j.wording)
		if j.strict() { // results come from the user now, and must be joined once more
			r.Messages, _ = history.Normal(r.Messages, history.Policy{Strict: true})
		}
	}
	o := j.orderFor(r)
	o.Rendered = j.strategy == Raw || j.strategy == Tokens ||
		renders && (j.strategy == Prompt || j.force != nil)
	if j.force != nil {
		o.Force = &j.force.Force
	}
	o.Tools = j.plainTools(ctx, r.Tools)
	return o
}

// inPrompt returns the request with the tools that its prompt must list. If toolnorm reads the
// calls, tools that a message of the conversation already defines are left out. If the server reads
// them, all tools are listed, because it rejects calls of tools that it was not given.
func inPrompt(r *chat.Request, strategy string) *chat.Request {
	c := *r
	c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), definedIn)
	if strategy == Native || strategy == Tap || len(c.Tools) == 0 || len(c.Tools) == len(r.Tools) {
		return r
	}
	return &c
}

// definedIn reports whether a tool is defined in the conversation.
func definedIn(t chat.Tool) bool { return t.Found }

// orderFor returns an order, the task for a model server, that asks for a reply to r. The order's
// facts, strategy and tools may be missing, since it can be made before a server is probed. Even so
// it is enough to probe the server, to choose a context, or to complete a text.
func (j *job) orderFor(r *chat.Request) *upstream.Order {
	most := j.mostContext()
	tokens := j.meter().Estimate(window.Bytes(j.request))
	o := &upstream.Order{
		Name: j.name, Server: j.server.name, Model: j.model, Facts: j.facts, Format: j.format,
		Strategy: j.strategy, Request: r,
		// A fifth more than the estimate: an error below that costs nothing, and reloading a model
		// costs seconds.
		Need: tokens + tokens/5 + window.Room(j.request.MaxTokens, most), MostContext: most,
		FixedContext: j.fixedContext(j.request), Estimate: estimate(j.request),
		Decoding:  j.decoding(),
		NoGrammar: j.engine.cfg.NoGrammar || j.template.named, OnRendered: j.observer.OnRendered,
		Pulse: j.pulse, Log: &j.engine.cfg.Log,
	}
	if ownStops(j.request) {
		c := *r
		c.Stop, o.Request = nil, &c
	}
	o.Options = j.options(o.Request, j.context)
	return o
}

// decoding returns the options for decoding the model's text that are known before the server is
// asked.
func (j *job) decoding() adapters.Options {
	return adapters.Options{Tools: callable(j.request), Also: j.names.others(), Hold: j.hold(),
		Which: j.engine.cfg.Which, Quiet: j.engine.cfg.Quiet,
		Same: max(cmp.Or(j.engine.cfg.SameCalls, defaultSame), 0), Known: givenIn(j.request),
		Messages: j.request.Messages, Repaired: j.observer.OnRepair}
}

// plainTools returns the tools with schemas in the keywords that the server accepts. Reducing a
// large schema takes time, in which the client may leave. Then the remaining tools are returned
// unchanged, since nothing will be sent. The request keeps the full schemas, and calls are checked
// against those.
func (t *target) plainTools(ctx context.Context, tools []chat.Tool) []chat.Tool {
	out := slices.Clone(tools)
	for i := range out {
		if ctx.Err() != nil {
			break
		}
		if tool := &out[i]; t.facts.PlainSchemas || len(tool.Schema) == 0 {
			tool.Description, tool.Schema = t.engine.reduced.Tool(*tool)
			tool.Strict = false // the schema is not the client's
		}
	}
	return out
}

// pictures reports whether the request has pictures, which a raw prompt cannot have.
func pictures(r *chat.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m chat.Message) bool { return len(m.Images) > 0 })
}

// hold returns how many bytes of a call's arguments are held back, as in adapters.Options.Hold. The
// request decides (Toolnorm-Hold), or else the pace of the model, or else the configuration.
func (j *job) hold() int {
	switch {
	case j.request.Hold != 0:
		return j.request.Hold
	case j.seen != nil && j.seen.pace != nil:
		return j.seen.pace.hold
	}
	return j.engine.cfg.Hold
}

// callable returns those of the offered tools that may be called. The model is shown all of them,
// because tool_choice with allowed_tools must not change the prompt, which the server has cached.
// Calls of the others are passed on as text.
func callable(r *chat.Request) []chat.Tool {
	if r.Allowed == nil {
		return r.Tools
	}
	allowed := map[string]bool{}
	for _, name := range r.Allowed {
		allowed[name] = true
	}
	return slices.DeleteFunc(slices.Clone(r.Tools), func(tool chat.Tool) bool {
		return !allowed[tool.Name]
	})
}

// estimate returns about how many tokens the request has, with four bytes for a token. Unlike
// window.Bytes it does not count the text of a template, because the number is shown to the client
// as the size of what it sent. It is used only if the server did not count because its stream was
// ended early.
func estimate(r *chat.Request) int {
	bytes := 0
	for _, m := range r.Messages {
		bytes += len(m.Content) + len(m.Reasoning)
		for _, c := range m.Calls {
			bytes += len(c.Name) + len(c.Args)
		}
	}
	for _, tool := range r.Tools {
		bytes += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	return bytes / 4
}

// ownStops reports whether stop sequences are matched here and not by the server. With tools the
// server would cut calls in two, and a call that is cut looks like a clean end. For example, "}" as
// a stop sequence ends every call. They are also matched here if the client wants to know which one
// was found, since no server says so.
func ownStops(r *chat.Request) bool {
	return len(r.Stop) > 0 && (len(r.Tools) > 0 || r.TellStop)
}

// options returns the request's options under Ollama's names. What the client sets itself takes
// precedence over the settings, and these over the parameter context, which the engine has chosen.
func (t *target) options(r *chat.Request, context int) map[string]json.RawMessage {
	o := upstream.Sampling(r)
	if t.engine.cfg.NumCtx > 0 {
		o["num_ctx"] = t.engine.cfg.NumCtx
	}
	if r.MaxTokens > 0 {
		o["num_predict"] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		o["stop"] = r.Stop
	}
	all := make(map[string]json.RawMessage, len(o)+len(r.Options)+1)
	upstream.AddFields(all, o)
	maps.Copy(all, r.Options)
	if t.sizes() && context > 0 && t.fixedContext(r) == 0 {
		all["num_ctx"] = json.RawMessage(strconv.Itoa(context))
	}
	return all
}

// limitTokens returns a copy of r whose reply may have the given number of tokens, whatever the
// client's own options say. It removes the client's option num_predict, which takes precedence over
// that number: with num_predict 5 a forced call would be cut to nothing.
func limitTokens(r *chat.Request, tokens int) *chat.Request {
	c := *r
	c.MaxTokens, c.Options = tokens, maps.Clone(r.Options)
	delete(c.Options, "num_predict")
	return &c
}
