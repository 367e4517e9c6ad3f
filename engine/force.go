package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/upstream"
	"toolnorm/internal/clip"
	"toolnorm/internal/fault"
)

// forcing is the grammar that constrains a reply, and the limit of its length. A limit is always
// set, because a grammar does not end numbers or blanks: without a limit, a small model wrote them
// until the context was full (two of two ran past 100 s).
type forcing struct {
	upstream.Force
	tokens int  // limit of the object, in tokens
	ours   bool // the engine has set the limit, and not the client
}

// forceCall returns the job with the reply constrained to a call, if tool_choice requires one and
// the server does not ensure it. Ollama ignores tool_choice. llama-server's "required" admits any
// text before the call, and gave no call in 20 prompts. It never fails.
func (j *job) forceCall(context.Context) (*job, error) {
	if !j.request.Required || j.facts.HonorsToolChoice {
		return j, nil
	}
	return j.withForcedCall(forcedBy(j.request, callable(j.request))), nil
}

const (
	// freeTokens limits a forced call when the client sets no limit: about 8 KB of arguments.
	freeTokens = 2048
	// boundedTokens is the limit of a call whose strings have bounds.
	boundedTokens = 4096
	// unbounded sets no limit on the length of strings.
	unbounded = -1
)

// forcedBy returns the constraint that makes the model call one of the tools, for a request whose
// tool_choice requires a call. It sets no maximum length for strings in the arguments, because that
// would silently cut the text of a file in two.
func forcedBy(r *chat.Request, tools []chat.Tool) *forcing {
	f := heldTo(tools, schema.Options{MaxLength: unbounded, Long: longIntegers(r)}, r.MaxTokens)
	if r.MaxTokens == 0 {
		f.tokens, f.ours = freeTokens, true
	}
	return f
}

// heldTo returns a constraint under which the output is one call of the given tools, of at most the
// given number of tokens. It covers the whole object with name and arguments. A model that is
// constrained to the arguments alone continues inside the last value, which is valid by the schema
// and wrong.
func heldTo(tools []chat.Tool, o schema.Options, tokens int) *forcing {
	f := &forcing{Force: upstream.Force{Schema: schema.ConstrainCalls(tools, o).Schema},
		tokens: tokens}
	if len(tools) == 1 {
		f.Name = tools[0].Name
	}
	return f
}

// rewritten returns the constraint with which the model writes a call of the tool once more, after
// arguments of the given size in bytes did not fit. The limit of tokens grows with that size, so a
// model that does not stop is cut off after it has written much more than before.
func rewritten(tool chat.Tool, size int, o schema.Options) *forcing {
	o.MaxLength = size + 100
	if o.MaxLength > 1999 && !o.Weak { // beyond what servers accept
		o.MaxLength = unbounded
	}
	return heldTo([]chat.Tool{tool}, o, 3*size+512)
}

// longDigits is the number of digits from which on readers of JSON may change an integer, because a
// float64 beyond 2^53 is not exact. A constrained call may have such numbers only if the request
// mentions some (schema.Options.Long).
const longDigits = 16

// longIntegers reports whether the conversation or its tools mention integers of at least
// longDigits digits. An identifier of 19 digits that the call needs is mentioned there. If it
// returns false, integers get a bound in the constraint, which stops a small model that goes on
// writing digits.
func longIntegers(r *chat.Request) bool {
	for _, m := range r.Messages {
		if hasLongInteger(m.Content) ||
			slices.ContainsFunc(m.Calls, func(c chat.Call) bool { return hasLongInteger(c.Args) }) {
			return true
		}
	}
	return slices.ContainsFunc(r.Tools, func(tool chat.Tool) bool {
		return hasLongInteger(tool.Description) || hasLongInteger(tool.Schema)
	})
}

// hasLongInteger reports whether the text has longDigits consecutive digits. It reads each byte
// once and makes no copy, because a conversation may have megabytes.
func hasLongInteger[T string | json.RawMessage](text T) bool {
	run := 0
	for i := range len(text) {
		if run++; text[i] < '0' || text[i] > '9' {
			run = 0
		}
		if run == longDigits {
			return true
		}
	}
	return false
}

// callMark and callEnd are put around the object of a forced reply, so that it is read as a call.
const callMark, callEnd = "<tool_call>\n", "\n</tool_call>"

