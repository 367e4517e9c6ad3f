package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/engine/valid"
	"toolnorm/internal/clip"
	"toolnorm/internal/fault"
)

// The names of the steps that repair a call, and of other changes to a reply. They appear in logs,
// headers and comments.
const (
	// the model wrote the call, or the rest of it, again, constrained to the schema
	stepRewritten = "rewritten"
	stepReasked   = "reasked" // the model was told what was wrong, and wrote the call again
	stepText      = "as-text" // the call did not fit, and is shown as the model wrote it
	// the rest of a call that was partly sent did not fit, so the reply ends there
	stepOpen    = "left-open"
	stepSurplus = "surplus"       // members that the schema forbids were left out
	stepClamped = "clamped"       // numbers were brought within their bounds
	stepBounds  = "out-of-bounds" // the call was sent although a value is out of its bounds
	stepRenamed = "renamed"       // a misspelt member got the name that was missing
	stepDropped = "dropped"       // optional members whose values did not fit were left out
	stepMisfit  = "misfit"        // the call was sent although it does not fit
	// the reply was ended after its first call, as the client wanted
	stepSingle = "single"
)

const (
	// maxAsked is how many generations repairing one reply may take, which is two steps for one
	// call and one step for another.
	maxAsked = 3
	// maxRepair is how long repairing one reply may take. Meanwhile the client gets keep-alives.
	// After two minutes a wrong call shown as text is more useful than silence.
	maxRepair = 2 * time.Minute
)

// repairAll repairs the calls that do not fit, in order. It is called when the reply is complete,
// because most local servers answer one request at a time. A second request would wait for the
// first, whose reply would not be read meanwhile.
func (g *guard) repairAll() {
	var stop context.CancelFunc
	g.ctx, stop = context.WithTimeout(g.ctx, maxRepair)
	defer stop()
	for g.wrong != nil {
		c, late := g.wrong, g.late
		g.wrong, g.late = nil, nil
		if !g.repair(c) {
			return
		}
		for _, ev := range late {
			if !g.take(ev) {
				return
			}
		}
	}
}

// repairing is one step that may repair a call. The function in its field do returns the repaired
// arguments, or false if it cannot repair them.
type repairing struct {
	name string
	off  bool
	do   func(*guarded) (json.RawMessage, bool)
}

// ladder returns the ways to repair a call, in the order in which they are tried. Rewriting, one
// constrained generation of the call alone, is the cheapest. Reasking costs a whole reply, and is
// possible only if nothing was sent. Yet it comes first if the call's only fault is that members
// are missing: a constrained model would have to make up a required date, say, where a question to
// the user may be the better answer.
func (g *guard) ladder(c *guarded) []repairing {
	rewrite := repairing{stepRewritten, g.j.engine.cfg.NoRewrite, g.rewrite}
	reask := repairing{stepReasked, g.j.engine.cfg.NoReask || c.begun, g.reask}
	if g.j.force == nil && !c.args.Cut() &&
		!slices.ContainsFunc(c.reason, func(p valid.Problem) bool {
			return p.Keyword != "required"
		}) {
		return []repairing{reask, rewrite}
	}
	return []repairing{rewrite, reask}
}

// repair sends the rest of a call that does not fit, or what replaces the call. It returns false if
// no more events are wanted. All steps count towards one limit for the whole reply, so that ten
// wrong calls do not cost twenty generations.
func (g *guard) repair(c *guarded) bool {
	if g.j.engine.cfg.Misfit == MisfitDrop || g.j.engine.cfg.Misfit != MisfitPass &&
		onlyFormats(c.reason) {
		if args, ok := g.withoutWrong(c); ok {
			g.step(stepDropped)
			return g.complete(c, args)
		}
	}
	if c.stands == nil && c.text == "" {
		c.stands = c.rules.Stands(c.args.Text())
	}
	for _, step := range g.ladder(c) {
		if step.off || g.asked >= maxAsked {
			continue
		}
		g.asked++
		if args, ok := step.do(c); ok {
			g.step(step.name)
			return g.complete(c, args)
		}
	}
	return g.giveUp(c)
}

