package engine

import (
	"encoding/json"
	"maps"
	"slices"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/engine/window"
	"toolnorm/internal/fault"
	"toolnorm/internal/pattern"
)

// turn is one request on its way to the model server.
type turn struct {
	engine   *Engine
	server   *server
	pulse    *wait.Pulse
	observer *chat.Observer
	request  *chat.Request
	name     string // of the model, as the client calls it
	model    string // as its server calls it
	format   *adapters.Format
	names    *names                     // that the tools have toward the model; nil: the client's
	options  map[string]json.RawMessage // of the model server
	facts    facts
	strategy string
	wording  adapters.Wording // of strategy prompt; zero: the family's
	force    *forcing         // what the reply is held to; nil: nothing
	spent    chat.Counts      // tokens, before the reply
	window   int              // the context that the request gets, in tokens; 0: not known
	sized    bool             // the options' context is by the request's size, not by settings or client
	dropped  int              // messages that were left out
	counts   window.Meter     // what the server has said of this request when it refused it; zero: it has not

	answerForm json.RawMessage // what an answer without calls must fit, as chat.Request.Format; nil: anything
}

// strategies are those by which the turn can be answered, the best one first: the configured one alone, else those that
// show most of what the model wrote first.
func (t *turn) strategies() []string {
	if bare(t.request) {
		return []string{Native}
	}
	if named, ok := pattern.Find(t.engine.cfg.Strategy, t.name); ok {
		return []string{named}
	}
	tools := len(t.request.Tools) > 0
	takes := t.facts.tools || !tools
	can := map[string]bool{Raw: t.facts.render && !pictures(t.request) && takes, Tap: t.facts.tap && tools, Native: takes, Prompt: tools}
	can[Tokens] = can[Raw] && t.facts.shown.tokens()
	var all []string
	for _, s := range t.facts.shown.order(tools) {
		if can[s] {
			all = append(all, s)
		}
	}
	return all
}

// choose picks the best strategy that has not failed with the model before.
func (t *turn) choose() string {
	all := t.strategies()
	known := t.known()
	for _, s := range all {
		if !known.avoids(s) {
			return s
		}
	}
	return all[0]
}

// next is the strategy that may cure what the present one failed at, empty when there is none.
func (t *turn) next() string {
	all := t.strategies()
	i, known := slices.Index(all, t.strategy), t.known()
	for _, s := range all[i+1:] {
		if !known.avoids(s) {
			return s
		}
	}
	return ""
}

// known returns what earlier requests taught about the turn's model.
func (t *turn) known() lessons { return t.server.memory.of(t.model, t.facts.digest) }

// learn remembers something about the turn's model.
func (t *turn) learn(change func(*lessons)) { t.server.memory.learn(t.model, t.facts.digest, change) }

// pictures reports whether the request has any: raw prompts are text only.
func pictures(r *chat.Request) bool {
	for _, m := range r.Messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}

// hold is how many bytes of a call's arguments wait, as in adapters.Options: the request's wish, else the setting.
func (t *turn) hold() int {
	if t.request.Hold != 0 {
		return t.request.Hold
	}
	return t.engine.cfg.Hold
}

// holds is how many bytes of a call's arguments wait.
func (t *turn) holds() int { return adapters.Held(t.hold()) }

// callable are the tools that may be called, among those that are offered.
func (t *turn) callable() []chat.Tool {
	if t.request.Allowed == nil {
		return t.request.Tools
	}
	allowed := map[string]bool{}
	for _, name := range t.request.Allowed {
		allowed[name] = true
	}
	return slices.DeleteFunc(slices.Clone(t.request.Tools), func(tool chat.Tool) bool { return !allowed[tool.Name] })
}

// tool is the offered tool of that name.
func (t *turn) tool(name string) chat.Tool {
	name = t.names.forModel(name) // a server's own reading may give what the conversation has
	for _, tool := range t.request.Tools {
		if tool.Name == name {
			return tool
		}
	}
	return chat.Tool{Name: name}
}

// estimate is about how many tokens the request has.
func (t *turn) estimate() int {
	bytes := 0
	for _, m := range t.request.Messages {
		bytes += len(m.Content) + len(m.Reasoning)
		for _, c := range m.Calls {
			bytes += len(c.Name) + len(c.Args)
		}
	}
	for _, tool := range t.request.Tools {
		bytes += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	return bytes / 4
}

// ownStops reports whether stop sequences are matched here: with tools the server would cut calls in two, and a call
// that is cut looks like a clean end.
func (t *turn) ownStops() bool { return len(t.request.Tools) > 0 && len(t.request.Stop) > 0 }

// serverOptions are the request's options in Ollama's words.
func (t *turn) serverOptions() (map[string]json.RawMessage, error) {
	r := t.request
	o := sampling(r)
	if t.engine.cfg.NumCtx > 0 {
		o["num_ctx"] = t.engine.cfg.NumCtx
	}
	if r.MaxTokens > 0 {
		o["num_predict"] = r.MaxTokens
	}
	if len(r.Stop) > 0 && !t.ownStops() {
		o["stop"] = r.Stop
	}
	all := make(map[string]json.RawMessage, len(o)+len(r.Options))
	for k, v := range o {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Invalid, Param: k, Message: k + " is no number", Cause: err}
		}
		all[k] = raw
	}
	maps.Copy(all, r.Options)
	return all, nil
}

// sampling is what the client said of how to write, in the words that both kinds of server use.
func sampling(r *chat.Request) map[string]any {
	o := map[string]any{}
	set(o, "seed", r.Seed)
	set(o, "temperature", r.Temperature)
	set(o, "top_p", r.TopP)
	set(o, "presence_penalty", r.PresencePenalty)
	set(o, "frequency_penalty", r.FrequencyPenalty)
	return o
}

// set puts *v into o unless v is nil.
func set[T any](o map[string]any, key string, v *T) {
	if v != nil {
		o[key] = *v
	}
}

// with is a copy of the options with one of them set.
func with(o map[string]json.RawMessage, key string, n int) map[string]json.RawMessage {
	c := make(map[string]json.RawMessage, len(o)+1)
	maps.Copy(c, o)
	c[key], _ = json.Marshal(n)
	return c
}
