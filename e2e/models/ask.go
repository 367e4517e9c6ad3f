// Package models measures how well real small models call tools: a streaming client, the score, and
// the report. The lane beside it starts the servers; make e2e-models runs the whole.
package models

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"toolnorm/chat"
)

// maxTokens bounds a reply: a call takes 20 to 60 tokens, and a model that rambles is cut.
const maxTokens = 128

// answerTokens bounds the answer to a task, which may be a list.
const answerTokens = 400

// Answer is what came back for a prompt.
// An error is kept in it and not returned: one prompt that fails must not end a long run.
type Answer struct {
	Prompt    string
	Calls     []Call  `json:",omitempty"`
	Text      string  `json:",omitempty"`
	Reasoning string  `json:",omitempty"`
	Finish    string  `json:",omitempty"`
	Error     string  `json:",omitempty"` // why there is no whole reply
	Strategy  string  `json:",omitempty"` // that toolnorm says it used
	Seconds   float64 // from the request to the end of the reply
}

// Call is one call with its fragments joined.
type Call struct{ ID, Name, Args string }

// calls returns the answer's calls as values of type chat.Call, which package exam can compare with
// the expected calls.
func (a *Answer) calls() []chat.Call {
	all := make([]chat.Call, len(a.Calls))
	for i, c := range a.Calls {
		all[i] = chat.Call{ID: c.ID, Name: c.Name, Args: json.RawMessage(c.Args)}
	}
	return all
}

// body is a request. Temperature is 0, so that a run can be repeated.
type body struct {
	Model       string          `json:"model"`
	Messages    []message       `json:"messages"`
	Tools       json.RawMessage `json:"tools,omitempty"`
	Stream      bool            `json:"stream"`
	Temperature float64         `json:"temperature"`
	MaxTokens   int             `json:"max_tokens"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Ask sends a prompt with tools to an OpenAI-compatible server and returns the answer, or an Answer
// with an Error. The address base has no /v1. The request is streamed, at temperature 0. If tools
// is nil, as for an agent that has tools itself, the reply may be longer. Ask accepts calls in
// every form that a tolerant client accepts, because the report compares models and proxies, not
// clients.
func Ask(ctx context.Context, base, model, prompt string, tools json.RawMessage) (a Answer) {
	a.Prompt = prompt
	start := time.Now()
	most := maxTokens
	if tools == nil {
		most = answerTokens
	}
	if err := a.ask(ctx, base, body{Model: model, Messages: []message{{"user", prompt}},
		Tools: tools, Stream: true, MaxTokens: most}); err != nil {
		a.Error = err.Error()
	}
	a.Seconds = time.Since(start).Seconds()
	return a
}

// ask sends the request and reads the reply into a. It also stores the header Toolnorm-Strategy,
// which the report shows, and which only toolnorm sends. It returns an error if the request fails.
func (a *Answer) ask(ctx context.Context, base string, b body) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/chat/completions",
		bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a.Strategy = resp.Header.Get("Toolnorm-Strategy")
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 2000))
		return fmt.Errorf("%d %s", resp.StatusCode, bytes.TrimSpace(text))
	}
	return a.read(resp.Body)
}

// read collects a stream until its end. A stream without a finish_reason is an error: the reply may
// have been cut, and half a call is no call.
func (a *Answer) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if data = strings.TrimSpace(data); ok && data != "[DONE]" {
			if err := a.chunk(data); err != nil {
				return err
			}
		}
		if err == io.EOF && a.Finish == "" {
			return fmt.Errorf("the stream ended without a finish_reason")
		}
		if err != nil {
			return ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// fragment is a part of a tool call, as one event of a stream brings it.
type fragment struct {
	Index    int
	ID       string
	Function struct{ Name, Arguments string }
}

// chunk adds the contents of one event of a stream to the answer. It reads the model's reasoning
// from the member reasoning, which Ollama sends, and from reasoning_content, which llama-server
// sends. It returns an error if the event contains an error or is not valid JSON.
func (a *Answer) chunk(data string) error {
	var c struct {
		Error   json.RawMessage
		Choices []struct {
			Delta struct {
				Content   string
				Reasoning string     `json:"reasoning"`
				Thinking  string     `json:"reasoning_content"`
				Calls     []fragment `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return fmt.Errorf("chunk %s: %w", data, err)
	}
	if len(c.Error) > 0 {
		return fmt.Errorf("error event %s", c.Error)
	}
	for _, choice := range c.Choices {
		a.Text += choice.Delta.Content
		// a server may send both
		a.Reasoning += cmp.Or(choice.Delta.Thinking, choice.Delta.Reasoning)
		for _, f := range choice.Delta.Calls {
			a.fragment(f)
		}
		if choice.Finish != "" {
			a.Finish = choice.Finish
		}
	}
	return nil
}

// fragment adds a streamed fragment to the call that it belongs to. A new id begins a new call,
// even if the index is that of another call, because servers have sent two calls with index 0.
func (a *Answer) fragment(f fragment) {
	last := len(a.Calls) - 1
	if last < 0 || f.ID != "" && f.ID != a.Calls[last].ID || f.ID == "" && f.Function.Name != "" {
		a.Calls = append(a.Calls, Call{ID: f.ID, Name: f.Function.Name})
		last++
	}
	a.Calls[last].Args += f.Function.Arguments
}