// onlyFormats reports whether all problems of the arguments are strings of a wrong format. A model
// that is constrained to a format makes a string up, such as 4235-02-12 for 2026-02-30. If the
// member is optional, it is left out instead, and the tool decides.
func onlyFormats(problems []valid.Problem) bool {
	return len(problems) > 0 && !slices.ContainsFunc(problems, func(p valid.Problem) bool {
		return p.Keyword != "format"
	})
}

// complete sends the rest of a call whose arguments are now known to be args, and returns false if
// no more events are wanted. If a part of the call was sent, the rest begins with text of the model
// that was found right but not sent yet, and the remainder of args follows.
func (g *guard) complete(c *guarded, args json.RawMessage) bool {
	rest := string(args)
	if c.args != nil && c.args.Cut() {
		g.step(stepSurplus)
	}
	if c.begun {
		// acceptRewrite has made sure that args begin with what was sent, so Rest cannot fail.
		rest, _ = c.args.Rest(args)
		rest = string(c.args.Text()[c.sent:c.args.Safe()]) + rest
	} else if !g.yield(c.start, nil) {
		return false
	}
	return g.yield(chat.Event{Kind: chat.CallArgs, Index: c.start.Index, Text: rest}, nil) &&
		g.close(c, args)
}

// withoutWrong returns the arguments without optional members that do not fit. It returns false if
// that does not make them fit, or if they disagree with the bytes that were sent.
func (g *guard) withoutWrong(c *guarded) (json.RawMessage, bool) {
	return g.extends(c, c.rules.WithoutWrong)
}

// extends applies the function change to a call's arguments and returns the result. It returns
// false if change does. If part of the arguments was sent, it also returns false unless the result
// continues that part.
func (g *guard) extends(c *guarded, change func([]byte) ([]byte, bool)) (json.RawMessage, bool) {
	args, ok := change(c.args.Text())
	if ok && c.begun {
		_, ok = c.args.Rest(args)
	}
	return args, ok
}

// giveUp ends a call that could not be repaired, in the first of these ways that is possible: as
// the settings say, without the optional members that do not fit, or as text if nothing of it was
// sent. Otherwise the reply ends as if it was cut. It returns false if no more events are wanted.
func (g *guard) giveUp(c *guarded) bool {
	switch g.j.engine.cfg.OutOfBounds {
	case BoundsClamp:
		if args, ok := c.rules.Clamped(c.args.Text()); ok {
			g.step(stepClamped)
			return g.complete(c, args)
		}
	case BoundsPass:
		if args, ok := c.rules.Bounded(c.args.Text()); ok {
			g.step(stepBounds)
			return g.complete(c, args)
		}
	}
	if args, ok := g.withoutWrong(c); ok && g.j.engine.cfg.Misfit != MisfitPass {
		g.step(stepDropped)
		return g.complete(c, args)
	}
	if args := c.args.Written(); g.j.engine.cfg.Misfit == MisfitPass && json.Valid(args) {
		if args, ok := g.extends(c, func([]byte) ([]byte, bool) { return args, true }); ok {
			g.step(stepMisfit)
			return g.complete(c, args)
		}
	}
	// A call of which part was sent cannot become text. The reason length says that it is not
	// complete, so no client runs it.
	if c.begun {
		g.step(stepOpen)
		g.stop(chat.Length, "the rest of the call "+valid.Sentences(c.reason))
		return false
	}
	g.step(stepText)
	g.why = cmp.Or(g.why, g.misfit(c))
	if g.j.request.Required {
		return true // requireCall turns this into an error
	}
	text := g.written(c)
	g.text.WriteString(text)
	return g.yield(chat.Event{Kind: chat.Text, Text: text}, nil)
}

