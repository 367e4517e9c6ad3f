package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// mcpClient is a Node process that speaks MCP with a stock client; see mcp/client.mjs for what it
// can do.
type mcpClient struct {
	in    *json.Encoder
	out   *bufio.Reader
	notes []string // methods of the notifications that came so far
}

// mcpJob is what the client is told to do.
type mcpJob struct {
	Do        string            `json:"do"`
	URL       string            `json:"url,omitempty"`
	Transport string            `json:"transport,omitempty"`
	Command   []string          `json:"command,omitempty"`
	Name      string            `json:"name,omitempty"`
	Args      map[string]string `json:"args,omitempty"` // strings only, as Void sends them
	Cancel    int               `json:"cancel,omitempty"`
}

// mcpReply is what came of it.
type mcpReply struct {
	Tools  []string
	Result struct {
		IsError           bool
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
	}
	Progress []float64
	Error    string // what the client threw
	Code     int
	Data     json.RawMessage
	Failed   []string // what went wrong last beside the requests
	Notes    []string // methods of notifications that came since the last reply
}

// text is that of the first content, where it is one.
func (r mcpReply) text() string {
	if len(r.Result.Content) == 0 || r.Result.Content[0].Type != "text" {
		return ""
	}
	return r.Result.Content[0].Text
}

// mcpClient starts a stock client; it ends with the test.
func (l *mcpLane) client(t *testing.T, name string) *mcpClient {
	t.Helper()
	cmd := exec.Command(l.node, filepath.Join("mcp", "client.mjs"), l.packages, name)
	cmd.Stderr = os.Stderr
	in := must.Have(cmd.StdinPipe())(t)
	out := must.Have(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	stuck := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
		stuck.Stop()
	})
	return &mcpClient{in: json.NewEncoder(in), out: bufio.NewReader(out)}
}

// do runs one job.
func (c *mcpClient) do(t *testing.T, j mcpJob) (r mcpReply) {
	t.Helper()
	must.OK(t, c.in.Encode(j))
	line, err := c.out.ReadBytes('\n')
	if err == io.EOF {
		t.Fatalf("the client's process ended at %+v", j)
	}
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		t.Fatalf("the client's process wrote %q: %v", line, err)
	}
	c.notes = append(c.notes, r.Notes...)
	return r
}

// must runs a job that succeeds.
func (c *mcpClient) must(t *testing.T, j mcpJob) mcpReply {
	t.Helper()
	r := c.do(t, j)
	if r.Error != "" {
		t.Fatalf("%s %s: %s (code %d, data %s; beside it %q)", j.Do, j.Name, r.Error, r.Code, r.Data, r.Failed)
	}
	return r
}

// hears runs a job until a notification has come: a client may be connected before it listens.
func (c *mcpClient) hears(t *testing.T, method string, after mcpJob) {
	t.Helper()
	for range 40 {
		c.must(t, after)
		if slices.Contains(c.notes, method) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("no %s came", method)
}
