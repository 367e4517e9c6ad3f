package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// tasksExtension is the extension of 2026-07-28 by which a long call is answered with a task
// (SEP-2663). Client and server both name it in their capabilities.
const tasksExtension = "io.modelcontextprotocol/tasks"

const (
	taskLife   = time.Hour   // how long a task may take until it is ended and forgotten
	taskPoll   = time.Second // how often a client should ask for a task
	mostTasks  = 1000        // how many tasks are stored
	mostRounds = 20          // how often one call may ask questions
)

// tasks holds the tool calls that go on after their clients got an answer with a task's id. They
// are in memory, so a restart loses them.
type tasks struct {
	identity json.RawMessage // of the server

	mu  sync.Mutex
	all map[string]*task
}

// task is a tool call that goes on after the client got an answer with the task's id.
type task struct {
	id, principal string
	created       time.Time
	cancel        context.CancelCauseFunc
	answered      chan struct{} // has a buffer of one; gets a value when all questions have answers

	mu      sync.Mutex
	status  string // working, input_required, completed, failed or cancelled
	updated time.Time
	result  json.RawMessage            // of the call
	failure *rpcError                  // an error of the protocol
	open    map[string]json.RawMessage // questions without an answer
	answers map[string]json.RawMessage
}

// errTaskCancelled and errTaskOver are the causes with which the context of a task's call ends.
var (
	errTaskCancelled = errors.New("the client cancelled the task")
	errTaskOver      = fmt.Errorf("the task took longer than %v", taskLife)
)

// extends reports whether the caller has declared the tasks extension in this request.
func (c *caller) extends() bool {
	if !c.modern || c.meta.Capabilities == nil {
		return false
	}
	_, ok := c.meta.Capabilities.Extensions[tasksExtension]
	return ok
}

// withoutTasks returns the error for a request that needs a client with the tasks extension.
func withoutTasks() *rpcError {
	e := fail(codeCapability, "this needs a client with the extension %s",
		tasksExtension).withStatus(http.StatusBadRequest)
	e.data = encode(map[string]any{"requiredCapabilities": map[string]any{
		"extensions": map[string]any{tasksExtension: struct{}{}}}})
	return e
}

// taskSupport returns what a tool declares about tasks: optional or required. It returns "" if the
// tool forbids them, declares nothing, or is unknown.
func (e *engine) taskSupport(ctx context.Context, c *caller, name string) mcp.TaskSupport {
	support := mcp.TaskSupport("")
	if t, ok := e.tool(ctx, c, name); ok {
		var more struct{ Execution mcp.ToolExecution }
		if len(t.More) > 0 && json.Unmarshal(t.More, &more) == nil {
			support = more.Execution.TaskSupport
		}
	} else if extra := e.cfg.Extra.GetTool(name); extra != nil && extra.Tool.Execution != nil {
		support = extra.Tool.Execution.TaskSupport
	}
	if support == mcp.TaskSupportForbidden {
		return ""
	}
	return support
}

// outcome is the outcome of a call: a result or an error.
type outcome struct {
	result  json.RawMessage
	failure *rpcError
}

// callOrTask runs a tool and returns its result, or the question that the tool asks. If that takes
// longer than Config.Patience, and both the tool and the client support tasks, it returns a task,
// and the call goes on. It returns an error if the tool requires tasks and the client does not know
// them.
func (e *engine) callOrTask(ctx context.Context, c *caller, m message) (
	json.RawMessage, *rpcError) {
	if !c.modern {
		return e.callTool(ctx, c, m)
	}
	switch support := e.taskSupport(ctx, c, m.said.Name); {
	case support == mcp.TaskSupportRequired && !c.extends():
		return nil, withoutTasks()
	case support == "" || !c.extends():
		return e.callTool(ctx, c, m)
	}
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(e.ctx, func() { cancel(errClosed) })
	first := make(chan outcome, 1)
	e.beside.Go(func() { first <- e.attempt(inner, c, m) })
	late := time.NewTimer(e.cfg.Patience)
	defer late.Stop()
	select {
	case o := <-first:
		unhook()
		cancel(nil)
		return o.result, o.failure
	case <-ctx.Done():
		cancel(context.Cause(ctx))
	case <-late.C:
		if t := e.keep(c, cancel); t != nil {
			e.beside.Go(func() {
				defer unhook()
				e.follow(inner, t, c, m, first)
			})
			return t.write("task"), nil
		}
	}
	o := <-first // too many tasks are stored, or the client has left
	unhook()
	cancel(nil)
	return o.result, o.failure
}

