package engine

import (
	"context"
	"slices"
	"sync"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/window"
	"toolnorm/internal/fault"
	"toolnorm/internal/pattern"
)

// The strategies by which the engine gets at the raw text of a model, with the names of the
// settings. See package upstream for what each does.
const (
	Raw    = upstream.Raw
	Tokens = upstream.Tokens
	Tap    = upstream.Tap
	Native = upstream.Native
	Prompt = upstream.Prompt
)

// Strategies returns the names of all strategies, which are the ways to ask a server for a reply,
// in the order in which probing prefers them.
func Strategies() []string { return []string{Raw, Tokens, Tap, Native, Prompt} }

// byDefault is the order of preference if a server reports no other. A strategy that shows more of
// the model's text comes first.
var byDefault = []string{Raw, Tap, Native, Prompt}

// needsServerChat reports whether r can be answered only by the server's own chat API, because it
// wants an answer that fits a schema (r.Format), or the log probabilities of a reply without tools.
// If a request has tools, its Format was moved to the prompt before, so no call is lost to the
// server's own parser.
func needsServerChat(r *chat.Request) bool {
	return r.Format != nil || r.Logprobs && len(r.Tools) == 0
}

// strategies returns the strategies (ways to ask the server for a reply) by which r can be
// answered, the best one first. If one is configured, it is the only one. Otherwise those that show
// more of what the model wrote come first.
func (t *target) strategies(r *chat.Request) []string {
	if needsServerChat(r) {
		return []string{Native}
	}
	// Whoever configures a strategy wants to see what it does, so no other one is used.
	if named, ok := pattern.Find(t.engine.cfg.Strategy, t.name); ok {
		return []string{named}
	}
	if t.template.unread && t.can(Prompt, r) {
		return []string{Prompt}
	}
	preferred := t.facts.Strategies
	if preferred == nil {
		preferred = byDefault
	}
	return slices.DeleteFunc(slices.Clone(preferred), func(s string) bool { return !t.can(s, r) })
}

// can reports whether r can be answered by a strategy, a way to ask the server for a reply. Raw
// prompts are text, so only a server's own chat API can answer a request with pictures. The
// strategy tap exists for the tokens of calls that a server withholds, so without tools it is not
// used.
func (t *target) can(strategy string, r *chat.Request) bool {
	tools := len(r.Tools) > 0
	takes := t.facts.Tools || !tools
	raw := t.facts.Renders && takes && !pictures(r)
	switch strategy {
	case Raw:
		return raw
	case Tokens:
		return raw && t.facts.NamesMarks
	case Tap:
		return t.facts.Taps && tools
	case Native:
		return takes
	}
	return tools // without any the system text has nothing to describe
}

// chooseStrategy returns the job with the best strategy (way to ask the server for a reply) that
// has not failed with the model before. If all have failed, the best one is tried again, because
// the request may have caused a failure. It never returns an error.
func (j *job) chooseStrategy(context.Context) (*job, error) {
	k := *j
	all, known := j.strategies(j.request), j.known()
	k.strategy = all[0]
	if i := slices.IndexFunc(all, func(s string) bool { return !known.avoids(s) }); i >= 0 {
		k.strategy = all[i]
	}
	return &k, nil
}

// next returns the strategy (way to ask the server) that is tried if the given one fails, or "" if
// there is none. Only one such change is made in a request, because each costs a generation, and
// the client waits.
func (t *target) next(r *chat.Request, strategy string) string {
	all, known := t.strategies(r), t.known()
	for _, s := range all[slices.Index(all, strategy)+1:] {
		if !known.avoids(s) {
			return s
		}
	}
	return ""
}

// answer returns the reply by the job's strategy, which is the way to ask the server. If that fails
// before anything was sent, and another strategy may help, the next strategy is tried, once. If
// this one succeeds, the first is not used again for the model, until another model has its name.
func (j *job) answer(ctx context.Context) events {
	return func(yield func(chat.Event, error) bool) {
		next := j.next(j.request, j.strategy)
		failed, why := j.try(ctx, yield, next != "")
		if why == "" {
			return
		}
		j.engine.cfg.Log.Warn().Str("model", j.model).Str("strategy", j.strategy).Str("says",
			why).Str("next", next).
			Msg("the strategy failed, another one takes over")
		// The failure is recorded only if the next strategy does better. Otherwise both failures
		// have another reason.
		better := sync.OnceFunc(func() { j.learn(func(l *lessons) { l.avoid(j.strategy) }) })
		k := *failed // with what was found out about the request's length
		k.strategy = next
		k.try(ctx, func(ev chat.Event, err error) bool {
			if err == nil {
				better()
			}
			return yield(ev, err)
		}, false)
	}
}

// whySwallowed is the reason for a reply that is empty although the model wrote something. It
// occurs when the parser of a server takes a text for a call, and then drops the call.
const whySwallowed = "the server passed on nothing of what the model wrote"

// try makes the reply by the job's strategy and passes its events to yield. But if curable is true,
// a failure that another strategy may avoid, before anything was yielded, is not passed on. The
// result why is then the reason of this failure, and in all other cases "". The returned job is the
// one for which the server accepted a request; j may have been changed for that.
func (j *job) try(ctx context.Context, yield func(chat.Event, error) bool, curable bool) (
	_ *job, why string) {
	if j.observer.OnPlan != nil {
		j.observer.OnPlan(j.format.Name, j.strategy)
	}
	if j.observer.OnPrompt != nil {
		j.observer.OnPrompt(j.meter().Estimate(window.Bytes(j.request)))
	}
	if j.strategy == Prompt {
		k := *j
		k.wording = j.wordingOf(ctx)
		j = &k
	}
	// The counts come before the end, and the end shows whether an empty reply was swallowed. So
	// the counts are held until something else comes.
	var usage *chat.Event
	j, events := j.reply(ctx)
	for ev, err := range events {
		if curable {
			switch {
			case err != nil:
				if f := fault.From(err); f.Curable {
					return j, f.Message
				}
			case ev.Kind == chat.Usage:
				held := ev // taking ev's own address would put every event on the heap
				usage = &held
				continue
			case ev.Kind == chat.Finish && swallows(j.strategy, usage, ev):
				return j, whySwallowed
			}
			curable = false
			if usage != nil && !yield(*usage, nil) {
				return j, ""
			}
		}
		if !yield(ev, err) {
			return j, ""
		}
	}
	return j, ""
}

// swallows reports whether the server has dropped what the model wrote. That is so if a reply is
// empty, but the server has counted more than one token. A single token would be only the end of
// the reply. Raw strategies show all that was written, so with them an empty reply is really empty.
//
// For example, after a call with a comma too many the reply may end with
// {"message":{"content":""},"done":true,"done_reason":"stop","eval_count":23}.
func swallows(strategy string, usage *chat.Event, end chat.Event) bool {
	return (strategy == Native || strategy == Tap) && end.Text == chat.Stop && usage != nil &&
		usage.Meta.Usage.Completion > 1
}
