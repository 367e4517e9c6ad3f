package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// noTool is what a model answers that needs no tool. It is one of the enum: without a way out a held model must call
// something.
const noTool = "none"

// choose has the model choose the tool of the first step by a question of its own, which it can only answer with one of
// the names: {"tool_name": …, "arguments": {…}}. An answer that is none is asked for once more; then the loop begins as
// it does without this question. It is a request of its own since a reply in words cannot be held to a schema. The
// question does not stay in the conversation; the call and its result do.
func (r *run) choose(ctx context.Context) error {
	r.out.Chosen = noTool
	request := r.ask.Request
	// Clipped, so that the question does not get into the run's own turns.
	request.Messages = append(r.turns[:len(r.turns):len(r.turns)], chat.Message{Role: chat.User, Content: r.question()})
	request.Format = r.answer()
	// The likeliest answer is wanted here, whatever the caller wants for the text.
	cold := 0.0
	request.Temperature = &cold
	for range 2 {
		text, err := r.said(ctx, &request)
		if err != nil {
			return err
		}
		var picked struct {
			Tool      string          `json:"tool_name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		// A server that cannot hold a model to a schema passes on whatever it writes.
		if json.Unmarshal([]byte(text), &picked) != nil {
			continue
		}
		if picked.Tool == noTool {
			return nil
		}
		name, err := r.tools.named(picked.Tool)
		if err != nil {
			continue
		}
		// act builds the turn from the last reply; this one said nothing but the call.
		r.out.Chosen, r.last = "llm", &reply{}
		// A tool that ends the step leaves one reply, the answer.
		if r.act(ctx, []chat.Call{{Name: name, Args: picked.Arguments}}) == Escalated {
			r.ask.Steps = 1
		}
		return nil
	}
	return nil
}

// question lists the tools by numbers, in few words each: names and arguments matter here.
func (r *run) question() string {
	var b strings.Builder
	b.WriteString("Which of these tools helps with the request above? Answer with JSON alone: {\"tool_name\": \"…\", \"arguments\": {…}}, or {\"tool_name\": \"none\", \"arguments\": {}} if none does.\n")
	for i, t := range r.tools.list {
		d := briefly(t)
		fmt.Fprintf(&b, "%d. %s %s: %s\n", i+1, t.Name, d.Parameters, d.Description)
	}
	return b.String()
}

// answer is the schema of what can be answered. The names are an enum, so a server that holds a model to a schema
// cannot write any other; the arguments are any object, and are read by the tool's schema as in every call.
func (r *run) answer() json.RawMessage {
	names, _ := chat.JSON(append(r.tools.names(), noTool)) // strings always encode
	return json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string","enum":` + string(names) + `},"arguments":{"type":"object"}},"required":["tool_name","arguments"]}`)
}

// said is the text of a reply that takes its place in the queue as every other. Its tokens count for the budget.
func (r *run) said(ctx context.Context, request *chat.Request) (string, error) {
	leave, err := r.queued(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	var got chat.Collector
	for e, err := range r.loop.cfg.Model.Stream(ctx, request) {
		if err != nil {
			return "", err
		}
		got.Add(e)
	}
	r.out.Usage = r.out.Usage.Plus(got.Usage)
	return got.Text.String(), nil
}
