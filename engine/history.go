package engine

import (
	"context"
	"slices"
	"strings"

	"toolnorm/engine/history"
	"toolnorm/internal/fault"
)

// normalizeHistory returns the job with messages reordered and joined so that the model's chat
// template accepts them. It tells the client and the log which changes it made. Clients send
// results without their call, calls without a result, and two system messages. Templates refuse
// such histories, or drop parts of them silently. It never fails.
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

// strict reports whether the model's template is known to require alternating roles, so that
// messages have to be joined. This is learned from a refusal, since joining messages for every
// model would needlessly change what most of them read.
func (t *target) strict() bool { return t.known().strict }

// particular lists lower-case phrases with which templates refuse a conversation because of the
// order of its roles. A llama-server passes on what the template raised: "Jinja Exception:
// Conversation roles must alternate user/assistant/user/assistant/..."
var particular = []string{"alternat", "system message", "system role", "after the optional system",
	"unexpected role", "roles must"}

// stricter returns the job with alternating roles, if the refusal f is about the order of roles,
// and remembers this for later requests to the model. It returns nil if the refusal is about
// something else. Only a refusal shows what a template requires, so the first such request to a
// model costs one more rendering.
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
