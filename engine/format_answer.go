package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/valid"
	"toolnorm/internal/clip"
	"toolnorm/internal/fault"
)

// stepFormatted is the name of this change: an answer was repaired, or written once more, so that
// it fits the form that the client wants.
const stepFormatted = "formatted"

// moveFormatToPrompt returns the job with response_format moved to the system prompt, if there are
// tools. A server that gets response_format and tools would constrain calls to that format, too.
// The text comes after the client's own, so the prompt's start stays the same. It never fails.
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

// formHint returns the instruction that tells a model which form its answer must have. It begins
// with "When you answer without calling a tool", because a call has a form of its own.
func formHint(form json.RawMessage) string {
	if string(form) == `"json"` {
		return "When you answer without calling a tool, answer with one JSON object and nothing else."
	}
	return "When you answer without calling a tool, answer with JSON that fits this JSON Schema, and nothing else:\n" + string(form)
}

// answerSchema returns the schema that an answer must fit, or nil if it may be anything.
func (j *job) answerSchema() json.RawMessage {
	form := j.answerForm
	if form == nil {
		form = j.request.Format
	}
	if string(form) == `"json"` {
		return json.RawMessage(`{"type":"object"}`) // what OpenAI's json_object promises
	}
	return form
}

// formedAnswer brings the text of a reply into the form that response_format requires. Two rules
// hold. What was sent can always be completed to an answer that fits. And if a reply ends with
// stop, it has been completed to such an answer.
//
// Without tools the text is sent as it comes, as far as it fits (valid.Prefix), so the first token
// does not wait. With tools the text is held until it is known whether it is an answer. Text that
// accompanies calls needs no form.
type formedAnswer struct {
	j      *job
	ctx    context.Context
	yield  func(chat.Event, error) bool
	schema json.RawMessage
	rules  *valid.Validator

	text  strings.Builder // the answer as the model writes it
	fits  *valid.Prefix   // how much of it can be sent; nil: nothing before the end
	sent  int             // bytes of fits.Text that were sent
	kept  []chat.Event    // the events of the text, if they have log probabilities
	calls bool            // the text accompanies calls
	usage *chat.Event     // held until the answer is complete, since that may cost more
	spent chat.Counts     // the counts of further generations
	step  bool            // the answer is not what the model wrote at first
}

// formatAnswer is the stage of a reply that passes on only answers that fit response_format. An
// answer that does not fit is repaired, or written once more. If that does not help, the reply ends
// with an error that names the first misfit. If the schema cannot be used, nothing is checked,
// because the server may understand it.
func (j *job) formatAnswer(ctx context.Context, in events) events {
	form := j.answerSchema()
	if form == nil || j.request.Required {
		return in
	}
	rules, err := j.engine.schemas.Get(form)
	if err != nil {
		j.tell(noteUnchecked, "the answer is not checked: "+err.Error())
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		a := &formedAnswer{j: j, ctx: ctx, yield: yield, schema: form, rules: rules}
		if len(j.request.Tools) == 0 && !j.request.Logprobs && j.hold() != adapters.HoldCall &&
			!rules.Whole() {
			a.fits = rules.Prefix()
		}
		handAll(in, yield, a.take)
	}
}

// take passes ev on, or keeps it as part of an answer. After the reply's first tool call it keeps
// nothing, because text beside calls needs no form. It returns false if no more events are wanted.
func (a *formedAnswer) take(ev chat.Event) bool {
	switch {
	case a.calls:
	case ev.Kind == chat.Text:
		if a.j.request.Logprobs {
			a.kept = append(a.kept, ev)
		}
		return a.write(ev.Text)
	case ev.Kind == chat.CallStart:
		a.calls = true
		return a.let(a.text.String()) && a.yield(ev, nil)
	case ev.Kind == chat.Usage:
		usage := ev // taking ev's own address would put every event on the heap
		a.usage = &usage
		return true
	case ev.Kind == chat.Finish:
		return a.finish(ev)
	}
	return a.yield(ev, nil)
}

// write adds text to the answer, and sends the part that can no longer turn out wrong. It returns
// false if no more events are wanted.
func (a *formedAnswer) write(text string) bool {
	a.text.WriteString(text)
	if a.fits == nil {
		return true
	}
	a.fits.Write(text)
	return a.sendTo(a.fits.Safe())
}

// sendTo sends the answer up to the given offset. It returns false if no more events are wanted.
func (a *formedAnswer) sendTo(to int) bool {
	if to <= a.sent {
		return true
	}
	piece := string(a.fits.Text()[a.sent:to])
	a.sent = to
	return a.let(piece)
}

