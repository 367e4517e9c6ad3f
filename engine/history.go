package engine

import (
	"context"
	"slices"
	"strings"

	"toolnorm/engine/history"
	"toolnorm/internal/fault"
)

// normalizeHistory reorders and joins messages so that the model's chat template accepts them, and
// reports what it changed. Clients send histories that templates refuse, or lose parts of silently:
// results without their call, calls without a result, two system messages.
func (j *job) normalizeHistory(context.Context) (*job, error) {
	r := *j.request
	var notes []history.Note
	r.Messages, notes = history.Normal(r.Messages, history.Policy{
		Reasoning: j.engine.cfg.Reasoning, Format: j.format, Tools: r.Tools,
		Strict: j.strict(),
	})
	var codes []string
	for _, n := range notes {
		if !slices.Contains(codes, n.Code) {
			codes = append(codes, n.Code)
		}
	}
	if len(codes) > 0 {
		j.engine.cfg.Log.Debug().Str("model", j.name).Int("places", len(notes)).Int("first",
			notes[0].Index).Strs("codes", codes).Msg("the history was normalized")
		j.tell(noteHistory, strings.Join(codes, ","))
	}
	return j.with(&r), nil
}

// strict reports whether the model's template is known to require alternating roles. It is learned
// from a refusal: joining messages for every model would needlessly change what most of them read.
func (t *target) strict() bool { return t.known().strict }

// particular lists lowercase phrases with which templates refuse a conversation for the order of
// its roles. A llama-server passes on what the template raised: "Jinja Exception: Conversation
// roles must alternate user/assistant/user/assistant/..."
var particular = []string{"alternat", "system message", "system role", "after the optional system",
	"unexpected role", "roles must"}

// stricter returns the job with alternating roles if that is what a refusal is about, and has later
// requests to the model alternate from the start: only a refusal shows what a template requires. It
// returns nil if the refusal is about something else. The first such request to a model costs one
// more rendering.
func (j *job) stricter(f *fault.Error) *job {
	text := strings.ToLower(f.Message)
	if j.strict() || !slices.ContainsFunc(particular, func(word string) bool {
		return strings.Contains(text, word)
	}) {
		return nil
	}
	j.learn(func(l *lessons) { l.strict = true })
	j.engine.cfg.Log.Info().Str("model", j.name).Str("says", f.Message).Msg(
		"the template wants roles in turn: messages are joined from now on")
	// it makes no requests, so the context does not matter
	j, _ = j.normalizeHistory(context.Background())
	return j
}