// written returns a call as the model wrote it.
func (g *guard) written(c *guarded) string {
	if c.text != "" {
		return c.text
	}
	return string(g.j.format.Append(nil, chat.Call{ID: c.start.ID, Name: c.tool.Name,
		Args: c.args.Written()}))
}

// misfit returns a sentence with the first fault of a call, and the beginning of the model's text.
func (g *guard) misfit(c *guarded) string {
	text := cmp.Or(c.text, string(c.args.Written()))
	wrote := clip.To(text, maxQuoted)
	return "the call of " + g.j.names.forClient(c.tool.Name) + " does not fit its schema: " +
		valid.Sentences(c.reason[:1]) + "; the model wrote " + wrote
}

// rewrite returns the arguments of c as the model writes them once more, constrained to the tool's
// schema. The parts that fit are kept, and so is all that was sent. If the server refuses the
// schema, or crashes on it as Ollama 0.24 does on large ones, rewrite tries a weaker one. It
// returns false if that gives no call that fits.
func (g *guard) rewrite(c *guarded) (json.RawMessage, bool) {
	// The parts of the old arguments that fit are fixed by const. So the model fills in the rest,
	// and cannot forget half a file while it corrects a number. A call that cannot be divided into
	// parts, since a number in it has thousands of digits, could not continue what was sent.
	if c.begun && c.stands == nil {
		return nil, false
	}
	o := schema.Options{Stands: c.stands, Long: longIntegers(g.j.request)}
	for _, weak := range []bool{false, true} {
		o.Weak = weak
		f := rewritten(c.tool, max(len(c.args.Text()), len(c.text)), o)
		f.Said = g.said()
		call, err := g.forced(f)
		if err == nil {
			return g.acceptRewrite(c, call)
		}
		// Only a refusal, or a server that broke, may be due to the schema; a timeout would occur
		// again.
		g.j.engine.cfg.Log.Debug().Err(err).Str("tool", g.j.names.forClient(c.tool.Name)).Bool(
			"weak", weak).Msg("a call could not be written again")
		if kind := fault.From(err).Kind; kind != fault.Invalid && kind != fault.Unavailable {
			return nil, false
		}
	}
	return nil, false
}

// ranOn reports whether a forced call was cut off by a token limit that the engine has set, before
// anything of it was sent. It is false if the client set the limit, because the client then gets
// what fits within it.
func (g *guard) ranOn(ev chat.Event) bool {
	return g.j.force != nil && g.j.force.ours && ev.Text == chat.Length && len(g.calls) == 0 &&
		(g.call == nil || !g.call.begun)
}

// bounded asks the model again for a call that ran on without end, now with bounds on the length of
// strings and lists. It reports whether the new call fits and was sent. A grammar never ends a
// string or a list that has no bounds. The first attempt had no bounds, since they would cut a long
// text in two.
func (g *guard) bounded() bool {
	f := heldTo(callable(g.j.request), schema.Options{MaxLength: 200, MaxItems: 8,
		Long: longIntegers(g.j.request)}, boundedTokens)
	call, err := g.forced(f)
	if err != nil {
		return false
	}
	tool := g.tool(call.Name)
	if len(g.rules(tool).Check(call.Args)) > 0 {
		return false
	}
	g.step(stepRewritten)
	return g.complete(&guarded{start: chat.Event{Kind: chat.CallStart, Text: call.Name},
		tool: tool}, call.Args)
}

// forced returns a call that the model writes as the object {"name": …, "arguments": …}, because f
// constrains it to write nothing else. It returns an error if the generation fails, or if the text
// is not JSON, which happens with a server that ignores the constraint.
func (g *guard) forced(f *forcing) (chat.Call, error) {
	var call struct {
		Name      string
		Arguments json.RawMessage
	}
	text, counts, err := g.j.withForcedCall(f).whole(g.ctx, stepRewritten)
	g.spent = g.spent.Plus(counts)
	if err == nil {
		err = json.Unmarshal([]byte(text), &call)
	}
	return chat.Call{Name: call.Name, Args: call.Arguments}, err
}

