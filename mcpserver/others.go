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

// The purposes of ids that say which replica has something.
const (
	forQuestion = "question"
	forTask     = "task"
)

// others are the other replicas, one of which may have what a client says something of.
type others struct {
	shared Shared // nil: there are none
	seal   seal
	log    zerolog.Logger
}

// id returns an id for something that this replica has for somebody. With other replicas it says
// which one has it, as the client may send what it says of it to any. The signature, for a purpose,
// keeps clients from writing to replicas that have nothing of theirs.
func (o *others) id(purpose, owner string) string {
	id := rand.Text()
	if o.shared == nil {
		return id
	}
	id += "." + o.shared.Name()
	return id + "." + o.sum(purpose, id, owner)
}

// sum signs an id for its owner.
func (o *others) sum(purpose, id, owner string) string {
	return hex.EncodeToString(o.seal.sum(purpose, []byte(id+" "+owner))[:8])
}

// having returns the other replica that has given an id to somebody; false if none has.
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

// hearOthers does what clients have said to other replicas, and is meant for this one.
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

// takenBack is a request that a client has cancelled.
type takenBack struct {
	Session string `json:"session"` // as nameOf gives it
	ID      string `json:"id"`      // as it was written
}

// cancel cancels a request of a session at all others: the client's message does not say where it
// runs. One that has ended costs a letter to each, and clients may send only so many messages.
func (o *others) cancel(session, id string) {
	if o.shared == nil || session == "" || id == "" {
		return
	}
	if err := o.shared.TellAll(aboutCancel, takenBack{nameOf(session), id}); err != nil {
		o.log.Warn().Err(err).Msg("cannot pass on to other replicas what an MCP client cancels")
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

// task asks the replica that has a task.
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