// attempt calls a tool once and returns the outcome. A panic becomes an error.
func (e *engine) attempt(ctx context.Context, c *caller, m message) (o outcome) {
	defer e.recovered(m, func(failure *rpcError) { o = outcome{failure: failure} })
	ctx, over := e.peer(ctx, c, m)
	defer over()
	result, failure := e.callTool(ctx, c, m)
	return outcome{result, failure}
}

// keep makes a task of a call and returns it; it returns nil if there are too many tasks.
func (e *engine) keep(c *caller, cancel context.CancelCauseFunc) *task {
	now := time.Now()
	t := &task{id: e.others.id(forTask, c.principal), principal: c.principal, created: now,
		updated: now, status: "working", cancel: cancel, answered: make(chan struct{}, 1)}
	e.tasks.mu.Lock()
	defer e.tasks.mu.Unlock()
	if len(e.tasks.all) >= mostTasks {
		return nil
	}
	if e.tasks.all == nil {
		e.tasks.all = map[string]*task{}
	}
	e.tasks.all[t.id] = t
	time.AfterFunc(taskLife, func() {
		cancel(errTaskOver)
		e.tasks.mu.Lock()
		defer e.tasks.mu.Unlock()
		delete(e.tasks.all, t.id)
	})
	return t
}

// follow waits for the outcome of a task's call and stores it in the task. If the call asks
// questions, the task waits for the answers and repeats the call with them, as a client does with
// an ordinary call.
func (e *engine) follow(ctx context.Context, t *task, c *caller, m message, first <-chan outcome) {
	o := <-first
	for range mostRounds {
		var asks struct {
			Open  map[string]json.RawMessage `json:"inputRequests"`
			State json.RawMessage            `json:"requestState"`
		}
		if o.failure != nil || json.Unmarshal(o.result, &asks) != nil || len(asks.Open) == 0 {
			break
		}
		t.ask(asks.Open)
		select {
		case <-t.answered:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		var failure *rpcError
		if m, failure = t.again(m, asks.State); failure != nil {
			o = outcome{failure: failure}
			break
		}
		o = e.attempt(ctx, c, m)
	}
	t.end(ctx, o)
}

// again returns a copy of m, a message that calls a tool, for calling the tool once more. The copy
// has the client's answers to the tool's questions, and the given state of the tool's handler.
// again returns an error if the copy is not a valid message.
func (t *task) again(m message, state json.RawMessage) (message, *rpcError) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(m.params, &all) // it was read before
	delete(all, "requestState")
	if state != nil {
		all["requestState"] = state
	}
	t.mu.Lock()
	all["inputResponses"] = encode(t.answers)
	t.mu.Unlock()
	return readMessage(encode(map[string]json.RawMessage{"jsonrpc": encode("2.0"), "id": m.id,
		"method": encode(m.method), "params": encode(all)}))
}

// set changes the task's status. The caller must hold the lock.
func (t *task) set(status string) {
	t.status, t.updated = status, time.Now()
}

// ask stores the questions that the task's call asks the client, and sets the task's status to
// input_required.
func (t *task) ask(open map[string]json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.answers = open, map[string]json.RawMessage{}
	t.set("input_required")
}

// answer stores answers to open questions, and ignores others.
func (t *task) answer(all map[string]json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != "input_required" {
		return
	}
	for key, answer := range all {
		if t.open[key] != nil {
			t.answers[key] = answer
			delete(t.open, key)
		}
	}
	if len(t.open) == 0 {
		t.set("working")
		t.answered <- struct{}{} // never blocks, since the next question comes after it
	}
}

// end stores how the task's call has ended, and sets the task's status to completed, failed or
// cancelled.
func (t *task) end(ctx context.Context, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = nil
	switch {
	case errors.Is(context.Cause(ctx), errTaskCancelled):
		t.set("cancelled")
	case ctx.Err() != nil:
		t.failure = fail(codeInternal, "%v", context.Cause(ctx))
		t.set("failed")
	case o.failure != nil:
		t.failure = o.failure
		t.set("failed")
	default:
		t.result = o.result
		t.set("completed")
	}
	t.cancel(nil)
}