// acceptRewrite returns the rewritten arguments, together with the parts of the old ones that were
// right. It returns false if they do not satisfy the schema or do not extend the bytes already
// sent. The result is checked although the model was constrained, because servers ignore
// constraints, weaken them, or support less of JSON Schema than the tool's author used.
func (g *guard) acceptRewrite(c *guarded, call chat.Call) (json.RawMessage, bool) {
	args, ok := call.Args, call.Name == c.tool.Name
	if ok && c.stands != nil {
		args, ok = c.stands.With(args)
	}
	if !ok || len(c.rules.Check(args)) > 0 {
		return nil, false
	}
	if c.begun {
		_, ok = c.args.Rest(args)
	}
	return args, ok
}

// reask asks the model again, and returns the arguments of the first call in its next reply that
// fits, or false if there is none. The conversation that the model sees ends with its wrong call
// and a result for it. The result is an error that says what was wrong, because models are trained
// to see their mistakes in this form. The error is at the end, so the server's prompt cache stays
// valid.
func (g *guard) reask(c *guarded) (json.RawMessage, bool) {
	why := "Error: the call was not run. " + valid.Sentences(c.reason) + ". Call " + c.tool.Name +
		" again with arguments that fit its schema."
	call := chat.Call{ID: "call_rejected", Name: c.tool.Name, Args: c.args.Written()}
	said, answer := chat.Message{Role: chat.Assistant, Content: g.said(), Calls: []chat.Call{call}},
		chat.Message{Role: chat.ToolRole, CallID: call.ID, Name: call.Name, Content: why}
	if c.text != "" { // not a call that a history could hold
		said, answer = chat.Message{Role: chat.Assistant, Content: g.said() + c.text},
			chat.Message{Role: chat.User, Content: why}
	}
	r := *g.j.request
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], said, answer)
	var reply chat.Collector
	_, again := g.j.with(&r).read(g.ctx, stepReasked)
	for ev, err := range again {
		if err != nil {
			return nil, false
		}
		if ev.Kind == chat.Usage {
			g.spent = g.spent.Plus(*ev.Meta.Usage)
		}
		if reply.Add(ev) {
			if found, ok := g.acceptOther(c, reply.Calls[len(reply.Calls)-1]); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// acceptOther returns the arguments of call, which the model wrote in answer to the request to
// repair c. If call is a valid call of another tool, it replaces c, because the model has changed
// its mind. acceptOther returns false if call does not fit its tool's schema.
func (g *guard) acceptOther(c *guarded, call chat.Call) (json.RawMessage, bool) {
	if call.Name == c.tool.Name {
		return g.acceptRewrite(c, call)
	}
	tool := g.tool(call.Name)
	if tool.Name == "" || len(g.rules(tool).Check(call.Args)) > 0 {
		return nil, false
	}
	c.tool, c.start.Text = tool, tool.Name
	return call.Args, true
}

// The names of the notes about a request that the client gets, in headers that begin with Toolnorm-
// and in comments.
const (
	noteHistory   = "History"   // the conversation was normalized: codes of package history
	noteTrimmed   = "Trimmed"   // the oldest turns were left out
	noteTruncated = "Truncated" // the server has cut the conversation silently
	noteTools     = "Tools"     // the tools take more tokens than the budget
	noteUnchecked = "Unchecked" // calls of a tool are not checked, since its schema cannot be used
	// tools have other names for the model, since it cannot write theirs
	noteNames = "Names"
	// what the model's template says about its calls, if that decides how it is read
	noteTemplate = "Template"
	noteLogprobs = "Logprobs" // why there are no log probabilities
	noteLoop     = "Loop"     // the model makes the same call over and over
)

// tell reports to the client something that was done to its request. For the engine's own requests
// it does nothing, since these have no observer.
func (t *target) tell(word, text string) {
	if t.observer.OnNote != nil {
		t.observer.OnNote(word, text)
	}
}
