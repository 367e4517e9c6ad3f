package engine

import (
	"context"
	"fmt"

	"toolnorm/chat"
	"toolnorm/engine/wait"
	"toolnorm/engine/window"
)

// meter tells tokens by what the server has said of this very request, else by what earlier ones of its model
// taught. A refusal with a count is exact for this text, and no ratio of another request is.
func (j *job) meter() window.Meter {
	if j.counted.Tokens > 0 {
		return j.counted
	}
	return j.known().meter
}

// trackTokens calibrates the bytes a token of the model by the first count that the server gives of the prompt, and finds out
// whether the server has cut the prompt silently, as Ollama does with all that is longer than its context.
func (j *job) trackTokens() chat.Hook {
	bytes, done := window.Bytes(j.request), false
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		if err == nil && !done && ev.Meta != nil && ev.Meta.Usage != nil && !ev.Meta.Usage.Estimated {
			done = true
			j.learnTokens(bytes, *ev.Meta.Usage)
		}
		return ev, nil
	}
}

const (
	// mostBytes is more than a token stands for in any text that is a conversation (docs/internal/context.md has what was measured): a
	// server that counts fewer tokens has not read all of it.
	mostBytes = 12
	// fewestRead is how many tokens a count must fall short by to mean something: below it a template's own text weighs more
	// than the conversation.
	fewestRead = 256
)

// learnTokens takes what a server has counted of the job's request, which has so many bytes. A count that shows that the prompt
// was cut teaches nothing about tokens: the client is told instead, since nothing else would tell it.
func (j *job) learnTokens(bytes int, c chat.Counts) {
	why := ""
	switch {
	case c.Prompt <= 0: // a server that has the prompt in its cache may count none of it
		return
	case j.context > 0 && c.Prompt >= j.context:
		why = fmt.Sprintf("the server read %d tokens, all that its context holds: it has cut the conversation", c.Prompt)
	// A rendered prompt of ours was sent as it is, and a server that cuts it says so; of a chat nobody else knows.
	case j.strategy != Raw && j.strategy != Tokens && bytes > mostBytes*(c.Prompt+fewestRead):
		why = fmt.Sprintf("the server read %d tokens of at least %d: it has cut the conversation", c.Prompt, bytes/mostBytes)
	// Contexts are set in powers of two or round numbers of them: a prompt that fills one exactly was cut to it.
	case j.context == 0 && c.Prompt >= 2048 && c.Prompt%1024 == 0 && j.meter().Estimate(bytes) > c.Prompt+c.Prompt/10:
		why = fmt.Sprintf("the server read exactly %d tokens of about %d: it has probably cut the conversation to its context", c.Prompt, j.meter().Estimate(bytes))
	case j.context > 0 && c.Prompt+c.Completion > j.context:
		why = fmt.Sprintf("the reply went on past the context of %d tokens: the server has dropped the beginning meanwhile", j.context)
	}
	if why == "" {
		j.learn(func(l *lessons) { l.meter.Learn(bytes, c.Prompt) })
		return
	}
	j.engine.cfg.Log.Warn().Str("model", j.name).Int("prompt_tokens", c.Prompt).Int("context", j.context).Msg(why)
	j.tell(noteTruncated, why)
}

// CountTokens returns about how many tokens the model would read of r: as many as a server counted last for as much text, and
// no reply is asked for. It is an estimate since Ollama has no word for counting; the first count of a server makes it true
// within a few percent.
func (e *Engine) CountTokens(ctx context.Context, r *chat.Request) (int, error) {
	ctx, pulse := wait.NewPulse(ctx, nil, e.cfg.Timeouts)
	defer pulse.Stop()
	j, err := e.begin(ctx, pulse, r)
	if err != nil {
		return 0, err
	}
	if j, err = j.probe(ctx); err != nil { // what was learned is remembered by the model's digest
		return 0, err
	}
	if j, err = j.fitTools(ctx); err != nil {
		return 0, err
	}
	return j.meter().Estimate(window.Bytes(j.request)), nil
}
