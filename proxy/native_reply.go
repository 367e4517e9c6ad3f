package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

	text, thinking strings.Builder
	calls          []nativeCall // finished, not yet written
	open           *nativeCall  // begun; nothing is shown of it before its end
	args           strings.Builder
	said           bool // something was gathered at all

	end   *chat.Event // the Finish event
	count chat.Counts
	times chat.Times
}

// nativeCall is a call in Ollama's form.
type nativeCall struct {
	ID       string `json:"id"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// Event gathers one event. Characters that are not complete wait for their rest when they are written.
func (n *native) Event(e chat.Event) error {
	switch e.Kind {
	case chat.Text:
		n.text.WriteString(e.Text)
	case chat.Reasoning:
		n.thinking.WriteString(e.Text)
	case chat.CallStart:
		n.open = &nativeCall{ID: e.ID}
		n.open.Function.Index, n.open.Function.Name = e.Index, e.Text
		n.args.Reset()
	case chat.CallArgs:
		n.args.WriteString(e.Text)
	case chat.CallEnd:
		return n.endCall()
	case chat.Finish:
		n.end = &e
	}
	if e.Meta != nil && e.Meta.Usage != nil {
		n.count = *e.Meta.Usage
	}
	if e.Meta != nil && e.Meta.Times != nil {
		n.times = *e.Meta.Times
	}
	return nil
}

// endCall completes the open call. Its arguments lose the blanks between their tokens: a record is one line.
func (n *native) endCall() error {
	var args bytes.Buffer
	if err := json.Compact(&args, []byte(cmp.Or(n.args.String(), "{}"))); err != nil {
		return fmt.Errorf("arguments of %s: %w", n.open.Function.Name, err)
	}
	n.open.Function.Arguments = args.Bytes()
	n.calls = append(n.calls, *n.open)
	n.open = nil
	return nil
}

// finished is the error of a reply that ended badly, nil when it ended well.
func (n *native) finished(err error) error {
	switch {
	case err != nil:
		return err
	case n.end == nil:
		return errUnfinished()
	case !n.said && !n.mayBeEmpty && n.end.Text != chat.Length:
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
	b = appendQuoted(b, n.text.String())
	if n.thinking.Len() > 0 {
		b = appendQuoted(append(b, `,"thinking":`...), n.thinking.String())
	}
	for i, c := range n.calls {
		b = append(b, []string{`,"tool_calls":[`, `,`}[min(i, 1)]...)
		b = appendQuoted(append(b, `{"id":`...), c.ID)
		b = strconv.AppendInt(append(b, `,"function":{"index":`...), int64(c.Function.Index), 10)
		b = appendQuoted(append(b, `,"name":`...), c.Function.Name)
		b = append(append(append(b, `,"arguments":`...), c.Function.Arguments...), "}}"...)
	}
	if len(n.calls) > 0 {
		b = append(b, ']')
	}
	n.text.Reset()
	n.thinking.Reset()
	n.calls = nil
	if last {
		return n.appendEnd(append(b, `},"done":true,"done_reason":`...))
	}
	return append(b, `},"done":false}`...)
}

// appendEnd appends the reason, the counts and the times, in nanoseconds. Times that nobody took are left out.
func (n *native) appendEnd(b []byte) []byte {
	reason := n.end.Text
	if n.open != nil {
		reason = chat.Length
	}
	b = appendQuoted(b, reason)
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"total_duration", int64(time.Since(n.out.Created))},
		{"load_duration", int64(n.times.Load)},
		{"prompt_eval_count", int64(n.count.Prompt)},
		{"prompt_eval_duration", int64(n.times.Prompt)},
		{"eval_count", int64(n.count.Completion)},
		{"eval_duration", int64(n.times.Completion)},
	} {
		if f.value > 0 {
			b = append(append(append(b, `,"`...), f.name...), `":`...)
			b = strconv.AppendInt(b, f.value, 10)
		}
	}
	return append(b, '}')
}