// write returns the encoded task. The parameter kind is its resultType: "task" in the answer to
// tools/call, and "complete" in the answer to tasks/get, which also has the outcome, or the open
// questions.
func (t *task) write(kind string) json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	is := map[string]any{
		"resultType": kind, "taskId": t.id, "status": t.status, "ttlMs": taskLife.Milliseconds(),
		"pollIntervalMs": taskPoll.Milliseconds(),
		"createdAt":      t.created.UTC().Format(time.RFC3339Nano),
		"lastUpdatedAt":  t.updated.UTC().Format(time.RFC3339Nano),
	}
	switch {
	case kind == "task":
	case t.status == "completed":
		is["result"] = t.result
	case t.failure != nil:
		is["error"] = map[string]any{"code": t.failure.code, "message": t.failure.message}
	case t.status == "input_required":
		is["inputRequests"] = maps.Clone(t.open)
	}
	return encode(is)
}

// ofTask answers tasks/get, tasks/update and tasks/cancel of 2026-07-28. If another replica has the
// task, ofTask gets the answer from it. For tasks/list and tasks/result it returns an error, and
// also if the client does not know tasks. handled is false for other methods, and for a task that
// another server has made.
func (e *engine) ofTask(ctx context.Context, c *caller, m message) (
	result json.RawMessage, rpcErr *rpcError, handled bool) {
	switch m.method {
	case "tasks/list", "tasks/result":
		return nil, fail(codeMethod, "Method not found: %s", m.method), true
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return nil, nil, false
	}
	if !c.extends() {
		return nil, withoutTasks(), true
	}
	if t := e.tasks.find(m.said.Task, c.principal); t != nil {
		result, rpcErr = e.tasks.at(t, m.method, m.params)
		return result, rpcErr, true
	}
	if other, ok := e.others.having(forTask, m.said.Task, c.principal); ok {
		result, rpcErr = e.others.task(ctx, other, c, m)
		return result, rpcErr, true
	}
	return nil, nil, false
}

// find returns the task with this id if it belongs to this principal, or nil.
func (all *tasks) find(id, principal string) *task {
	all.mu.Lock()
	defer all.mu.Unlock()
	if t := all.all[id]; t != nil && t.principal == principal {
		return t
	}
	return nil
}

// at answers a client's request about the task t: it stores the client's answers (tasks/update),
// cancels the task (tasks/cancel), or returns its state. It returns an error if the parameters are
// wrong.
func (all *tasks) at(t *task, method string, params json.RawMessage) (
	json.RawMessage, *rpcError) {
	switch method {
	case "tasks/update":
		var p struct {
			Answers map[string]json.RawMessage `json:"inputResponses"`
		}
		if json.Unmarshal(params, &p) != nil {
			return nil, fail(codeParams, "inputResponses is an object")
		}
		t.answer(p.Answers)
	case "tasks/cancel":
		t.cancel(errTaskCancelled)
	default:
		return t.write("complete"), nil
	}
	return encode(map[string]any{"resultType": "complete", "_meta": all.identity}), nil
}

// answer answers another replica, to which a client has sent a request about a task that this
// replica has. The result is a taskReply. If the task does not exist, the taskReply has an error
// that says so.
func (all *tasks) answer(ask taskAsked) any {
	t := all.find(ask.Task, ask.Principal)
	if t == nil {
		return taskReply{Code: codeParams, Message: "there is no such task, or no longer"}
	}
	result, rpcErr := all.at(t, ask.Method, ask.Params)
	if rpcErr != nil {
		return taskReply{Code: rpcErr.code, Message: rpcErr.message}
	}
	return taskReply{Result: result}
}

// extended rewrites the capabilities in a result for clients of 2026-07-28: it removes the earlier
// capability "tasks" and adds the tasks extension. If the result cannot be read, it is returned
// unchanged.
func extended(result json.RawMessage) json.RawMessage {
	return declaring(result, func(_, can map[string]json.RawMessage) {
		extensions := map[string]json.RawMessage{}
		_ = json.Unmarshal(can["extensions"], &extensions) // without any there are none
		extensions[tasksExtension] = encode(struct{}{})
		delete(can, "tasks")
		can["extensions"] = encode(extensions)
	})
}