// addMarks returns a hook that puts the tags of a call around a reply that is constrained to a
// call, because the constraint covers only the call's object. With the tags the usual decoder reads
// the reply like any other call, and its arguments stream. A reply that is cut gets no closing tag,
// so its call stays incomplete.
//
//	<tool_call>
//	{"name":"clock","arguments":{"zone":"UTC"}}
//	</tool_call>
func addMarks() chat.Hook {
	open := false // between the marks
	return func(ev chat.Event, err error) (chat.Event, chat.Source) {
		switch {
		case err != nil:
		case ev.Kind == chat.Text && !open:
			open, ev.Text = true, callMark+ev.Text
		case ev.Kind == chat.Finish && ev.Text == chat.Stop && open:
			open = false // the returned source ends with the Finish, which passes this hook again
			return chat.Event{Kind: chat.Text, Text: callEnd}, &chat.Fixed{ev}
		}
		return ev, nil
	}
}

// withForcedCall returns a copy of the job whose output is constrained to the call in f. The limit
// of tokens in f applies as well, whatever limit the client set.
func (j *job) withForcedCall(f *forcing) *job {
	k := j.with(limitTokens(j.request, f.tokens))
	k.force = f
	return k
}

// onlyOffered returns the events of a reply in which each call of a tool that was not offered, or
// may not be called, is replaced by its text. The decoder lets no such call through, but a server's
// own parser does: models invent tools, and some parsers read calls under tool_choice "none" as
// well. If tool_choice requires a call, the text is left out, too, because requireCall then ends
// the reply with an error.
func onlyOffered(j *job, in events) events {
	may := map[string]bool{}
	for _, tool := range callable(j.request) {
		may[tool.Name] = true
	}
	return func(yield func(chat.Event, error) bool) {
		var call *chat.Call // one that must not run
		var repairs []string
		handAll(in, yield, func(ev chat.Event) bool {
			switch {
			case ev.Kind == chat.CallStart && !may[j.names.forModel(ev.Text)]:
				call = &chat.Call{ID: ev.ID, Name: ev.Text}
				return true
			case call != nil && ev.Kind == chat.CallArgs:
				call.Args = append(call.Args, ev.Text...)
				return true
			case call != nil && (ev.Kind == chat.CallEnd || ev.Kind == chat.Finish):
				text := string(j.format.Append(nil, *call))
				call, repairs = nil, []string{stepText}
				if j.observer.OnRepair != nil {
					j.observer.OnRepair(stepText)
				}
				if !j.request.Required && !yield(chat.Event{Kind: chat.Text, Text: text}, nil) {
					return false
				}
				if ev.Kind == chat.CallEnd {
					return true
				}
			}
			if ev.Kind == chat.Finish && repairs != nil {
				meta := chat.MetaOf(ev)
				meta.Repairs = slices.Concat(meta.Repairs, repairs)
				ev.Meta = &meta
			}
			return yield(ev, nil)
		})
	}
}

// requireCall returns the events of a reply, but ends it with an error if tool_choice requires a
// call and there is none. Clients that read only the call would take an answer in text for success.
// If the server breaks off a forced call, the error is not marked as temporary, since 16 of 20 such
// requests failed again, so clients must not retry automatically.
func requireCall(r *chat.Request, in events) events {
	if !r.Required {
		return in
	}
	return func(yield func(chat.Event, error) bool) {
		calls, said := 0, ""
		for ev, err := range in {
			switch {
			case err == nil && ev.Kind == chat.Text && len(said) < maxQuoted:
				said += ev.Text
			case errors.Is(err, upstream.ErrUnfinished):
				yield(chat.Event{}, &fault.Error{Kind: fault.Failed, Param: "tool_choice",
					Code: "no_tool_call", Cause: err,
					Message: "the model server broke off the call that tool_choice wants, and mostly does so again: offer fewer tools, simplify their schemas, or use a larger model"})
				return
			case err == nil && ev.Kind == chat.CallStart:
				calls++
			case err == nil && ev.Kind == chat.Finish && ev.Text == chat.Stop && calls == 0:
				why := chat.MetaOf(ev).Cause
				if said = strings.TrimSpace(said); why == "" && said != "" {
					why = fmt.Sprintf("it began %q", clip.To(said, maxQuoted))
				}
				yield(chat.Event{}, noCall(why))
				return
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// noCall returns the error of a reply without the call that tool_choice requires. The parameter why
// is the reason: a fault in the call, or the text that the model wrote instead. It may be empty.
func noCall(why string) error {
	if why != "" {
		why = " (" + why + ")"
	}
	return &fault.Error{Kind: fault.Failed, Param: "tool_choice", Code: "no_tool_call",
		Message: "the model wrote no call that fits its tool, though tool_choice wants one" + why +
			": try again, simplify the schema, offer fewer tools, use a larger model, or set misfit to drop or pass"}
}
