package front

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"toolnorm/internal/fault"
)

// rescue recovers from a panic of a handler and tells the client. If the answer has not begun, it
// sends a status. If the answer is a stream of events or records, it sends the error as the last
// event or record. Any other answer is cut off. net/http would cut off every answer, which SDKs
// take for a network fault and repeat the request. The stack is logged and not sent.
func (f *Front) rescue(w *writer, r *http.Request) {
	v := recover()
	switch v {
	case nil:
		return
	// a handler wants to cut off its answer, as httputil.ReverseProxy does
	case http.ErrAbortHandler:
		mustBreakOff()
	}
	f.Log.Error().Str("path", r.URL.Path).Str("panic", fmt.Sprintf("%.1000v", v)).Bytes("stack",
		debug.Stack()).Msg("a handler panicked")
	err := &fault.Error{Kind: fault.Internal, Message: "toolnorm failed inside; its log says where"}
	form, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	switch {
	case !w.begun:
		// The headers that the handler set, such as Content-Length, describe an answer that will
		// not come.
		clear(w.Header())
		fault.WriteFor(w, r, err)
	case form == "text/event-stream":
		w.last("\n\ndata: " + string(fault.OpenAI(err)) + "\n\n")
	case form == "application/x-ndjson":
		w.last("\n" + string(fault.Ollama(err)) + "\n")
	default:
		mustBreakOff()
	}
}

// last writes the given text as the end of a stream. Because a line may have been begun, the text
// must start with a line break; readers skip empty lines.
func (w *writer) last(text string) {
	if _, err := w.Write([]byte(text)); err == nil {
		_ = w.FlushError() // a client that has gone need not be told
	}
}

// mustBreakOff panics with http.ErrAbortHandler, which makes net/http cut the connection, so that
// no client takes a partial answer for the whole one.
func mustBreakOff() { panic(http.ErrAbortHandler) }
