package agent

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
)

// rpcResult is the result of a run. Its lists are never null, because callers loop over them
// without a check.
type rpcResult struct {
	Text     string   `json:"text"`
	Model    string   `json:"model"`
	Steps    int      `json:"iterations"`
	Stop     Stop     `json:"stop_reason"`
	Calls    []Ran    `json:"tool_calls"`
	Consent  *Wanted  `json:"consent,omitempty"`
	Chosen   string   `json:"selected_by,omitempty"`
	Usage    usage    `json:"usage"`
	Queue    int64    `json:"queue_ms"` // milliseconds that all steps waited together
	Warnings []string `json:"warnings"`
}

// usage counts tokens over all steps, with OpenAI's names. Every step counts the whole conversation
// again, since the model reads it again.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// resultOf returns an outcome in the form for the caller, with [] in place of null for empty lists.
func resultOf(o *Outcome) *rpcResult {
	r := &rpcResult{Text: o.Text, Model: o.Model, Steps: o.Steps, Stop: o.Stop, Calls: o.Calls,
		Consent: o.Consent, Chosen: o.Chosen, Queue: o.Waited.Milliseconds(), Warnings: o.Warnings}
	r.Usage = usage{o.Usage.Prompt, o.Usage.Completion, o.Usage.Prompt + o.Usage.Completion}
	if r.Calls == nil {
		r.Calls = []Ran{}
	}
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	return r
}

// rpcReply is an answer. It has either a result or an error.
type rpcReply struct {
	Version string          `json:"jsonrpc"`
	Result  *rpcResult      `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
	ID      json.RawMessage `json:"id"`
}

// reply20 returns an answer in JSON-RPC 2.0, with a result or an error and the id of the request.
// If it cannot be encoded, the answer is an internal error.
func reply20(id json.RawMessage, r *rpcResult, e *rpcError) []byte {
	text, err := chat.JSON(rpcReply{"2.0", r, e, id})
	if err != nil { // arguments that are not JSON were refused before
		text = []byte(
			`{"jsonrpc":"2.0","error":{"code":-32603,"message":"the answer cannot be written"},"id":null}`)
	}
	return text
}

// writeRPC writes an answer. It ignores errors, because a client that is gone cannot be told. The
// line break at the end is for people with curl.
func writeRPC(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// writeRPCError answers with an error, and with the headers that say when to try again, as all
// errors of this server do.
func writeRPCError(w http.ResponseWriter, id json.RawMessage, e *rpcError) {
	var f *fault.Error
	if errors.As(e.cause, &f) {
		f.Advise(w.Header())
	}
	writeRPC(w, e.status, reply20(id, nil, e))
}

// stall is how long a client may read nothing from its stream. It is a minute, since a client may
// do work of its own after each step.
const stall = time.Minute

// serveStream answers with events: each Progress is a notification, and the answer is the last
// event. A wrong request still gets its status if nothing has been written yet. Otherwise the error
// is the last event.
func (l *Loop) serveStream(w http.ResponseWriter, r *http.Request, id json.RawMessage, a Ask) {
	out := &frames{w: sse.NewWriter(w, stall)}
	stop := beating(l.cfg.Beat, out.beat)
	// Each piece of progress is a notification of its own; a reader that wants no progress skips to
	// the last event.
	outcome, err := l.Run(r.Context(), a, func(p Progress) {
		text, err := chat.JSON(struct {
			Version string   `json:"jsonrpc"`
			Method  string   `json:"method"`
			Params  Progress `json:"params"`
		}{"2.0", "notifications/progress", p})
		if err == nil {
			out.send(text)
		}
	})
	// From here on the stream has one writer: stop waits for a keep-alive that is being written.
	stop()
	l.log(a, outcome, err)
	switch {
	case err == nil:
		out.send(reply20(id, resultOf(outcome), nil))
	// Nothing was written, not even a keep-alive, so the error can still have its status.
	case !out.w.Wrote():
		writeRPCError(w, id, asRPC(err))
	default:
		out.send(reply20(id, nil, asRPC(err)))
	}
}

// frames is an event stream that two goroutines write: the run, and the sender of keep-alives.
type frames struct {
	mu sync.Mutex
	w  *sse.Writer
}

// send writes an event. It ignores errors, because a client that is gone ends the request's
// context, and with it the run.
func (e *frames) send(text []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.w.Buf = append(append(append(e.w.Buf, "event: message\ndata: "...), text...), "\n\n"...)
	_ = e.w.Flush()
}

// beat writes a comment as a keep-alive, and returns an error if the client cannot be written to.
// After the first one, a request that fails cannot get its own status any more.
func (e *frames) beat() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.w.Comment("keep-alive")
	return e.w.Flush()
}
