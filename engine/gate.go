package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// noTool is what a model picks that needs none.
const noTool = "none"

// gateTokens is how long a pick may get; a tool's name has 64 characters at most, and the object around it a dozen more.
const gateTokens = 64

// askBeforeTools takes the tools out of a request when the model, asked beforehand, says that it needs none of
// them. A pick that fails in any way changes nothing. Only a question of the user's is gated: behind a tool's
// result the work is under way.
//
// A 1.5B model called a tool for 3 to 5 of 5 messages of small talk; with this none, for some 0.7 s more. A tiny
// model picks none always, so the settings have to ask for it.
func (j *job) askBeforeTools(ctx context.Context) (*job, error) {
	r := j.request
	if !j.engine.cfg.Gate || len(r.Tools) == 0 || r.Required || r.Messages[len(r.Messages)-1].Role != chat.User {
		return j, nil
	}
	picked, spent := j.picks(ctx)
	k := *j
	k.spent = spent
	if picked != noTool {
		return &k, nil
	}
	without := *r
	without.Tools = nil
	return k.with(&without).chooseStrategy(ctx)
}

// picks asks the model which of the tools the last message needs, and says what that cost. The conversation is not
// shown: the prompt is short then, and the pick is about this message. Native is the way with a schema.
func (j *job) picks(ctx context.Context) (string, chat.Counts) {
	cold := 0.0
	names := []string{noTool}
	for _, tool := range j.callable() {
		names = append(names, tool.Name)
	}
	enum, _ := json.Marshal(names)
	p := j.aside(limited(&chat.Request{
		Model: j.request.Model, Temperature: &cold, Options: j.request.Options, Keep: j.request.Keep,
		Messages: []chat.Message{{Role: chat.System, Content: pickPrompt(j.callable())}, {Role: chat.User, Content: j.request.Messages[len(j.request.Messages)-1].Content}},
		Format:   json.RawMessage(`{"type":"object","properties":{"tool":{"enum":` + string(enum) + `}},"required":["tool"],"additionalProperties":false}`),
	}, gateTokens))
	p.strategy = Native
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

// pickPrompt asks for a pick, with an example for each of the first tools, made of what is offered, and some that need none.
// The latter are what makes "none" an answer: the gate is there for models that call a tool for everything.
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

// firstLine is the first line of a description, without its full stop. Descriptions of agents' tools run over
// pages; the pick needs what a tool is for.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(line, ". ")
}
