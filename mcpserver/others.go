package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
)

// The purposes of ids that say which replica has something.
const (
	forQuestion = "question"
	forTask     = "task"
)

// hearOthers does what clients have said to other replicas, and is meant for this one.
func (e *engine) hearOthers() {
	hear(e.cfg.Shared, aboutAnswer, func(p passedOn) any {
		if m, rpcErr := readMessage(p.Message); rpcErr == nil {
			e.asked.deliver(p.ID, p.Session, p.Principal, m)
		}
		return nil
	})
	hear(e.cfg.Shared, aboutCancel, func(c takenBack) any {
		e.cancelIf(func(r inFlight) bool { return r.id == c.ID && nameOf(r.session) == c.Session })
		return nil
	})
	hear(e.cfg.Shared, aboutTask, e.answerTask)
}

// takenBack is a request that a client has cancelled.
type takenBack struct {
	Session string `json:"session"` // as nameOf gives it
	ID      string `json:"id"`      // as it was written
}

// cancelAnywhere cancels a request of a session, which may run at another replica: the message does
// not say where, so all are told. One that has ended costs a letter to each, and clients may send
// only so many messages.
func (e *engine) cancelAnywhere(session, id string) {
	if e.cancel(session, id) || e.cfg.Shared == nil || session == "" || id == "" {
		return
	}
	if err := e.cfg.Shared.TellAll(aboutCancel, takenBack{nameOf(session), id}); err != nil {
		e.cfg.Log.Warn().Err(err).Msg("cannot pass on to other replicas what an MCP client cancels")
	}
}

// taskAsked is what a client asks of a task that another replica has.
type taskAsked struct {
	Task      string          `json:"task"`
	Principal string          `json:"principal"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
}

// taskReply is the answer: a result, or an error.
type taskReply struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Code    int             `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
}

// taskElsewhere asks the replica that has a task.
func (e *engine) taskElsewhere(ctx context.Context, replica string, c *caller, m message) (
	json.RawMessage, *rpcError) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	var r taskReply
	err := e.cfg.Shared.Ask(ctx, replica, aboutTask,
		taskAsked{m.said.Task, c.principal, m.method, m.params}, &r)
	switch {
	case err != nil:
		e.cfg.Log.Warn().Err(err).Msg("cannot ask the replica that has an MCP task")
		return nil, fail(codeInternal, "the replica that has this task does not answer; try again, or call the tool again if it has stopped").withStatus(
			http.StatusServiceUnavailable)
	case r.Code != 0:
		return nil, fail(r.Code, "%s", r.Message)
	}
	return r.Result, nil
}

// answerTask answers another replica's question for a task.
func (e *engine) answerTask(ask taskAsked) any {
	t := e.tasks.find(ask.Task, ask.Principal)
	if t == nil {
		return taskReply{Code: codeParams, Message: "there is no such task, or no longer"}
	}
	result, rpcErr := e.atTask(t, ask.Method, ask.Params)
	if rpcErr != nil {
		return taskReply{Code: rpcErr.code, Message: rpcErr.message}
	}
	return taskReply{Result: result}
}
