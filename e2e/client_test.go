package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// client is a Node process that asks with a stock client; see clients/run.mjs for what it can do.
type client struct {
	name    string
	mu      sync.Mutex // guards the fields below and writes to the process
	in      *json.Encoder
	next    int
	waiting map[int]chan reply
}

type job struct {
	ID     int             `json:"id"`
	Do     string          `json:"do"`
	Base   string          `json:"base"`
	Body   json.RawMessage `json:"body"`
	Answer string          `json:"answer,omitempty"` // of every tool, in a loop
}

// reply is what the client got.
type reply struct {
	ID                         int
	Content, Reasoning, Finish string
	Calls                      []gotCall
	Usage                      *usage
	Vectors                    [][]float64
	Aborted                    bool
	Raw, Type                  string // the bytes on the wire and their content type; not from OpenAI's old client
	Error                      string // what the client threw
	Status                     int    // of a refusal
}

type gotCall struct {
	ID, Name, Arguments string
	Pieces              int // fragments of the arguments that were not empty
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// startClient starts the Node process of one version of the client. Closing its input at the end of
// the lane ends it.
func (l *lane) startClient(name string) (*client, error) {
	cmd := exec.Command("node", filepath.Join("clients", "run.mjs"), installed.clients, name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l.stops = append(l.stops, func() { in.Close(); cmd.Wait() })
	c := &client{name: name, in: json.NewEncoder(in), waiting: map[int]chan reply{}}
	go c.read(out) // ends with the process
	return c, nil
}

func (c *client) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var got reply
		if err := json.Unmarshal(line, &got); err != nil {
			got.Error = fmt.Sprintf("the client's process wrote %q: %v", line, err)
		}
		c.mu.Lock()
		done := c.waiting[got.ID]
		delete(c.waiting, got.ID)
		c.mu.Unlock()
		if done != nil {
			done <- got
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, done := range c.waiting {
		done <- reply{Error: "the client's process ended"}
	}
	c.waiting = nil
}

// chat runs one request at a server.
func (c *client) chat(base string, body request) reply {
	return c.do(job{Do: "chat", Base: base}, body)
}

// do runs one job with a body.
func (c *client) do(j job, body any) reply {
	b, err := json.Marshal(body)
	if err != nil {
		return reply{Error: err.Error()}
	}
	done := make(chan reply, 1)
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return reply{Error: "the client's process has ended"}
	}
	c.next++
	c.waiting[c.next] = done
	j.ID, j.Body = c.next, b
	err = c.in.Encode(j)
	c.mu.Unlock()
	if err != nil {
		return reply{Error: err.Error()}
	}
	return <-done
}

// request is the body of a chat.
type request struct {
	Model     string            `json:"model"`
	Messages  []message         `json:"messages"`
	Tools     []json.RawMessage `json:"tools,omitempty"`
	Stream    bool              `json:"stream,omitempty"`
	Options   *streamOptions    `json:"stream_options,omitempty"`
	MaxTokens int               `json:"max_tokens,omitempty"`
	Choice    any               `json:"tool_choice,omitempty"`
	Parallel  *bool             `json:"parallel_tool_calls,omitempty"`
	Wrong     bool              `json:"wrong,omitempty"` // the client says something that cannot be honoured
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
