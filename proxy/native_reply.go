package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/sse"
)

// openNative opens a reply in Ollama's form. There a call always comes whole, so there is time to put right what is
// wrong with it.
func openNative(_ http.Header, a *Ask, out Out) (Reply, error) {
	a.Hold = adapters.HoldCall
	n := native{out: out, model: a.Model, mayBeEmpty: len(a.Stop) > 0}
	if !a.Stream {
		return &nativeWhole{native: n}, nil
	}
	w := sse.NewWriter(out.W, out.Stall)
	w.Type = "application/x-ndjson"
	return &nativeStream{native: n, w: w}, nil
}

// native is what both forms of Ollama's reply share: they gather text, thinking and whole calls until they are written.
type native struct {
	out        Out
	model      string
	mayBeEmpty bool // the client's stop sequences may leave nothing

	reply   chat.Collector
	written int  // calls
	said    bool // something was gathered at all
}

// Event gathers one event. Characters that are not complete wait for their rest when they are written.
func (n *native) Event(e chat.Event) error {
	if !n.reply.Add(e) {
		return nil
	}
	last := &n.reply.Calls[len(n.reply.Calls)-1]
	var args bytes.Buffer
	if err := json.Compact(&args, last.Args); err != nil { // a record is one line
		return fmt.Errorf("arguments of %s: %w", last.Name, err)
	}
	last.Args = args.Bytes()
	return nil
}

// gathered says how much no record has yet: bytes of text, and calls.
func (n *native) gathered() int {
	return n.reply.Text.Len() + n.reply.Reasoning.Len() + len(n.unwritten())
}

// finished is the error of a reply that ended badly, nil when it ended well.
func (n *native) finished(err error) error {
	switch {
	case err != nil:
		return err
	case n.reply.End == nil:
		return errUnfinished()
	case !n.said && !n.mayBeEmpty && n.reply.End.Text != chat.Length:
		return errEmpty()
	}
	return nil
}

// appendRecord appends a record of what has gathered, and its end if it is the last one.
func (n *native) appendRecord(b []byte, last bool) []byte {
	b = appendQuoted(append(b, `{"model":`...), n.model)
	b = append(b, `,"created_at":"`...)
	b = time.Now().UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","message":{"role":"assistant","content":`...)
	b = appendQuoted(b, n.reply.Text.String())
	if n.reply.Reasoning.Len() > 0 {
		b = appendQuoted(append(b, `,"thinking":`...), n.reply.Reasoning.String())
	}
	b = n.appendCalls(b)
	n.reply.Text.Reset()
	n.reply.Reasoning.Reset()
	if last {
		return n.appendEnd(append(b, `},"done":true,"done_reason":`...))
	}
	return append(b, `},"done":false}`...)
}

// appendCalls appends the calls that no record has yet.
func (n *native) appendCalls(b []byte) []byte {
	calls := n.unwritten()
	for i, c := range calls {
		b = append(b, []string{`,"tool_calls":[`, `,`}[min(i, 1)]...)
		b = appendQuoted(append(b, `{"id":`...), c.ID)
		b = strconv.AppendInt(append(b, `,"function":{"index":`...), int64(n.written), 10)
		b = appendQuoted(append(b, `,"name":`...), c.Name)
		b = append(append(append(b, `,"arguments":`...), c.Args...), "}}"...)
		n.written++
	}
	if len(calls) > 0 {
		b = append(b, ']')
	}
	return b
}

// unwritten lists the complete calls that no record has yet.
func (n *native) unwritten() []chat.Call { return n.reply.Complete()[n.written:] }

// appendEnd appends the reason, the counts and the times, in nanoseconds. Times that nobody took are left out.
func (n *native) appendEnd(b []byte) []byte {
	reason := n.reply.End.Text
	if n.reply.Open {
		reason = chat.Length
	}
	b = appendQuoted(b, reason)
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"total_duration", int64(time.Since(n.out.Created))},
		{"load_duration", int64(n.reply.Times.Load)},
		{"prompt_eval_count", int64(n.reply.Usage.Prompt)},
		{"prompt_eval_duration", int64(n.reply.Times.Prompt)},
		{"eval_count", int64(n.reply.Usage.Completion)},
		{"eval_duration", int64(n.reply.Times.Completion)},
	} {
		if f.value > 0 {
			b = append(append(append(b, `,"`...), f.name...), `":`...)
			b = strconv.AppendInt(b, f.value, 10)
		}
	}
	return append(b, '}')
}
