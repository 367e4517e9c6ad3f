package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// stepFormatted names an answer that was written once more, held to the form that the client wants.
const stepFormatted = "formatted"

// moveFormatToPrompt takes response_format out of a request with tools and puts it into the system prompt: with
// both, a server would constrain calls to the format of the answer, too. It stands behind the client's own system
// text, so that the start of the prompt is the same with and without it.
func (j *job) moveFormatToPrompt(context.Context) (*job, error) {
	if j.request.Format == nil || len(j.request.Tools) == 0 {
		return j, nil
	}
	r := *j.request
	k := j.with(&r)
	k.answerForm, r.Format = r.Format, nil
	r.Messages = slices.Clone(r.Messages)
	if len(r.Messages) == 0 || r.Messages[0].Role != chat.System {
		r.Messages = slices.Insert(r.Messages, 0, chat.Message{Role: chat.System})
	}
	first := &r.Messages[0]
	first.Content = strings.TrimPrefix(first.Content+"\n\n"+formHint(k.answerForm), "\n\n")
	return k, nil
}

// formHint tells a model which form its answer must have. It is said as a condition: with tools offered
// a call is a right answer, too, and that has a form of its own.
func formHint(form json.RawMessage) string {
	if string(form) == `"json"` {
		return "When you answer without calling a tool, answer with one JSON object and nothing else."
	}
	return "When you answer without calling a tool, answer with JSON that fits this JSON Schema, and nothing else:\n" + string(form)
}

// formed holds the text of a reply back until it is known whether it is an answer, which must have the form, or
// stands beside calls. "I will look that up." in front of a call is no answer.
type formed struct {
	j     *job
	ctx   context.Context
	yield func(chat.Event, error) bool
	text  strings.Builder
	calls bool        // the text stands beside calls and needs no form
	usage *chat.Event // waits for the answer, which may cost more
}

// formatAnswer gives the answer of a reply the form that the client asks for. One that does not have it is written once
// more, constrained to it. The price is that an answer does not stream: a client that asks for JSON reads it at the end.
func (j *job) formatAnswer(ctx context.Context, in events) events {
	if j.answerForm == nil || j.request.Required {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		f := &formed{j: j, ctx: ctx, yield: yield}
		handed(in, yield, f.take)
	}
}

// take passes an event on, or keeps it. From the first call on nothing is kept: text behind a call is no answer
// either.
func (f *formed) take(ev chat.Event) bool {
	switch {
	case f.calls:
	case ev.Kind == chat.Text:
		f.text.WriteString(ev.Text)
		return true
	case ev.Kind == chat.CallStart:
		f.calls = true
		return f.let(f.text.String()) && f.yield(ev, nil)
	case ev.Kind == chat.Usage:
		usage := ev // taking ev's own address would put every event on the heap
		f.usage = &usage
		return true
	case ev.Kind == chat.Finish:
		return f.finish(ev)
	}
	return f.yield(ev, nil)
}

// let sends text, if there is any.
func (f *formed) let(text string) bool {
	return text == "" || f.yield(chat.Event{Kind: chat.Text, Text: text}, nil)
}

// finish sends the answer and the end. What was cut stays as it is: written once more it would be cut at the same
// place. An empty answer stays empty: whoever made the model write something would make it up.
func (f *formed) finish(ev chat.Event) bool {
	answer := f.text.String()
	if ev.Text == chat.Stop && answer != "" {
		better, spent, again := f.j.inForm(f.ctx, answer)
		if again {
			ev = withStep(ev, stepFormatted)
		}
		if answer = better; f.usage != nil {
			*f.usage = costing(*f.usage, spent)
		}
	}
	return f.let(answer) && (f.usage == nil || f.yield(*f.usage, nil)) && f.yield(ev, nil)
}

// inForm is an answer in the form that the client asks for: as it is, repaired, or written once more. Where
// nothing helps it stays as it is: the client has asked for JSON and will see that it is none, and the text may be
// of use.
//
// The second generation goes by Native without tools, where the server's own `format` holds the model to the
// schema.
func (j *job) inForm(ctx context.Context, text string) (answer string, counts chat.Counts, again bool) {
	if j.fits(text) {
		return text, counts, false
	}
	if repaired, _, err := adapters.Repair(text, schema.Compile(j.answerForm)); err == nil && j.fits(repaired) {
		return repaired, counts, true
	}
	r := *j.request
	r.Tools, r.Format = nil, j.answerForm
	one := *j
	one.request, one.answerForm, one.strategy = &r, nil, Native
	written, counts, err := one.whole(ctx, stepFormatted)
	if err != nil || !j.fits(written) {
		return text, counts, false
	}
	return written, counts, true
}

// fits says whether an answer has that form. "json" is any object, as OpenAI's json_object promises; a schema that cannot be used
// fits nothing, so the server is asked, which may read it.
func (j *job) fits(answer string) bool {
	if string(j.answerForm) == `"json"` {
		var object map[string]json.RawMessage
		return json.Unmarshal([]byte(answer), &object) == nil
	}
	rules, err := j.engine.schemas.Get(j.answerForm)
	return err == nil && len(rules.Check([]byte(answer))) == 0
}
