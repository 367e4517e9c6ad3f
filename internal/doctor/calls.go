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

// serverWay is the name of the way in which the server itself recognises the calls.
const serverWay = "server"

// calls asks the questions with every strategy that may work. The strategy native also shows which
// calls the server itself recognises. The strategy that toolnorm uses for the model comes first,
// because time may run out. The result is always true.
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

// rank returns the position of a way of calling in the report: 0 for the server's own way, with
// which the others are compared, 1 for the way that toolnorm uses, and 2 for the rest.
func rank(w Way) int {
	switch {
	case w.Name == serverWay:
		return 0
	case w.Taken:
		return 1
	}
	return 2
}

// compared returns the strategies to try. The first one is the strategy in use. Then come native,
// because it also shows the server's own way, prompt, because it gives the model another text, and
// the strategies that only decode the model's text in another way. For the demo, prompt is left
// out, because the demo ignores system texts.
func (x *examination) compared() []string {
	all := []string{x.facts.Strategy, engine.Native}
	for _, s := range []string{engine.Prompt, engine.Raw, engine.Tokens, engine.Tap} {
		fits := s == engine.Prompt && x.on.name != demoHost ||
			s == engine.Tokens && slices.Contains(x.facts.Strategies, s) ||
			x.facts.Tools && (s == engine.Raw && x.facts.Renders ||
				s == engine.Tap && x.client != nil)
		if fits && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return slices.Compact(all)
}

// way asks every question with one strategy, which is a way to obtain tool calls, and returns the
// result. For the strategy native it returns a second result, which counts the calls that the
// server itself recognised. If the server refuses the first question, because it supports no tools,
// the others are not asked, and the result says why.
func (x *examination) way(ctx context.Context, strategy string) []Way {
	ways := []Way{{Name: strategy, Taken: strategy == x.facts.Strategy}}
	if strategy == engine.Native {
		ways = append(ways, Way{Name: serverWay})
	}
	if x.hangs(strategy) {
		return markUntried(ways,
			"not asked: a call that the server's reader refuses may hang this version")
	}
	e := x.forced(strategy)
	if strategy == engine.Prompt {
		x.cfg.Progress(strategy+", which wording it understands", 0, 0)
		facts, err := e.Examine(ctx, x.m.Name)
		if err != nil {
			return markUntried(ways, fault.From(err).Message)
		}
		ways[0].Wording = facts.Wording.String()
	}
	for i, q := range x.cfg.Questions {
		x.cfg.Progress("calls read by "+strategy, i+1, len(x.cfg.Questions))
		a := ask(ctx, e, x.offered(q.Text))
		if why, over := a.over(ctx, i); over {
			return markUntried(ways, why)
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

// over reports whether no further questions should be asked after this reply to question i, and
// why. A timeout is such a reason, since every other question would take as long.
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

// markUntried sets the note of each way of calling to why, and returns the ways. It is for those
// that were not tried, or not to the end. They stay in the report, so that the note explains why
// their results are missing.
func markUntried(ways []Way, why string) []Way {
	for i := range ways {
		ways[i].Note = why
	}
	return ways
}

// add counts the reply to a question, with the calls in it. It sets w.Seconds to the median of the
// times so far, since the first reply includes the time to load the model.
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
	if right := w.Arguments > before.Arguments ||
		len(q.Want) == 0 && w.False == before.False; right && a.err == nil {
		return
	}
	miss := Miss{Question: q.Text, Wrote: a.heard.text.String()}
	if a.err != nil {
		w.Errors++
		miss.Error = fault.From(a.err).Message
	}
	w.Misses = append(w.Misses, miss)
}

// hangs reports whether a strategy could make the server hang for all its users. It could if the
// server itself parses the model's calls, and its version hangs after a call that it cannot parse.
// A doctor must not bring down a server that others use. In a test, one malformed call stopped a
// model of Ollama 0.24.0 for everyone.
func (x *examination) hangs(strategy string) bool {
	reads := strategy == engine.Native || strategy == engine.Tap || strategy == engine.Tokens
	return reads && x.client != nil && x.m.Parser != "" && x.m.Parser != "passthrough" &&
		x.on.name != demoHost && ollama.Older(x.server.Version, wedges)
}

// forced returns an engine that uses only the given strategy for every model, and otherwise follows
// the settings. If that strategy is in use anyway, it returns the current engine, which remembers
// what it has found out about models. A new engine has to find it out again.
func (x *examination) forced(strategy string) *engine.Engine {
	if strategy == x.facts.Strategy {
		return x.engine
	}
	cfg := x.cfg.Engine
	cfg.Strategy = map[string]string{"*": strategy}
	return engine.New(cfg)
}

// rate updates the speed of the model from a reply to question i with the strategy in use. The
// speed of reading prompts is taken from the first question only, because the server has most of
// the other prompts in its cache.
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