// let sends text, unless it is empty. It returns false if no more events are wanted.
func (a *formedAnswer) let(text string) bool {
	return text == "" || a.yield(chat.Event{Kind: chat.Text, Text: text}, nil)
}

// finish sends the rest of the answer and the end. It returns false if no more events are wanted.
// An answer that a limit has cut is sent as it is, because the finish reason says that it was cut.
func (a *formedAnswer) finish(ev chat.Event) bool {
	text := a.text.String()
	switch {
	case ev.Text != chat.Stop && a.sent > 0:
		text = string(a.fits.Text()[a.sent:])
	case ev.Text == chat.Stop && (text != "" || len(a.j.request.Tools) == 0):
		rest, err := a.complete(text)
		if err != nil {
			a.yield(chat.Event{}, err)
			return false
		}
		if a.step {
			ev, a.kept = withStep(ev, stepFormatted), nil
		}
		text = rest
	}
	if a.usage != nil {
		*a.usage = costing(*a.usage, a.spent)
	}
	return a.sendKept(text) && (a.usage == nil || a.yield(*a.usage, nil)) && a.yield(ev, nil)
}

// sendKept sends the rest of the answer: the events that were kept, or if there are none, text. It
// returns false if no more events are wanted.
func (a *formedAnswer) sendKept(text string) bool {
	if len(a.kept) > 0 {
		return sendAll(a.kept, a.yield)
	}
	return a.let(text)
}

// complete returns the text to send after the bytes already sent: the rest of what the model wrote,
// unchanged, repaired or written again. If nothing helps, the error says what is wrong.
func (a *formedAnswer) complete(text string) (rest string, err error) {
	if len(a.rules.CheckValue([]byte(text))) == 0 {
		if a.sent == 0 {
			return text, nil
		}
		return string(a.fits.Text()[a.sent:]), nil
	}
	a.step = true
	// What follows a complete answer is not part of it: "Let me know if you need anything else!"
	if a.sent > 0 && len(a.rules.CheckValue(a.fits.Text()[:a.fits.Safe()])) == 0 {
		return string(a.fits.Text()[a.sent:a.fits.Safe()]), nil
	}
	if repaired, ok := a.repaired(text); ok {
		if rest, ok := a.accept(repaired); ok {
			return rest, nil
		}
		if trimmed, ok := a.rules.Trimmed([]byte(repaired)); ok {
			if rest, ok := a.accept(string(trimmed)); ok {
				return rest, nil
			}
		}
	}
	for _, again := range []func(string) string{a.rewritten, a.reasked, a.closed} {
		if rest, ok := a.accept(again(text)); ok {
			return rest, nil
		}
	}
	return "", a.misfit(text)
}

// accept returns the part of an answer that was not sent yet. It returns false if the answer does
// not fit its schema, or does not continue what was sent.
func (a *formedAnswer) accept(answer string) (rest string, ok bool) {
	if answer == "" || len(a.rules.CheckValue([]byte(answer))) > 0 {
		return "", false
	}
	if a.sent == 0 {
		return answer, true
	}
	// The text from Rest comes after a.fits.Safe(), which may be more than what was sent.
	rest, ok = a.fits.Rest(json.RawMessage(answer))
	return string(a.fits.Text()[a.sent:a.fits.Safe()]) + rest, ok
}

// rewritten has the model answer again, constrained to the schema, with constants for what was
// right in the first answer. It returns "" if that fails, or if the first answer was constrained in
// the same way.
func (a *formedAnswer) rewritten(text string) string {
	stands := a.rules.Stands([]byte(text))
	if a.j.answerForm == nil && stands == nil {
		return ""
	}
	r := *a.j.request
	r.Tools = nil
	r.Format = schema.ConstrainAnswer(a.schema,
		schema.Options{Stands: stands, Long: longIntegers(a.j.request)}).Schema
	written := a.generate(&r)
	if stands == nil {
		return written
	}
	whole, ok := stands.With(json.RawMessage(written))
	if !ok {
		return ""
	}
	return string(whole)
}

// reasked tells the model what was wrong with its answer, and returns its next answer, repaired. It
// returns "" if the next answer cannot be repaired either.
func (a *formedAnswer) reasked(text string) string {
	r := *a.j.request
	if r.Tools = nil; a.j.answerForm != nil {
		r.Format = a.j.answerForm
	}
	advice := "Your answer cannot be used: " + a.problem(text) +
		". Answer again with JSON that fits this JSON Schema, and nothing else:\n" +
		string(a.schema)
	if a.sent > 0 { // what the client has read must stay true
		advice += "\nBegin with exactly this, and go on: " + string(a.fits.Text()[:a.sent])
	}
	if c := r.Continue; c != nil {
		on := *c
		on.Prompt += text + "\n\n" + advice + "\n"
		r.Continue = &on
	} else {
		r.Messages = addAdvice(r.Messages, text, advice)
	}
	answer, _ := a.repaired(a.generate(&r))
	return answer
}

