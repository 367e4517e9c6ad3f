package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// noTool is the answer of a model that needs no tool. It is a value of the enum, because without it
// a constrained model would have to call something.
const noTool = "none"

// choose asks the model in a separate question which tool to call first, and runs that call. The
// answer must be {"tool_name": …, "arguments": {…}} with one of the tools' names, or with the name
// for no tool. If the answer has another form, the question is asked once more. If that answer is
// wrong too, the loop begins without a chosen tool. The request is separate because a reply in
// words cannot be constrained to a schema. The question does not stay in the conversation, but the
// call and its result do. choose returns an error only if the model cannot be asked.
func (r *run) choose(ctx context.Context) error {
	r.out.Chosen = noTool
	picked, err := r.picked(ctx, r.question(), append(r.tools.names(), noTool))
	if err != nil || picked == nil {
		return err
	}
	r.out.Chosen = "llm"
	r.open(ctx, *picked)
	return nil
}

// open runs a call before the first step of the loop. If the call's result says that the step is
// done (see escalates), the model writes only one more reply, the answer.
func (r *run) open(ctx context.Context, c chat.Call) {
	// act builds the turn from the last reply; here there is only the call.
	r.last = &reply{}
	// A tool that ends the step leaves one reply, the answer.
	if r.act(ctx, []chat.Call{c}) == Escalated {
		r.ask.Steps = 1
	}
}

// picked returns the call with which the model answers a question. It returns nil if the model
// wants no tool, or if two answers in a row cannot be parsed. It returns an error if the model
// cannot be asked.
func (r *run) picked(ctx context.Context, question string, names []string) (*chat.Call, error) {
	request := r.ask.Request
	// Clipped, so that the question does not get into the run's own turns.
	request.Messages = append(r.turns[:len(r.turns):len(r.turns)],
		chat.Message{Role: chat.User, Content: question})
	request.Format = answer(names)
	// The likeliest answer is wanted here, whatever the caller wants for the text.
	cold := 0.0
	request.Temperature = &cold
	for range 2 {
		text, err := r.said(ctx, &request)
		if useless(err) { // the engine has asked again already
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var picked struct {
			Tool      string          `json:"tool_name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		// A server that cannot constrain a model to a schema passes on whatever it writes.
		if json.Unmarshal([]byte(text), &picked) != nil {
			continue
		}
		if picked.Tool == noTool {
			return nil, nil
		}
		if name, err := r.tools.named(picked.Tool); err == nil {
			return &chat.Call{Name: name, Args: picked.Arguments}, nil
		}
	}
	return nil, nil
}

// question returns the text that asks for a tool, with a numbered list of the tools in few words,
// because only names and arguments matter here.
func (r *run) question() string {
	var b strings.Builder
	b.WriteString(
		"Which of these tools helps with the request above? Answer with JSON alone: {\"tool_name\": \"…\", \"arguments\": {…}}, or {\"tool_name\": \"none\", \"arguments\": {}} if none does.\n")
	for i, t := range r.tools.list {
		d := briefly(t)
		fmt.Fprintf(&b, "%d. %s %s: %s\n", i+1, t.Name, d.Parameters, d.Description)
	}
	return b.String()
}

// answer returns the JSON schema of the possible answers. The names are an enum, so a model that
// the server constrains to the schema cannot write any other name. The arguments are any object,
// and are later checked by the tool's schema as in every call.
func answer(names []string) json.RawMessage {
	enum, _ := chat.JSON(names) // strings always encode
	return json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string","enum":` +
		string(enum) + `},"arguments":{"type":"object"}},"required":["tool_name","arguments"]}`)
}

// said asks the model and returns the text of its reply, or the error of the queue or of the model.
// The request waits in the queue like every other, and its tokens count towards the budget.
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
