package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolnorm/tools"
)

// reporting lets a tool's progress and log reach its caller, in order and complete, until done is called: nothing follows
// the answer.
func reporting(ctx context.Context, c *caller) (_ context.Context, done func()) {
	r := &reports{c: c, ctx: ctx, last: -1}
	var to tools.Reporter
	if c.meta.Progress != nil {
		to.Progress = r.progress
	}
	if c.logLevel() != "" {
		to.Log = r.log
	}
	return tools.WithReporter(ctx, to), r.done
}

// reports are what one call has said of itself.
type reports struct {
	c   *caller
	ctx context.Context // of the call: a Reporter's functions have none

	mu   sync.Mutex
	last float64 // the progress that was told; it must grow
	over bool
}

// progress tells how far the call has come. What does not go forward is left out, as the protocol wants.
func (r *reports) progress(done, total float64, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !(done > r.last) {
		return
	}
	r.last = done
	r.send(mcp.MethodNotificationProgress, struct {
		Token   json.RawMessage `json:"progressToken"`
		Done    float64         `json:"progress"`
		Total   float64         `json:"total,omitempty"`
		Message string          `json:"message,omitempty"`
	}{r.c.meta.Progress, done, total, text})
}

// log passes a line on, if the client wants lines of its level.
func (r *reports) log(level, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || !mcp.LoggingLevel(level).ShouldSendTo(r.c.logLevel()) {
		return
	}
	r.send(mcp.MethodNotificationMessage, struct {
		Level string `json:"level"`
		Data  string `json:"data"`
	}{level, text})
}

// send waits for room. An error has ended the call as well.
func (r *reports) send(method mcp.MCPMethod, params any) {
	_ = r.c.out(r.ctx, frame{body: notification(string(method), params)})
}

// done ends the reports.
func (r *reports) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
