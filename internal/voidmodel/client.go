// Package voidmodel stands for the editor Void in tests: it writes prompts and history as Void does, reads replies by the
// rules of Void's parser, and runs the tools. It shares no code with what is tested.
package voidmodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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

// Client is one Void.
// Native and NoSystem are what Void's own table says of a model by words in its name; the proxy cannot ask for them.
type Client struct {
	Base     string // the endpoint, up to /v1
	Model    string
	Native   bool // Void takes the model for one with tool calls of its own
	NoSystem bool // and for one without a system message
	Tools    []Tool
	Header   http.Header // more of it; nil: none
}

// Step is one reply, and the call in it that was run.
type Step struct {
	Shown        string
	Name, Result string // of the call; empty: there was none
	Args         map[string]string
}

// message is a turn as it goes over the wire.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []wireCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

// wireCall is a call of a model that has them.
type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// maxSteps ends a conversation that goes in circles.
// A model that asks for the same file again and again would never stop by itself.
const maxSteps = 8

// Ask asks, runs what the model calls, and goes on until a reply calls nothing.
// It returns the steps that were done beside an error. A model without a system message gets it in the first user
// message, as Void does it, between <SYSTEM_MESSAGE> marks.
func (c *Client) Ask(ctx context.Context, question string) (steps []Step, err error) {
	talk := []message{{Role: "system", Content: Prompt(c.Tools, !c.Native)}, {Role: "user", Content: question}}
	if c.NoSystem {
		talk = []message{{Role: "user", Content: "<SYSTEM_MESSAGE>\n" + talk[0].Content + "\n</SYSTEM_MESSAGE>\n" + question}}
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

// history is a step as the next request tells it.
// Without calls of its own a model reads them as it wrote them: as XML at the end of its reply, and the result as the
// user's next message, <read_file_result>. The proxy has to turn both back into calls and results.
func (c *Client) history(t Tool, s Step, id string) []message {
	if !c.Native {
		return []message{
			{Role: "assistant", Content: s.Shown + "\n\n" + reprinted(t, s.Args)},
			{Role: "user", Content: "<" + t.Name + "_result>\n" + s.Result + "\n</" + t.Name + "_result>"},
		}
	}
	args, _ := json.Marshal(s.Args) // a map of strings always encodes
	call := wireCall{ID: id, Type: "function"}
	call.Function.Name, call.Function.Arguments = t.Name, string(args)
	return []message{{Role: "assistant", Content: s.Shown, Calls: []wireCall{call}}, {Role: "tool", Content: s.Result, CallID: id}}
}

// reply sends the conversation and reads the reply.
// Void tries again after any error; this one does not, or a test could pass by chance.
func (c *Client) reply(ctx context.Context, talk []message) (shown string, call *Call, id string, err error) {
	body, err := json.Marshal(struct {
		Model    string     `json:"model"`
		Messages []message  `json:"messages"`
		Stream   bool       `json:"stream"`
		Tools    []wireTool `json:"tools,omitempty"`
	}{c.Model, talk, true, c.offered()})
	if err != nil {
		return "", nil, "", err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", c.Base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", nil, "", err
	}
	for key, values := range c.Header {
		req.Header[key] = values
	}
	req.Header.Set("User-Agent", Agent)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", nil, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return "", nil, "", fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	return c.read(resp.Body)
}

// wireTool is a tool as Void offers it to models that have calls.
type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  struct {
			Type       string                       `json:"type"`
			Properties map[string]map[string]string `json:"properties"`
		} `json:"parameters"`
	} `json:"function"`
}

// offered are the tools of a request.
// Parameters have no type and none is required: so Void offers them, and a schema cannot be counted on.
func (c *Client) offered() (all []wireTool) {
	if !c.Native {
		return nil
	}
	for _, t := range c.Tools {
		w := wireTool{Type: "function"}
		w.Function.Name, w.Function.Description, w.Function.Parameters.Type = t.Name, t.Description, "object"
		w.Function.Parameters.Properties = map[string]map[string]string{}
		for _, p := range t.Params {
			w.Function.Parameters.Properties[p.Name] = map[string]string{"description": p.Description}
		}
		all = append(all, w)
	}
	return all
}

// chunk is what Void reads of one.
// finish_reason is not among it: Void ignores it.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
			Calls   []struct {
				Index    int    `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

// read reads a stream: native calls by concatenating whatever has index 0, others out of the text. An empty reply is an
// error of Void's.
func (c *Client) read(body io.Reader) (shown string, call *Call, id string, err error) {
	parser := Parser{Tools: c.Tools}
	if c.Native {
		parser.Tools = nil
	}
	var name, args string
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var k chunk
		if err := json.Unmarshal([]byte(data), &k); err != nil || k.Error != nil {
			return "", nil, "", fmt.Errorf("chunk %s: %w", data, errors.Join(err, errors.New("an error")))
		}
		for _, choice := range k.Choices {
			parser.Piece(choice.Delta.Content)
			for _, call := range choice.Delta.Calls {
				if call.Index == 0 {
					id, name, args = id+call.ID, name+call.Function.Name, args+call.Function.Arguments
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return "", nil, "", err
	}
	shown, call = parser.End()
	if c.Native && name != "" {
		call = &Call{Name: name, Args: map[string]string{}, Closed: true}
		var values map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &values); err != nil {
			return shown, nil, "", fmt.Errorf("the call of %s is dropped: %w", name, err)
		}
		for key, value := range values { // numbers are taken as they are
			var s string
			if json.Unmarshal(value, &s) != nil {
				s = string(value)
			}
			call.Args[key] = s
		}
	}
	if shown == "" && call == nil {
		return "", nil, "", errors.New("the reply was empty")
	}
	return shown, call, id, nil
}
