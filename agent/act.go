package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/internal/fault"
	"toolnorm/tools"
)

// tooMany is the result of a call that follows mostCalls others in one reply. Such a call does not
// run.
var tooMany = fmt.Sprintf("Error: only the first %d calls of a reply are run", mostCalls)

// act runs the calls of a reply in order, and appends the calls and their results to the
// conversation. It returns why the run ends, or "" if the loop goes on. The calls are appended in
// the form that the prompt asks for, not as the model wrote them. Otherwise a result that a model
// makes up after its call would be read as a real one, and sloppy forms would breed sloppier ones.
// The model does not see again what it wrote after its last call.
func (r *run) act(ctx context.Context, calls []chat.Call) Stop {
	// What the model said before its calls is kept, and its reasoning too: templates print them
	// between the steps of one task.
	said := chat.Message{Role: chat.Assistant, Reasoning: r.last.got.Reasoning.String()}
	if len(r.last.got.Calls) > 0 { // else the text is the call that was found in it
		said.Content = strings.TrimSpace(r.last.got.front.String())
	}
	var results []chat.Message
	var stop Stop
	fresh := 0 // number of calls that had not been made before
	for i, c := range calls {
		c = r.bound(c)
		// One more call is answered with an error, so that the model knows that the rest did not
		// run.
		if i == mostCalls {
			results = append(results, result(c, tooMany))
			said.Calls = append(said.Calls, c)
			break
		}
		// Calls in text have no ids; templates and servers pair calls and results by them.
		if c.ID == "" {
			c.ID = fmt.Sprintf("step%d-%d", r.out.Steps, i)
		}
		text, ends := r.remembered(c)
		if text == "" {
			if text = r.madeUp(c, r.tools.byName[c.Name]); text != "" {
				fresh++
				said.Calls, results = append(said.Calls, c), append(results, result(c, text))
				continue
			}
			if r.out.Consent = r.wants(c); r.out.Consent != nil {
				return NeedsConsent
			}
			fresh++
			text, ends = r.perform(ctx, c)
		}
		said.Calls = append(said.Calls, c)
		results = append(results, result(c, text+r.pointed(text)))
		// The step is not recorded, because no other step follows that could read it, and the
		// outcome lists the calls that ran.
		if context.Cause(ctx) != nil {
			return ended(ctx)
		}
		if ends {
			stop = Escalated
			break
		}
	}
	// A model that only repeats its calls will not learn anything more. The repetition does not go
	// into the conversation: models that see the same call twice make it again.
	if fresh == 0 {
		return RepeatedCall
	}
	if left := r.unasked(); left != "" {
		results[len(results)-1].Content += left
	}
	// Clipped, so that the caller's own slice is never written into.
	r.turns = append(append(r.turns[:len(r.turns):len(r.turns)], said), results...)
	return stop
}

// fact is a call that has run, with the result that the model read.
type fact struct {
	call       chat.Call
	text       string
	structured json.RawMessage // the result's structured content
}

// remembered returns the result of the same call if it was made before in this run, or "" for a new
// call. A model that reports what it did writes its calls once more, and a mail must not be sent
// twice. A call of a tool that only reads counts as new if a call that may have changed something
// has run since. The second result is always false, because a repeated call does not end the step.
func (r *run) remembered(c chat.Call) (text string, ends bool) {
	changed := false
	for _, f := range slices.Backward(r.facts) {
		if f.call.Same(c) {
			if changed && r.tools.reads(c.Name) {
				return "", false
			}
			return f.text, false
		}
		changed = changed || !r.tools.reads(f.call.Name)
	}
	return "", false
}

// ended returns why a run ended when its context has ended: WallTime or Cancelled. The caller can
// act on WallTime by a longer time limit, but not on Cancelled.
func ended(ctx context.Context) Stop {
	if fault.From(context.Cause(ctx)) == errTime {
		return WallTime
	}
	return Cancelled
}

// result returns the result of a call, as a turn of the conversation.
func result(c chat.Call, text string) chat.Message {
	return chat.Message{Role: chat.ToolRole, CallID: c.ID, Name: c.Name, Content: text}
}

// perform runs one call, and returns the text that the model reads. The result ends reports whether
// the tool says that the step is done. A tool that fails does not end the run: its text begins with
// "Error: ", and a model can correct its arguments when it reads what is wrong with them.
func (r *run) perform(ctx context.Context, c chat.Call) (text string, ends bool) {
	r.tell(Progress{Step: r.out.Steps, Kind: "call", Tool: c.Name, Arguments: c.Args})
	stop := r.beats()
	start := time.Now()
	asked, done := r.samples.answering(ctx, r, c.Name)
	res := r.tools.call(asked, r.loop.cfg.Tools, c)
	done()
	took := time.Since(start).Milliseconds()
	stop()
	if r.shape != nil {
		res = r.shape(res)
	}
	text = r.observation(res)
	r.facts = append(r.facts, fact{c, text, res.Structured})
	ok := !res.IsError
	// Refused calls are listed as well: the caller sees what the model tried.
	r.out.Calls = append(r.out.Calls, Ran{c.Name, compact(c.Args), ok, took})
	r.tell(Progress{Step: r.out.Steps, Kind: "result", Tool: c.Name, Text: text, OK: &ok,
		Millis: took})
	return text, ok && escalates(res)
}

// observation returns a result as the model reads it. The result is untrusted text, so nothing in
// it is obeyed. A result of more than Config.Observation bytes is cut, with a note about the cut,
// because a web page in a result would fill the context of a small model.
func (r *run) observation(res tools.Result) string {
	text := res.Text()
	if res.IsError {
		text = "Error: " + text
	}
	if most := r.loop.cfg.Observation; len(text) > most {
		cut := clip.To(text, most)
		text = fmt.Sprintf("%s\n… truncated %d bytes", cut, len(text)-len(cut))
	}
	// A server may send invalid UTF-8, but the request to the model is JSON, which must be valid.
	return harmless(strings.ToValidUTF8(text, "\uFFFD"))
}

// escalates reports whether a result has "escalate": true, in its structured content or in the JSON
// of its text. By this a tool says that its step is done. It must be called only for calls that
// succeeded, since a failed call has done nothing.
func escalates(res tools.Result) bool {
	// A server may send its object as structured content, or as JSON in its text.
	text := res.Structured
	if text == nil {
		text = json.RawMessage(res.Text())
	}
	var v struct{ Escalate bool }
	return json.Unmarshal(text, &v) == nil && v.Escalate
}

// compact returns JSON without white space. It returns text that is not JSON unchanged: arguments
// come as the model wrote them, and the registry reports what is wrong with them.
func compact(text json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}
