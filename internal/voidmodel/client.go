// Package voidmodel imitates the editor Void in tests. It writes prompts and history as Void does,
// reads replies by the rules of Void's parser, and runs the tools. It shares no code with what is
// tested.
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

// Agent is the User-Agent that Void's library sends. It is one of the signs by which the proxy
// recognises Void, so the tests send it.
const Agent = "OpenAI/JS 4.96.0"

// Tool is a tool of Void. Run always gets strings, whatever type a parameter has, because every
// value in Void's XML is text.
type Tool struct {
	Name, Description string
	Params            []Param
	Run               func(args map[string]string) string
}

// Param is a parameter. Void declares no types for parameters.
type Param struct{ Name, Description string }

// Client imitates one instance of Void. Native and NoSystem are set by Void's own table of models,
// by words in the model's name; the proxy has no influence on them.
type Client struct {
	Base     string // the URL of the API, up to /v1
	Model    string
	Native   bool // Void assumes that the model has tool calls of its own
	NoSystem bool // Void assumes that the model takes no system message
	Tools    []Tool
}

// Step is one reply, and the call in it that was run, if there was one.
type Step struct {
	Shown        string
	Name, Result string // of the call; empty: there was no call
	Args         map[string]string
}

// maxSteps bounds the replies of one conversation, since a model that asks for the same file again
// and again would never stop by itself.
const maxSteps = 8

// Ask sends a question, runs the calls in the replies, and goes on until a reply contains no call.
// It returns the steps. It fails if a request fails, if a model calls an unknown tool, or after
// maxSteps replies; the steps before that are returned with the error. With NoSystem the system
// message becomes a part of the first user message, between <SYSTEM_MESSAGE> tags, as in Void.
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

// tool returns the tool with the given name. It fails if no such tool was offered, because a proxy
// must never pass on such a call.
func (c *Client) tool(name string) (Tool, error) {
	for _, t := range c.Tools {
		if t.Name == name {
			return t, nil
		}
	}
	return Tool{}, fmt.Errorf("no tool of Void's is called %q", name)
}

// history returns the messages by which the next request describes a step. For a model without
// native calls there are two. The first is the reply with the call as XML at its end, and the
// second is a user message with the result, for example in <read_file_result>. The proxy must turn
// both back into calls and results.
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

// Do sends a request with the User-Agent of Void's library. It returns an error if there is no
// answer.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", Agent)
	return http.DefaultClient.Do(r)
}

// reply sends the conversation, and reads the reply as the editor Void does. It returns the text
// that Void would show, and the call and its id; call is nil if there is none. If the model was
// offered native tools, it joins the parts of the call with index 0. Otherwise it parses the call
// from the text. An empty reply is an error, and finish_reason is ignored, as in Void. After an
// error Void repeats the request; reply does not, because a test could pass by chance then.
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

// offered returns the tools for the request's field tools, or nil if c.Native is false. As the real
// Void does, it gives the parameters no type and requires none, so the proxy cannot rely on the
// schema.
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

// native returns a call that the server's own tool calling produced. A value that is not a string
// is replaced with its JSON text. It returns an error if args is not a JSON object.
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
