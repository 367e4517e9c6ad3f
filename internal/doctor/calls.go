package doctor

import (
	"context"
	"slices"

	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/engine/ollama"
	"toolnorm/internal/exam"
	"toolnorm/internal/fault"
)

// serverWay is the name of a server's own reading among the ways.
const serverWay = "server"

// calls asks the questions by every strategy that may work, the one that toolnorm takes first. What
// the server itself reads is heard on the way, with strategy native. The taken one comes first
// because time may run out.
func (x *examination) calls(ctx context.Context) bool {
	for _, strategy := range x.compared() {
		ways := x.way(ctx, strategy)
		if len(ways) > 1 && ways[0].Asked == 0 {
			ways = ways[1:] // the server refuses both for the same reason
		}
		if x.m.Ways = append(x.m.Ways, ways...); ctx.Err() != nil {
			break
		}
	}
	slices.SortStableFunc(x.m.Ways, func(a, b Way) int { return rank(a) - rank(b) })
	return true
}

// rank puts the server's own reading first, and behind it the way that is taken.
// What the server does alone is the measure for what stands below it.
func rank(w Way) int {
	switch {
	case w.Name == serverWay:
		return 0
	case w.Taken:
		return 1
	}
	return 2
}

// compared returns the strategies to ask by: the one that is taken, native for the server's own
// reading, prompt, for which the model reads something else, and the others, which only read what
// it writes. The demo reads no system text, so there it makes no sense to describe tools in it.
func (x *examination) compared() []string {
	all := []string{x.facts.Strategy, engine.Native}
	for _, s := range []string{engine.Prompt, engine.Raw, engine.Tokens, engine.Tap} {
		fits := s == engine.Prompt && x.on.name != demoHost || s == engine.Tokens && slices.Contains(x.facts.Strategies, s) || x.facts.Tools && (s == engine.Raw && x.facts.Renders || s == engine.Tap && x.client != nil)
		if fits && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return slices.Compact(all)
}

// way asks every question by one strategy. With native it counts what the server read by itself as
// well. One refusal at the first question is taken for all of them: a server without tools refuses
// each.
func (x *examination) way(ctx context.Context, strategy string) []Way {
	ways := []Way{{Name: strategy, Taken: strategy == x.facts.Strategy}}
	if strategy == engine.Native {
		ways = append(ways, Way{Name: serverWay})
	}
	if x.hangs(strategy) {
		return refused(ways, "not asked: a call that the server's reader refuses may hang this version")
	}
	e := x.forced(strategy)
	if strategy == engine.Prompt {
		x.cfg.Progress(strategy+", which wording it understands", 0, 0)
		facts, err := e.Examine(ctx, x.m.Name)
		if err != nil {
			return refused(ways, fault.From(err).Message)
		}
		ways[0].Wording = facts.Wording.String()
	}
	for i, q := range x.cfg.Questions {
		x.cfg.Progress("calls read by "+strategy, i+1, len(x.cfg.Questions))
		a := ask(ctx, e, x.offered(q.Text))
		if why, over := a.over(ctx, i); over {
			return refused(ways, why)
		}
		ways[0].add(q, a.Calls, a)
		if len(ways) > 1 {
			ways[1].add(q, a.heard.calls.Calls, a)
		}
		if ways[0].Taken {
			x.rate(i, a)
		}
	}
	return ways
}

// over reports whether nothing more is asked after this reply to question i, and why. A timeout
// ends a way at once, since the rest would take as long each.
func (a *reply) over(ctx context.Context, i int) (why string, over bool) {
	f := fault.From(a.err)
	switch {
	case ctx.Err() != nil:
		return "not to the end", true
	case a.err == nil:
		return "", false
	case f.Kind == fault.Timeout:
		return "a question found no answer within " + mostTime.String(), true
	}
	return f.Message, f.Kind == fault.Invalid && i == 0
}

// refused marks ways that were not asked, or not to the end. They stay in the report: an empty line
// with a reason answers the question before it is asked.
func refused(ways []Way, why string) []Way {
	for i := range ways {
		ways[i].Note = why
	}
	return ways
}

// add counts the answer to a question.
// Seconds are the median: the first reply pays for loading.
func (w *Way) add(q exam.Question, calls []chat.Call, a reply) {
	if a.strategy != "" && a.strategy != w.Name && w.Name != serverWay {
		w.Note = a.strategy + " took over"
	}
	before := w.Score
	w.Asked++
	w.times = append(w.times, a.took.Seconds())
	slices.Sort(w.times)
	w.Seconds = w.times[len(w.times)/2]
	w.Score.Add(q, calls)
	if right := w.Arguments > before.Arguments || len(q.Want) == 0 && w.False == before.False; right && a.err == nil {
		return
	}
	miss := Miss{Question: q.Text, Wrote: a.heard.text.String()}
	if a.err != nil {
		w.Errors++
		miss.Error = fault.From(a.err).Message
	}
	w.Misses = append(w.Misses, miss)
}

// hangs reports whether a strategy could hang the server for everybody: it has the model's calls
// read by a parser, in a version that does not survive one which that refuses. A doctor must not be
// what brings a server down that others use. One malformed call stops a model with a PARSER for
// everyone there; that was seen on 0.24.0 with the first version of this program.
func (x *examination) hangs(strategy string) bool {
	reads := strategy == engine.Native || strategy == engine.Tap || strategy == engine.Tokens
	return reads && x.client != nil && x.m.Parser != "" && x.m.Parser != "passthrough" && x.on.name != demoHost && ollama.Older(x.server.Version, wedges)
}

// forced returns an engine that takes only this strategy for every model, else as the settings say.
// The taken one keeps what was found out by it. A new engine has not found out anything yet, so it
// probes anew where its strategy needs that.
func (x *examination) forced(strategy string) *engine.Engine {
	if strategy == x.facts.Strategy {
		return x.engine
	}
	cfg := x.cfg.Engine
	cfg.Strategy = map[string]string{"*": strategy}
	return engine.New(cfg)
}

// rate records how fast the model is, by a reply of the strategy that is taken. Of the prompts only
// the first counts: the server has most of the others in its cache.
func (x *examination) rate(i int, a reply) {
	if i == 0 {
		x.m.Speed.Prompt = perSecond(a.Usage.Prompt, a.Times.Prompt)
	}
	took := a.Times.Completion
	if took == 0 {
		took = a.took - a.first
	}
	x.tokens, x.writing = x.tokens+a.Usage.Completion, x.writing+took
	x.m.Speed.Completion = perSecond(x.tokens, x.writing)
}