// addAdvice returns the conversation with a model's answer and the user's advice appended.
func addAdvice(conversation []chat.Message, answer, advice string) []chat.Message {
	conversation = slices.Clip(conversation)
	if strings.TrimSpace(answer) != "" {
		conversation = append(conversation, chat.Message{Role: chat.Assistant, Content: answer})
	}
	return append(conversation, chat.Message{Role: chat.User, Content: advice})
}

// repaired returns the JSON that a text was meant to be, or false if it is not JSON or incomplete.
func (a *formedAnswer) repaired(text string) (answer string, ok bool) {
	if answer, ok = a.scalar(text); ok {
		return answer, true
	}
	answer, missing := a.read(text)
	return answer, missing == nothing
}

// scalar returns the string, number or other single value that fits the schema and has a line of
// its own in text, unlike the 3 in "I have 3 answers". It returns false if there is no such line,
// if two lines have different values, or if a line begins an object or array.
func (a *formedAnswer) scalar(text string) (value string, ok bool) {
	for line := range strings.Lines(text) {
		line = strings.Trim(strings.TrimSpace(line), "`")
		if line == "" {
			continue
		}
		if strings.Contains("{[", line[:1]) {
			return "", false
		}
		one, missing := a.read(line)
		if missing != nothing || len(a.rules.CheckValue([]byte(one))) > 0 {
			continue
		}
		if ok && one != value {
			return "", false
		}
		value, ok = one, true
	}
	return value, ok
}

// lack is what a text needs to become a JSON value.
type lack int

const (
	nothing lack = iota
	closers      // closing brackets: the model forgot them, or was not finished
	// it is not JSON, or ends inside a value, so it may be only a part of what was meant, such as 4
	// of 41
	more
)

// read returns the JSON that a text was meant to be, and what the text lacks for that. It returns
// "" if the text lacks more than brackets.
func (a *formedAnswer) read(text string) (answer string, missing lack) {
	answer, repairs, err := adapters.Repair(text, schema.Compile(a.schema))
	if err != nil || slices.Contains(repairs, "truncated") {
		return "", more
	}
	if !slices.Contains(repairs, "closers") {
		return answer, nothing
	}
	body := strings.TrimRight(text, " \t\r\n,")
	if strings.IndexByte(`"]}`, body[len(body)-1]) < 0 {
		return "", more
	}
	return answer, closers
}

// closed returns an answer with its missing brackets added. It returns "" if nothing or more than
// brackets is missing. It is the last resort, as the model may not have been finished.
func (a *formedAnswer) closed(text string) string {
	answer, missing := a.read(text)
	if missing != closers {
		return ""
	}
	return answer
}

// generate returns the text of one more generation, or "" if that fails. It uses the server's own
// chat API, whose format constrains the model to a schema.
func (a *formedAnswer) generate(r *chat.Request) string {
	one := *a.j
	one.request, one.answerForm, one.strategy = r, nil, Native
	written, counts, err := one.whole(a.ctx, stepFormatted)
	if err != nil {
		a.j.engine.cfg.Log.Debug().Err(err).Msg("an answer could not be written again")
		return ""
	}
	a.spent = a.spent.Plus(counts)
	return written
}

// problem returns the first error in an answer, as a clause of a sentence.
func (a *formedAnswer) problem(text string) string {
	if repaired, ok := a.repaired(text); ok {
		text = repaired
	}
	problems := a.rules.CheckValue([]byte(text))
	if len(problems) > 0 && problems[0].Keyword != "json" {
		return strings.TrimSuffix(strings.Replace(problems[0].Text, "arguments", "answer", 1), ".")
	}
	return "it is not JSON"
}

// maxQuoted is how many bytes of a model's answer an error quotes.
const maxQuoted = 120

// misfit returns the error of a reply whose answer does not fit and could not be repaired.
func (a *formedAnswer) misfit(text string) error {
	return &fault.Error{Kind: fault.Failed, Param: "response_format", Code: "invalid_answer",
		Message: fmt.Sprintf(
			"the model's answer does not fit response_format (%s; it began %q), and asking again did not help: simplify the schema, raise the limit of tokens, or use a larger model",
			a.problem(text), clip.To(text, maxQuoted))}
}
