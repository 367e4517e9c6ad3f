// Package voidmodel stands for the editor Void in tests: it writes prompts and history as Void
// does, reads replies by the rules of Void's parser, and runs the tools. It shares no code with
// what is tested.
package voidmodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/sashabaranov/go-openai"
)

// Agent is how Void's library names itself.
// The proxy knows Void by it, among others, so the tests send it.
const Agent = "OpenAI/JS 4.96.0"

// Tool is a tool of Void.
// Run gets strings, whatever the parameter is meant to be: in Void's XML every value is text.
type Tool struct {
	Name, Description string
	Params            []Param
	Run               func(args map[string]string) string
}

// Param is a parameter; Void gives none a type.
type Param struct{ Name, Description string }

// Client is one Void. Native and NoSystem are what Void's own table says of a model by words in its
// name; the proxy cannot ask for them.
type Client struct {
	Base     string // the endpoint, up to /v1
	Model    string
	Native   bool // Void takes the model for one with tool calls of its own
	NoSystem bool // and for one without a system message
	Tools    []Tool
}

// Step is one reply, and the call in it that was run.
type Step struct {
	Shown        string
	Name, Result string // of the call; empty: there was none
	Args         map[string]string
}

// maxSteps ends a conversation that goes in circles.
// A model that asks for the same file again and again would never stop by itself.
const maxSteps = 8

// Ask asks, runs what the model calls, and goes on until a reply calls nothing. It returns the
// steps that were done beside an error. A model without a system message gets it in the first user
// message, as Void does it, between <SYSTEM_MESSAGE> marks.
func (c *Client) Ask(ctx context.Context, question string) (steps []Step, err error) {
	talk := []openai.ChatCompletionMessage{{Role: "system", Content: Prompt(c.Tools, !c.Native)},
		{Role: "user", Content: question}}
	if c.NoSystem {
		talk = []openai.ChatCompletionMessage{{Role: "user", Content: "<SYSTEM_MESSAGE>\n" +
			talk[0].Content + "\n</SYSTEM_MESSAGE>\n" + question}}
	}
	for range maxSteps {
		shown, call, id, err := c.reply(ctx, talk)
		if err != nil {
			return steps, err
		}
		step := Step{Shown: shown}
		if call == nil {
			return append(steps, step), nil
		}
		tool, err := c.tool(call.Name)
		if err != nil {
			return append(steps, step), err
		}
		step.Name, step.Args, step.Result = call.Name, call.Args, tool.Run(call.Args)
		steps = append(steps, step)
		talk = append(talk, c.history(tool, step, id)...)
	}
	return steps, errors.New("the conversation has no end")
}

// tool finds a tool.
// A name that was not offered is an error: no proxy may pass on such a call.
func (c *Client) tool(name string) (Tool, error) {
	for _, t := range c.Tools {
		if t.Name == name {
			return t, nil
		}
	}
	return Tool{}, fmt.Errorf("no tool of Void's is called %q", name)
}

// history returns a step as the next request tells it. Without calls of its own a model reads them
// as it wrote them: as XML at the end of its reply, and the result as the user's next message,
// <read_file_result>. The proxy has to turn both back into calls and results.
func (c *Client) history(t Tool, s Step, id string) []openai.ChatCompletionMessage {
	if !c.Native {
		return []openai.ChatCompletionMessage{
			{Role: "assistant", Content: s.Shown + "\n\n" + reprint(t, s.Args)},
			{Role: "user", Content: "<" + t.Name + "_result>\n" + s.Result + "\n</" + t.Name +
				"_result>"},
		}
	}
	args, _ := json.Marshal(s.Args) // a map of strings always encodes
	call := openai.ToolCall{ID: id, Type: openai.ToolTypeFunction,
		Function: openai.FunctionCall{Name: t.Name, Arguments: string(args)}}
	return []openai.ChatCompletionMessage{
		{Role: "assistant", Content: s.Shown, ToolCalls: []openai.ToolCall{call}},
		{Role: "tool", Content: s.Result, ToolCallID: id}}
}

// Do sends a request under the name of Void's library.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", Agent)
	return http.DefaultClient.Do(r)
}

// reply sends the conversation and reads the reply: native calls by concatenating whatever has
// index 0, others out of the text. An empty reply is an error of Void's. finish_reason is not
// looked at: Void ignores it. Void tries again after any error; this one does not, or a test could
// pass by chance.
func (c *Client) reply(ctx context.Context, talk []openai.ChatCompletionMessage) (
	shown string, call *Call, id string, err error) {
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = c.Base, c
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx,
		openai.ChatCompletionRequest{Model: c.Model, Messages: talk, Tools: c.offered()})
	if err != nil {
		return "", nil, "", err
	}
	defer stream.Close()
	parser := Parser{Tools: c.Tools}
	if c.Native {
		parser.Tools = nil
	}
	var name, args string
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", nil, "", err
		}
		for _, choice := range chunk.Choices {
			parser.Piece(choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				if call.Index != nil && *call.Index == 0 {
					id, name, args = id+call.ID, name+call.Function.Name,
						args+call.Function.Arguments
				}
			}
		}
	}
	shown, call = parser.End()
	if c.Native && name != "" {
		if call, err = native(name, args); err != nil {
			return shown, nil, "", err
		}
	}
	if shown == "" && call == nil {
		return "", nil, "", errors.New("the reply was empty")
	}
	return shown, call, id, nil
}

// offered returns the tools of a request. Parameters have no type and none is required: so Void
// offers them, and a schema cannot be counted on.
func (c *Client) offered() (all []openai.Tool) {
	if !c.Native {
		return nil
	}
	for _, t := range c.Tools {
		properties := map[string]any{}
		for _, p := range t.Params {
			properties[p.Name] = map[string]string{"description": p.Description}
		}
		schema := map[string]any{"type": "object", "properties": properties}
		all = append(all, openai.Tool{Type: openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description,
				Parameters: schema}})
	}
	return all
}

// native returns a call that a server's own tool calling gave. A value that is not a string is used
// as its JSON text. It returns an error if args is not a JSON object.
func native(name, args string) (*Call, error) {
	call := &Call{Name: name, Args: map[string]string{}, Closed: true}
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &values); err != nil {
		return nil, fmt.Errorf("the call of %s is dropped: %w", name, err)
	}
	for key, value := range values {
		var s string
		if json.Unmarshal(value, &s) != nil {
			s = string(value)
		}
		call.Args[key] = s
	}
	return call, nil
}
