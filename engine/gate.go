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
	"toolnorm/internal/clip"
	"toolnorm/internal/pattern"
)

// noTool is the name that a model picks when it is asked which tool it needs, and needs none.
const noTool = "none"

// gateTokens limits the length of a pick. The name of a tool has 64 characters at most, and the
// object around it a dozen more.
const gateTokens = 64

// The values of Config.Gate: when a model is asked whether it needs a tool.
const (
	GateAlways = "always" // before tools are offered to it
	GateNever  = "never"
	// after a call that nothing in the conversation explains, and before tools are offered as soon
	// as such a call was not needed once
	GateAuto = "auto"
)

// gateMost is how many bytes a conversation and its tools may have for GateAuto to ask the model.
// The pick replaces the conversation in the server's cache, and reading an agent's prompt again
// takes long.
const gateMost = 8 << 10

// gating returns when the job's model is asked whether it needs a tool: GateAlways, GateNever, or
// GateAuto. It decides by the settings and by what the model did before.
func gating(j *job) string {
	when, ok := pattern.Find(j.engine.cfg.Gate, j.name)
	_, local := j.server.backend.(*ollama.Backend)
	switch {
	case ok && when != GateAuto:
		return when
	case !local || j.server.name == demoName || window.Bytes(j.request) > gateMost ||
		j.known().gate == gateUseless:
		return GateNever // the demo calls a tool for everything, and says so
	case j.known().gate == gateNeeded:
		return GateAlways
	}
	return GateAuto
}

// gate is what was found out about a model by asking it whether it needs a tool (GateAuto): it
// called a tool without need, it never picks a tool, or nothing is known yet.
type gate uint8

const (
	gateUnknown gate = iota
	gateNeeded       // it called a tool that it did not need
	gateUseless      // it picks no tool in any case
)

// asksQuestion reports whether the last message is the user's, tools are offered and none is
// required. Only then may the model be asked whether it needs a tool, because after a tool's result
// the work is under way.
func asksQuestion(r *chat.Request) bool {
	return len(r.Tools) > 0 && !r.Required && len(r.Messages) > 0 &&
		r.Messages[len(r.Messages)-1].Role == chat.User
}

// mostTold is how many bytes of each earlier message a model sees when it is asked whether it needs
// a tool.
const mostTold = 300

// question returns the user's last message, preceded by a short form of the previous question and
// answer. These are needed because "And in yen?" needs the tool of the turn before, while "Why is
// the euro stronger?" needs none.
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
	return "Earlier the user said: " + clip.To(said, mostTold) + "\nThe answer was: " +
		clip.To(answer, mostTold) + "\nNow the user says: " + now
}

// askBeforeTools asks the model beforehand which tool it needs, and returns the job without tools
// if the model says that it needs none. If the question fails in any way, the tools stay. It
// returns an error only if no strategy can be chosen without tools.
//
// A 1.5B model called a tool for 3 to 5 of 5 messages of small talk. With this step it called one
// for none of them, at a cost of some 0.7 s. A tiny model always picks none, so GateAuto does not
// ask such a model again.
func (j *job) askBeforeTools(ctx context.Context) (*job, error) {
	if !asksQuestion(j.request) || gating(j) != GateAlways {
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

// withoutTools returns the job without tools, and with a strategy that is chosen again, now without
// tools. It returns the error of chooseStrategy, which is always nil.
func (j *job) withoutTools(ctx context.Context) (*job, error) {
	without := *j.request
	without.Tools = nil
	return j.with(&without).chooseStrategy(ctx)
}

// picks asks the model which of the tools a message needs. It returns the name that the model
// gives, or "" if the answer cannot be read, and the tokens that were spent. The model sees little
// of the conversation, so that the prompt is short and the answer is about this message. The
// question goes to the server's own chat API (strategy native), because that accepts a schema.
func (j *job) picks(ctx context.Context, message string) (string, chat.Counts) {
	cold := 0.0
	names := []string{noTool}
	for _, tool := range callable(j.request) {
		names = append(names, tool.Name)
	}
	enum, _ := json.Marshal(names)
	p := j.aside(limitTokens(&chat.Request{
		Model: j.request.Model, Sampling: chat.Sampling{Temperature: &cold},
		Options: j.request.Options, Keep: j.request.Keep,
		Messages: []chat.Message{{Role: chat.System, Content: pickPrompt(callable(j.request))},
			{Role: chat.User, Content: message}},
		Format: json.RawMessage(`{"type":"object","properties":{"tool":{"enum":` + string(enum) +
			`}},"required":["tool"],"additionalProperties":false}`),
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

// pickPrompt returns a prompt that asks the model which tool a message needs, with an example for
// each of the first four tools. Other examples need no tool, and show that "none" is an answer,
// because some models call a tool for everything.
func pickPrompt(tools []chat.Tool) string {
	var b strings.Builder
	b.WriteString(
		"Decide which tool the user's message needs. Most messages need none: greetings, opinions, general knowledge, translations, and questions about things that no tool is for.\n\nTools:\n")
	for _, tool := range tools {
		fmt.Fprintf(&b, "- %s: %s\n", tool.Name, firstLine(tool.Description))
	}
	b.WriteString("\nExamples:\n")
	for i, tool := range tools {
		if i < 4 {
			fmt.Fprintf(&b, "%s, please. -> {\"tool\":%q}\n", firstLine(tool.Description),
				tool.Name)
		}
		if i < len(chatter) {
			fmt.Fprintf(&b, "%s -> {\"tool\":%q}\n", chatter[i], noTool)
		}
	}
	return b.String()
}

// chatter has messages that need no tool, whatever is offered.
var chatter = []string{"Hello, how are you?", "What is the capital of France?", "Tell me a joke.",
	`Translate "thank you" into German.`}

// firstLine returns the first line of a tool's description, without its full stop. Descriptions of
// agents' tools have pages, but to pick a tool the model needs only its purpose.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(line, ". ")
}
