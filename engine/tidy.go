package engine

import (
	"slices"
	"strings"

	"toolnorm/engine/history"
	"toolnorm/internal/fault"
)

// What a request's client is told was done to it, in headers that begin with Toolnorm- and in comments.
const (
	noteHistory   = "History"   // the conversation was put right: codes of package history
	noteTrimmed   = "Trimmed"   // its oldest turns were left out
	noteTruncated = "Truncated" // the server has cut it, without a word
	noteTools     = "Tools"     // the tools take more tokens than the budget
	noteUnchecked = "Unchecked" // calls of a tool are not checked, since its schema cannot be used
	noteNames     = "Names"     // tools have other names toward the model, which cannot write theirs
	noteLoop      = "Loop"      // the model makes the same call over and over
)

// tell tells the client of something that was done to the request.
func (t *turn) tell(word, text string) {
	if t.observer.OnNote != nil {
		t.observer.OnNote(word, text)
	}
}

// tidy makes the conversation one that the model's template takes.
func (t *turn) tidy() {
	r := *t.request
	var notes []history.Note
	r.Messages, notes = history.Normal(r.Messages, history.Policy{
		Reasoning: t.engine.cfg.Reasoning, Format: t.format, Tools: r.Tools,
		Strict: t.strict(),
	})
	t.request = &r
	var codes []string
	for _, n := range notes {
		if !slices.Contains(codes, n.Code) {
			codes = append(codes, n.Code)
		}
	}
	if len(codes) > 0 {
		t.engine.cfg.Log.Debug().Str("model", t.name).Int("places", len(notes)).Int("first", notes[0].Index).Strs("codes", codes).Msg("the history was put right")
		t.tell(noteHistory, strings.Join(codes, ","))
	}
}

// strict says whether the model's template is known to want roles in turn.
func (t *turn) strict() bool { return t.known().strict }

// particular are the words of templates that refuse a conversation for the order of its roles.
var particular = []string{"alternat", "system message", "system role", "after the optional system", "unexpected role", "roles must"}

// stricter says whether a refusal is about the order of the roles, and puts that right from then on.
func (t *turn) stricter(f *fault.Error) bool {
	text := strings.ToLower(f.Message)
	if !slices.ContainsFunc(particular, func(word string) bool { return strings.Contains(text, word) }) {
		return false
	}
	if t.strict() {
		return false
	}
	t.learn(func(l *lessons) { l.strict = true })
	t.engine.cfg.Log.Info().Str("model", t.name).Str("says", f.Message).Msg("the template wants roles in turn: messages are joined from now on")
	t.tidy()
	return true
}
