package demo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
	"toolnorm/internal/sleep"
)

// delay returns the pause between two pieces of a reply. The default of 2 ms gives 500 pieces a
// second, which is fast, but streaming is still visible.
func (d *Server) delay() time.Duration { return max(cmp.Or(d.Delay, 2*time.Millisecond), 0) }

// demoWriter writes one reply. The reply is streamed unless the request wants it as a whole. A
// whole reply joins the same records, so that both forms have the same content.
type demoWriter struct {
	w      http.ResponseWriter
	r      *http.Request
	delay  time.Duration
	model  string
	chat   bool       // the form of /api/chat; false: that of /api/generate
	stream *bool      // nil: true, as in Ollama
	whole  demoRecord // the reply that is not streamed
	prompt int        // bytes of the prompt
	pieces int        // the pieces so far, which are reported as tokens
	reason string
}

// demoRecord is one record of a reply. Message is for /api/chat, and Response for /api/generate. In
// both, the last record has "done":true and the token counts.
type demoRecord struct {
	Model      string          `json:"model"`
	CreatedAt  string          `json:"created_at"`
	Message    *ollama.Message `json:"message,omitempty"`
	Response   *string         `json:"response,omitempty"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason,omitempty"`
	Prompt     int             `json:"prompt_eval_count,omitempty"`
	Eval       int             `json:"eval_count,omitempty"`
}

// write sends the text in small pieces, each of whole characters. It ends at a stop sequence or at
// the token limit, if the options have them, so that clients that set them see what a model would
// do. Each piece is counted as a token.
func (o *demoWriter) write(text string, options map[string]json.RawMessage) {
	o.reason = "stop"
	var stops []string
	limit := 0
	json.Unmarshal(options["stop"], &stops)
	json.Unmarshal(options["num_predict"], &limit)
	for _, stop := range stops {
		text, _, _ = strings.Cut(text, stop)
	}
	for len(text) > 0 {
		if limit > 0 && o.pieces == limit {
			o.reason = "length"
			return
		}
		n := min(demoDelta, len(text))
		// JSON cannot hold half a character.
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		o.piece(text[:n])
		text = text[n:]
	}
}

// piece pauses for o.delay, and then sends a piece of the text in one record. If the client has
// left, it stops pausing and sends nothing.
func (o *demoWriter) piece(text string) {
	o.pieces++
	if o.delay > 0 {
		sleep.For(o.r.Context(), o.delay)
	}
	if o.chat {
		o.record(demoRecord{Message: &ollama.Message{Role: "assistant", Content: text}})
	} else {
		o.record(demoRecord{Response: &text})
	}
}

// call sends a whole call in one record, as Ollama does, with an id of Ollama's form: "call_" and
// eight characters.
func (o *demoWriter) call(i int, c ollama.Call) {
	c.ID = fmt.Sprintf("call_demo%04d", i)
	o.record(demoRecord{Message: &ollama.Message{Role: "assistant", Calls: []ollama.Call{c}}})
}

// end sends the last record, with token counts. The demo has no tokenizer, so it counts demoDelta
// bytes of the prompt as one token. With these counts, behavior that depends on them, such as an
// agent's shortening of its conversation, can be seen with the demo, too. As with Ollama, no count
// is 0.
func (o *demoWriter) end() {
	o.last(demoRecord{DoneReason: o.reason, Prompt: o.prompt/demoDelta + 1, Eval: max(o.pieces, 1)})
}

// loaded sends the whole reply to a request without a prompt. With Ollama such a request only loads
// the model, or unloads it if it should not be kept.
func (o *demoWriter) loaded(keep json.RawMessage) {
	reason := "load"
	if string(keep) == "0" {
		reason = "unload"
	}
	o.last(demoRecord{DoneReason: reason})
}

// last sends r as the last record, which has an empty text.
func (o *demoWriter) last(r demoRecord) {
	if r.Done = true; o.chat {
		r.Message = &ollama.Message{Role: "assistant"}
	} else {
		r.Response = new(string)
	}
	o.record(r)
}

// record sends r at once if the reply is streamed. If it is not, record collects the records, and
// sends them joined into one when r is the last. The time in a record is always the same, so that
// replies can be compared byte for byte.
func (o *demoWriter) record(r demoRecord) {
	if o.r.Context().Err() != nil {
		return
	}
	kind := "application/x-ndjson"
	if o.stream != nil && !*o.stream {
		if o.join(&r); !r.Done {
			return
		}
		kind = "application/json; charset=utf-8"
	}
	r.Model, r.CreatedAt = o.model, "2026-01-01T00:00:00Z"
	o.w.Header().Set("Content-Type", kind)
	json.NewEncoder(o.w).Encode(r)
	http.NewResponseController(o.w).Flush()
}

// join puts the text and calls of all earlier records before those of r, and remembers the result
// for the next record. So the last record of a reply that is not streamed has the whole reply.
func (o *demoWriter) join(r *demoRecord) {
	if before := o.whole.Message; before != nil {
		r.Message.Content = before.Content + r.Message.Content
		r.Message.Calls = append(before.Calls, r.Message.Calls...)
	}
	if before := o.whole.Response; before != nil {
		*r.Response = *before + *r.Response
	}
	o.whole = *r
}

// demoRead decodes a request's body and passes it to the function then. If the body is not JSON, it
// answers with status 400 instead. It also answers with 400, in the words of llama-server, if the
// body is longer than the context. Answering such a request would take several times its memory,
// and no model accepts so much.
func demoRead[T any](w http.ResponseWriter, r *http.Request,
	then func(http.ResponseWriter, *http.Request, *T)) {
	const most = demoContext * demoDelta
	var q T
	var body bytes.Buffer
	// the length is trusted, since only this program calls the demo
	body.Grow(int(min(max(r.ContentLength, 0), most)) + bytes.MinRead)
	_, err := body.ReadFrom(io.LimitReader(r.Body, most))
	if rest, _ := io.Copy(io.Discard, r.Body); rest > 0 {
		demoFail(w, http.StatusBadRequest, fmt.Sprintf(
			"request (%d tokens) exceeds the available context size (%d tokens), try increasing it",
			(most+rest)/demoDelta, demoContext))
		return
	}
	if err == nil {
		err = json.Unmarshal(body.Bytes(), &q)
	}
	if err != nil {
		demoFail(w, http.StatusBadRequest, err.Error())
		return
	}
	then(w, r, &q)
}

// demoJSON writes a whole answer, with the content type that Ollama uses for answers that are not
// streams.
func demoJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	body, _ := chat.JSON(v)
	w.Write(body)
}

// demoFail writes an error in Ollama's form: {"error":"model 'x' not found"}. Where Ollama has a
// sentence for an error, text must be that sentence, because upstream.Explain recognizes errors by
// their sentences.
func demoFail(w http.ResponseWriter, status int, text string) {
	demoJSON(w, status, struct {
		Error string `json:"error"`
	}{text})
}
