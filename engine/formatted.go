package engine

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// stepFormatted names an answer that was written once more, held to the form that the client wants.
const stepFormatted = "formatted"

// apart takes the wished form of the answer out of a request with tools, since a server would hold calls to it too, and tells
// the model of it instead.
func (t *turn) apart() {
	if t.request.Format == nil || len(t.request.Tools) == 0 {
		return
	}
	r := *t.request
	t.answerForm, r.Format = r.Format, nil
	r.Messages = slices.Clone(r.Messages)
	if len(r.Messages) == 0 || r.Messages[0].Role != chat.System {
		r.Messages = slices.Insert(r.Messages, 0, chat.Message{Role: chat.System})
	}
	first := &r.Messages[0]
	first.Content = strings.TrimPrefix(first.Content+"\n\n"+formHint(t.answerForm), "\n\n")
	t.request = &r
}

// formHint tells a model which form its answer must have.
func formHint(form json.RawMessage) string {
	if string(form) == `"json"` {
		return "When you answer without calling a tool, answer with one JSON object and nothing else."
	}
	return "When you answer without calling a tool, answer with JSON that fits this JSON Schema, and nothing else:\n" + string(form)
}

// formed holds the text of a reply back until it is known whether it is an answer, which must have the wished form, or stands
// beside calls.
type formed struct {
	t     *turn
	ctx   context.Context
	yield func(chat.Event, error) bool
	text  strings.Builder
	calls bool        // the text needs no form
	usage *chat.Event // waits for the answer, which may cost more
}

// formatted gives the answer of a reply the wished form. One that does not have it is written once more, held to it.
func (t *turn) formatted(ctx context.Context, in iter.Seq2[chat.Event, error]) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		f := &formed{t: t, ctx: ctx, yield: yield}
		for ev, err := range in {
			if err != nil {
				yield(ev, err)
				return
			}
			if !f.take(ev) {
				return
			}
		}
	}
}

// take passes an event on, or keeps it.
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
		f.usage = &ev
		return true
	case ev.Kind == chat.Finish:
		return f.finish(ev)
	}
	return f.yield(ev, nil)
}

func (f *formed) let(text string) bool {
	return text == "" || f.yield(chat.Event{Kind: chat.Text, Text: text}, nil)
}

// finish sends the answer and the end. What was cut stays as it is.
func (f *formed) finish(ev chat.Event) bool {
	answer := f.text.String()
	if ev.Text == chat.Stop && answer != "" {
		better, spent, again := f.t.inForm(f.ctx, answer)
		if again {
			ev = withStep(ev, stepFormatted)
		}
		if answer = better; f.usage != nil {
			*f.usage = costing(*f.usage, spent)
		}
	}
	return f.let(answer) && (f.usage == nil || f.yield(*f.usage, nil)) && f.yield(ev, nil)
}

// inForm is an answer in the wished form: as it is, mended, or written once more. Where nothing helps it stays as it is.
func (t *turn) inForm(ctx context.Context, text string) (answer string, counts chat.Counts, again bool) {
	if t.fits(text) {
		return text, counts, false
	}
	if mended, _, err := adapters.Repair(text, schema.Compile(t.answerForm)); err == nil && t.fits(mended) {
		return mended, counts, true
	}
	r := *t.request
	r.Tools, r.Format = nil, t.answerForm
	one := *t
	one.request, one.answerForm, one.strategy = &r, nil, Native
	written, counts, err := one.whole(ctx, stepFormatted)
	if err != nil || !t.fits(written) {
		return text, counts, false
	}
	return written, counts, true
}

// fits says whether an answer has the wished form.
func (t *turn) fits(answer string) bool {
	if string(t.answerForm) == `"json"` {
		var object map[string]json.RawMessage
		return json.Unmarshal([]byte(answer), &object) == nil
	}
	rules, err := t.engine.schemas.Get(t.answerForm)
	return err == nil && len(rules.Check([]byte(answer))) == 0
}

// withStep is a Finish that names one more step.
func withStep(ev chat.Event, step string) chat.Event {
	meta := metaOf(ev)
	meta.Repairs = append(slices.Clip(meta.Repairs), step)
	ev.Meta = &meta
	return ev
}
