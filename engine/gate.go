package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/engine/window"
	"toolnorm/internal/pattern"
)

// noTool is what a model picks that needs none.
const noTool = "none"

// gateTokens is how long a pick may get; a tool's name has 64 characters at most, and the object
// around it a dozen more.
const gateTokens = 64

// When a model is asked whether it needs a tool.
const (
	GateAlways = "always" // before tools are offered to it
	GateNever  = "never"
	GateAuto   = "auto" // behind a call that nothing in the conversation explains, and always once such a call was not needed
)

// gateMost is how large a conversation and its tools may be, in bytes, for a model that is asked by
// GateAuto: the pick takes the place of the conversation in the server's cache, and an agent's
// prompt takes long to read anew.
const gateMost = 8 << 10

// gating returns when the job's model is asked, by the settings and by what it did before.
func gating(j *job) string {
	when, ok := pattern.Find(j.engine.cfg.Gate, j.name)
	_, local := j.server.backend.(*ollama.Backend)
	switch {
	case ok && when != GateAuto:
		return when
	case !local || j.server.name == demoName || window.Bytes(j.request) > gateMost || j.known().gate == gateUseless:
		return GateNever // the demo calls a tool for everything, and says so
	case j.known().gate == gateNeeded:
		return GateAlways
	}
	return GateAuto
}

// gate is what was found out about a model that was asked by GateAuto.
type gate uint8

const (
	gateUnknown gate = iota
	gateNeeded       // it called a tool that it did not need
	gateUseless      // it picks none in any case
)

// questioned reports whether the last message is a question of the user's that tools are offered
// for. Only such is gated: behind a tool's result the work is under way.
func questioned(r *chat.Request) bool {
	return len(r.Tools) > 0 && !r.Required && len(r.Messages) > 0 && r.Messages[len(r.Messages)-1].Role == chat.User
}

// mostTold is how many bytes of each message before the last one a model is told that is asked
// whether it needs a tool.
const mostTold = 300

// question returns what the user said last, with what was said before it in short: "And in yen?"
// needs the tool that the turn before needed, and "Why is the euro stronger?" needs none.
func question(r *chat.Request) string {
	last := len(r.Messages) - 1
	now, said, answer := r.Messages[last].Content, "", ""
	for _, m := range slices.Backward(r.Messages[:last]) {
		switch {
		case m.Role == chat.User:
			said = m.Content
		case m.Role == chat.Assistant && answer == "":
			answer = m.Content
		}
		if said != "" {
			break
		}
	}
	if said == "" {
		return now
	}
	return "Earlier the user said: " + atMostTold(said) + "\nThe answer was: " + atMostTold(answer) + "\nNow the user says: " + now
}

// atMostTold returns the beginning of a text.
func atMostTold(s string) string { return strings.ToValidUTF8(s[:min(len(s), mostTold)], "") }

// askBeforeTools removes the tools from a request when the model, asked beforehand, says that it
// needs none of them. A pick that fails in any way changes nothing.
//
// A 1.5B model called a tool for 3 to 5 of 5 messages of small talk; with this none, for some 0.7 s
// more. A tiny model picks none always, so GateAuto asks such a model nothing more.
func (j *job) askBeforeTools(ctx context.Context) (*job, error) {
	if !questioned(j.request) || gating(j) != GateAlways {
		return j, nil
	}
	picked, spent := j.picks(ctx, question(j.request))
	k := *j
	k.before = beforehand{spent, picked}
	if picked != noTool {
		return &k, nil
	}
	return k.withoutTools(ctx)
}

// withoutTools returns the job with no tool to call.
func (j *job) withoutTools(ctx context.Context) (*job, error) {
	without := *j.request
	without.Tools = nil
	return j.with(&without).chooseStrategy(ctx)
}

// picks asks the model which of the tools a message needs, and says what that cost. The
// conversation is hardly shown: the prompt is short then, and the pick is about this message.
// Native is the way with a schema.
func (j *job) picks(ctx context.Context, message string) (string, chat.Counts) {
	cold := 0.0
	names := []string{noTool}
	for _, tool := range callable(j.request) {
		names = append(names, tool.Name)
	}
	enum, _ := json.Marshal(names)
	p := j.aside(limited(&chat.Request{
		Model: j.request.Model, Sampling: chat.Sampling{Temperature: &cold}, Options: j.request.Options, Keep: j.request.Keep,
		Messages: []chat.Message{{Role: chat.System, Content: pickPrompt(callable(j.request))}, {Role: chat.User, Content: message}},
		Format:   json.RawMessage(`{"type":"object","properties":{"tool":{"enum":` + string(enum) + `}},"required":["tool"],"additionalProperties":false}`),
	}, gateTokens))
	p.strategy, p.seen = Native, nil
	var picked struct{ Tool string }
	text, counts, err := p.whole(ctx, "gate")
	if err == nil {
		err = json.Unmarshal([]byte(text), &picked)
	}
	if err != nil {
		j.engine.cfg.Log.Debug().Err(err).Str("model", j.name).Msg("the model picked no tool")
	}
	return picked.Tool, counts
}

// pickPrompt asks for a pick, with an example for each of the first tools, made of what is offered,
// and some that need none. The latter are what makes "none" an answer: the gate is there for models
// that call a tool for everything.
func pickPrompt(tools []chat.Tool) string {
	var b strings.Builder
	b.WriteString("Decide which tool the user's message needs. Most messages need none: greetings, opinions, general knowledge, translations, and questions about things that no tool is for.\n\nTools:\n")
	for _, tool := range tools {
		fmt.Fprintf(&b, "- %s: %s\n", tool.Name, firstLine(tool.Description))
	}
	b.WriteString("\nExamples:\n")
	for i, tool := range tools {
		if i < 4 {
			fmt.Fprintf(&b, "%s, please. -> {\"tool\":%q}\n", firstLine(tool.Description), tool.Name)
		}
		if i < len(chatter) {
			fmt.Fprintf(&b, "%s -> {\"tool\":%q}\n", chatter[i], noTool)
		}
	}
	return b.String()
}

// chatter needs no tool, whatever is offered.
var chatter = []string{"Hello, how are you?", "What is the capital of France?", "Tell me a joke.", `Translate "thank you" into German.`}

// firstLine returns the first line of a description, without its full stop. Descriptions of agents'
// tools run over pages; the pick needs what a tool is for.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(line, ". ")
}
