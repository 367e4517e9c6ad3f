package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/rs/zerolog"
)

// The purposes for which an id of others.id is signed.
const (
	forQuestion = "question"
	forTask     = "task"
)

// others gives access to the other replicas. One of them may have the question or the task that a
// client's message is about.
type others struct {
	shared Shared // nil: there are none
	seal   seal
	log    zerolog.Logger
}

// id returns a new id for a question or a task that this replica keeps for an owner. If there are
// no other replicas, it is a random text. If there are, it also contains the name of this replica,
// because the client may send the id to any of them, and a signature for this purpose and owner.
// Without the signature clients could invent ids, and make replicas ask each other for
// questions and tasks that do not exist.
func (o *others) id(purpose, owner string) string {
	id := rand.Text()
	if o.shared == nil {
		return id
	}
	id += "." + o.shared.Name()
	return id + "." + o.sum(purpose, id, owner)
}

// sum returns the signature of an id for its purpose and owner.
func (o *others) sum(purpose, id, owner string) string {
	return hex.EncodeToString(o.seal.sum(purpose, []byte(id+" "+owner))[:8])
}

// having returns the name of the other replica that has created an id for this purpose and owner.
// It returns false if the id is this replica's own or was not made by others.id.
func (o *others) having(purpose, id, owner string) (replica string, ok bool) {
	if o.shared == nil {
		return "", false
	}
	parts := strings.Split(id, ".")
	if len(parts) != 3 || parts[1] == o.shared.Name() ||
		!hmac.Equal([]byte(parts[2]), []byte(o.sum(purpose, parts[0]+"."+parts[1], owner))) {
		return "", false
	}
	return parts[1], true
}

// hearOthers handles what other replicas pass on: clients' answers to questions of this replica,
// cancellations, and requests about tasks.
func (e *engine) hearOthers() {
	hear(e.cfg.Shared, aboutAnswer, func(p passedOn) any {
		if m, rpcErr := readMessage(p.Message); rpcErr == nil {
			e.asked.deliver(p.ID, p.Session, p.Principal, m)
		}
		return nil
	})
	hear(e.cfg.Shared, aboutCancel, func(c takenBack) any {
		e.running.cancelIf(func(r inFlight) bool {
			return r.id == c.ID && nameOf(r.session) == c.Session
		})
		return nil
	})
	hear(e.cfg.Shared, aboutTask, e.tasks.answer)
}

// takenBack tells another replica which request a client has cancelled.
type takenBack struct {
	Session string `json:"session"` // as nameOf returns it
	ID      string `json:"id"`      // as it was written
}

// cancel asks all other replicas to cancel a request of a session, because the client's message
// does not say which one runs it. A request that has already ended costs a message to each replica,
// too, but clients may only send a limited number.
func (o *others) cancel(session, id string) {
	if o.shared == nil || session == "" || id == "" {
		return
	}
	if err := o.shared.TellAll(aboutCancel, takenBack{nameOf(session), id}); err != nil {
		o.log.Warn().Err(err).Msg("cannot pass on to other replicas what an MCP client cancels")
	}
}

// taskAsked is a client's request about a task that another replica has.
type taskAsked struct {
	Task      string          `json:"task"`
	Principal string          `json:"principal"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
}

// taskReply is what a replica answers when another asks it about a task (taskAsked): a result, or
// an error with a code.
type taskReply struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Code    int             `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
}

// task passes a request about a task on to the replica that has the task, and returns its answer.
// It returns an error if that replica does not answer.
func (o *others) task(ctx context.Context, replica string, c *caller, m message) (
	json.RawMessage, *rpcError) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	var r taskReply
	err := o.shared.Ask(ctx, replica, aboutTask,
		taskAsked{m.said.Task, c.principal, m.method, m.params}, &r)
	switch {
	case err != nil:
		o.log.Warn().Err(err).Msg("cannot ask the replica that has an MCP task")
		return nil, fail(codeInternal, "the replica that has this task does not answer; try again, or call the tool again if it has stopped").withStatus(
			http.StatusServiceUnavailable)
	case r.Code != 0:
		return nil, fail(r.Code, "%s", r.Message)
	}
	return r.Result, nil
}
