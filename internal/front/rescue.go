package front

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"toolnorm/internal/fault"
)

// rescue tells the client of a handler that panicked: by a status when the answer has not begun, by
// an error event or record when it is a stream of such, and else by an answer that breaks off.
// net/http alone would cut the connection, which SDKs take for a network fault and repeat. The
// stack goes to the log, not to the client.
func (f *Front) rescue(w *writer, r *http.Request) {
	v := recover()
	switch v {
	case nil:
		return
	case http.ErrAbortHandler: // a handler that means to cut its answer, as httputil.ReverseProxy does
		mustBreakOff()
	}
	f.Log.Error().Str("path", r.URL.Path).Str("panic", fmt.Sprintf("%.1000v", v)).Bytes("stack", debug.Stack()).Msg("a handler panicked")
	err := &fault.Error{Kind: fault.Internal, Message: "toolnorm failed inside; its log says where"}
	form, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	switch {
	case !w.begun:
		// What the handler had set describes an answer that will not come, as Content-Length.
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

// last writes the end of a stream. It begins with an end of what may have been begun; readers skip
// empty lines.
func (w *writer) last(text string) {
	if _, err := w.Write([]byte(text)); err == nil {
		_ = w.FlushError() // who has gone need not be told
	}
}

// mustBreakOff makes net/http cut the connection, so that no client takes what it has got for all.
func mustBreakOff() { panic(http.ErrAbortHandler) }
